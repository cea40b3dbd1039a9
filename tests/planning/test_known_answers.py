"""Power and sample sizes against published numbers, independent software, and small cases worked by hand."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from statsmodels.stats.power import NormalIndPower, TTestPower

from analysis.planning.assumed import assumed_question
from analysis.planning.assumptions import Assumptions
from analysis.planning.floor_power import floor_power
from analysis.planning.paired_change import change_power, discordant_needed, pairs_needed
from analysis.planning.persistent_power import (
    noise_terms,
    observed_noise_terms,
    persistent_lower_bound,
    persistent_power,
)
from analysis.planning.question import detectable_effect, units_needed
from analysis.planning.range_power import level_std_error, range_below, range_power
from analysis.planning.t_power import critical_value, exceeds, t_test_power
from analysis.planning.unit_errors import (
    class_std_error,
    contrast_std_error,
    design_effect,
    intraclass_correlation,
    rate_std_error,
    template_std_error,
)


@pytest.mark.parametrize(("n", "d"), [(2, 0.5), (5, 0.3), (20, 0.5), (80, 0.3), (4000, 0.05)])
def test_t_power_is_that_of_statsmodels(n: int, d: float) -> None:
    """Catches a central t, a lost second tail, and degrees of freedom that are off by one."""
    for sides, alternative in ((2, "two-sided"), (1, "larger")):
        expected = TTestPower().power(d, n, 0.05, alternative=alternative)
        assert t_test_power(d, 1 / np.sqrt(n), df=n - 1, sides=sides) == pytest.approx(expected, abs=1e-9)


def test_normal_power_and_size_are_those_of_statsmodels() -> None:
    """Catches one standard error for two groups, and a search that stops one unit early or late."""
    error = contrast_std_error(1 / np.sqrt(150), 1 / np.sqrt(150), weights=(1, -1))
    expected = NormalIndPower().power(0.3, 150, 0.05)
    assert float(t_test_power(0.3, error)) == pytest.approx(expected, abs=1e-9)
    question = assumed_question("accuracy", Assumptions(units=50, accuracy=0.5))
    exact = TTestPower().solve_power(0.2 / 0.5, None, 0.05, 0.8)
    assert units_needed(question, 0.2) == np.ceil(exact)


def test_power_far_out_is_zero_or_one() -> None:
    """Catches NaN of a noncentral t with a huge noncentrality, and one degree of freedom."""
    assert t_test_power([0.0, 5.0, 500.0], 0.1, df=4).tolist() == pytest.approx([0.05, 1.0, 1.0])
    assert critical_value(np.inf, sides=2) == pytest.approx(1.959964, abs=1e-6)
    assert exceeds([-12.9, 8.0, 4.0], [3, 11, 319], [20, -10, -5]).tolist() == pytest.approx([1, 0, 0], abs=1e-3)
    high = floor_power(0.55, 0.55, n_eff=(695, 695), df=(79, 79), correlation=0.87)
    assert 0.75 < high < 0.85
    assert t_test_power(40, 1 / np.sqrt(2), df=1) == pytest.approx(0.99999, abs=1e-5)


@pytest.mark.parametrize(
    ("rows", "deff", "printed"),
    [
        (80, 1, 0.101),
        (400, 1, 0.045),
        (2400, 1, 0.019),
        (80, 3, 0.176),
        (400, 3, 0.079),
        (80, 10, 0.32),
        (400, 10, 0.14),
    ],
)
def test_detectable_accuracy_is_as_printed_in_the_design(rows: int, deff: float, printed: float) -> None:
    """Catches 1.96 or 2.5 standard errors in place of 2.8, and a design effect that enters without its root."""
    error = class_std_error([0.7, 0.7], [rows, rows], deff=deff)
    found = (norm.ppf(0.975) + norm.ppf(0.8)) * float(error)
    assert found == pytest.approx(printed, abs=0.0006 if printed < 0.1 else 0.006)
    assert t_test_power(found, error) == pytest.approx(0.8, abs=2e-5)


def test_two_models_gain_by_their_correlation() -> None:
    """Catches a paired difference that ignores the correlation: r = .5 is as precise as one model, r = 0 1.41 times."""
    one = detectable_effect(assumed_question("accuracy", Assumptions(units=500, accuracy=0.7)))
    for r, ratio in ((0.5, 1.0), (0.0, np.sqrt(2)), (0.9, np.sqrt(0.2))):
        pair = assumed_question("accuracy-difference", Assumptions(units=500, accuracy=0.7, correlation=r))
        assert detectable_effect(pair) == pytest.approx(ratio * one, rel=1e-5)


def test_bias_and_balanced_accuracy_share_the_covariance_of_the_classes() -> None:
    """Catches the sign of the correlation: what helps balanced accuracy hurts bias."""
    assert contrast_std_error(0.03, 0.04, weights=(1, -1), correlation=0.5) == pytest.approx(np.sqrt(0.0013))
    assert contrast_std_error(0.03, 0.04, weights=(0.5, 0.5), correlation=-1) == pytest.approx(0.005)
    with_r = assumed_question("answer-bias", Assumptions(units=100, class_correlation=0.5))
    assert detectable_effect(with_r) < detectable_effect(assumed_question("answer-bias", Assumptions(units=100)))


def test_design_effect_of_a_cluster_by_hand() -> None:
    """Catches m rho in place of 1 + (m - 1) rho."""
    assert design_effect(5, 0.1) == pytest.approx(1.4)
    assert design_effect(1, 0.7) == 1
    assert intraclass_correlation(0.02, 0.18) == pytest.approx(0.1)
    assert rate_std_error(0.5, 100, deff=4) == pytest.approx(0.1)


@pytest.mark.parametrize("r", [-0.6, 0.0, 0.4])
def test_floor_power_with_known_variances_is_a_bivariate_normal_probability(r: float) -> None:
    """Catches the larger in place of the joint probability, and a correlation with the wrong sign."""
    n, p, q = 200, 0.57, 0.62
    at = [(x - 0.5 - norm.ppf(0.95) * 0.5 / np.sqrt(n)) / np.sqrt(x * (1 - x) / n) for x in (p, q)]
    expected = multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf(at)
    assert floor_power(p, q, n_eff=(n, n), correlation=r) == pytest.approx(expected, abs=2e-4)


def test_floor_power_follows_simulated_t_statistics() -> None:
    """Catches degrees of freedom that are not used: 12 units, 200,000 draws, error of a share .001."""
    rng = np.random.default_rng(1)
    n, df, p = 150.0, 11, 0.6
    sd = np.sqrt(p * (1 - p) / n)
    passed = np.ones(200_000, bool)
    for _ in range(2):
        estimate = rng.normal(p, sd, len(passed))
        null_error = 0.5 / np.sqrt(n) * np.sqrt(rng.chisquare(df, len(passed)) / df)
        passed &= (estimate - 0.5) / null_error > critical_value(df, sides=1)
    assert floor_power(p, p, n_eff=(n, n), df=(df, df)) == pytest.approx(passed.mean(), abs=0.004)


def test_at_the_border_the_floor_test_has_its_level() -> None:
    """Catches a power that starts above the level: one class at .5, the other far above."""
    assert floor_power(0.5, 0.99, n_eff=(400, 400), df=(79, 79)) == pytest.approx(0.05, abs=1e-6)
    assert floor_power(0.5, 0.5, n_eff=(400, 400), df=(79, 79)) == pytest.approx(0.0025, abs=1e-6)


def test_pairs_of_a_paired_change_are_connors() -> None:
    """Catches the same variance with and without a change: Connor (1987), psi = .3, d = .1, by hand 234."""
    n = pairs_needed(0.1, discordant=0.3)
    by_hand = (1.959964 * np.sqrt(0.3) + 0.841621 * np.sqrt(0.29)) ** 2 / 0.01
    assert n == pytest.approx(by_hand, rel=1e-5)
    assert change_power(0.1, n, discordant=0.3) == pytest.approx(0.8, abs=1e-4)
    question = assumed_question("change", Assumptions(units=100, discordant=0.3))
    assert units_needed(question, 0.1) == np.ceil(n)


def test_discordant_pairs_are_as_printed_in_the_design() -> None:
    """Catches a direction that is not centred at one half, and a design effect that is left out."""
    assert discordant_needed(2 / 3, deff=1.5) == pytest.approx((1.959964 + 0.841621) ** 2 * 9 * 1.5, rel=1e-5)


@pytest.mark.parametrize(
    ("k", "n", "printed"),
    [(3, 83, 0.119), (5, 83, 0.088), (3, 160, 0.101), (2, 83, 0.157), (2, 240, 0.120), (5, 96, 0.085)],
)
def test_lower_bound_of_persistent_incoherence_is_as_printed(k: int, n: int, printed: float) -> None:
    """Catches k in place of k (k - 1), and a square that is not taken back."""
    assert persistent_lower_bound(0.3, k, n, level=0.05, power=0.8) == pytest.approx(printed, abs=0.0006)


@pytest.mark.parametrize(("k", "printed"), [(3, 0.135), (5, 0.10)])
def test_detectable_persistent_incoherence_is_as_printed(k: int, printed: float) -> None:
    """Catches the variance without incoherence alone (.119, .088), and the skewness left out."""
    question = assumed_question("persistent", Assumptions(units=83, noise=0.3, wordings=k), level=0.05)
    assert detectable_effect(question) == pytest.approx(printed, abs=0.004)


@pytest.mark.parametrize(
    ("k", "n", "simulated"),
    [(2, 83, 0.20), (3, 83, 0.46), (5, 83, 0.85), (2, 160, 0.33), (3, 160, 0.70), (5, 160, 0.97)],
)
def test_power_for_persistent_incoherence_is_near_the_simulated(k: int, n: int, simulated: float) -> None:
    """Catches a formula that is right at one number of wordings only; .06 is what the normal approximation errs."""
    flat, slope = noise_terms(0.3, k)
    found = persistent_power(0.1, n, flat=float(flat), slope=float(slope), level=0.05)
    assert found == pytest.approx(simulated, abs=0.06)


def test_noise_terms_from_logs_are_unbiased() -> None:
    """Catches s^4 taken for sigma^4, which is too large by (k + 1) / (k - 1): twice at three wordings."""
    rng = np.random.default_rng(2)
    s2 = rng.normal(0, 0.3, (200_000, 3)).var(axis=1, ddof=1)
    flat, slope = observed_noise_terms(s2, np.full(len(s2), 3))
    expected = noise_terms(0.3, 3)
    assert flat == pytest.approx(float(expected[0]), rel=0.02)
    assert slope == pytest.approx(float(expected[1]), rel=0.01)


def test_range_of_normal_means_by_simulation() -> None:
    """Catches a smallest level that is taken twice, and means that enter one of the two places only."""
    rng = np.random.default_rng(3)
    means = np.array([-1.0, 0.0, 0.3, 1.5])
    found = np.ptp(rng.normal(means, 1, (200_000, 4)), axis=1)
    assert range_below(3.6, means) == pytest.approx((found <= 3.6).mean(), abs=0.004)
    assert range_power(0.0, 0.1, 5) == pytest.approx(0.05, abs=1e-6)
    two = t_test_power(0.3, 0.1 * np.sqrt(2))
    assert range_power(0.3, 0.1, 2) == pytest.approx(float(two), abs=1e-5)


def test_levels_of_shared_units_lose_the_differences_between_units() -> None:
    """Catches the correlation within units counted as noise of a comparison within units."""
    assert level_std_error(0.5, 100, rho=0.75) == pytest.approx(0.025)
    assert level_std_error(0.5, 100, rows_per_unit=25, rho=0.0, interaction=0.1) == pytest.approx(np.sqrt(0.0002))


def test_few_templates_leave_a_wide_error() -> None:
    """Catches units of one validity counted for both: 4 invalid templates, .12 to .14 in the design, Welch's df."""
    error, df = template_std_error(0.44, 11, 4)
    assert 0.12 < error < 0.14
    a, b = 1 / 11, 1 / 4
    assert df == pytest.approx((a + b) ** 2 / (a**2 / 10 + b**2 / 3))
    question = assumed_question("templates", Assumptions(units=4, template_sd=0.44, other_templates=11))
    assert detectable_effect(question) > 0.4
