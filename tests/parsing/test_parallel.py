"""Reading in several processes gives what reading in one gives."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pyarrow as pa
import pytest

from analysis.errors import LogError
from analysis.parsing.answers import ReadingPolicy, read_answers
from analysis.parsing.parallel import AnswerReader
from analysis.schema.responses import Response, record_batch

TEXTS = ["Yes.", "No, it does not.", "The answer is valid.", "lol", "", None, "B", "0.4"]


def batches(n: int = 6, rows: int = 40) -> list[pa.RecordBatch]:
    made = []
    for number in range(n):
        responses = [
            Response("m", f"{number}/{at}", gold=("yes", "B", None)[at % 3], output=TEXTS[at % len(TEXTS)])
            for at in range(rows)
        ]
        made.append(record_batch(responses))
    return made


POLICY = ReadingPolicy(synonyms={"yes": ["valid"], "no": ["invalid"]})


def table(found: Iterator[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(list(found))


EXPECTED = pa.Table.from_batches([read_answers(batch, POLICY) for batch in batches()])


def test_two_processes_give_the_rows_of_one_in_their_order() -> None:
    """Catches rows lost, exchanged or read under another policy on the way between processes."""
    with AnswerReader(POLICY, processes=2, min_rows=50) as reader:
        assert table(reader.read(batches())).equals(EXPECTED)
        assert reader._pool is not None
        assert table(reader.read(batches())).equals(EXPECTED)
    assert multiprocessing.active_children() == []


def test_small_inputs_start_no_process() -> None:
    """Catches a second of starting up for every small log."""
    with AnswerReader(POLICY) as reader:
        assert table(reader.read(batches())).equals(EXPECTED)
        assert reader._pool is None


def test_without_other_processes_everything_is_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an import that fails, or loses batches, where the system lets no process start or kills one."""

    class Broken:
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.sent = 0

        def submit(self, *args: Any) -> Any:
            self.sent += 1
            if self.sent > 2:
                raise BrokenProcessPool
            return self

        def result(self) -> Any:
            raise BrokenProcessPool

        def cancel(self) -> None: ...

        def shutdown(self, **kwargs: Any) -> None: ...

    monkeypatch.setattr("analysis.parsing.parallel.ProcessPoolExecutor", Broken)
    with AnswerReader(POLICY, processes=2, min_rows=50) as reader:
        assert table(reader.read(batches())).equals(EXPECTED)


def test_an_error_of_the_log_passes_and_ends_the_processes() -> None:
    """Catches a damaged file that hangs, or whose error is lost among the processes."""

    def damaged() -> Iterator[pa.RecordBatch]:
        yield from batches(3)
        raise LogError("log.jsonl", "damaged", line=121)

    with pytest.raises(LogError, match="damaged"), AnswerReader(POLICY, processes=2, min_rows=50) as reader:
        list(reader.read(damaged()))
    assert multiprocessing.active_children() == []


def test_large_batches_come_in_slices_and_stay_whole() -> None:
    """Catches a slice that is sent with, or answered for, the rows beside it."""
    big = record_batch([Response("m", str(i), gold="yes", output="Yes." if i % 2 else "No.") for i in range(40_000)])
    with AnswerReader(POLICY, processes=2, min_rows=1_000) as reader:
        found = table(reader.read([big]))
    assert found.num_rows == 40_000
    assert found.combine_chunks().equals(pa.Table.from_batches([read_answers(big, POLICY)]))
