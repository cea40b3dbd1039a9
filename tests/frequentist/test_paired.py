"""Clustered paired changes: identities with McNemar and GEE, intervals, two crossed facets, the ladder of units."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import beta, binom, ttest_1samp

from analysis.errors import AnalysisError
from analysis.frequentist.level_wald import cochran_q
from analysis.frequentist.mcnemar import mcnemar
from analysis.frequentist.paired import obuchowski
from analysis.frequentist.paired_intervals import odds_ratio, odds_ratio_by_unit, paired_difference
from analysis.frequentist.two_way import two_way_test
from analysis.frequentist.unit_ladder import leave_one_out, unit_ladder


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def clustered(units: int = 30, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit of each pair, and right answers on either side."""
    source = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), source.integers(3, 9, units))
    lean = source.normal(0, 1, units)[unit]
    first = source.random(len(unit)) < 1 / (1 + np.exp(-0.4 - lean))
    second = source.random(len(unit)) < 1 / (1 + np.exp(-lean * 0.5))
    return unit, first.astype(float), second.astype(float)


def by_unit(unit: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.bincount(unit, values)


def test_one_pair_a_unit_is_mcnemar() -> None:
    d = np.array([1.0] * 14 + [-1.0] * 5 + [0.0] * 20)
    test, plain = obuchowski(d, np.abs(d)), mcnemar(14, 5)
    assert test.statistic**2 == pytest.approx(plain.statistic, rel=1e-12)
    assert test.p_value == pytest.approx(plain.p_chi2, rel=1e-9)
    assert test.deff == 1.0
    assert test.statistic_inflated == pytest.approx(plain.statistic * 38 / 39)


def test_cochrans_q_of_two_levels_is_mcnemar() -> None:
    _, first, second = clustered()
    b, c = int(((first == 1) & (second == 0)).sum()), int(((first == 0) & (second == 1)).sum())
    q = cochran_q(np.stack([first, second], axis=1))
    assert q.statistic == pytest.approx(mcnemar(b, c).statistic, rel=1e-12)


def test_centred_form_is_the_t_test_of_unit_sums_and_the_gee_wald_statistic() -> None:
    """GEE, identity link, independence: z^2 of the difference = centred z^2 * G / (G - 1), equal unit sizes."""
    source = np.random.default_rng(3)
    d = source.choice([-1.0, 0.0, 1.0], (25, 6), p=[0.2, 0.5, 0.3])
    test = obuchowski(d.sum(axis=1), np.abs(d).sum(axis=1))
    t = ttest_1samp(d.sum(axis=1), 0)
    assert test.statistic_centred == pytest.approx(t.statistic, rel=1e-12)
    assert test.p_centred == pytest.approx(t.pvalue, rel=1e-9)
    first, second = (d > 0).astype(float), (d < 0).astype(float)
    frame = pd.DataFrame(
        {"y": np.concatenate([first.ravel(), second.ravel()]), "unit": np.tile(np.repeat(range(25), 6), 2)}
    )
    side = np.repeat([1.0, 0.0], d.size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.GEE(frame["y"], sm.add_constant(side), groups=frame["unit"], family=sm.families.Gaussian()).fit()
    assert float(fit.tvalues.iloc[1]) == pytest.approx(float(test.statistic_centred) * np.sqrt(25 / 24), rel=1e-6)


def test_obuchowski_by_hand() -> None:
    """Units with b - c = 3, -1, 2 of 3, 1, 4 discordant pairs: z = 4 / sqrt 14, deff = 14 / 8."""
    test = obuchowski([3, -1, 2, np.nan], [3, 1, 4, 0])
    assert test.estimate == 4
    assert test.statistic == pytest.approx(4 / np.sqrt(14))
    assert test.deff == pytest.approx(14 / 8)
    assert (test.n_clusters, test.df) == (3, 2)


@pytest.mark.parametrize(
    ("d", "n", "p", "reason"),
    [
        ([np.nan], [0], np.nan, "no unit has pairs"),
        ([0, 0], [0, 0], 1.0, "no pair differs"),
        ([0, 0], [2, 2], 1.0, "cancel"),
        ([2], [2], np.nan, "one unit only"),
        ([1, 1], [1, 1], 0.157, "changed alike"),
    ],
)
def test_degenerate_changes_are_defined(d: list[float], n: list[float], p: float, reason: str) -> None:
    test = obuchowski(d, n)
    assert reason in str(test.reason)
    np.testing.assert_allclose(np.round(test.p_value, 3), p)


def test_a_net_change_larger_than_its_pairs_is_refused() -> None:
    with pytest.raises(AnalysisError, match="cannot exceed"):
        obuchowski([3], [2])


def test_difference_of_proportions_and_its_error() -> None:
    """Equal unit sizes: the error is that of the unit means; the interval holds the estimate and is not symmetric."""
    source = np.random.default_rng(5)
    first, second = source.binomial(6, 0.9, 40), source.binomial(6, 0.8, 40)
    found = paired_difference(np.full(40, 6), first, second)
    d = (first - second) / 6
    assert found.estimate == pytest.approx(d.mean())
    assert found.std_error == pytest.approx(d.std(ddof=1) / np.sqrt(40))
    assert found.p_value == pytest.approx(ttest_1samp(d, 0).pvalue)
    assert found.df == pytest.approx(39)
    assert found.ci_low < found.estimate < found.ci_high
    mirrored = paired_difference(np.full(40, 6), second, first)
    np.testing.assert_allclose([mirrored.ci_low, mirrored.ci_high], [-found.ci_high, -found.ci_low])


def test_difference_without_variation_has_an_interval_and_no_test() -> None:
    found = paired_difference(np.full(30, 2), np.full(30, 2), np.full(30, 2))
    assert found.estimate == 0
    assert found.ci_low < 0 < found.ci_high
    assert np.isnan(found.p_value)
    assert "same in all units" in str(found.reason)


def test_exact_odds_ratio_is_clopper_pearson_on_the_odds() -> None:
    found = odds_ratio(15, 6, method="exact")
    low, high = beta.ppf(0.025, 15, 7), beta.ppf(0.975, 16, 6)
    np.testing.assert_allclose([found.ci_low, found.ci_high], [low / (1 - low), high / (1 - high)], rtol=1e-9)
    assert found.estimate == 2.5


@pytest.mark.parametrize(("b", "c"), [(15, 6), (150, 86), (3, 20), (0, 7)])
def test_mid_p_limits_invert_the_mid_p_test(b: int, c: int) -> None:
    """At a limit, each tail with half of the observed outcome holds 2.5 %: catches limits of the exact test."""
    found, n = odds_ratio(b, c), b + c
    for limit, upper in ((found.ci_low, False), (found.ci_high, True)):
        if limit == 0:
            continue
        share = limit / (1 + limit)
        tail = binom.cdf(b - 1, n, share) if upper else binom.sf(b, n, share)
        assert tail + binom.pmf(b, n, share) / 2 == pytest.approx(0.025, abs=1e-9)


def test_odds_ratio_without_changes_on_a_side() -> None:
    upward, none = odds_ratio(4, 0), odds_ratio(0, 0)
    assert np.isnan(upward.estimate)
    assert np.isnan(upward.ci_high)
    assert "no upper limit" in upward.reason
    assert (odds_ratio(0, 4).estimate, odds_ratio(0, 4).ci_low) == (0.0, 0.0)
    assert none.p_value == 1.0
    assert np.isnan(none.ci_low)
    by = odds_ratio_by_unit([1, 2], [0, 0])
    assert np.isnan(by.ci_high)
    assert "no upper limit" in by.reason


def test_clustered_odds_ratio_against_the_delta_method() -> None:
    """The variance of log(b / c) by numerical derivatives of the unit totals."""
    source = np.random.default_rng(6)
    b, c = source.poisson(2, 40), source.poisson(1, 40)
    found = odds_ratio_by_unit(b, c)
    gradient = np.array([1 / b.sum(), -1 / c.sum()])
    variance = 40 * gradient @ np.cov(b, c) @ gradient
    assert found.std_error == pytest.approx(np.sqrt(variance), rel=1e-12)
    swapped = odds_ratio_by_unit(c, b)
    assert swapped.estimate == pytest.approx(1 / found.estimate)
    assert swapped.ci_low == pytest.approx(1 / found.ci_high)
    # Without clustering 1/b + 1/c: with one pair a unit the two nearly agree.
    single = odds_ratio_by_unit([1] * 60 + [0] * 30, [0] * 60 + [1] * 30)
    assert single.std_error == pytest.approx(np.sqrt((1 / 60 + 1 / 30) * 90 / 89), rel=1e-12)


def by_pairs_of_rows(d: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Two-way variance of the mean as a sum over pairs of rows, each facet with its own factor."""
    off = np.outer(d - d.mean(), d - d.mean())
    same_a, same_b = a[:, None] == a, b[:, None] == b
    cells = len(np.unique(a * 1000 + b))

    def part(same: np.ndarray, levels: int) -> float:
        return levels / (levels - 1) * (off * same).sum() / len(d) ** 2

    v = [part(same_a, len(np.unique(a))), part(same_b, len(np.unique(b))), part(same_a & same_b, cells)]
    return max(v[0] + v[1] - v[2], v[0], v[1])


def test_two_way_variance_by_pairs_of_rows() -> None:
    source = np.random.default_rng(7)
    a, b = source.integers(0, 12, 300), source.integers(0, 15, 300)
    d = source.choice([-1.0, 0.0, 1.0], 300, p=[0.2, 0.5, 0.3]) * (source.random(12) < 0.8)[a]
    test = two_way_test(d, a, b)
    assert test.std_error == pytest.approx(np.sqrt(by_pairs_of_rows(d, a, b)), rel=1e-12)
    assert (test.df, test.n_levels) == (11, (12, 15))
    swapped = two_way_test(d, b, a)
    assert swapped.p_value == pytest.approx(test.p_value, rel=1e-12)


def test_two_way_says_when_a_facet_is_too_small() -> None:
    test = two_way_test([1, 0, -1, 1] * 10, ["x", "y"] * 20, np.arange(40))
    assert np.isnan(test.p_value)
    assert "2 and 40 levels" in test.reason
    assert two_way_test([], [], []).reason == "no pair"


def test_ladder() -> None:
    """Rows, units and facets see one net change; its design effect grows with the clustering."""
    source = np.random.default_rng(8)
    model, item = np.repeat(np.arange(14), 40), np.tile(np.arange(40), 14)
    lean = source.normal(0, 1.5, 14)[model]
    d = np.where(source.random(560) < 0.4, np.where(source.random(560) < 1 / (1 + np.exp(-lean)), 1, -1), 0)
    rungs = unit_ladder(d, {"item": item, "model": model}, rng=rng(), two_way=("model", "item"))
    assert [r.unit for r in rungs] == ["rows", "item", "model", "model × item"]
    assert {r.estimate for r in rungs} == {float(d.sum())}
    assert rungs[0].p_value == mcnemar(int((d > 0).sum()), int((d < 0).sum())).p_value
    assert (rungs[2].n_clusters, rungs[1].n_clusters) == (14, 40)
    assert rungs[2].deff > 3 > rungs[1].deff
    assert rungs[2].p_value > rungs[0].p_value
    shuffle = source.permutation(560)
    again = unit_ladder(
        d[shuffle], {"item": item[shuffle], "model": model[shuffle]}, rng=rng(), two_way=("model", "item")
    )
    assert [r.p_value for r in again] == pytest.approx([r.p_value for r in rungs], rel=1e-12)


def test_ladder_of_averaged_changes_has_no_rows_test() -> None:
    rungs = unit_ladder([0.5, -0.25, 1.0], {"item": ["a", "b", "c"]}, rng=rng())
    assert np.isnan(rungs[0].p_value)
    assert "between 0 and 1" in rungs[0].reason
    assert rungs[1].p_value == 4 / 8


def test_leaving_out_the_model_that_carries_the_change() -> None:
    model, item = np.repeat(["a", "b", "c"], 20), np.tile(np.arange(20), 3)
    d = np.where(model == "b", 1, 0)
    left = leave_one_out(d, model, item, rng=rng())
    assert [(x.level, x.net, x.share) for x in left] == [("a", 0, 0), ("b", 20, 1), ("c", 0, 0)]
    assert left[1].p_value == 1.0
    assert left[0].p_value < 0.001


def test_ladder_refuses_what_does_not_fit() -> None:
    with pytest.raises(AnalysisError, match="one label a pair"):
        unit_ladder([1, 0], {"item": [1]}, rng=rng())
    with pytest.raises(AnalysisError, match=r"\[-1, 1\]"):
        unit_ladder([2], {"item": [1]}, rng=rng())
    with pytest.raises(AnalysisError, match="units lack"):
        unit_ladder([1], {"item": [1]}, rng=rng(), two_way=("item", "model"))
