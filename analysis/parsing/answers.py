"""Fills answer, rule and status of a batch of responses, from given answers and from raw texts."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.parsing.answer_words import answer_words
from analysis.parsing.choice import n_options, read_choice
from analysis.parsing.option_labels import option_labels
from analysis.parsing.policy import KINDS, ReadingPolicy, kind_and_gold
from analysis.parsing.probability import read_probability
from analysis.parsing.reading import Reading, answered, unanswered
from analysis.parsing.row_groups import row_groups
from analysis.parsing.stop_reasons import stopped
from analysis.parsing.task_facts import SCORES, batch_facts
from analysis.parsing.text import strip_echo
from analysis.parsing.yes_no import read_yes_no
from analysis.parsing.yes_no_options import CHOICES, LETTER, YES_LETTER, in_words, read_either
from analysis.schema.responses import ARROW_TYPES, COLUMN_BY_NAME
from analysis.schema.status import Status

__all__ = ["KINDS", "ReadingPolicy", "asked_columns", "read_answers", "read_columns", "with_readings"]

_DECIDED = frozenset(s.value for s in Status if s is not Status.ANSWERED)
_KNOWN = pa.array([status.value for status in Status], pa.string())
_STOP_REASON = "meta.stop_reason"
#: Columns that a reading may look at.
_ASKED = (
    *("task", "gold", "answer", "rule", "status", "output", "prompt", "probability", "validity", "polarity", "role"),
    *("truth", "logged_score", "score_value", "p_yes", CHOICES, _STOP_REASON),
)
#: What decides a row: a status, an answer, a probability or a score in the log, nothing at all, or the text.
_STATUS, _ANSWER, _STATED, _SCORE, _NOTHING, _TEXT = range(6)
type Column = pa.Array | NDArray[np.generic]
#: An output at least this long may repeat its prompt.
_ECHO_MIN = 24


class _Given(NamedTuple):
    """A row that its log decides."""

    answer: str | None
    rule: str | None
    status: str | None
    kind: int
    case: int


class _Text(NamedTuple):
    """A row whose text decides."""

    output: str
    kind: int
    offered: int
    stop: str | None
    yes_letter: str | None


def read_answers(rows: pa.RecordBatch, policy: ReadingPolicy) -> pa.RecordBatch:
    """Decide what each response answers.

    Parameters
    ----------
    rows : RecordBatch
        Columns of the standard schema, any of which may be lacking, and extras.
    policy : ReadingPolicy

    Returns
    -------
    RecordBatch
        The same rows and columns, with ``answer``, ``rule``, ``status`` and ``gold`` (and
        ``probability`` where one was asked for) filled; columns that were lacking come last.

    Notes
    -----
    A status other than ``answered`` that the importer set stays. A given answer wins unless
    ``policy.reread`` and there is a text. Each distinct text is read once per batch. What the rows of a task
    decide together (``TaskFacts``) is taken from the batch unless the policy knows it.
    """
    return with_readings(rows, read_columns(asked_columns(rows), policy))


def asked_columns(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The columns that decide how rows are read, and no others."""
    return rows.select([name for name in _ASKED if name in rows.schema.names])


def read_columns(asked: pa.RecordBatch, policy: ReadingPolicy) -> pa.RecordBatch:
    """``answer``, ``rule``, ``status``, ``gold`` (and ``probability`` where one was read), from ``asked_columns``."""
    facts = policy.facts or batch_facts(asked, policy)
    return _BatchReader(in_words(asked, policy, facts.mixed), policy, facts.texts).read()


def with_readings(rows: pa.RecordBatch, read: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with the columns that ``read_columns`` gave for them."""
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    return pa.RecordBatch.from_pydict(columns | dict(zip(read.schema.names, read.columns, strict=True)))


class _BatchReader:
    """One batch: each combination of what decides a reading is read once."""

    def __init__(self, rows: pa.RecordBatch, policy: ReadingPolicy, tasks_with_texts: Collection[str]) -> None:
        self._rows, self._policy, self._tasks_with_texts = rows, policy, tasks_with_texts
        self._words = answer_words(policy.synonyms)
        self._labels = option_labels(tuple(policy.labels))
        self._names = set(rows.schema.names)
        self._readings: list[Reading] = []
        self._status = _folded(self._column("status").cast(pa.string()))

    def read(self) -> pa.RecordBatch:
        n = self._rows.num_rows
        kinds, gold = self._kinds_and_gold()
        case, outputs = self._cases(kinds)
        index = np.zeros(n, np.int64)
        texts = case == _TEXT
        self._fill(index, ~texts, (self._column("answer"), self._column("rule"), self._status, kinds, case), _Given)
        offered = self._offered(kinds)
        self._fill(index, texts, (outputs, kinds, offered, *map(self._column, (_STOP_REASON, YES_LETTER))), _Text)
        return self._written(index, gold)

    def _fill(
        self,
        index: NDArray[np.int64],
        where: NDArray[np.bool_],
        columns: Sequence[Column],
        row_type: type[_Given | _Text],
    ) -> None:
        """Read the rows of ``where``, each combination of values in ``columns`` once."""
        rows = np.flatnonzero(where)
        if not rows.size:
            return
        chosen = columns if rows.size == len(where) else [column.take(rows) for column in columns]
        groups = row_groups(chosen)
        values = zip(*(_values(column, groups.first) for column in chosen), strict=True)
        start = len(self._readings)
        self._readings += [self._reading(row_type(*combination)) for combination in values]
        index[rows] = start + groups.group

    def _reading(self, row: _Given | _Text) -> Reading:
        return self._read_text(row) if isinstance(row, _Text) else self._take_given(row)

    def _cases(self, kinds: NDArray[np.int64]) -> tuple[NDArray[np.int64], pa.Array]:
        """What decides each row, and the texts to read."""
        outputs = self._outputs()
        has_text, given = _present(outputs), _present(self._column("answer"))
        again = has_text & self._policy.reread
        stated = self._any_value("probability") & (kinds == KINDS.index("probability"))
        scored = self._any_value(*SCORES)
        texts = np.asarray(pc.is_valid(outputs))
        case = np.where(texts, _TEXT, np.where(scored & ~self._blank(kinds, texts), _SCORE, _NOTHING))
        case[stated & ~again] = _STATED
        case[given & ~again] = _ANSWER
        status = self._status
        case[np.asarray(pc.is_in(status, pa.array(sorted(_DECIDED), pa.string())))] = _STATUS
        return case, outputs

    def _blank(self, kinds: NDArray[np.int64], texts: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Judgements without a text, for which a probability is a confidence and no answer.

        A score stands for the answer of a declared judgement only where no response to its task has a text.
        """
        blank = (kinds == KINDS.index("judgement")) & ~texts
        if not blank.any():
            return blank
        tasks = [task or "" for task in self._column("task").to_pylist()]
        beside = np.array([task in self._tasks_with_texts for task in tasks], bool)
        declared = np.array([self._policy.kind_of(task) == "judgement" for task in tasks], bool)
        scored = self._any_value("logged_score", "score_value", "p_yes")
        return blank & np.where(scored, declared & beside, declared | beside)

    def _take_given(self, row: _Given) -> Reading:
        """What a log states: a status, an answer, a probability, a score, or nothing."""
        kind = KINDS[row.kind]
        if row.case == _STATUS:
            return Reading(row.answer or None, row.rule or "logged", Status(row.status or Status.UNPARSED))
        if row.case == _ANSWER:
            return self._given(row.answer or "", row.rule or "given", kind)
        if row.case == _STATED:
            return unanswered(row.rule or "given", Status.ANSWERED)
        return unanswered(row.rule or "not_read", Status.ANSWERED) if row.case == _SCORE else unanswered("empty")

    def _read_text(self, row: _Text) -> Reading:
        kind = KINDS[row.kind]
        if row.yes_letter and kind in ("judgement", "none"):
            reading = read_either(row.output, self._words, self._labels, row.yes_letter)
        elif kind == "judgement":
            reading = read_yes_no(row.output, self._words)
        elif kind == "choice":
            reading = read_choice(row.output, self._labels, row.offered or None)
        elif kind == "probability":
            reading = read_probability(row.output, percent=self._policy.percent)
        else:
            reading = unanswered("not_read", Status.ANSWERED) if row.output.strip() else unanswered("empty")
        return stopped(reading, row.stop) if row.stop else reading

    def _given(self, answer: str, rule: str, kind: str) -> Reading:
        """A given answer in the study's words; one outside the vocabulary stays as it is."""
        if kind == "choice":
            return answered(self._labels.fold(answer) or answer, rule)
        polarity = self._words.polarity(answer) if kind == "judgement" else self._words.word_polarity(answer)
        return answered(polarity or answer, rule)

    def _kinds_and_gold(self) -> tuple[NDArray[np.int64], pa.Array]:
        """Kind of every row as its place in ``KINDS``, and its gold answer in the vocabulary of answers."""
        judged = self._all_values("validity", "polarity")
        columns = (self._column("task"), self._column("gold"), judged, self._any_value("role", "truth"))
        groups = row_groups(columns)
        known = [
            kind_and_gold(self._policy, task, gold, judged=bool(is_judged), asked=bool(is_asked))
            for task, gold, is_judged, is_asked in zip(*(_values(c, groups.first) for c in columns), strict=True)
        ]
        kinds = np.array([KINDS.index(kind) for kind, _ in known], np.int64)
        gold = pa.array([gold for _, gold in known], pa.string())
        return kinds[groups.group], gold.take(pa.array(groups.group))

    def _outputs(self) -> pa.Array:
        """Texts to read, without the prompt that some of them repeat."""
        outputs, prompts = self._column("output"), self._column("prompt")
        if prompts.null_count == len(prompts):
            return outputs
        texts = outputs.to_pylist()
        for at, (text, prompt) in enumerate(zip(texts, prompts.to_pylist(), strict=True)):
            if text is not None and len(text) >= _ECHO_MIN:
                texts[at] = strip_echo(text, prompt)
        return pa.array(texts, pa.string())

    def _offered(self, kinds: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many options a row's question has, as far as its log says; else 0."""
        offered = np.zeros(len(kinds), np.int64)
        rows = np.flatnonzero(kinds == KINDS.index("choice"))
        if rows.size:
            columns = [self._column(CHOICES).take(pa.array(rows)), self._column("prompt").take(pa.array(rows))]
            groups = row_groups(columns)
            known = [n_options(*pair) or 0 for pair in zip(*(_values(c, groups.first) for c in columns), strict=True)]
            offered[rows] = np.array(known, np.int64)[groups.group]
        return offered

    def _column(self, name: str) -> pa.Array:
        if name not in self._names:
            return pa.nulls(
                self._rows.num_rows, ARROW_TYPES[COLUMN_BY_NAME[name].kind if name in COLUMN_BY_NAME else "text"]
            )
        return self._rows.column(name)

    def _any_value(self, *names: str) -> NDArray[np.bool_]:
        """Rows in which one of the columns has a value."""
        present = np.zeros(self._rows.num_rows, bool)
        for name in self._names.intersection(names):
            present |= np.asarray(pc.is_valid(self._rows.column(name)))
        return present

    def _all_values(self, *names: str) -> NDArray[np.bool_]:
        """Rows in which all of the columns have a value."""
        if not self._names.issuperset(names):
            return np.zeros(self._rows.num_rows, bool)
        return np.logical_and.reduce([np.asarray(pc.is_valid(self._rows.column(name))) for name in names])

    def _written(self, index: NDArray[np.int64], gold: pa.Array) -> pa.RecordBatch:
        new = {
            "answer": [reading.answer for reading in self._readings],
            "rule": [reading.rule for reading in self._readings],
            "status": [reading.status.value for reading in self._readings],
        }
        at = pa.array(index)
        columns = {}
        for name, values in new.items():
            columns[name] = pa.array(values, pa.string()).take(at)
        # A status that is none is not read over: a check names it.
        foreign = pc.invert(pc.is_in(self._status, value_set=_KNOWN))
        foreign = pc.and_(foreign, pc.fill_null(pc.not_equal(self._status, ""), False))
        columns["status"] = pc.if_else(foreign, self._status, columns["status"])
        columns["gold"] = gold
        if LETTER in self._names:
            columns[LETTER] = self._column(LETTER)
        if any(reading.probability is not None for reading in self._readings):
            read = pa.array([reading.probability for reading in self._readings], pa.float64()).take(at)
            columns["probability"] = pc.coalesce(read, self._column("probability").cast(pa.float64()))
        return pa.RecordBatch.from_pydict(columns)


def _folded(status: pa.Array) -> pa.Array:
    """Statuses in small letters without blanks around them; what is none of them stays as it is."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(status))
    return pc.if_else(pc.is_in(plain, value_set=_KNOWN), plain, status)


def _present(column: pa.Array) -> NDArray[np.bool_]:
    """Rows with a text that is not empty."""
    return np.asarray(pc.fill_null(pc.not_equal(column, ""), False))


def _values(column: Column, rows: NDArray[np.int64]) -> list[Any]:
    taken = column.take(rows) if isinstance(column, np.ndarray) else column.take(pa.array(rows))
    return taken.tolist() if isinstance(taken, np.ndarray) else taken.to_pylist()
