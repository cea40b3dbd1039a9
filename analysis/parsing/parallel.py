"""Answers of many batches read by several processes, in the order of the batches.

Small inputs are read in this process: starting others takes about a second. So are all inputs where other
processes cannot be started, or would run the caller's script again.
"""

import multiprocessing
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pyarrow as pa

from analysis.parsing.answers import asked_columns, read_answers, read_columns, with_readings
from analysis.parsing.policy import ReadingPolicy, TaskFacts
from analysis.parsing.task_facts import BatchFacts, is_by_row

#: Rows after which reading in several processes pays.
MIN_ROWS: Final = 200_000
PROCESSES: Final = 2
#: Rows sent at a time, and batches on their way at once: enough to keep the processes busy, few enough for memory.
_ROWS_SENT: Final = 16_384
_AHEAD: Final = 3
#: Programs whose start is guarded, so that a new process may import them.
_GUARDED: Final = ("evenhand", "evenhand.exe", "evenhand-script.py")


class AnswerReader:
    """Reads batches one after another; a context manager that ends its processes.

    Parameters
    ----------
    policy : ReadingPolicy
    processes : int
        How many to start; 0 or 1 reads in this process.
    min_rows : int
        Rows read in this process before others are started.

    Notes
    -----
    The result does not depend on the number of processes: every batch is read alone, and given back in order.
    """

    def __init__(self, policy: ReadingPolicy, *, processes: int = PROCESSES, min_rows: int = MIN_ROWS) -> None:
        self._policy = replace(
            policy,
            synonyms={key: tuple(words) for key, words in policy.synonyms.items()},
            kinds=dict(policy.kinds),
            labels=tuple(policy.labels),
        )
        self._processes = processes if _may_start_processes() else 1
        self._min_rows, self._rows = min_rows, 0
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def read(
        self, batches: Iterable[pa.RecordBatch], *, facts: TaskFacts | None = None, seen: BatchFacts | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Batches with their answers read, as ``read_answers`` gives them; large ones come in slices.

        Parameters
        ----------
        batches : iterable of RecordBatch
            Those of one file.
        facts : TaskFacts, optional
            What is known of the tasks; by default every slice is read by what it shows itself.
        seen : BatchFacts, optional
            Is told what the slices show.
        """
        policy = replace(self._policy, facts=facts)
        waiting: deque[tuple[pa.RecordBatch, Future[bytes] | None]] = deque()
        try:
            for batch in _slices(batches):
                self._rows += batch.num_rows
                if seen is not None:
                    seen.add(asked_columns(batch), policy)
                waiting.append((batch, self._sent(batch, policy)))
                while waiting and (waiting[0][1] is None or len(waiting) > self._processes * _AHEAD):
                    yield self._received(*waiting.popleft(), policy)
            while waiting:
                yield self._received(*waiting.popleft(), policy)
        finally:
            for _, future in waiting:
                if future is not None:
                    future.cancel()

    def is_by_row(self, batch: pa.RecordBatch) -> bool:
        """Whether the rows of a batch may be those of several files, because none is read by what stands beside it."""
        return is_by_row(asked_columns(batch), self._policy)

    def _sent(self, batch: pa.RecordBatch, policy: ReadingPolicy) -> "Future[bytes] | None":
        """The reading of a batch by another process; None where this one is to read it."""
        if self._processes < 2 or self._rows <= self._min_rows:
            return None
        try:
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(self._processes, mp_context=context)
            return self._pool.submit(_read_message, _message(asked_columns(batch)), policy)
        except (BrokenProcessPool, OSError):
            self._give_up()
            return None

    def _received(self, batch: pa.RecordBatch, future: "Future[bytes] | None", policy: ReadingPolicy) -> pa.RecordBatch:
        if future is None:
            return read_answers(batch, policy)
        try:
            return with_readings(batch, _batch(future.result()))
        except BrokenProcessPool:
            self._give_up()
            return read_answers(batch, policy)

    def _give_up(self) -> None:
        """Read everything in this process from here on: the system started or kept no other."""
        self._processes = 1
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _read_message(message: bytes, policy: ReadingPolicy) -> bytes:
    return _message(read_columns(_batch(message), policy))


def _message(batch: pa.RecordBatch) -> bytes:
    """A batch as an Arrow stream: pickling would send the whole of what it is a slice of."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _batch(message: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(message) as stream:
        return stream.read_next_batch()


def _slices(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_SENT):
            yield batch.slice(start, _ROWS_SENT)


def _may_start_processes() -> bool:
    """Whether a new process can be started without running a script of the user's a second time."""
    if multiprocessing.parent_process() is not None:
        return False
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    return file is None or getattr(main, "__spec__", None) is not None or Path(file).name in _GUARDED
