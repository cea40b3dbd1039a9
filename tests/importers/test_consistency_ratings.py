"""Tests of reading consistency ratings: JSON inside a JSON string, models in the keys."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import consistency_ratings
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions

TABLE = {
    "details3": [["so it is 10", "7"], ["2", ""]],
    "scores3": [[10.0, 7.0], [2, float("nan")]],
    "details4": [["9"], ["3"]],
    "scores4": [[9.0], [3.0]],
}


def write(path: Path, table: Any, *, twice: bool = True) -> Path:
    text = json.dumps(table)
    path.write_text(json.dumps(text) if twice else text)
    return path


def read(path: Path):
    records = list(consistency_ratings.read(path, ReadOptions(path.parent)))
    return [r for record in records for r in record.responses], [n for record in records for n in record.notes]


def test_replies_and_ratings_stay_together(tmp_path):
    """Catches one decoding too few, items exchanged with samples, and NaN read as 0."""
    path = write(tmp_path / "x.json", TABLE)
    assert consistency_ratings.sniff(probe(path)) is Claim.LOG
    found, notes = read(path)
    assert [(r.model, r.item, r.sample, r.output, r.score_value) for r in found] == [
        ("gpt-3.5", "0", "0", "so it is 10", 10.0),
        ("gpt-3.5", "0", "1", "7", 7.0),
        ("gpt-3.5", "1", "0", "2", 2.0),
        ("gpt-3.5", "1", "1", "", None),
        ("gpt-4", "0", "0", "9", 9.0),
        ("gpt-4", "1", "0", "3", 3.0),
    ]
    assert (found[2].logged_score, found[3].logged_score) == ("2", None)
    assert found[3].source == "x.json#details3[1][1]"
    assert notes == [consistency_ratings.FAMILY, consistency_ratings.PLACES, consistency_ratings.NO_RATING]


def test_other_digits_keep_their_key_as_the_model(tmp_path):
    """Catches a model made up from a digit."""
    found, _ = read(write(tmp_path / "x.json", {"details5": [["1"]], "scores5": [[1]]}))
    assert [r.model for r in found] == ["details5"]


@pytest.mark.parametrize("text", ['{"details3": []}', '"{}"', '"details3"', '["details3"]', '"{\\"other\\": 1}"'])
def test_what_others_write_is_not_claimed(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    assert consistency_ratings.sniff(probe(tmp_path / "x.json")) is Claim.NO


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (TABLE | {"scores3": [[1.0], [2.0, 3.0]]}, '"details3" and "scores3" are not of one length'),
        ({"details3": [["a"]]}, '"scores3" is no list of lists'),
        ({"details3": ["a"], "scores3": [1]}, '"details3" is no list of lists'),
        ({"scores3": [[1]]}, "no replies"),
        ({"details3": [], "scores3": []}, "no replies"),
        ([1], "no replies"),
    ],
)
def test_damage_is_an_error_with_its_reason(tmp_path, table, reason):
    with pytest.raises(LogError, match=reason):
        read(write(tmp_path / "x.json", table))


def test_a_string_that_is_cut_off_inside(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(json.dumps(TABLE)[:-9]))
    with pytest.raises(LogError, match="the JSON inside the string: JSON is cut off"):
        read(path)
