"""The held-out corpus: texts by another hand, never used to tune the rules. Only shares and kinds are shown.

Failures name the kinds and how many, never the texts, so that nobody is led to write rules for them.
"""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from analysis.parsing.answers import ReadingPolicy, read_answers

HERE = Path(__file__).parent / "held_out"
#: Reached at the last measurement (docs/reading_answers.md); a change may raise these, and must not fall below them.
REACHED = {"yes_no": 0.97, "choice": 0.97, "probability": 0.985}
GOLD = {"yes_no": "yes", "choice": "A", "probability": None}


class Result(NamedTuple):
    """One record: kind of text, whether an answer was expected and found, and whether they agree."""

    kind: str
    expected: bool
    found: bool
    right: bool


@cache
def results(reader: str) -> tuple[Result, ...]:
    lines = (HERE / f"{reader}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_result(reader, json.loads(line)) for line in lines)


def _result(reader: str, record: dict[str, Any]) -> Result:
    choices = record.get("options")
    columns = {
        "model": "m",
        "item": "i",
        "task": "t",
        "gold": GOLD[reader],
        "output": record["output"],
        "prompt": record.get("prompt"),
        "meta.stop_reason": record.get("stop_reason"),
        "meta.choices": None if choices is None else json.dumps(choices),
    }
    batch = pa.RecordBatch.from_pydict({name: pa.array([value], pa.string()) for name, value in columns.items()})
    kinds = {"t": "probability"} if reader == "probability" else {}
    row = read_answers(batch, ReadingPolicy(synonyms=record.get("synonyms") or {}, kinds=kinds)).to_pylist()[0]
    found, expected = row.get("probability" if reader == "probability" else "answer"), record["expected"]
    if reader == "probability" and None not in (found, expected):
        return Result(record["kind"], True, True, abs(found - expected) < 1e-9)
    return Result(record["kind"], expected is not None, found is not None, found == expected)


@pytest.mark.parametrize("reader", ["yes_no", "choice"])
def test_no_held_out_text_is_read_as_another_answer(reader: str) -> None:
    """Catches the worst mistake on texts that the rules were not written for."""
    assert Counter(r.kind for r in results(reader) if r.expected and r.found and not r.right) == Counter()


@pytest.mark.parametrize("reader", sorted(REACHED))
def test_the_share_read_right_does_not_fall(reader: str) -> None:
    """Catches a rule that serves the texts at hand and costs others."""
    found = results(reader)
    share = sum(r.right for r in found) / len(found)
    assert share >= REACHED[reader], Counter(r.kind for r in found if not r.right)


def test_the_corpus_is_as_large_as_it_was() -> None:
    """Catches a corpus that was cut, or not found."""
    assert {reader: len(results(reader)) for reader in REACHED} == {"yes_no": 337, "choice": 77, "probability": 77}
