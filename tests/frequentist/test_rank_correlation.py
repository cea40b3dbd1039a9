"""Correlations against scipy, exact p-values against all orders written out, intervals against their formulas."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.errors import AnalysisError
from analysis.frequentist.rank_correlation import KINDS, correlation, replicate_correlations

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
SMALL = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=5)


def rng() -> np.random.Generator:
    return np.random.default_rng(17)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(pairs=SMALL)
def test_estimate_and_exact_p_with_ties(kind: str, pairs: list[tuple[int, int]]) -> None:
    """All orders written out: catches one-sided counts and ranks without ties."""
    x, y = np.array(pairs, float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return
    found = correlation(x, y, rng=rng(), kind=kind)
    assert found.estimate == pytest.approx(SCIPY[kind](x, y).statistic, abs=1e-12)
    values = [SCIPY[kind](x, y[list(order)]).statistic for order in permutations(range(len(y)))]
    assert found.p_value == pytest.approx(np.mean(np.abs(values) >= abs(found.estimate) - 1e-10))
    assert 0 < found.p_value <= 1
    assert found.p_method == "exact"


def test_exact_p_by_hand() -> None:
    """Order 1234 against 1243: of 24 orders, tau = 1 once, 2/3 three times, -2/3 three times, -1 once."""
    assert correlation([1, 2, 3, 4], [1, 2, 4, 3], rng=rng(), kind="kendall").p_value == pytest.approx(8 / 24)
    assert correlation([1, 2, 3, 4], [1, 2, 3, 4], rng=rng(), kind="kendall").p_value == pytest.approx(2 / 24)


@pytest.mark.parametrize("n", [6, 8, 9])
def test_exact_kendall_is_scipys(n: int) -> None:
    source = np.random.default_rng(n)
    x, y = source.normal(size=(2, n))
    theirs = stats.kendalltau(x, y, method="exact")
    assert correlation(x, y, rng=rng(), kind="kendall").p_value == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_exact_p_is_scipys_over_all_pairings(kind: str) -> None:
    x, y = np.random.default_rng(3).integers(0, 5, (2, 6)).astype(float)

    def statistic(v: np.ndarray) -> float:
        return float(SCIPY[kind](v, y).statistic)

    theirs = stats.permutation_test((x,), statistic, permutation_type="pairings", n_resamples=np.inf)
    both = np.mean(np.abs(theirs.null_distribution) >= abs(theirs.statistic) - 1e-10)
    assert correlation(x, y, rng=rng(), kind=kind).p_value == pytest.approx(both, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_p_agrees_with_the_asymptotic_one(kind: str) -> None:
    source = np.random.default_rng(4)
    x = source.normal(size=40)
    y = 0.3 * x + source.normal(size=40)
    found = correlation(x, y, rng=rng(), kind=kind)
    assert found.p_method == "permutation"
    assert found.p_value == pytest.approx(SCIPY[kind](x, y).pvalue, abs=0.01)


def test_intervals_by_their_formulas() -> None:
    source = np.random.default_rng(5)
    x = source.normal(size=28)
    y = x + source.normal(size=28)
    pearson = correlation(x, y, rng=rng(), kind="pearson")
    theirs = stats.pearsonr(x, y).confidence_interval(0.95)
    np.testing.assert_allclose([pearson.ci_low, pearson.ci_high], [theirs.low, theirs.high], rtol=1e-9)
    r = correlation(x, y, rng=rng(), kind="spearman")
    reach = 1.959964 * np.sqrt((1 + r.estimate**2 / 2) / 25)
    assert r.ci_high == pytest.approx(np.tanh(np.arctanh(r.estimate) + reach), rel=1e-6)
    tau = correlation(x, y, rng=rng(), kind="kendall")
    assert tau.ci_low == pytest.approx(np.tanh(np.arctanh(tau.estimate) - 1.959964 * np.sqrt(0.437 / 24)), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_order_of_objects_and_exchange_of_sides(kind: str) -> None:
    source = np.random.default_rng(6)
    x, y = np.round(source.normal(size=(2, 20)), 1)
    shuffled = source.permutation(20)
    found = correlation(x, y, rng=rng(), kind=kind)
    assert correlation(x[shuffled], y[shuffled], rng=rng(), kind=kind).p_value == found.p_value
    assert correlation(y, x, rng=rng(), kind=kind).estimate == pytest.approx(found.estimate)
    assert correlation(x, -y, rng=rng(), kind=kind).ci_low == pytest.approx(-found.ci_high)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([1, 1, 1, 1], [1, 2, 3, 4], "first measure is the same"),
        ([1, 2, 3, 4], [0.1] * 4, "second measure is the same"),
        ([1, 2, np.nan], [1, 2, 3], "2 objects"),
        ([1, 2, 3], [1, 3, 2], "too few for an interval"),
        ([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12], "perfect"),
    ],
)
def test_degenerate_input_has_a_reason(x: list[float], y: list[float], reason: str) -> None:
    found = correlation(x, y, rng=rng(), kind="pearson")
    assert reason in found.reason
    assert np.isnan(found.ci_low)


@pytest.mark.parametrize("kind", KINDS)
def test_replicates_are_correlated_one_by_one(kind: str) -> None:
    x, y = np.random.default_rng(7).integers(0, 6, (2, 5, 9)).astype(float)
    expected = [SCIPY[kind](a, b).statistic for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(replicate_correlations(x, y, kind=kind), expected)
    assert np.isnan(replicate_correlations(np.ones((1, 9)), y[:1], kind=kind)).all()


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(AnalysisError, match="kind"):
        correlation([1, 2, 3], [1, 2, 3], rng=rng(), kind="gamma")
