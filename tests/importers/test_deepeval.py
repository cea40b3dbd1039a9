"""Tests of reading DeepEval test runs: a row per test case, the judge is not the model."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import deepeval
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions


def case(**changes: Any) -> dict[str, Any]:
    found = {
        "name": "test_case_0",
        "input": "Is it red?",
        "actualOutput": "yes",
        "expectedOutput": " no ",
        "success": False,
        "metricsData": [
            {"name": "Correct", "score": 0.0, "success": False, "evaluationModel": "judge-1"},
            {"name": "Tone", "score": 0.5, "success": True},
        ],
        "additionalMetadata": {"polarity": "negated", "set": "a"},
    }
    return found | changes


@pytest.fixture
def read(tmp_path: Path):
    def run(document: Any, scorer: str | None = None):
        path = tmp_path / ".latest_test_run.json"
        path.write_text(json.dumps(document))
        assert deepeval.sniff(probe(path)) is Claim.LOG
        records = list(deepeval.read(path, ReadOptions(tmp_path, scorer=scorer)))
        return [r for record in records for r in record.responses], [n for record in records for n in record.notes]

    return run


@pytest.mark.parametrize("outer", [True, False])
def test_a_run_and_the_run_alone_give_the_same_rows(read, outer):
    """Catches one of the two layouts lost, and the judge named as the model."""
    run = {"testCases": [case()], "metricsScores": [{"metric": "Correct", "scores": [0.0, 1.0]}]}
    (row,), _ = read({"testRunData": run} if outer else run)
    assert (row.model, row.output, row.gold, row.prompt) == ("unknown", "yes", "no", "Is it red?")
    assert (row.logged_score, row.score_value, row.extra["score.Tone"]) == ("0.0", 0.0, "0.5")
    assert (row.extra["meta.judge.Correct"], row.extra["meta.success"], row.polarity) == ("judge-1", "false", "negated")


def test_pairing_is_by_input_and_repeats_are_samples(read):
    """Catches names, which are positions, taken for items."""
    found, _ = read({"testCases": [case(), case(name="test_case_1"), case(input="Is it blue?")], "metricsScores": []})
    assert [r.sample for r in found] == ["0", "1", "0"]
    assert found[0].item == found[1].item != found[2].item


@pytest.mark.parametrize(
    ("metric", "note"),
    [
        ({"name": "Correct", "score": None, "error": "judge failed"}, "failed: its judge gave no score"),
        ({"name": "Correct"}, "has no score: the row is unscored"),
        ({"name": "Correct", "score": float("nan")}, "is no score, kept as missing"),
    ],
)
def test_a_metric_without_a_score_leaves_the_row_unscored(read, metric, note):
    """Catches a judge that failed counted as a wrong answer."""
    (row,), notes = read({"testCases": [case(metricsData=[metric])], "metricsScores": []})
    assert (row.score_value, row.status, row.output) == (None, None, "yes")
    assert any(note in text for text in notes)


def test_the_metric_asked_for_is_the_score(read):
    (row,), _ = read({"testCases": [case()], "metricsScores": []}, scorer="Tone")
    assert (row.logged_score, row.extra["score.Correct"]) == ("0.5", "0.0")


def test_the_model_that_the_user_logged_is_the_model(read):
    (row,), notes = read({"testCases": [case()], "metricsScores": [], "hyperparameters": {"model": "acme/owl"}})
    assert row.model == "acme/owl"
    assert any("hyperparameters.model" in note for note in notes)


def test_conversations_are_rows_of_their_last_reply(read):
    turns = [{"role": "user", "content": "Red?"}, {"role": "assistant", "content": "Yes"}]
    found, notes = read(
        {"testCases": [], "conversationalTestCases": [{"name": "c", "turns": turns}], "metricsScores": []}
    )
    assert [(r.output, r.logged_score) for r in found] == [("Yes", None)]
    assert any("several turns" in note for note in notes)


@pytest.mark.parametrize(
    ("document", "claim"),
    [
        ({"testRunLink": "https://x"}, Claim.REFUSED),
        ({"test_cases_lookup_map": {}}, Claim.COMPANION),
        ({"testCases": [{"a": 1}]}, Claim.NO),
        ({"testRuns": []}, Claim.NO),
    ],
)
def test_links_caches_and_strangers(tmp_path, document, claim):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    assert deepeval.sniff(probe(path)) is claim


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"testRunLink": "https://x"}, "only a link to results in the cloud"),
        ({"testRunData": {"testCases": []}}, "no test cases"),
        ({"testRunData": {"testCases": {}}}, "are no list"),
        ({"testRunData": {"testCases": [3]}}, "test case 1 is no JSON object"),
        ([], "no test cases"),
    ],
)
def test_damage_is_an_error_with_its_reason(tmp_path, document, reason):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    with pytest.raises(LogError, match=reason):
        list(deepeval.read(path, ReadOptions(tmp_path)))
