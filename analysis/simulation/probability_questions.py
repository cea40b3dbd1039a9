"""Wording of a simulated benchmark on probability operators: arguments, surfaces, question forms."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Argument:
    """Premises, and a conclusion "it is <operator> that <statement>", over the clauses {a}, {b}, {c}."""

    name: str
    premises: str
    operator: str
    statement: str


VALID: Final = (
    Argument("certain_to_probable", "It is certain that {a}.", "probable", "{a}"),
    Argument("probable_to_possible", "It is probable that {a}.", "possible", "{a}"),
    Argument("likely_ponens", "If {a}, then {b}. It is probable that {a}.", "probable", "{b}"),
    Argument("likely_tollens", "If {a}, then {b}. It is improbable that {b}.", "improbable", "{a}"),
    Argument("added_alternative", "It is probable that {a}.", "probable", "{a} or {b}"),
    Argument("part_of_conjunction", "It is probable that {a} and {b}.", "probable", "{b}"),
    Argument("complement", "It is probable that {a}.", "improbable", "it is not so that {a}"),
    Argument("double_complement", "It is improbable that it is not so that {a}.", "probable", "{a}"),
    Argument("likelier_than_likely", "That {a} is likelier than that {b}. It is probable that {b}.", "probable", "{a}"),
    Argument("one_exactly_when_other", "Exactly when {a}, {b}. It is probable that {a}.", "probable", "{b}"),
    Argument("case_by_case", "If {a}, then {c}. If {b}, then {c}. It is probable that {a} or {b}.", "probable", "{c}"),
)
INVALID: Final = (
    Argument("conjoined_likelihoods", "It is probable that {a}. It is probable that {b}.", "probable", "{a} and {b}"),
    Argument("possible_to_probable", "It is possible that {a}.", "probable", "{a}"),
    Argument("probable_to_certain", "It is probable that {a}.", "certain", "{a}"),
    Argument("likely_converse", "If {a}, then {b}. It is probable that {b}.", "probable", "{a}"),
)
#: Form -> affirmative question, its negation, and how that is negated.
FORMS: Final = {
    "truth": ("Is it true that it is {q}?", "Is it false that it is {q}?", "prefix"),
    "correct": ("Is it correct that it is {q}?", "Is it incorrect that it is {q}?", "prefix"),
    "direct": ("Is it {q}?", "Is it not {q}?", "verb"),
    "valid": ("Is it valid to conclude that it is {q}?", "Is it invalid to conclude that it is {q}?", "prefix"),
    "follow": ("Does it follow that it is {q}?", "Does it not follow that it is {q}?", "verb"),
}
#: Forms asked a second time in the negative, with the word "not".
NOT_FORMS: Final = {
    "truth": "Is it not true that it is {q}?",
    "correct": "Is it not correct that it is {q}?",
}
_PEOPLE: Final = ("Ada", "Bo", "Cleo", "Dan", "Eva", "Finn", "Gita", "Hugo", "Ida", "Jan", "Kim", "Liv")
_EVENTS: Final = ("comes to the fair", "sees the play", "joins the walk", "takes the ferry", "reads the letter")


def clauses(surface: int) -> dict[str, str]:
    """Three clauses about three people and one event; different for every surface."""
    person, event = surface % len(_PEOPLE), _EVENTS[surface // len(_PEOPLE) % len(_EVENTS)]
    day = surface // (len(_PEOPLE) * len(_EVENTS))
    when = f" on day {day + 1}" if day else ""
    return {key: f"{_PEOPLE[(person + k) % len(_PEOPLE)]} {event}{when}" for k, key in enumerate("abc")}


def question(argument: Argument, wording: str, surface: int) -> str:
    """Prompt as a model would get it."""
    text = clauses(surface)
    asked = wording.format(q=f"{argument.operator} that {argument.statement.format(**text)}")
    return f"{argument.premises.format(**text)} {asked} Answer Yes or No."
