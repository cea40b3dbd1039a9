"""Wording of a simulated benchmark on probability operators: arguments, surfaces, question forms."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Argument:
    """Premises, and a conclusion "it is <operator> that <statement>", over the clauses {a}, {b}, {c}.

    Arguments of one ``family`` are the same pattern in other words; by default each is a family of its own.
    """

    name: str
    premises: str
    operator: str
    statement: str
    family: str = ""

    @property
    def pattern(self) -> str:
        """Family of the argument."""
        return self.family or self.name


VALID: Final = (
    Argument("certain_to_probable", "It is certain that {a}.", "probable", "{a}"),
    Argument("probable_to_possible", "It is probable that {a}.", "possible", "{a}"),
    Argument("likely_ponens", "If {a}, then {b}. It is probable that {a}.", "probable", "{b}"),
    Argument("likely_tollens", "If {a}, then {b}. It is improbable that {b}.", "improbable", "{a}"),
    Argument("added_alternative", "It is probable that {a}.", "probable", "{a} or {b}"),
    Argument("part_of_conjunction", "It is probable that {a} and {b}.", "probable", "{b}"),
    Argument("first_part_of_conjunction", "It is probable that {a} and {b}.", "probable", "{a}", "part_of_conjunction"),
    Argument("complement", "It is probable that {a}.", "improbable", "it is not so that {a}"),
    Argument("double_complement", "It is improbable that it is not so that {a}.", "probable", "{a}"),
    Argument("likelier_than_likely", "That {a} is likelier than that {b}. It is probable that {b}.", "probable", "{a}"),
    Argument("case_by_case", "If {a}, then {c}. If {b}, then {c}. It is probable that {a} or {b}.", "probable", "{c}"),
)
INVALID: Final = (
    Argument("conjoined_likelihoods", "It is probable that {a}. It is probable that {b}.", "probable", "{a} and {b}"),
    Argument(
        "conjoined_in_one_sentence",
        "It is probable that {a} and probable that {b}.",
        "probable",
        "{a} and {b}",
        "conjoined_likelihoods",
    ),
    Argument("possible_to_probable", "It is possible that {a}.", "probable", "{a}"),
    Argument("probable_to_certain", "It is probable that {a}.", "certain", "{a}"),
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
_EVENTS: Final = {
    "fair": "comes to the fair",
    "play": "sees the play",
    "walk": "joins the walk",
    "ferry": "takes the ferry",
    "letter": "reads the letter",
}
#: Nationality and gender of names -> three of them; the letters have neither.
_PEOPLE: Final = {
    ("letters", "letters"): ("A", "B", "C"),
    ("greek", "female"): ("Eleni", "Sofia", "Katerina"),
    ("greek", "male"): ("Nikos", "Yannis", "Kostas"),
    ("italian", "female"): ("Giulia", "Chiara", "Elisa"),
    ("italian", "male"): ("Marco", "Luca", "Paolo"),
    ("kenyan", "female"): ("Wanjiru", "Akinyi", "Njeri"),
    ("kenyan", "male"): ("Kamau", "Otieno", "Mwangi"),
    ("korean", "female"): ("Jisoo", "Minji", "Hana"),
    ("korean", "male"): ("Jihoon", "Minho", "Sungmin"),
    ("polish", "female"): ("Zofia", "Hanna", "Maja"),
    ("polish", "male"): ("Piotr", "Jan", "Adam"),
    ("swedish", "female"): ("Astrid", "Linnea", "Freja"),
    ("swedish", "male"): ("Erik", "Nils", "Lars"),
    ("turkish", "female"): ("Elif", "Zeynep", "Defne"),
    ("turkish", "male"): ("Emre", "Kerem", "Murat"),
    ("letters", "letters", "late"): ("X", "Y", "Z"),
}


def surface_factors(surface: int) -> dict[str, str]:
    """Activity, nationality and gender of the names that a surface speaks of."""
    kinds = list(_PEOPLE)
    nationality, gender = kinds[surface // len(_EVENTS) % len(kinds)][:2]
    return {"activity": list(_EVENTS)[surface % len(_EVENTS)], "nationality": nationality, "gender": gender}


def clauses(surface: int) -> dict[str, str]:
    """Three clauses about three people and one event; different for every surface."""
    names = list(_PEOPLE.values())[surface // len(_EVENTS) % len(_PEOPLE)]
    event = list(_EVENTS.values())[surface % len(_EVENTS)]
    day = surface // (len(_PEOPLE) * len(_EVENTS))
    when = f" on day {day + 1}" if day else ""
    return {key: f"{name} {event}{when}" for key, name in zip("abc", names, strict=True)}


def question(argument: Argument, wording: str, surface: int) -> str:
    """Prompt as a model would get it."""
    text = clauses(surface)
    asked = wording.format(q=f"{argument.operator} that {argument.statement.format(**text)}")
    return f"{argument.premises.format(**text)} {asked} Answer Yes or No."
