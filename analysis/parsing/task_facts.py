"""What the rows of a task say together, on which the reading of one row depends.

Batches come one after another, and a row is read before the last batch of its task is seen. Each batch is therefore
read under what it shows itself, and what was taken for granted is recorded: where another batch contradicts it, the
logs are read again with all facts known. The result depends neither on the order of rows nor on the batches.
"""

from collections.abc import Set
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from analysis.parsing.policy import ReadingPolicy, TaskFacts
from analysis.parsing.yes_no_options import tasks_by_options

#: Columns that stand for an answer where there is no text.
SCORES = ("logged_score", "score_value", "probability", "p_yes")


@dataclass(slots=True)
class BatchFacts:
    """Facts of the batches seen so far, and what their readings took for granted.

    ``in_words`` are tasks whose option letters were read as yes and no, ``alone`` those with responses that have a
    score and no text, in a batch where none of the task had one.
    """

    mixed: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    in_words: set[str] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)

    def add(self, asked: pa.RecordBatch, policy: ReadingPolicy) -> None:
        """Take in one batch."""
        in_words, mixed = tasks_by_options(asked, policy)
        self.mixed |= mixed
        self.in_words |= in_words - mixed
        texts, textless = _tasks_with_texts(asked)
        self.texts |= texts
        self.alone |= textless - texts

    @property
    def facts(self) -> TaskFacts:
        return TaskFacts(frozenset(self.mixed), frozenset(self.texts))

    def is_contradicted(self, mixed: Set[str]) -> bool:
        """Whether something taken for granted is wrong, ``mixed`` being the tasks with other options in any file."""
        return bool(self.in_words & mixed or self.alone & self.texts)


def batch_facts(asked: pa.RecordBatch, policy: ReadingPolicy) -> TaskFacts:
    """Facts of one batch alone."""
    seen = BatchFacts()
    seen.add(asked, policy)
    return seen.facts


def is_by_row(asked: pa.RecordBatch, policy: ReadingPolicy) -> bool:
    """Whether no row of a batch is read otherwise for the rows beside it.

    Options of its tasks are all of one kind, and no response has a score and no text.
    """
    in_words, mixed = tasks_by_options(asked, policy)
    return not (in_words and mixed) and not _tasks_with_texts(asked)[1]


def _tasks_with_texts(asked: pa.RecordBatch) -> tuple[set[str], set[str]]:
    """Tasks with a response that has a text, and tasks with one that has a score and no text."""
    names = asked.schema.names
    tasks = asked.column("task") if "task" in names else pa.array([""] * asked.num_rows, pa.string())
    tasks = pc.fill_null(tasks, "")
    if "output" not in names:
        given = pa.array([False] * asked.num_rows)
    elif asked.column("output").null_count == 0:
        return set(pc.unique(tasks).to_pylist()), set()
    else:
        given = pc.is_valid(asked.column("output"))
    scored = pa.array([False] * asked.num_rows)
    for name in SCORES:
        if name in names:
            scored = pc.or_(scored, pc.is_valid(asked.column(name)))
    texts = set(pc.unique(tasks.filter(given)).to_pylist())
    return texts, set(pc.unique(tasks.filter(pc.and_not(scored, given))).to_pylist())
