"""Tests of reading votes on syllogisms: two labels per item, several votes, interrupted runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import syllogism_votes
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions

HEADER = {"model": "owl-1", "strategy": "zero_shot", "temperature": 0.5, "timestamp": "2025-12-01T16:26:25"}


def result(*votes: str, **changes: Any) -> dict[str, Any]:
    """Votes on a valid, unbelievable syllogism."""
    found = {
        "syllogism_id": "SYL_001",
        "variant": "N",
        "model_key": "owl-1",
        "temperature": 0.5,
        "prompting_strategy": "zero_shot",
        "ground_truth_syntax": "valid",
        "ground_truth_NLU": "unbelievable",
        "predicted": "correct",
        "confidence": 1.0,
        "raw_responses": [{"iteration": n, "response": v, "vote": v} for n, v in enumerate(votes, start=1)],
    }
    return found | changes


@pytest.fixture
def read(tmp_path: Path):
    def run(results: list[Any], name: str = "owl-1_zero_shot.json", **header: Any):
        path = tmp_path / name
        path.write_text(json.dumps({"metadata": HEADER | header, "results": results}, indent=2))
        assert syllogism_votes.sniff(probe(path)) is Claim.LOG
        records = list(syllogism_votes.read(path, ReadOptions(tmp_path)))
        assert len(records) == len(results)
        return [r for record in records for r in record.responses], [n for record in records for n in record.notes]

    return run


def test_every_vote_is_a_response(read):
    """Catches the majority read as one answer, and gold taken from believability."""
    found, _ = read([result("correct", "incorrect", "correct")])
    assert [(r.answer, r.rule, r.sample, r.output) for r in found] == [
        ("yes", "vote", "1", "correct"),
        ("no", "vote", "2", "incorrect"),
        ("yes", "vote", "3", "correct"),
    ]
    assert {(r.model, r.item, r.unit, r.variant) for r in found} == {("owl-1", "SYL_001_N", "SYL_001", "N")}
    assert {(r.gold, r.validity, r.believability, r.strategy, r.temperature) for r in found} == {
        ("yes", "valid", "unbelievable", "zero_shot", "0.5")
    }
    assert found[0].extra["meta.gold_believability"] == "unbelievable"


@pytest.mark.parametrize(
    ("variant", "believability"), [("N", "unbelievable"), ("O", "unbelievable"), ("X", None), ("OX", None)]
)
def test_nonsense_is_neither_believable_nor_unbelievable(read, variant, believability):
    """Catches nonsense items counted as unbelievable: belief bias and answer bias would be mixed."""
    found, _ = read([result("correct", variant=variant)])
    assert (found[0].variant, found[0].believability) == (variant, believability)
    assert found[0].extra["meta.gold_believability"] == "unbelievable"


def test_words_of_the_older_vocabulary(read):
    found, _ = read([result("valid", "invalid", ground_truth_syntax="invalid")])
    assert [(r.answer, r.gold) for r in found] == [("yes", "no"), ("no", "no")]


def test_votes_that_failed_are_errored_and_unclear_ones_left_to_the_reader(read):
    """Catches a failed call counted as "incorrect"."""
    votes = [
        {"iteration": 1, "response": "", "vote": "error"},
        {"iteration": 2, "response": "ERROR: 429\nretry", "vote": "error"},
        {"iteration": 3, "response": "It depends", "vote": "unclear"},
    ]
    found, _ = read([result(raw_responses=votes)])
    assert [(r.status, r.status_detail, r.answer, r.output) for r in found] == [
        ("errored", "vote: error", None, None),
        ("errored", "ERROR: 429", None, None),
        (None, None, None, "It depends"),
    ]


def test_an_item_that_failed_as_a_whole_is_errored(read):
    failed = {"syllogism_id": "SYL_001", "variant": "O", "model_key": "owl-1", "error": "down", "timestamp": "x"}
    found, _ = read([result("correct"), failed])
    assert [(r.item, r.status, r.status_detail) for r in found] == [
        ("SYL_001_N", None, None),
        ("SYL_001_O", "errored", "down"),
    ]


@pytest.mark.parametrize(
    ("changes", "answer", "status", "rule"),
    [
        ({"correct_count": 6, "incorrect_count": 4}, "yes", None, "majority"),
        ({"correct_count": 5, "incorrect_count": 5, "predicted": "incorrect"}, None, "unparsed", "tie"),
        ({"predicted": "error"}, None, "errored", None),
        ({"predicted": "unclear"}, None, "unparsed", "majority"),
    ],
)
def test_without_single_votes_the_majority_is_one_response(read, changes, answer, status, rule):
    """Catches a tie counted as "incorrect", which the harness does."""
    found, notes = read([result(raw_responses=[], **changes)])
    assert [(r.answer, r.status, r.rule) for r in found] == [(answer, status, rule)]
    assert syllogism_votes.MAJORITY in notes


def test_interrupted_runs_say_so(read):
    _, notes = read([result("correct")], "a.partial.json", status="partial", completed_instances=1, total_instances=160)
    assert notes == ["an interrupted run: 1 of 160 syllogisms"]
    _, notes = read([result("correct")], "b.partial.json")
    assert notes == ["an interrupted run"]
    _, notes = read([result("correct")], total_instances=160)
    assert notes == []


@pytest.mark.parametrize(
    "document",
    [
        {"metadata": {}, "results": [{"id": 1}]},
        {"results": [result("correct")]},
        {"metadata": {}, "syllogism_id": 1, "variant": 2},
    ],
)
def test_what_others_write_is_not_claimed(tmp_path, document):
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert syllogism_votes.sniff(probe(tmp_path / "x.json")) is Claim.NO


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"metadata": HEADER, "results": []}, "no results"),
        ({"metadata": HEADER, "results": {}}, "no results"),
        ({"metadata": HEADER, "results": [3]}, "result 1 is no JSON object"),
        ({"metadata": HEADER, "results": [{"variant": "N"}]}, 'result 1 lacks "syllogism_id"'),
        ({"metadata": {}, "results": [{"syllogism_id": 1, "variant": "N"}]}, "names no model"),
        ({"metadata": HEADER, "results": [result(raw_responses=[3])]}, "vote 1 is no JSON object"),
        ({"metadata": HEADER, "results": [result(raw_responses={"a": 1})]}, "raw_responses are no list"),
    ],
)
def test_damage_is_an_error_with_its_reason(tmp_path, document, reason):
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(LogError, match=reason):
        list(syllogism_votes.read(tmp_path / "x.json", ReadOptions(tmp_path)))


def test_a_result_whose_votes_have_another_name_is_refused(read):
    """Catches votes under a key of one's own dropped, and every syllogism counted as unreadable."""
    foreign = result("correct")
    foreign["votes"] = foreign.pop("raw_responses")
    del foreign["predicted"]
    with pytest.raises(LogError, match=r'#1: holds no votes: it has neither "raw_responses".*it has .*"votes"'):
        read([foreign])
