"""Smallest of several rates."""

import numpy as np
import pytest
from scipy import stats

from analysis.frequentist.floor import floor_above, floor_below, floor_interval, floor_upper_level
from analysis.frequentist.proportion import score_limits


def test_each_limit_is_the_smallest_of_its_kind() -> None:
    """Taking both limits of the smaller estimate (.50 to .80) instead fails."""
    assert floor_interval([[0.50, 0.55]], [[0.80, 0.75]]) == (np.array([0.50]), np.array([0.75]))


def test_an_unknown_class_leaves_the_floor_unknown() -> None:
    assert np.isnan(floor_interval([0.4, np.nan], [0.6, np.nan])).all()


def test_upper_limits_share_the_error_of_a_tie() -> None:
    assert floor_upper_level(0.95, 2) == pytest.approx(0.95)
    assert floor_upper_level(0.95, 4) == pytest.approx(0.975)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_rejects_exactly_where_every_one_sided_limit_excludes_the_null(alpha: float) -> None:
    """Intersection-union: the worse class decides, with no price for two tests."""
    rng = np.random.default_rng(1)
    rate, n = rng.uniform(0.4, 0.9, (500, 2)), rng.uniform(5, 300, (500, 2))
    df = rng.uniform(3, 100, (500, 2))
    low, _ = score_limits(rate, n, stats.t.ppf(1 - alpha, df))
    assert ((floor_above(rate, n, df)[1] < alpha) == (low.min(axis=1) > 0.5)).all()


def test_below_doubles_the_smaller_p_and_stops_at_one() -> None:
    statistic, p, index = floor_below([0.3, 0.8], [50, 50], [20, 20])
    assert index == 0
    assert statistic == pytest.approx(-0.2 / np.sqrt(0.25 / 50))
    assert p == pytest.approx(2 * stats.t.sf(-float(statistic), 20))
    assert floor_below([0.9, 0.9], [50, 50], [20, 20])[1] == 1


def test_above_reports_the_class_that_decided() -> None:
    statistic, p, index = floor_above([0.9, 0.6], [50, 50], [20, 20])
    assert index == 1
    assert p == pytest.approx(stats.t.sf(float(statistic), 20))


def test_unknown_rates_are_not_tested() -> None:
    assert np.isnan(floor_above([0.9, np.nan], [50, np.nan], [20, np.nan])[1])
    assert np.isnan(floor_below([0.1, np.nan], [50, np.nan], [20, np.nan])[1])
