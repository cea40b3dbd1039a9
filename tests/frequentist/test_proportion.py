"""Score intervals, effective numbers of responses and the matching test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.errors import AnalysisError
from analysis.frequentist.proportion import (
    SMALLEST_P,
    effective_n,
    score_limits,
    score_p_value,
    wilson_interval,
)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (38, 38), (519, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_equals_statsmodels(k: int, n: int, level: float) -> None:
    expected = proportion_confint(k, n, alpha=1 - level, method="wilson")
    np.testing.assert_allclose(wilson_interval(k, n, ci_level=level), expected, atol=1e-12)


def test_all_right_has_an_interval() -> None:
    """38 of 38: a normal interval is (1, 1)."""
    low, high = wilson_interval(38, 38)
    assert (low, high) == (pytest.approx(0.9082, abs=5e-5), 1)


def test_none_of_none_is_unknown() -> None:
    """(0, 0) would say that the rate is known to be zero."""
    assert np.isnan(wilson_interval(0, 0)).all()


@given(st.integers(0, 50), st.integers(1, 50))
def test_limits_mirror_and_stay_inside(k: int, n: int) -> None:
    k = min(k, n)
    low, high = wilson_interval(k, n)
    mirrored = wilson_interval(n - k, n)
    assert 0 <= low < high <= 1
    assert low == pytest.approx(1 - mirrored[1], abs=1e-12)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(AnalysisError, match="1 of 2 pairs"):
        wilson_interval([1, 5], [3, 4])


def n_eff(rate: float, variance: float, **changes: object) -> float:
    settings = {"rows": 100, "design_units": 20, "few_deviate": False, **changes}
    return float(effective_n(rate, variance, **settings))


def test_effective_n_of_independent_responses_is_their_number() -> None:
    assert n_eff(0.7, 0.7 * 0.3 / 100) == pytest.approx(100)


def test_effective_n_is_bounded() -> None:
    """Below 2 and above 4 responses per row nothing would be learnt from a variance estimate."""
    assert n_eff(0.5, 0.2) == 2
    assert n_eff(0.5, 1e-9) == 400


def test_no_variation_is_worth_one_response_a_unit() -> None:
    """Twenty units that are always right say less than the hundred rows do."""
    assert n_eff(1.0, 0.0) == 20
    assert n_eff(0.5, 0.0) == 20


def test_a_single_slip_does_not_make_the_interval_jump() -> None:
    """80 units of 30 rows: one row wrong; from the variance alone n_eff would be 9,600."""
    slip = 1 - 1 / 2400
    variance = (1 / 30) ** 2 / 80 / 80
    assert n_eff(slip, variance, rows=2400, design_units=80, few_deviate=True) == 80
    assert n_eff(1.0, 0.0, rows=2400, design_units=80) == 80


def test_unknown_variance_gives_no_effective_number() -> None:
    assert np.isnan(n_eff(0.5, np.nan))


@given(st.floats(0, 1), st.floats(2, 500), st.floats(1, 200), st.floats(0.001, 0.2))
def test_test_and_one_sided_limit_agree(rate: float, n: float, df: float, alpha: float) -> None:
    """p < alpha exactly where the limit excludes the null; a test with its own variance would not."""
    low, high = score_limits(rate, n, stats.t.ppf(1 - alpha, df))
    for alternative, excluded, gap in (("greater", low > 0.5, abs(low - 0.5)), ("less", high < 0.5, abs(high - 0.5))):
        p = score_p_value(rate, n, df, alternative=alternative)[1]
        if gap > 1e-9:
            assert (p < alpha) == excluded


def test_p_values_never_reach_zero() -> None:
    statistic, p = score_p_value(1.0, 1e6, 1e5)
    assert statistic == 1000
    assert p == SMALLEST_P > 0
