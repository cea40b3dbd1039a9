"""Graded scores by question: means, what has none, and scales that are no share."""

import pytest

from analysis.errors import AnalysisError
from analysis.reduction.cells import item_counts
from analysis.reduction.scores import item_accuracies, item_scores, model_costs
from analysis.schema.study import Study


def row(model: str, item: str, score: float | None, **more) -> dict:
    status = "answered" if score is not None else "unparsed"
    return {"model": model, "item": item, "unit": item[0], "score_value": score, "status": status} | more


ROWS = [
    row("m", "a1", 0.25, tokens_out=10, latency=1.0), row("m", "a1", 0.75, sample="1", tokens_out=30),
    row("m", "a2", 1.0), row("m", "b1", None), row("k", "a1", 0.5), row("k", "b1", 1.0, excluded="left out"),
]  # fmt: skip


def test_means_by_hand(analysed, design):
    """Catches replies without a score counted as 0, excluded rows counted, samples weighing as questions."""
    found = item_scores(analysed(ROWS), design(kind="score")).set_index(["model", "item"])
    assert found.loc[("m", "a1"), "score"] == 0.5
    assert found.loc[("m", "a1"), "n_samples"] == 2
    assert found.loc[("m", "a2"), "n_right"] == 1
    assert found.loc[("m", "b1"), "n_set_aside"] == 1
    assert found["score"].isna().sum() == 1
    assert ("k", "b1") not in found.index


def test_scores_outside_a_share_are_refused(analysed, design):
    """Catches points of 10 averaged as if they were shares."""
    with pytest.raises(AnalysisError, match=r"scores run from 0\.25 to 7"):
        item_scores(analysed([*ROWS, row("m", "c1", 7.0)]), design(kind="score"))
    with pytest.raises(AnalysisError, match="no response has a score"):
        item_scores(analysed([row("m", "a1", None)]), design(kind="score"))


def test_costs_by_hand(analysed, design):
    """Catches costs of responses that have none averaged as 0, and columns that no log has."""
    found = model_costs(analysed(ROWS), design(kind="score")).set_index("model")
    assert list(found.columns) == ["tokens_out", "latency"]
    assert (found.loc["m", "tokens_out"], found.loc["m", "latency"]) == (20, 1)


def test_accuracies_by_treatment(analysed, design):
    """Catches a treatment that is ignored, or samples that weigh as questions."""
    rows = [
        {"model": "m", "item": "a", "gold": "B", "status": "answered", "answer": "B"},
        {"model": "m", "item": "a", "gold": "B", "status": "unparsed", "sample": "1"},
        {"model": "m", "item": "b", "gold": "A", "status": "answered", "answer": "B"},
    ]
    counts = item_counts(analysed(rows), design(kind="choice"), Study())
    for treatment, score in (("incorrect", 0.5), ("excluded", 1.0), ("half", 0.75)):
        assert item_accuracies(counts, treatment)["score"].tolist() == [score, 0]


def test_conditions_keep_questions_apart(analysed, design):
    """Catches scores under two strategies averaged into one where the strategies are compared."""
    rows = [
        row("m", "a1", 0.25, strategy="cot"), row("m", "a1", 0.75, strategy="plain"),
        row("m", "a1", 0.25, strategy="plain", sample="1"),
    ]  # fmt: skip
    found = item_scores(analysed(rows), design(kind="score", conditions=("strategy",)), by=("strategy",))
    assert found.set_index("strategy")["score"].to_dict() == {"cot": 0.25, "plain": 0.5}
    binary = [row("m", "a1", 1.0, strategy="cot"), row("m", "a1", 0.0, strategy="plain")]
    counts = item_counts(analysed(binary), design(kind="score", conditions=("strategy",)), Study())
    split = item_accuracies(counts, "incorrect", by=("strategy",)).set_index("strategy")["score"]
    assert split.to_dict() == {"cot": 1.0, "plain": 0.0}
