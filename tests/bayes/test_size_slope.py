"""Slopes on the logarithm of model size: quadrature against PyMC's density, pooling, gates, degenerate designs."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from analysis.bayes.models.size_slope import pymc_model
from analysis.bayes.size_slope import SlopePriors, _family_lines, _mixture, size_slopes
from analysis.bayes.size_slope_rows import NEW, ONE, THESE, size_slope_rows

PRIORS = SlopePriors()


def lines(
    rng: np.random.Generator, *, families: int, sizes: int, slope: float, spread: float, scatter: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """x, y, standard errors and families of models on lines of known slope."""
    family = np.repeat(np.arange(families), sizes)
    x = np.tile(np.arange(sizes, dtype=float), families) + family
    own = slope + spread * rng.normal(size=families)
    error = np.full(len(x), 0.01)
    level = rng.normal(size=families) * 0.2
    y = level[family] + own[family] * x + rng.normal(size=len(x)) * np.hypot(error, scatter)
    return x, y, error, family


def test_the_quadrature_has_the_density_of_the_pymc_model() -> None:
    """Catches a wrong normalisation in what is integrated out: the joint density, PyMC's own, over the conditional of
    what was integrated is the marginal, up to one constant for all standard deviations."""
    rng = np.random.default_rng(1)
    x, y, error, family = lines(rng, families=3, sizes=4, slope=0.05, spread=0.02, scatter=0.02)
    logp = pymc_model(x, y, error, family, PRIORS).compile_logp(jacobian=True, mode="FAST_COMPILE")
    scatter, spread = np.array([0.01, 0.03, 0.08]), np.array([0.004, 0.02, 0.06])
    slope, variance, log_likelihood = _family_lines(x, y, error, family, scatter)
    mixture = _mixture(slope, variance, log_likelihood, scatter, spread, PRIORS)
    found = []
    for i, sigma in enumerate(scatter):
        for tau in spread:
            b, own = 0.03, np.array([0.02, 0.06, 0.01])
            weight = 1 / (error**2 + sigma**2)
            level = np.array(
                [np.average((y - own[family] * x)[family == f], weights=weight[family == f]) for f in range(3)]
            )
            joint = logp(
                {
                    "slope": b,
                    "slope_spread_log__": np.log(tau),
                    "scatter_log__": np.log(sigma),
                    "level": level,
                    "family_slope": own,
                }
            )
            # Conditionals: levels given slopes, slopes given their mean, their mean.
            given = -0.5 * np.log(2 * np.pi / np.array([weight[family == f].sum() for f in range(3)])).sum()
            kept = tau**2 / (tau**2 + variance[i])
            given += norm.logpdf(own, kept * slope[i] + (1 - kept) * b, np.sqrt(kept * variance[i])).sum()
            precision = 1 / PRIORS.slope_sd**2 + (1 / (tau**2 + variance[i])).sum()
            middle = (slope[i] / (tau**2 + variance[i])).sum() / precision
            given += norm.logpdf(b, middle, precision**-0.5)
            found.append(joint - given)
    difference = np.array(found) - mixture.log_weight
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)


def test_large_families_give_the_least_squares_slopes() -> None:
    """Catches slopes in another unit, or families mixed up: with twenty sizes each a family keeps its own slope."""
    rng = np.random.default_rng(2)
    x, y, error, family = lines(rng, families=3, sizes=20, slope=0.0, spread=0.1, scatter=0.01)
    found = size_slopes(x, y, error, family, PRIORS)
    own = [np.polyfit(x[family == f], y[family == f], 1)[0] for f in range(3)]
    np.testing.assert_allclose(found.median[2:], own, atol=3e-4)
    assert found.median[1] == pytest.approx(np.mean(own), abs=3e-4)
    assert found.problem == ""


def test_levels_of_families_say_nothing_on_slopes() -> None:
    """Catches slopes that take up differences between families: one moved up and to larger sizes changes nothing."""
    x, y, error, family = lines(np.random.default_rng(3), families=3, sizes=4, slope=0.05, spread=0.0, scatter=0.02)
    found = size_slopes(x, y, error, family, PRIORS)
    moved = size_slopes(x + 5.0 * (family == 1), y + 0.4 * (family == 1), error, family, PRIORS)
    np.testing.assert_allclose(moved.median, found.median, atol=1e-9)


def test_order_of_models_does_not_matter() -> None:
    """Catches sums that depend on the order of rows."""
    x, y, error, family = lines(np.random.default_rng(4), families=4, sizes=3, slope=0.05, spread=0.02, scatter=0.02)
    order = np.random.default_rng(5).permutation(len(x))
    found, again = (size_slopes(*(v[o] for v in (x, y, error, family)), PRIORS) for o in (np.arange(len(x)), order))
    np.testing.assert_allclose(again.low, found.low, atol=1e-10)


def test_new_families_vary_more_than_the_mean_of_these() -> None:
    """Catches the interval of the mean over these families passed off as that of families like these."""
    x, y, error, family = lines(np.random.default_rng(6), families=4, sizes=6, slope=0.05, spread=0.08, scatter=0.005)
    found = size_slopes(x, y, error, family, PRIORS)
    assert found.sd[0] > 3 * found.sd[1]
    assert found.p_positive[1] > 0.999
    assert found.spread[0] < found.spread[1]


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Catches intervals that ignore scatter or the spread of slopes: data sets from the priors, 3 MC errors."""
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(200):
        slope = rng.normal() * PRIORS.slope_sd
        spread, scatter = np.abs(rng.normal(size=2)) * [PRIORS.spread_scale, PRIORS.scatter_scale]
        found = size_slopes(*lines(rng, families=4, sizes=4, slope=slope, spread=spread, scatter=scatter), PRIORS)
        inside += found.low[0] < slope < found.high[0]
    assert abs(inside / 200 - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 200)


def test_a_grid_that_does_not_hold_the_posterior_is_a_problem() -> None:
    """Catches numbers from a grid that ends before the data: scatter 40 times the prior's scale."""
    rng = np.random.default_rng(8)
    x, y, error, family = lines(rng, families=3, sizes=30, slope=0.0, spread=0.0, scatter=4.0)
    assert "ends too early" in size_slopes(x, y, error, family, PRIORS).problem


def test_equal_answers_of_all_models_are_defined() -> None:
    """Catches 0 / 0 where every model has the same value without error."""
    x, _, _, family = lines(np.random.default_rng(9), families=2, sizes=3, slope=0.0, spread=0.0, scatter=0.0)
    found = size_slopes(x, np.full(6, 0.5), np.zeros(6), family, PRIORS)
    assert np.isfinite(found.low).all()
    assert found.median[1] == pytest.approx(0.0, abs=1e-9)


def table(family: list[str], size: list[float], *, value: float = 0.5) -> pd.DataFrame:
    """Rows of one measure; values rise by .05 per doubling."""
    return pd.DataFrame(
        {
            "measure": "accuracy",
            "model": [f"m{i}" for i in range(len(family))],
            "family": family,
            "size": size,
            "estimate": value + 0.05 * np.log2(size),
            "std_error": 0.01,
        }
    )


def test_rows_give_the_slope_per_doubling_for_all_and_for_each_family() -> None:
    """Catches slopes per e-fold or per billion, rows of other families, and counts of models that were not used."""
    rows = table(["a"] * 4 + ["b"] * 3 + ["c"], [1, 2, 4, 8, 1, 2, 16, 7])
    rows.loc[len(rows)] = ["accuracy", "x", None, np.nan, 0.4, 0.01]
    found = size_slope_rows(rows)
    assert list(found["scope"]) == [THESE, NEW, ONE, ONE]
    assert list(found["family"]) == ["", "", "a", "b"]
    np.testing.assert_allclose(found["estimate"], 0.05, atol=0.005)
    assert list(found["n_models"]) == [7, 7, 4, 3]
    assert (found["n_left_out"] == 2).all(), "one size in its family, and no family"
    assert (found["p_direction"] > 0.95).all()
    assert (found["second_high"] - found["second_low"] > 0.99 * (found["ci_high"] - found["ci_low"])).all()


def test_a_family_may_have_the_name_of_a_summary() -> None:
    """Catches rows told apart by a name that a family can have: its slope would pass for the mean of all."""
    rows = table([THESE] * 4 + [NEW] * 4 + ["c"] * 4, [1, 2, 4, 8] * 3)
    rows.loc[rows["family"] == THESE, "estimate"] = 0.5 - 0.1 * np.log2(rows["size"])
    found = size_slope_rows(rows)
    assert list(found["scope"]) == [THESE, NEW, ONE, ONE, ONE]
    own = found[(found["scope"] == ONE) & (found["family"] == THESE)]
    assert own["estimate"].item() == pytest.approx(-0.1, abs=0.02)
    assert found["spread"].notna().tolist() == [True, False, False, False, False]
    assert found.loc[found["scope"] == THESE, "estimate"].item() == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize(
    ("family", "size", "reason"),
    [
        (["a"] * 6, [1, 2, 4, 8, 16, 32], "one alone has models of two sizes"),
        (["a", "b", "c"], [1, 2, 4], "none has models of two sizes"),
        (["a", "a", "b", "b", "c", "c"], [1, 2, 1, 2, 1, 2], "6 models in 3 families leave 0"),
    ],
)
def test_designs_without_a_slope_say_why(family: list[str], size: list[float], reason: str) -> None:
    """Catches a slope from one family called pooled, and a scatter that is nothing but its prior."""
    found = size_slope_rows(table(family, size))
    assert len(found) == 1
    assert reason in found["reason"].iloc[0]
    assert "estimate" not in found.columns
