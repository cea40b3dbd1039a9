"""Order of models: by hand, over shared questions, and no surer than the data."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.frequentist.equivalence import agreed_decision
from analysis.frequentist.fitted_line import fitted_line
from analysis.frequentist.leaderboard import leaderboard, pass_estimates

RNG = np.random.default_rng


def items(scores: dict[str, np.ndarray], *, per_unit: int = 1) -> pd.DataFrame:
    rows = [
        {"model": m, "item": f"q{i:03d}", "unit": f"u{i // per_unit:03d}", "score": s}
        for m, values in scores.items()
        for i, s in enumerate(values)
    ]
    return pd.DataFrame(rows)


def board(table, **options):
    return leaderboard(table, rng=RNG(0), resamples=1000, flips=1000, **options)


def test_means_order_and_differences_by_hand():
    """Catches scores thresholded at 1, and a difference with the wrong sign."""
    found = board(items({"a": np.array([0.5, 1, 0.25, 1]), "b": np.array([0.5, 0, 0.25, 0.5])})).set_index("model")
    assert list(found.index) == ["a", "b"]
    assert found["estimate"].tolist() == [0.6875, 0.3125]
    assert found.loc["b", "difference"] == pytest.approx(0.375)
    assert np.isnan(found.loc["a", "difference"])
    assert found["rank"].tolist() == [1, 2]
    assert found["family_size"].tolist() == [1, 1]


def test_differences_rest_on_shared_questions():
    """Catches a model that skipped hard questions compared over all of them."""
    full = np.r_[np.zeros(20), np.ones(20)]
    table = items({"a": full, "b": full})
    table = table[~((table["model"] == "b") & (table["score"] == 0))]
    found = board(table).set_index("model")
    assert found.loc["b", "estimate"] == 1
    assert found.loc["a", "difference"] == 0
    assert (found.loc["a", "n_shared"], found.loc["a", "n_unshared"]) == (20, 20)


def test_equal_models_are_not_ordered_and_units_are_counted():
    """Catches rank limits from questions instead of units: ten questions of a unit are answered alike."""
    rng = RNG(1)
    by_unit = {m: np.repeat((rng.random(30) < 0.6).astype(float), 10) for m in "abcd"}
    found = board(items(by_unit, per_unit=10))
    assert (found["n_clusters"] == 30).all()
    assert (found["rank_high"] - found["rank_low"]).min() >= 1
    single = board(items({m: v[::10] for m, v in by_unit.items()}))
    widths = [(t["ci_high"] - t["ci_low"]).to_numpy() for t in (found, single)]
    np.testing.assert_allclose(widths[0], widths[1], rtol=0.02)


def test_false_claims_are_rare_with_equal_models():
    """Catches p-values of single questions where units decide: of 60 boards of two equal models few reject."""
    rejected = 0
    for seed in range(60):
        rng = RNG(seed)
        ease = rng.normal(0, 2, 25)
        eta = ease + rng.normal(0, 1.5, (2, 25))
        right = (rng.random((2, 25, 8)) < 1 / (1 + np.exp(-eta))[..., None]).astype(float)
        table = items({"a": right[0].ravel(), "b": right[1].ravel()}, per_unit=8)
        found = leaderboard(table, rng=rng, resamples=50, flips=200)
        rejected += (found["p_value"] <= 0.05).sum()
    # Nominal 3 of 60; three binomial standard errors are 5.
    assert rejected <= 8


def test_pass_at_k_by_hand():
    """Catches questions with too few samples counted as failures."""
    table = pd.DataFrame(
        {"model": "a", "item": ["x", "y", "z"], "unit": ["x", "y", "z"], "n_samples": [4, 4, 1], "n_right": [1, 0, 1]}
    )
    found = pass_estimates(table, (1, 2)).set_index("measure")
    assert found.loc["pass_at_1", "estimate"] == pytest.approx((0.25 + 0 + 1) / 3)
    assert found.loc["pass_at_2", "estimate"] == pytest.approx((0.5 + 0) / 2)
    assert found.loc["pass_at_2", "n"] == 2


def test_fitted_line_by_hand():
    """Catches a band for single points instead of the mean, and a line through equal x."""
    x, y = np.array([0.0, 1, 2, 3]), np.array([1.0, 3, 2, 5])
    found = fitted_line(x, y, [1.5])
    slope, intercept = np.polyfit(x, y, 1)
    assert (found.slope, found.intercept) == (pytest.approx(slope), pytest.approx(intercept))
    residual = ((y - intercept - slope * x) ** 2).sum() / 2
    assert found.high[0] - found.fit[0] == pytest.approx(4.302653 * np.sqrt(residual / 4), rel=1e-6)
    with pytest.raises(AnalysisError, match="different x"):
        fitted_line([1, 1], [0, 1], [1])


def test_different_agrees_with_interval_and_adjusted_p():
    """Catches "different" beside an interval that reaches the bound, or a p-value that shows nothing."""
    said = agreed_decision(
        ["difference", "difference", "difference", "equivalent", "not tested", "undecided"],
        ci_low=[0.03, 0.01, 0.03, -0.01, 0.5, -0.4],
        ci_high=[0.10, 0.10, 0.10, 0.01, 0.9, -0.03],
        p_adjusted=[0.01, 0.01, 0.06, 0.5, np.nan, 0.01],
        rope=0.02,
    )
    assert said.tolist() == ["difference", "undecided", "undecided", "equivalent", "not tested", "difference"]
