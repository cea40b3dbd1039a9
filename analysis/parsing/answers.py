"""Fills answer, rule and status of a batch of responses, from given answers and from raw texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import StudyError
from analysis.parsing.answer_words import answer_words
from analysis.parsing.choice import LETTERS, n_options, option_labels, read_choice
from analysis.parsing.probability import read_probability
from analysis.parsing.reading import Reading, answered, unanswered
from analysis.parsing.text import strip_echo
from analysis.parsing.yes_no import read_yes_no
from analysis.schema.responses import ARROW_TYPES, COLUMN_BY_NAME
from analysis.schema.status import Status

KINDS = ("judgement", "choice", "probability", "none")
#: Stop reasons of the harnesses that mean: cut off before the end, and: held back by a filter.
_CUT_OFF = frozenset({"max_tokens", "length", "max_length", "model_length", "max_output_tokens", "token_limit"})
_HELD_BACK = frozenset({"content_filter", "refusal", "safety"})
_DECIDED = frozenset(s.value for s in Status if s is not Status.ANSWERED)
_CHOICES = "meta.choices"
_STOP_REASON = "meta.stop_reason"
#: An output at least this long may repeat its prompt.
_ECHO_MIN = 24


@dataclass(frozen=True, slots=True)
class ReadingPolicy:
    """How answers are read.

    Parameters
    ----------
    reread : bool
        Read the raw text even where the log gives an answer.
    synonyms : mapping of {"yes", "no"} to words
        Further words of the study's vocabulary; ``{"yes": ["true"], "no": ["false"]}``.
    kind : str, optional
        ``judgement``, ``choice``, ``probability`` or ``none`` for every task; by default the gold answer
        of each row decides.
    kinds : mapping of task to kind
        Overrides ``kind`` by task; ``score`` is taken as ``none``.
    labels : sequence of str
        Option labels, by default the letters A to Z.
    percent : bool
        Whether bare numbers stated as probabilities are percentages.
    """

    reread: bool = False
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kind: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[str] = LETTERS
    percent: bool = False

    def __post_init__(self) -> None:
        answer_words(self.synonyms)
        for kind in {self.kind or "none", *self.kinds.values()} - {"score"}:
            if kind not in KINDS:
                raise StudyError(f"reading: unknown kind {kind!r}; use one of {', '.join(KINDS)}", offenders=[kind])

    def kind_of(self, task: str) -> str | None:
        """Declared kind of a task, None where the gold answer decides."""
        kind = self.kinds.get(task, self.kind)
        return "none" if kind == "score" else kind


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
    ``policy.reread`` and there is a text. Each distinct text is read once per batch.
    """
    return _BatchReader(rows, policy).read()


class _BatchReader:
    """One batch: columns as needed, each distinct text read once."""

    def __init__(self, rows: pa.RecordBatch, policy: ReadingPolicy) -> None:
        self._rows, self._policy = rows, policy
        self._words = answer_words(policy.synonyms)
        self._labels = option_labels(tuple(policy.labels))
        self._names = set(rows.schema.names)
        self._cache: dict[tuple[str, str, int | None], Reading] = {}
        self._choices: list[tuple[str | None, str | None]] | None = None
        self._offered: dict[tuple[str | None, str | None], int | None] = {}

    def read(self) -> pa.RecordBatch:
        kinds, gold = self._kinds_and_gold()
        given, rules, statuses = self._column("answer"), self._column("rule"), self._column("status")
        stated, outputs, stops = self._column("probability"), self._outputs(), self._column(_STOP_REASON)
        scored = self._any_value("logged_score", "score_value", "probability", "p_yes")
        reread = self._policy.reread
        results: list[Reading] = []
        for at, output in enumerate(outputs):
            kind, status, rule = kinds[at], statuses[at], rules[at]
            if status in _DECIDED:
                reading = Reading(given[at] or None, rule or "logged", Status(status), stated[at])
            elif given[at] and not (reread and output):
                reading = self._given(given[at], rule or "given", kind)
            elif kind == "probability" and stated[at] is not None and not (reread and output):
                reading = Reading(None, rule or "given", Status.ANSWERED, stated[at])
            elif output is None:
                reading = unanswered(rule or "not_read", Status.ANSWERED) if scored[at] else unanswered("empty")
            else:
                offered = self._n_options(at) if kind == "choice" else None
                cached = self._cache.get((kind, output, offered))
                reading = cached if cached is not None else self._read_text(kind, output, offered)
                if stops[at] and reading.status is Status.UNPARSED:
                    reading = _cut_off(reading, stops[at])
            results.append(reading)
        return self._written(results, gold)

    def _n_options(self, at: int) -> int | None:
        """How many options a row's question has, as far as its log says."""
        if self._choices is None:
            self._choices = list(zip(self._column(_CHOICES), self._column("prompt"), strict=True))
        key = self._choices[at]
        if key not in self._offered:
            self._offered[key] = n_options(*key)
        return self._offered[key]

    def _read_text(self, kind: str, output: str, offered: int | None) -> Reading:
        if kind == "judgement":
            reading = read_yes_no(output, self._words)
        elif kind == "choice":
            reading = read_choice(output, self._labels, offered)
        elif kind == "probability":
            reading = read_probability(output, percent=self._policy.percent)
        else:
            reading = unanswered("not_read", Status.ANSWERED) if output.strip() else unanswered("empty")
        self._cache[kind, output, offered] = reading
        return reading

    def _given(self, answer: str, rule: str, kind: str) -> Reading:
        """A given answer in the study's words; one outside the vocabulary stays as it is."""
        if kind == "choice":
            return answered(self._labels.fold(answer) or answer, rule)
        polarity = self._words.polarity(answer) if kind == "judgement" else self._words.word_polarity(answer)
        return answered(polarity or answer, rule)

    def _kinds_and_gold(self) -> tuple[list[str], list[str | None]]:
        """Kind of every row, and its gold answer in the vocabulary of answers."""
        tasks, golds = self._column("task"), self._column("gold")
        judged = self._all_values("validity", "polarity")
        asked = self._any_value("role", "truth")
        known: dict[tuple[str | None, str | None, bool, bool], tuple[str, str | None]] = {}
        rows = list(zip(tasks, golds, judged, asked, strict=True))
        for key in set(rows):
            known[key] = self._kind_and_gold(*key)
        return [known[key][0] for key in rows], [known[key][1] for key in rows]

    def _kind_and_gold(self, task: str | None, gold: str | None, judged: bool, asked: bool) -> tuple[str, str | None]:
        polarity, label = self._words.polarity(gold), self._labels.fold(gold)
        kind = self._policy.kind_of(task or "")
        if kind is None:
            if polarity or judged:
                kind = "judgement"
            elif label:
                kind = "choice"
            else:
                kind = "probability" if asked and not gold else "none"
        folded = polarity if kind == "judgement" else label if kind == "choice" else None
        return kind, folded or gold

    def _outputs(self) -> list[str | None]:
        """Texts to read, without the prompt that some of them repeat."""
        outputs: list[str | None] = self._column("output")
        if "prompt" not in self._names or self._rows.column("prompt").null_count == self._rows.num_rows:
            return outputs
        prompts = self._column("prompt")
        return [
            text if text is None or len(text) < _ECHO_MIN else strip_echo(text, prompt)
            for text, prompt in zip(outputs, prompts, strict=True)
        ]

    def _column(self, name: str) -> list[Any]:
        if name not in self._names:
            return [None] * self._rows.num_rows
        column = self._rows.column(name)
        return [None] * len(column) if column.null_count == len(column) else column.to_pylist()

    def _any_value(self, *names: str) -> list[bool]:
        """Rows in which one of the columns has a value."""
        present = np.zeros(self._rows.num_rows, bool)
        for name in self._names.intersection(names):
            present |= np.asarray(pc.is_valid(self._rows.column(name)))
        return present.tolist()

    def _all_values(self, *names: str) -> list[bool]:
        """Rows in which all of the columns have a value."""
        if not self._names.issuperset(names):
            return [False] * self._rows.num_rows
        valid = [np.asarray(pc.is_valid(self._rows.column(name))) for name in names]
        return np.logical_and.reduce(valid).tolist()

    def _written(self, results: list[Reading], gold: list[str | None]) -> pa.RecordBatch:
        new: dict[str, list[Any]] = {
            "answer": [reading.answer for reading in results],
            "rule": [reading.rule for reading in results],
            "status": [reading.status.value for reading in results],
            "gold": gold,
        }
        if any(reading.probability is not None for reading in results):
            old = self._column("probability")
            pairs = zip(results, old, strict=True)
            new["probability"] = [p if r.probability is None else r.probability for r, p in pairs]
        columns = dict(zip(self._rows.schema.names, self._rows.columns, strict=True))
        for name, values in new.items():
            columns[name] = pa.array(values, ARROW_TYPES[COLUMN_BY_NAME[name].kind])
        return pa.RecordBatch.from_pydict(columns)


def _cut_off(reading: Reading, stop_reason: str) -> Reading:
    """An unread text whose generation was cut off or held back."""
    reason = stop_reason.casefold()
    if reason in _CUT_OFF:
        return unanswered(reading.rule, Status.TRUNCATED)
    return unanswered("refusal", Status.REFUSED) if reason in _HELD_BACK else reading
