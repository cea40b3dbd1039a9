"""One small yes/no study with fixed replies, and its standard CSV; runs without the analysis and without a harness."""

import csv
from dataclasses import dataclass
from pathlib import Path

TASK = "twins"
#: What each model means, in the order of ``items()``: Y, N, or ? for nothing readable; one text per repeat.
MEANINGS = {
    "mockllm/keen": ("YNYYYNYNYY?YYNYNYNYNYYNY", "YNYYYYYNYY?YYNNNYNYNYYY?"),
    "mockllm/wary": ("YNNY?NNNYYNYYNNYNNNYYNNY", "YNNNYNNYYYNY?NNYYNNYYNNN"),
}
#: Replies of one meaning, taken in turn; none is the bare word that a strict match expects every time.
REPLIES = {
    "Y": ("Yes", "Yes.", "**Yes**", "Answer: yes", "yes, it does"),
    "N": ("No", "No.", "**No**", "Answer: no", "no, it does not"),
    "?": ("", "I cannot decide this.", "Yes and no."),
}
QUESTIONS = {
    "affirmative": "Does the conclusion follow from the premises?",
    "negated": "Does the conclusion fail to follow from the premises?",
}
#: The same metadata under names that the schema knows, and under names of the author's own.
OWN_NAMES = {"item": "question_id", "unit": "argument", "validity": "label", "polarity": "asked"}
OWN_VALUES = {"valid": "follows", "invalid": "does not follow", "affirmative": "plain", "negated": "turned"}


@dataclass(frozen=True, slots=True)
class Item:
    """One question: an argument asked about in one polarity."""

    name: str
    argument: str
    validity: str
    polarity: str

    @property
    def question(self) -> str:
        """Prompt; the number of the argument makes it one of its kind."""
        return f"Argument {self.argument}: every glim is a dorn, ... {QUESTIONS[self.polarity]} Reply yes or no."

    @property
    def gold(self) -> str:
        """Right answer, as the harnesses' targets have it."""
        return "Yes" if (self.validity == "valid") == (self.polarity == "affirmative") else "No"

    def metadata(self, names: str) -> dict[str, str]:
        """What the author logs with the question, under ``schema`` names or ``own`` names."""
        known = {"item": self.name, "unit": self.argument, "validity": self.validity, "polarity": self.polarity}
        if names == "schema":
            return known
        return {OWN_NAMES[key]: OWN_VALUES.get(value, value) for key, value in known.items()}


def items() -> list[Item]:
    """Twelve arguments, six of them valid, each asked affirmatively and negated."""
    return [
        Item(f"a{number:02d}-{polarity[:3]}", f"a{number:02d}", "valid" if number % 2 else "invalid", polarity)
        for number in range(1, 13)
        for polarity in ("affirmative", "negated")
    ]


def meaning(model: str, question: str, repeat: int) -> str:
    """What a model means by its reply to a question, repeats counted from 0."""
    place = [item.question for item in items()].index(question)
    return MEANINGS[model][repeat][place]


def reply(model: str, question: str, repeat: int) -> str:
    """Text of a model's reply to a question, repeats counted from 0."""
    texts = REPLIES[meaning(model, question, repeat)]
    place = [item.question for item in items()].index(question)
    return texts[(place + repeat) % len(texts)]


class Script:
    """A model's replies in the order of asking: the second time a question is asked, the second repeat."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._asked: dict[str, int] = {}

    def repeat(self, question: str) -> int:
        """How often the question was asked before."""
        count = self._asked.get(question, 0)
        self._asked[question] = count + 1
        return count


def write_csv(path: Path, names: str, repeats: int, *, failed: frozenset[str] = frozenset()) -> None:
    """Write the study in the standard schema; items of ``failed`` have no reply but the status errored."""
    rows = [
        {
            "model": model,
            "task": TASK,
            **item.metadata(names),
            "sample": repeat,
            "gold": item.gold,
            "output": "" if item.name in failed else reply(model, item.question, repeat),
            "status": "errored" if item.name in failed else "",
        }
        for model in MEANINGS
        for item in items()
        for repeat in range(repeats)
    ]
    _write(path, rows)


def write_meanings(path: Path) -> None:
    """Write what every reply means, by which the counts of the analysis are checked."""
    rows = [
        {
            "model": model,
            "validity": item.validity,
            "polarity": item.polarity,
            "repeat": repeat,
            "gold": item.gold,
            "meaning": meaning(model, item.question, repeat),
        }
        for model, repeats in MEANINGS.items()
        for item in items()
        for repeat in range(len(repeats))
    ]
    _write(path, rows)


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
