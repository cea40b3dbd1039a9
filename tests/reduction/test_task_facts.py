"""What the rows of a task decide together does not depend on which rows came first, or in one batch."""

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.parsing import parallel
from analysis.parsing.answers import ReadingPolicy, read_answers
from analysis.parsing.parallel import AnswerReader
from analysis.parsing.policy import TaskFacts
from analysis.parsing.task_facts import BatchFacts
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.schema.store import open_store
from analysis.schema.study import Study

YES_NO, OTHERS = json.dumps(["Yes", "No"]), json.dumps(["red", "blue", "green"])
SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("model", "task", "item", "sample", "gold", "output", "meta.choices")]
    + [("logged_score", pa.string()), ("score_value", pa.float64()), ("probability", pa.float64())]
)


def row(
    item: str, task: str, gold: str, output: str | None, choices: str | None = None, **values: Any
) -> dict[str, Any]:
    return {
        "model": "m",
        "task": task,
        "item": item,
        "sample": "0",
        "gold": gold,
        "output": output,
        "meta.choices": choices,
        **values,
    }


#: A task whose options are all yes and no, one where some are, one with texts and blanks, one with scores alone.
ROWS = (
    *(row(f"w{n}", "words", "A" if n % 2 else "B", ("A", "No", None)[n % 3], YES_NO) for n in range(5)),
    *(row(f"x{n}", "mixed", "A", ("A", "B")[n % 2], YES_NO if n else OTHERS) for n in range(4)),
    row("t0", "texts", "yes", "Yes."),
    *(row(f"t{n}", "texts", "yes", None, probability=0.9) for n in range(1, 4)),
    *(row(f"s{n}", "scores", "yes", None, logged_score="1", score_value=1.0) for n in range(3)),
)
POLICY = ReadingPolicy(kinds={"scores": "judgement"})


def batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def read(batches: list[pa.RecordBatch]) -> dict[str, tuple[Any, ...]]:
    """Readings by item of the batches of one file, read again where the first reading took something for granted."""
    seen, facts = BatchFacts(), None
    with AnswerReader(POLICY) as reader:
        found = list(reader.read(batches, seen=seen))
        if seen.is_contradicted(seen.mixed):
            facts = TaskFacts(frozenset(seen.mixed), frozenset(seen.texts))
            found = list(reader.read(batches, facts=facts))
    rows = [line for part in found for line in part.to_pylist()]
    return {line["item"]: (line["answer"], line["gold"], line["rule"], line["status"]) for line in rows}


EXPECTED = read([batch(list(ROWS))])


def test_the_rows_of_one_batch_are_read_as_declared() -> None:
    """Catches readings that agree with each other and are all wrong: worked by hand."""
    assert EXPECTED["w0"] == ("yes", "no", "exact", "answered")
    assert EXPECTED["w1"] == ("no", "yes", "exact", "answered")
    assert EXPECTED["w2"] == (None, "no", "empty", "unparsed")
    assert EXPECTED["x0"] == ("A", "A", "exact", "answered")
    assert EXPECTED["x1"] == ("B", "A", "exact", "answered")
    assert EXPECTED["t1"] == (None, "yes", "empty", "unparsed")
    assert EXPECTED["s0"] == (None, "yes", "not_read", "answered")


@settings(max_examples=150, deadline=None)
@given(order=st.permutations(range(len(ROWS))), cuts=st.sets(st.integers(1, len(ROWS) - 1), max_size=6))
def test_neither_order_nor_batches_change_a_reading(order: list[int], cuts: set[int]) -> None:
    """Catches a decision taken per batch: letters folded in one and kept in the next, a blank beside no text."""
    bounds = [0, *sorted(cuts), len(ROWS)]
    parts = [[ROWS[at] for at in order[start:end]] for start, end in itertools.pairwise(bounds)]
    assert read([batch(part) for part in parts]) == EXPECTED


def test_facts_of_other_tasks_and_of_other_files_decide_nothing() -> None:
    """Catches scores without texts set aside as blank because another task, or another file, has texts."""
    scores = [line for line in ROWS if line["task"] == "scores"]
    beside = [line for line in ROWS if line["task"] == "texts"]
    found = read_answers(batch([*scores, *beside]), POLICY).to_pylist()
    assert [line["status"] for line in found if line["task"] == "scores"] == ["answered"] * 3


@pytest.mark.parametrize("slice_rows", [1, 2, 3, 1000])
def test_an_import_is_the_same_however_its_rows_are_sliced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slice_rows: int
) -> None:
    """Catches an import that forgets to read again, also where another file shows what a task's options are."""
    monkeypatch.setattr(parallel, "_ROWS_SENT", slice_rows)
    logs = tmp_path / "logs"
    logs.mkdir()
    lines = [{k: v for k, v in line.items() if v is not None and k != "score_value"} for line in ROWS]
    head, rest = lines[:7], lines[7:]
    for name, part in (
        ("a.jsonl", [{**line, "model": "other"} for line in rest]),
        ("b.jsonl", lines),
        ("c.jsonl", head),
    ):
        renamed = [{**line, "model": "third"} if name == "c.jsonl" else line for line in part]
        (logs / name).write_text("\n".join(map(json.dumps, renamed)))
    study = Study(kinds={"scores": "judgement"})
    intake = take_in([logs], study, IntakeSettings(), tmp_path / "store")
    with open_store(intake.store) as con:
        rows = con.execute("SELECT item, model, answer, gold, rule, status FROM responses ORDER BY ALL").fetchall()
    assert len(rows) == intake.rows == len(rest) + len(lines) + len(head)
    for item, _, *found in rows:
        assert tuple(found) == EXPECTED[item] or item in ("t1", "t2", "t3")
    by_model = {(item, model): tuple(found) for item, model, *found in rows}
    assert by_model["x1", "third"] == EXPECTED["x1"], "another file shows the third option"
    assert by_model["t1", "m"] == EXPECTED["t1"]
