"""Questions whose two options are yes and no: letters of options become the words they stand for."""

import json
from collections.abc import Sequence

import pyarrow as pa

from analysis.parsing.answer_words import NO, OPPOSITE, YES, AnswerWords, answer_words
from analysis.parsing.choice import read_choice
from analysis.parsing.option_labels import OptionLabels, option_labels
from analysis.parsing.policy import ReadingPolicy
from analysis.parsing.reading import Reading, answered
from analysis.parsing.yes_no import read_yes_no

CHOICES = "meta.choices"
#: Column that keeps the letter a log gave as the answer.
LETTER = "meta.letter"
#: Column that names, while rows are read, the letter that means yes.
YES_LETTER = "meta.yes_letter"
_LETTERS = ("A", "B")


def in_words(asked: pa.RecordBatch, policy: ReadingPolicy) -> pa.RecordBatch:
    """Rows with gold and given answers in words where all options of their task are yes and no.

    Parameters
    ----------
    asked : RecordBatch
        Columns that decide how rows are read.
    policy : ReadingPolicy
        Tasks that it declares as of another kind than ``judgement`` keep their letters.

    Returns
    -------
    RecordBatch
        The rows as they are, or with ``gold`` and ``answer`` in words and two columns more:
        ``LETTER`` (as logged) and ``YES_LETTER``.
    """
    names = asked.schema.names
    if CHOICES not in names or asked.column(CHOICES).null_count == asked.num_rows:
        return asked
    words, labels = answer_words(policy.synonyms), option_labels(tuple(policy.labels))
    yes = _yes_letters(asked, policy, words)
    if not any(yes):
        return asked
    columns = dict(zip(names, asked.columns, strict=True))
    for name in ("gold", "answer"):
        if name in columns:
            texts = columns[name].to_pylist()
            letters = [labels.fold(text) if at else None for text, at in zip(texts, yes, strict=True)]
            folded = [word_of(letter, at) or text for text, letter, at in zip(texts, letters, yes, strict=True)]
            columns[name] = pa.array(folded, pa.string())
            if name == "answer":
                columns[LETTER] = pa.array([_known(letter) for letter in letters], pa.string())
    columns[YES_LETTER] = pa.array(yes, pa.string())
    return pa.RecordBatch.from_pydict(columns)


def word_of(letter: str | None, yes_letter: str | None) -> str | None:
    """Yes or no for the letter of an option; None for another letter."""
    if yes_letter is None or _known(letter) is None:
        return None
    return YES if letter == yes_letter else NO


def read_either(text: str, words: AnswerWords, labels: OptionLabels, yes_letter: str) -> Reading:
    """Answer of a text that may name the letter or say the word."""
    reading = read_choice(text, labels, len(_LETTERS))
    word = word_of(reading.answer, yes_letter)
    return answered(word, reading.rule) if word else read_yes_no(text, words)


def _known(letter: str | None) -> str | None:
    return letter if letter in _LETTERS else None


def _yes_letters(asked: pa.RecordBatch, policy: ReadingPolicy, words: AnswerWords) -> list[str | None]:
    """Letter that means yes, for every row of tasks of which all rows with options have these two."""
    choices = asked.column(CHOICES).to_pylist()
    tasks: Sequence[str | None] = (
        asked.column("task").to_pylist() if "task" in asked.schema.names else [None] * asked.num_rows
    )
    letters = {text: _yes_letter(text, words) for text in dict.fromkeys(choices) if text}
    others = {task for task, text in zip(tasks, choices, strict=True) if text and letters[text] is None}
    others |= {task for task in dict.fromkeys(tasks) if policy.kind_of(task or "") not in (None, "judgement")}
    return [letters[text] if text and task not in others else None for task, text in zip(tasks, choices, strict=True)]


def _yes_letter(choices: str, words: AnswerWords) -> str | None:
    try:
        listed = json.loads(choices)
    except ValueError:
        return None
    if not isinstance(listed, list) or len(listed) != len(_LETTERS) or not all(isinstance(c, str) for c in listed):
        return None
    first, second = (words.word_polarity(choice) for choice in listed)
    if first is None or second != OPPOSITE[first]:
        return None
    return _LETTERS[0] if first == YES else _LETTERS[1]
