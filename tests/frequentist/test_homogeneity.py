"""Range of level means beside its null: least squares, permutations against enumeration, degenerate input."""

from itertools import permutations, product

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import f as f_distribution
from scipy.stats import f_oneway, ncf, studentized_range
from statsmodels.stats.contingency_tables import cochrans_q
from statsmodels.stats.oneway import anova_oneway

from analysis.errors import AnalysisError
from analysis.frequentist.denoised import denoised_range, denoised_sd
from analysis.frequentist.homogeneity import homogeneity
from analysis.frequentist.level_wald import cochran_q, hotelling, welch
from analysis.frequentist.studentised_range import expected_range, range_probability, range_quantile


def rng() -> np.random.Generator:
    return np.random.default_rng(13)


def incomplete(seed: int = 2, shape: tuple[int, int] = (20, 4)) -> np.ndarray:
    source = np.random.default_rng(seed)
    values = source.normal(size=shape) + source.normal(size=(shape[0], 1)) + np.arange(shape[1]) * 0.2
    values[source.random(shape) < 0.25] = np.nan
    return values


@pytest.mark.parametrize(("k", "printed"), [(2, 1.128), (3, 1.693), (5, 2.326), (7, 2.704), (10, 3.078), (25, 3.931)])
def test_expected_range_is_the_control_chart_constant(k: int, printed: float) -> None:
    """d2 as printed in tables of control charts (Montgomery, Statistical Quality Control, appendix VI)."""
    assert round(expected_range(k), 3) == printed


@pytest.mark.parametrize("k", [2, 5, 12])
def test_range_distribution_is_scipys(k: int) -> None:
    width = np.array([0.5, 2.0, 4.0])
    np.testing.assert_allclose(range_probability(width, k), studentized_range.cdf(width, k, np.inf), atol=1e-8)
    assert range_quantile(0.95, k) == pytest.approx(studentized_range.ppf(0.95, k, np.inf), abs=1e-6)


def test_largest_of_several_ranges() -> None:
    """The larger of two ranges of two normals, by simulation; one range is the plain one."""
    z = np.random.default_rng(1).standard_normal((400_000, 2, 2))
    assert expected_range(2, largest_of=2) == pytest.approx(np.abs(z[..., 0] - z[..., 1]).max(axis=1).mean(), abs=0.005)
    assert range_quantile(0.95, 5, largest_of=29) == pytest.approx(range_quantile(0.95 ** (1 / 29), 5))


def test_complete_design_by_the_definition() -> None:
    """Level means, MSE of double-centred values and F: catches a main effect of units left in the error."""
    y = np.random.default_rng(3).normal(size=(30, 5)) + np.random.default_rng(4).normal(0, 3, (30, 1))
    found = homogeneity(y, rng=rng(), permutations=500)
    off = y - y.mean(1, keepdims=True) - y.mean(0) + y.mean()
    mse = (off**2).sum() / (29 * 4)
    np.testing.assert_allclose(found.means, y.mean(axis=0))
    assert found.std_error == pytest.approx(np.sqrt(mse / 30))
    assert found.statistic == pytest.approx(30 * y.mean(0).var(ddof=1) / mse)
    assert found.null_range == pytest.approx(expected_range(5) * np.sqrt(mse / 30))
    assert found.null_range_permuted == pytest.approx(found.null_range, rel=0.2)


def test_incomplete_design_is_least_squares_with_units_as_blocks() -> None:
    y = incomplete()
    unit, level = np.nonzero(~np.isnan(y))
    one_hot = np.concatenate([np.eye(len(y))[unit], np.eye(4)[level][:, 1:]], axis=1)
    full = sm.OLS(y[unit, level], one_hot).fit()
    reduced = sm.OLS(y[unit, level], one_hot[:, : len(y)]).fit()
    found = homogeneity(y, rng=rng(), permutations=200)
    np.testing.assert_allclose(found.means[1:] - found.means[0], full.params[-3:], atol=1e-10)
    assert found.statistic == pytest.approx(full.compare_f_test(reduced)[0])
    assert found.df == full.df_resid


def test_permutation_p_value_against_all_permutations() -> None:
    """5 units x 3 levels: 6^5 arrangements enumerated; catches labels permuted over units."""
    y = np.round(np.random.default_rng(5).normal(size=(5, 3)) + np.array([0, 0.4, 0.9]), 1)
    ranges = []
    for arrangement in product(permutations(range(3)), repeat=5):
        means = np.mean([row[list(order)] for row, order in zip(y, arrangement, strict=True)], axis=0)
        ranges.append(np.ptp(means))
    exact = np.mean(np.array(ranges) >= np.ptp(y.mean(axis=0)) - 1e-12)
    found = homogeneity(y, rng=rng())
    assert found.p_value == pytest.approx(exact, abs=4 * found.mc_error)
    assert found.null_range_permuted == pytest.approx(np.mean(ranges), rel=0.01)


def test_permutations_keep_to_the_levels_that_a_unit_has() -> None:
    """Units with levels (0, 1) or (1, 2) or all: enumerated over the orders of each unit's own values."""
    y = np.array([[0.1, 0.9, np.nan], [np.nan, 0.2, 0.7], [0.3, 0.4, 0.8], [0.0, 0.5, np.nan]])
    orders = [list(permutations(np.flatnonzero(~np.isnan(row)))) for row in y]
    stats = []
    for arrangement in product(*orders):
        z = np.full_like(y, np.nan)
        for i, order in enumerate(arrangement):
            z[i, np.flatnonzero(~np.isnan(y[i]))] = y[i, list(order)]
        stats.append(homogeneity(z, rng=rng(), permutations=1).estimate)
    observed = homogeneity(y, rng=rng(), permutations=20_000)
    exact = np.mean(np.array(stats) >= observed.estimate - 1e-12)
    assert observed.p_value == pytest.approx(exact, abs=4 * observed.mc_error)


def test_units_of_one_level_each_are_exchanged_as_wholes() -> None:
    source = np.random.default_rng(6)
    level, value = np.arange(40) % 4, source.normal(size=40)
    y = np.full((40, 4), np.nan)
    y[np.arange(40), level] = value + 0.3 * level
    found = homogeneity(y, rng=rng())
    groups = [y[level == k, k] for k in range(4)]
    assert found.design == "between"
    assert found.statistic == pytest.approx(f_oneway(*groups).statistic)
    np.testing.assert_allclose(found.means, [g.mean() for g in groups])
    assert found.p_q == pytest.approx(f_oneway(*groups).pvalue, abs=0.03)
    units = source.permutation(40)
    assert homogeneity(y[units], rng=rng()).p_value == found.p_value
    w, reference = welch(y[np.arange(40), level], level), anova_oneway(groups, use_var="unequal")
    assert (w.statistic, w.p_value) == (pytest.approx(reference.statistic), pytest.approx(reference.pvalue))


def test_units_with_one_level_are_set_aside_where_others_have_more() -> None:
    y = np.array([[0.1, 0.9], [0.3, 0.2], [np.nan, 0.7], [np.nan, np.nan]])
    found = homogeneity(y, rng=rng(), permutations=100)
    assert (found.design, found.n_clusters, found.n_set_aside) == ("within", 2, 1)


def test_q_is_cochrans_and_so_is_the_chi_squared_form() -> None:
    y = np.random.default_rng(7).integers(0, 2, (40, 4)).astype(float)
    reference = cochrans_q(y)
    assert homogeneity(y, rng=rng(), permutations=100).q == pytest.approx(reference.statistic)
    assert cochran_q(y).statistic == pytest.approx(reference.statistic)
    assert cochran_q(y).p_value == pytest.approx(reference.pvalue)


def test_hotelling_of_two_levels_is_the_squared_paired_t() -> None:
    y = np.random.default_rng(8).normal(size=(25, 2))
    d = y[:, 0] - y[:, 1]
    test = hotelling(y)
    assert test.statistic == pytest.approx((d.mean() / (d.std(ddof=1) / 5)) ** 2)
    assert (test.df, test.df_error) == (1, 24)
    z = np.random.default_rng(9).normal(size=(25, 4))
    rotated = hotelling(z[:, [2, 0, 3, 1]])
    assert rotated.p_value == pytest.approx(hotelling(z).p_value), "which level is the reference must not matter"


def test_limits_of_the_denoised_sd_invert_the_noncentral_f() -> None:
    f, mse, n, df1, df2 = 3.7, 0.02, 80, 4, 316
    estimate, low, high = denoised_sd(f, mse, n, df1, df2)
    assert estimate == pytest.approx(np.sqrt(2.7 * 0.02 / 80))
    for limit, probability in ((low, 0.975), (high, 0.025)):
        assert ncf.cdf(f, df1, df2, n * df1 * limit**2 / mse) == pytest.approx(probability, abs=1e-8)
    assert f_distribution.cdf(0.1, df1, df2) < 0.025, "so small that both limits are 0"
    assert denoised_sd(0.1, mse, n, df1, df2)[1:] == (0, 0)
    assert denoised_range(0.05, 0.04**2) == pytest.approx(0.03)
    assert denoised_range(0.03, 0.04**2) == 0


def test_common_permutations_give_the_largest_range_of_all_models() -> None:
    """29 equal models move together: their largest range is one model's. Independent ones: that of 29 ranges."""
    source = np.random.default_rng(10)
    same = np.repeat(source.normal(size=(1, 60, 5)), 29, axis=0)
    found = homogeneity(same, rng=rng(), permutations=2000)
    assert found.largest_null[0] == pytest.approx(found.null_range_permuted[0], rel=1e-9)
    different = homogeneity(source.normal(size=(29, 60, 5)), rng=rng(), permutations=2000)
    expected = expected_range(5, largest_of=29) / expected_range(5) * different.null_range.mean()
    assert different.largest_null[0] == pytest.approx(expected, rel=0.05)


def test_order_of_units_and_names_of_levels_do_not_matter() -> None:
    y = np.round(np.random.default_rng(11).normal(size=(30, 4)), 1)
    source = np.random.default_rng(12)
    units, levels = source.permutation(30), source.permutation(4)
    found, moved = homogeneity(y, rng=rng()), homogeneity(y[units][:, levels], rng=rng())
    for name in ("p_value", "p_q", "null_range_permuted", "denoised_range"):
        assert getattr(found, name) == pytest.approx(getattr(moved, name), rel=1e-12), name
    np.testing.assert_allclose(found.means[levels], moved.means)
    y[source.random(y.shape) < 0.2] = np.nan
    found, moved = homogeneity(y, rng=rng()), homogeneity(y[units], rng=rng())
    assert found.p_value == moved.p_value


@pytest.mark.parametrize(
    ("y", "reason"),
    [
        (np.full((3, 2), np.nan), "no unit has a value"),
        ([[0.1, np.nan], [0.4, np.nan]], "one level only"),
        ([[0.1, np.nan], [np.nan, 0.4]], "one unit per level"),
        ([[0.1, 0.2, np.nan, np.nan], [np.nan, np.nan, 0.4, 0.5]] * 3, "never compared"),
        (np.full((4, 3), 0.1), "no value differs"),
        ([[0.1, 0.3]] * 4, "no error to set a range against"),
    ],
)
def test_degenerate_designs_have_reasons(y: np.ndarray, reason: str) -> None:
    found = homogeneity(y, rng=rng(), permutations=50)
    assert reason in str(found.reason)
    assert np.isnan(found.denoised_sd)
    assert not found.p_value <= 0


def test_cross_checks_say_when_they_are_undefined() -> None:
    assert "4 or more" in hotelling(np.random.default_rng(1).normal(size=(3, 4))).reason
    assert "same in all units" in hotelling([[1, 2], [2, 3], [3, 4]]).reason
    assert "differ" in cochran_q([[1, 1], [0, 0]]).reason
    assert "one unit only" in welch([1, 2, 3], [0, 0, 1]).reason
    with pytest.raises(AnalysisError, match="0 or 1"):
        cochran_q([[0.5, 1]])
    with pytest.raises(AnalysisError, match="levels"):
        homogeneity([1.0, 2.0], rng=rng())


def test_denoised_range_holds_the_denoised_sd() -> None:
    """Catches a range of .034 beside a standard deviation of .070: five levels on six units tell nothing of noise."""
    sparse = np.full((6, 5), np.nan)
    sparse[np.arange(6), [0, 1, 2, 3, 4, 0]] = [0.68, 0.70, 0.56, 0.55, 0.59, 0.67]
    found = homogeneity(sparse, rng=rng(), permutations=300)
    assert "too few units" in str(found.reason)
    assert np.isnan([found.denoised_range, found.denoised_sd, found.denoised_high]).all()
    assert 0 < found.p_value <= 1
    for seed in range(30):
        source = np.random.default_rng(seed)
        y = np.full((12, 4), np.nan)
        y[np.arange(12), np.arange(12) % 4] = source.normal(size=12) + np.array([0, 1, 1, 2])[np.arange(12) % 4]
        found = homogeneity(y, rng=rng(), permutations=200)
        assert found.denoised_range >= found.denoised_sd * 2 * np.sqrt(3 / 4) * (1 - 1e-9)
