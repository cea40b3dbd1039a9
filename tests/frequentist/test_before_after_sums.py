"""Paired tests from sums by unit: the same as from the responses where these are the same."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.frequentist.before_after_sums import NO_UNIT, STRATIFIED, before_after_of_sums


def sums(accuracy: float, seed: int, *, units: int = 25, first: int = 0, model: str = "m") -> pd.DataFrame:
    """Two responses per unit and class."""
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(first, first + units):
        for cell in ("gold_yes", "gold_no"):
            k = int(rng.binomial(2, accuracy))
            yes = k if cell == "gold_yes" else 2 - k
            rows.append(
                {"task": "t", "model": model, "cell": cell, "stratum": "", "unit": f"u{unit}", "k": k, "y": yes}
            )
    table = pd.DataFrame(rows)
    whole = table.assign(
        n_planned=2, n_answered=2, n_uncertain=0, n_set_aside=0, n_yes=table["y"], n_correct=table["k"]
    )
    right = dict.fromkeys(("w_correct", "w_correct_answered"), whole["n_correct"] * 1.0)
    weights = dict(w_scored=2.0, w_answered=2.0, w_uncertain=0.0, w_yes=whole["n_yes"] * 1.0)
    return whole.assign(**right, **weights)


def paired(before: pd.DataFrame, after: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    found = before_after_of_sums(before, after, uncertain="incorrect", rng=np.random.default_rng(1))
    return found.rows.set_index("measure"), found.dropped


def test_the_difference_and_its_error_are_those_of_the_units() -> None:
    """Catches before minus after, and a standard error of unpaired sides."""
    before, after = sums(0.6, 1), sums(0.8, 2)
    rows, dropped = paired(before, after)
    by_unit = [side.groupby("unit")["k"].sum() / 4 for side in (before, after)]
    change = by_unit[1] - by_unit[0]
    row = rows.loc["balanced_accuracy"]
    assert row["estimate"] == pytest.approx(change.mean())
    assert row["std_error"] == pytest.approx(change.std(ddof=1) / np.sqrt(len(change)))
    assert (dropped, row["n_clusters"]) == (0, 25)


def test_sides_are_joined_by_unit_in_any_order_and_others_are_counted() -> None:
    """Catches units joined by place, and silent loss."""
    before, after = sums(0.6, 1), sums(0.8, 2, first=5)
    rows, dropped = paired(before, after)
    assert (dropped, rows.loc["answer_bias", "n_clusters"]) == (10, 20)
    shuffled = paired(before.sample(frac=1, random_state=1), after.sample(frac=1, random_state=2))[0]
    pd.testing.assert_frame_equal(rows, shuffled)


def test_identical_sides_are_unchanged_and_impossible_ones_have_a_reason() -> None:
    """Catches a p-value for no change at all, and a test across strata that were weighted."""
    same = sums(0.7, 1)
    assert paired(same, same)[0]["identical"].all()
    with pytest.raises(AnalysisError, match=NO_UNIT):
        paired(same, sums(0.7, 1, first=100))
    with pytest.raises(AnalysisError, match=STRATIFIED):
        paired(same.assign(stratum=np.arange(len(same)) % 2), same)
