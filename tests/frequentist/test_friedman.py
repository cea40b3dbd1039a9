"""Friedman, Wilcoxon, paired t, all pairs, equivalence: scipy and pingouin as oracles, degenerate input."""

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pandas as pd
import pingouin as pg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from analysis.errors import AnalysisError
from analysis.frequentist.conditions import paired_t
from analysis.frequentist.difference_profile import difference_profile
from analysis.frequentist.effect_sizes import d_av, d_z
from analysis.frequentist.equivalence import equivalence_test
from analysis.frequentist.friedman import friedman_test, nemenyi_test
from analysis.frequentist.multiplicity import benjamini_hochberg, bonferroni, holm
from analysis.frequentist.pairwise import pairwise_differences
from analysis.frequentist.sign_flips import sign_flip_test
from analysis.frequentist.signed_ranks import signed_rank_test


def rng() -> np.random.Generator:
    return np.random.default_rng(23)


@pytest.mark.parametrize("top", [5, 1000])
def test_friedman_statistic_is_scipys_with_and_without_ties(top: int) -> None:
    v = np.random.default_rng(1).integers(0, top, (14, 4)).astype(float)
    found, theirs = friedman_test(v, rng=rng()), stats.friedmanchisquare(*v.T)
    assert found.statistic == pytest.approx(theirs.statistic)
    assert found.p_chi2 == pytest.approx(theirs.pvalue)
    frame = pg.friedman(_long(v), dv="y", within="c", subject="u")
    assert found.estimate == pytest.approx(float(frame["W"].iloc[0]), rel=1e-4)
    by_f = pg.friedman(_long(v), dv="y", within="c", subject="u", method="f")
    column = next(name for name in by_f.columns if name.startswith("p"))
    assert found.p_f == pytest.approx(float(by_f[column].iloc[0]), rel=0.02)


def _long(v: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(v).rename_axis("u").reset_index().melt("u", var_name="c", value_name="y")


@pytest.mark.parametrize("v", [[[1, 2, 3], [2, 1, 3], [1, 3, 2], [1, 2, 3]], [[1, 1, 3], [2, 1, 3], [1, 3, 3]]])
def test_exact_friedman_against_all_orders(v: list[list[float]]) -> None:
    """Every order within every unit: catches sums that forget how many orders lead to them."""
    values = np.array(v, float)
    observed = friedman_test(values, rng=rng())
    assert observed.p_method == "exact"
    w = [
        friedman_test([[row[i] for i in order] for row, order in zip(v, orders, strict=True)], rng=rng()).estimate
        for orders in product(permutations(range(3)), repeat=len(v))
    ]
    assert observed.p_value == pytest.approx(np.mean(np.array(w) >= observed.estimate - 1e-9))


def test_drawn_friedman_is_near_chi_squared() -> None:
    v = np.random.default_rng(2).normal(size=(60, 6)) + np.arange(6) * 0.12
    found = friedman_test(v, rng=rng())
    assert found.p_method == "permutation"
    assert found.p_value == pytest.approx(found.p_chi2, abs=0.01)
    shuffled = np.random.default_rng(3).permutation(60)
    assert friedman_test(v[shuffled], rng=rng()).p_value == found.p_value


def test_nemenyi_is_the_studentised_range() -> None:
    found = nemenyi_test([1.4, 2.0, 2.6], 15)
    width = np.array([0.6, 1.2, 0.6]) / np.sqrt(3 * 4 / (12 * 15))
    np.testing.assert_allclose(found.p_adjusted, stats.studentized_range.sf(width, 3, np.inf), rtol=1e-6)
    # Demsar (2006), table 5: q_.05 = 2.343 for 3 classifiers, CD = q sqrt(k (k + 1) / 6 N).
    assert found.critical_difference == pytest.approx(2.343 * np.sqrt(12 / 90), rel=1e-3)


def test_friedman_degenerate() -> None:
    assert nemenyi_test([np.nan, np.nan], 0).reason == "no unit"
    assert "no unit" in friedman_test([[1, np.nan], [np.nan, 2]], rng=rng()).reason
    assert "tie in every unit" in friedman_test([[1, 1], [2, 2]], rng=rng()).reason
    found = friedman_test([[1, 2], [np.nan, 1], [3, 5]], rng=rng())
    assert (found.n_clusters, found.n_set_aside) == (2, 1)
    with pytest.raises(AnalysisError, match="conditions"):
        friedman_test([1, 2], rng=rng())


def test_wilcoxon_without_ties_is_scipys_exact() -> None:
    d = np.random.default_rng(4).normal(0.3, 1, 18)
    found, theirs = signed_rank_test(d), stats.wilcoxon(d, method="exact")
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(stats.wilcoxon(d, alternative="greater").statistic)
    assert found.effect_size == pytest.approx(float(pg.wilcoxon(d)["RBC"].iloc[0]))


@given(d=st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_wilcoxon_with_ties_and_zeros_is_a_sign_flip_of_ranks(d: list[int]) -> None:
    """All sign patterns of the tied ranks: scipy's exact method refuses these."""
    values = np.array(d, float)
    moved = values[values != 0]
    found = signed_rank_test(values)
    assert found.n_zero == len(values) - len(moved)
    if len(moved):
        ranks = stats.rankdata(np.abs(moved)) * np.sign(moved)
        assert found.p_value == pytest.approx(sign_flip_test(ranks, rng=rng()).p_value, rel=1e-9)
    else:
        assert found.p_value == 1


def test_wilcoxon_approximation_meets_the_exact_distribution() -> None:
    d = np.random.default_rng(5).normal(0.1, 1, 199)
    exact = signed_rank_test(d)
    assert exact.exact
    assert exact.p_value == pytest.approx(stats.wilcoxon(d, method="approx").pvalue, abs=0.002)
    assert not signed_rank_test(np.append(d, [0.01, 0.02])).exact
    assert exact.estimate == pytest.approx(np.median(d), abs=0.15)
    assert np.isnan(signed_rank_test([np.nan]).p_value)


def test_paired_t_and_both_effect_sizes() -> None:
    source = np.random.default_rng(6)
    a, b = source.normal(0.4, 1, (2, 25)) + source.normal(0, 1, 25)
    a[0], b[1] = np.nan, np.nan
    found = paired_t(a, b)
    use = ~np.isnan(a - b)
    theirs = stats.ttest_rel(a[use], b[use])
    low, high = theirs.confidence_interval()
    np.testing.assert_allclose(
        [found.statistic, found.p_value, found.ci_low, found.ci_high], [theirs.statistic, theirs.pvalue, low, high]
    )
    assert (found.n_clusters, found.n_unshared) == (23, 2)
    assert found.d_z == pytest.approx(theirs.statistic / np.sqrt(23))
    assert found.d_av == pytest.approx(pg.compute_effsize(a[use], b[use], paired=True, eftype="cohen"))
    assert found.mean_first - found.mean_second == pytest.approx(found.estimate)


def test_effect_sizes_by_hand() -> None:
    """Differences 1, 2, 3 have sd 1: d_z = 2. Sides with variances 1 and 4: d_av = 2 / sqrt 2.5."""
    assert d_z([3, 6, 9], [2, 4, 6]) == pytest.approx(2)
    assert d_av([2, 4, 6], [1, 2, 3]) == pytest.approx(2 / np.sqrt(2.5))
    assert np.isnan(d_z([1, 2], [0, 1]))
    assert np.isnan(d_z([0.3, 0.4], [0.1, 0.2])), "equal but for rounding"


@pytest.mark.parametrize(
    ("a", "b", "reason"), [([1.0], [np.nan], "no unit"), ([1.0], [0.0], "one unit"), ([1, 2], [0, 1], "same in all")]
)
def test_paired_t_degenerate(a: list[float], b: list[float], reason: str) -> None:
    found = paired_t(a, b)
    assert reason in found.reason
    assert np.isnan(found.p_value)


@pytest.mark.parametrize(("adjust", "by"), [("holm", holm), ("bonferroni", bonferroni)])
def test_all_pairs_adjust_their_sign_flips(adjust: str, by: Callable[[np.ndarray], np.ndarray]) -> None:
    v = np.random.default_rng(7).normal(np.array([0, 0.2, 0.6, np.nan])[:, None], 1, (4, 40))
    v[0, :5] = np.nan
    found = pairwise_differences(v, rng=rng(), adjust=adjust)
    assert found.pairs.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    np.testing.assert_allclose(found.p_adjusted, by(found.p_value))
    assert found.family_size == 3
    assert found.n_clusters.tolist() == [35, 35, 0, 40, 0, 0]
    assert found.n_unshared[0] == 5
    t = paired_t(v[1], v[2])
    assert found.ci_low[3] == pytest.approx(t.ci_low)


def test_pairs_draw_enough_flips_for_their_number() -> None:
    v = np.random.default_rng(8).normal(size=(12, 20))
    found = pairwise_differences(v, rng=rng(), flips=1000)
    assert (found.flips == 26_400).all(), "20 * 66 / .05"
    assert found.resolution.max() * 66 < 0.05


def test_one_model_has_no_pairs_and_two_equal_ones_no_error() -> None:
    for adjust in ("holm", "max_t"):
        assert pairwise_differences([[1.0, 2.0]], rng=rng(), adjust=adjust).family_size == 0
        same = pairwise_differences([[0.1, 0.2], [0.1, 0.2]], rng=rng(), adjust=adjust)
        assert same.p_value[0] == 1
        assert "no unit differs" in same.reason[0]
        assert np.isnan(same.ci_low[0])


def test_simultaneous_limits_and_exploration() -> None:
    v = np.random.default_rng(9).normal(size=(4, 30))
    plain, joint = pairwise_differences(v, rng=rng()), pairwise_differences(v, rng=rng(), adjust="max_t")
    assert (joint.ci_high - joint.ci_low > plain.ci_high - plain.ci_low).all()
    assert joint.ci_method == "max-T simultaneous"
    with pytest.raises(AnalysisError, match="exploratory"):
        pairwise_differences(v, rng=rng(), adjust="benjamini_hochberg")
    found = pairwise_differences(v, rng=rng(), adjust="benjamini_hochberg", exploratory=True)
    np.testing.assert_allclose(found.p_adjusted, benjamini_hochberg(found.p_value))


@given(shift=st.floats(-0.1, 0.1), seed=st.integers(0, 50))
def test_equivalence_is_statsmodels_tost(shift: float, seed: int) -> None:
    a, b = np.random.default_rng(seed).normal(0, 0.1, (2, 20))
    found = paired_t(a + shift, b)
    test = equivalence_test(found.estimate, found.std_error, found.df, rope=(-0.06, 0.08), n_clusters=found.n_clusters)
    p, *_ = ttost_paired(a + shift, b, -0.06, 0.08)
    assert test.p_value == pytest.approx(p, rel=1e-6)
    inside = test.ci_low > -0.06 and test.ci_high < 0.08
    assert inside == (test.p_value < 0.05)
    assert (test.decision == "equivalent") == (test.p_value <= 0.05)


def test_equivalence_decisions() -> None:
    test = equivalence_test([0.0, 0.03, 0.10, 0.0], [0.005, 0.01, 0.02, 0.0], 30, rope=(-0.02, 0.02))
    assert list(test.decision) == ["equivalent", "undecided", "difference", "not tested"]
    assert test.reason[3] == "no standard error"
    with pytest.raises(AnalysisError, match="bounds"):
        equivalence_test(0, 1, 9, rope=(0.02, -0.02))


def test_a_difference_that_few_units_carry_is_flagged() -> None:
    """4 of 80 units carry everything: the mean says + .1, the median 0."""
    d = np.concatenate([np.zeros(76), np.full(4, 2.0)])
    found = difference_profile(d)
    assert (found.median, found.trimmed_mean, found.top_share) == (0, 0, 1)
    assert found.share_below == pytest.approx(76 / 160)
    assert found.skewness == pytest.approx(stats.skew(d))
    assert "few units carry" in found.reason
    even = difference_profile(np.random.default_rng(10).normal(1, 0.5, 80))
    assert even.reason == ""
    assert difference_profile([]).reason == "no unit has a value"
    assert difference_profile(-d).top_share == 1
