"""Questions whose two options are yes and no: letters of options become the words they stand for."""

import json
from collections.abc import Collection

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


def in_words(asked: pa.RecordBatch, policy: ReadingPolicy, mixed: Collection[str]) -> pa.RecordBatch:
    """Rows with gold and given answers in words where all options of their task are yes and no.

    Parameters
    ----------
    asked : RecordBatch
        Columns that decide how rows are read.
    policy : ReadingPolicy
        Tasks that it declares as of another kind than ``judgement`` keep their letters.
    mixed : collection of str
        Tasks with questions whose options are others; they keep their letters too.

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
    yes = _yes_letters(asked, policy, words, mixed)
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


def tasks_by_options(asked: pa.RecordBatch, policy: ReadingPolicy) -> tuple[set[str], set[str]]:
    """Tasks with questions whose two options are yes and no, and tasks with questions that have others.

    Tasks declared as of another kind than ``judgement`` are in neither.
    """
    if CHOICES not in asked.schema.names or asked.column(CHOICES).null_count == asked.num_rows:
        return set(), set()
    pairs = set(zip(_tasks(asked), asked.column(CHOICES).to_pylist(), strict=True))
    words = answer_words(policy.synonyms)
    letters = {text: _yes_letter(text, words) for _, text in pairs if text}
    found: tuple[set[str], set[str]] = set(), set()
    for task, text in pairs:
        if text and policy.kind_of(task) in (None, "judgement"):
            found[letters[text] is None].add(task)
    return found


def _yes_letters(
    asked: pa.RecordBatch, policy: ReadingPolicy, words: AnswerWords, mixed: Collection[str]
) -> list[str | None]:
    """Letter that means yes, for every row of tasks of which all rows with options have these two."""
    choices, tasks = asked.column(CHOICES).to_pylist(), _tasks(asked)
    letters = {text: _yes_letter(text, words) for text in dict.fromkeys(choices) if text}
    others = set(mixed) | {task for task in set(tasks) if policy.kind_of(task) not in (None, "judgement")}
    return [letters[text] if text and task not in others else None for task, text in zip(tasks, choices, strict=True)]


def _tasks(asked: pa.RecordBatch) -> list[str]:
    if "task" not in asked.schema.names:
        return [""] * asked.num_rows
    return [task or "" for task in asked.column("task").to_pylist()]


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
