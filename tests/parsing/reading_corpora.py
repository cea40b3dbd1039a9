"""Labelled answer texts and how well the readers do on them; run as a script it prints the accuracy by kind.

A corpus is a tab-separated file: ``kind``, for yes/no also ``words`` (a vocabulary of ``VOCABULARIES``, ``-`` for
the built-in one), for choices perhaps ``options`` (their number), ``expected`` (``-`` where nothing should be read)
and ``text`` with ``\\n``, ``\\t``, ``\\uXXXX`` and ``\\\\`` as escapes. Files ``corpus_*.tsv`` were written beside the
rules; ``varied_*.tsv`` and ``broad_*.tsv`` in batches, each labelled before the rules that it led to.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from analysis.parsing.answer_words import answer_words
from analysis.parsing.choice import read_choice
from analysis.parsing.option_labels import option_labels
from analysis.parsing.probability import read_probability
from analysis.parsing.reading import Reading
from analysis.parsing.yes_no import read_yes_no

HERE = Path(__file__).parent
SOURCES = ("corpus", "varied", "broad")
READERS = ("yes_no", "choice", "probability")
VOCABULARIES: dict[str, dict[str, list[str]]] = {
    "-": {},
    "true_false": {"yes": ["true"], "no": ["false"]},
    "correct_incorrect": {"yes": ["correct"], "no": ["incorrect"]},
    "valid_invalid": {"yes": ["valid"], "no": ["invalid"]},
    "french": {"yes": ["oui"], "no": ["non"]},
    "german": {"yes": ["ja"], "no": ["nein"]},
    "spanish": {"yes": ["sí", "si"], "no": ["no"]},
    "chinese": {"yes": ["是", "是的"], "no": ["否", "不是"]},
    "affirmative": {"yes": ["affirmative", "indeed"], "no": ["negative"]},
    "all": {"yes": ["true", "correct", "valid"], "no": ["false", "incorrect", "invalid"]},
    "entailed": {"yes": ["entailed"], "no": ["not entailed"]},
    "follows": {"yes": ["it follows"], "no": ["it does not follow"]},
    "supported": {"yes": ["supported"], "no": ["unsupported", "refuted"]},
    "holds": {"yes": ["holds"], "no": ["fails"]},
    "digits": {"yes": ["1"], "no": ["0"]},
    "japanese": {"yes": ["はい"], "no": ["いいえ"]},
    "portuguese": {"yes": ["sim"], "no": ["não"]},
    "italian": {"yes": ["sì"], "no": ["no"]},
    "russian": {"yes": ["да"], "no": ["нет"]},
}
_ESCAPE = re.compile(r"\\(n|t|\\|u[0-9a-f]{4})")
_PLAIN = {"n": "\n", "t": "\t", "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled text; ``expected`` is None where nothing should be read."""

    reader: str
    kind: str
    words: str
    expected: str | None
    text: str
    n_options: int | None = None

    def read(self) -> Reading:
        if self.reader == "yes_no":
            return read_yes_no(self.text, answer_words(VOCABULARIES[self.words]))
        return (
            read_choice(self.text, option_labels(), self.n_options)
            if self.reader == "choice"
            else read_probability(self.text)
        )

    def found(self) -> str | None:
        """What the reader finds, in the corpus's notation."""
        reading = self.read()
        if self.reader != "probability":
            return reading.answer
        return None if reading.probability is None else f"{reading.probability:g}"


def corpus(reader: str, *, source: str = "corpus") -> list[Labelled]:
    """Labelled texts of one reader; ``source`` is one of ``SOURCES``."""
    path = HERE / f"{source}_{reader}.tsv"
    lines = path.read_text(encoding="utf-8").split("\n")
    columns = lines[0].split("\t")
    rows = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines[1:] if line]
    return [
        Labelled(
            reader,
            r["kind"],
            r.get("words", "-"),
            None if r["expected"] == "-" else r["expected"],
            _text(r["text"]),
            int(r["options"]) if r.get("options", "-") != "-" else None,
        )
        for r in rows
    ]


def _text(escaped: str) -> str:
    return _ESCAPE.sub(lambda m: _PLAIN.get(m[1]) or chr(int(m[1][1:], 16)), escaped)


def accuracy_table(reader: str, *, source: str = "corpus") -> str:
    """Markdown table: texts, right, given up (an answer there, none read) and wrong, by kind."""
    texts = corpus(reader, source=source)
    lines = [f"| {reader}: kind | texts | right | not read | misread |", "|---|---|---|---|---|"]
    for kind in [*dict.fromkeys(t.kind for t in texts), "all"]:
        chosen = [t for t in texts if kind in (t.kind, "all")]
        found = [(t.expected, t.found()) for t in chosen]
        right = sum(expected == got for expected, got in found)
        unread = sum(got is None and expected is not None for expected, got in found)
        lines.append(f"| {kind} | {len(chosen)} | {right} | {unread} | {len(chosen) - right - unread} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables of docs/reading_answers.md."""
    for source in SOURCES:
        for reader in READERS:
            print(f"\n{source}\n")  # noqa: T201
            print(accuracy_table(reader, source=source))  # noqa: T201


if __name__ == "__main__":
    main()
