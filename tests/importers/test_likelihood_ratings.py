"""Tests of reading likelihood ratings: on the scale of the log, many runs per item."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import likelihood_ratings
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.schema.store import open_store
from analysis.schema.study import Study


def row(number: int = 0, **changes: Any) -> dict[str, Any]:
    found = {
        "UID": 11,
        "run": f"Response_{number}",
        "answer": 20.0,
        "summary": None,
        "finish_reason": "end_turn",
        "reasoning_token_count": 10,
        "original_id": 662,
        "premise": "It rained.",
        "hypothesis": "The street is wet.",
        "asks-for": "effect",
        "hard_label": 1,
    }
    return found | changes


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def read(path: Path):
    assert likelihood_ratings.sniff(probe(path)) is Claim.LOG
    records = list(likelihood_ratings.read(path, ReadOptions(path.parent)))
    return [r for record in records for r in record.responses], [n for record in records for n in record.notes]


def test_ratings_stay_on_their_scale(tmp_path):
    """Catches rescaling by guess, and a label read as an answer."""
    found, notes = read(write(tmp_path / "owl-1_reasoning_effort_low.jsonl", row(), row(1, answer=85)))
    assert [(r.model, r.strategy, r.item, r.unit, r.sample, r.probability, r.truth) for r in found] == [
        ("owl-1", "reasoning_effort_low", "11", "662", "Response_0", 20.0, 1.0),
        ("owl-1", "reasoning_effort_low", "11", "662", "Response_1", 85.0, 1.0),
    ]
    assert (found[0].tokens_reasoning, found[0].extra["meta.premise"], found[0].gold) == (10, "It rained.", None)
    assert notes == [likelihood_ratings.FILE_MODEL, likelihood_ratings.AS_LOGGED]


def test_two_efforts_of_a_model_are_two_conditions(tmp_path):
    """Catches response keys that collide: the files share their ids and runs."""
    for effort in ("low", "high"):
        write(tmp_path / f"owl-1_reasoning_effort_{effort}.jsonl", row(answer=40 if effort == "low" else 60))
    study = Study(probability_scale="percent")
    take_in([tmp_path], study, IntakeSettings(), tmp_path / "store.parquet")
    with open_store(tmp_path / "store.parquet") as con:
        found = con.execute("SELECT strategy, probability, status FROM responses ORDER BY 1").fetchall()
    assert found == [("reasoning_effort_high", 0.6, "answered"), ("reasoning_effort_low", 0.4, "answered")]


@pytest.mark.parametrize(("answer", "status"), [(None, "unparsed"), (float("nan"), "unparsed"), (True, "unparsed")])
def test_what_is_no_rating_is_not_zero(tmp_path, answer, status):
    (found,), notes = read(write(tmp_path / "owl.jsonl", row(answer=answer)))
    assert (found.probability, found.status, found.model, found.strategy) == (None, status, "owl", None)
    assert likelihood_ratings.NO_RATING in notes


def test_a_rating_in_words_is_left_to_the_reader(tmp_path):
    (found,), _ = read(write(tmp_path / "owl.jsonl", row(answer="about 70")))
    assert (found.probability, found.output, found.status) == (None, "about 70", None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(row()) + "\n" + json.dumps(row(UID=None)), 'x.jsonl:2: is no rating: it lacks "UID"'),
        (json.dumps(row()) + "\n3", "x.jsonl:2: is no rating"),
        (json.dumps(row())[:-5], "cut off"),
    ],
)
def test_damage_is_an_error_with_its_line(tmp_path, text, reason):
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(LogError, match=reason):
        list(likelihood_ratings.read(tmp_path / "x.jsonl", ReadOptions(tmp_path)))


def test_what_others_write_is_not_claimed(tmp_path):
    path = write(tmp_path / "x.jsonl", {"UID": 1, "run": "a", "answer": 3})
    assert likelihood_ratings.sniff(probe(path)) is Claim.NO
