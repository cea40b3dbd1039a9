"""Sensitivity and criterion."""

import numpy as np
import pytest
from scipy.stats import norm

from analysis.measures.signal_detection import criterion_c, d_prime, log_linear_rate, z_slope


def test_values_worked_by_hand() -> None:
    """40 of 50 hits and 10 of 50 false alarms: rates 40.5/51 and 10.5/51."""
    expected = norm.ppf(40.5 / 51) - norm.ppf(10.5 / 51)
    assert d_prime(0.8, 0.8, 50, 50) == pytest.approx(expected, rel=1e-12)
    assert criterion_c(0.8, 0.8, 50, 50) == pytest.approx(0, abs=1e-14)
    hits, alarms = norm.ppf(45.5 / 51), norm.ppf(20.5 / 51)
    assert d_prime(0.9, 0.6, 50, 50) == pytest.approx(hits - alarms, rel=1e-12)
    assert criterion_c(0.9, 0.6, 50, 50) == pytest.approx(-(hits + alarms) / 2, rel=1e-12)


@pytest.mark.parametrize(("yes", "no"), [(1, 1), (0, 0), (1, 0), (0, 1)])
def test_all_right_and_all_wrong_are_finite(yes: float, no: float) -> None:
    """Without the correction a hit rate of 1 gives an infinite d'."""
    assert np.isfinite(d_prime(yes, no, 10, 10))
    assert np.isfinite(criterion_c(yes, no, 10, 10))


def test_leaning_to_yes_is_a_negative_criterion() -> None:
    assert criterion_c(0.9, 0.3, 100, 100) < 0 < criterion_c(0.3, 0.9, 100, 100)


def test_constant_yes_has_no_sensitivity() -> None:
    """With classes of one size; an uncorrected difference of infinities is not a number."""
    assert d_prime(1, 0, 80, 80) == pytest.approx(0, abs=1e-12)


def test_the_correction_vanishes_with_the_number_of_responses() -> None:
    assert log_linear_rate(0.8, 10**9) == pytest.approx(0.8, abs=1e-9)
    assert np.isnan(log_linear_rate(0.8, 0))


def test_slope_is_the_derivative() -> None:
    """A slope without n / (n + 1), or of the uncorrected rate, is off by more than the step's error."""
    step = 1e-6
    difference = norm.ppf(log_linear_rate(0.9 + step, 20)) - norm.ppf(log_linear_rate(0.9 - step, 20))
    assert z_slope(0.9, 20) == pytest.approx(difference / (2 * step), rel=1e-8)
