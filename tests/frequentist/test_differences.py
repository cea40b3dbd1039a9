"""Square-and-add intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.proportion import confint_proportions_2indep

from analysis.frequentist.differences import correlations, mover_limits, widened_to_unseen
from analysis.frequentist.proportion import wilson_interval

UNRELATED = np.eye(2)
MINUS = np.array([1.0, -1.0])


def difference(k: tuple[int, int], n: tuple[int, int], r: float = 0.0) -> tuple[float, float]:
    low, high = wilson_interval(k, n)
    limits = mover_limits(np.divide(k, n), low, high, MINUS, [[1, r], [r, 1]])
    return float(limits[0]), float(limits[1])


def test_published_example_of_independent_proportions() -> None:
    """Newcombe (1998), method 10: 56/70 - 48/80 is .0524 to .3339."""
    low, high = difference((56, 48), (70, 80))
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)


def test_equals_statsmodels_for_independent_proportions() -> None:
    expected = confint_proportions_2indep(9, 10, 3, 10, method="newcomb", compare="diff")
    np.testing.assert_allclose(difference((9, 3), (10, 10)), expected, atol=1e-12)


def test_positive_correlation_narrows_a_difference_and_widens_a_sum() -> None:
    """The sign of the cross term is the usual mistake."""
    low, high = wilson_interval((30, 24), (40, 40))
    widths = {}
    for name, ell in (("difference", [1, -1]), ("sum", [1, 1])):
        for r in (-0.5, 0.0, 0.5):
            limits = mover_limits([0.75, 0.6], low, high, ell, [[1, r], [r, 1]])
            widths[name, r] = limits[1] - limits[0]
    assert widths["difference", 0.5] < widths["difference", 0.0] < widths["difference", -0.5]
    assert widths["sum", 0.5] > widths["sum", 0.0] > widths["sum", -0.5]


@given(arrays(float, 4, elements=st.floats(0, 1)), st.floats(-1, 1))
def test_stays_inside_what_a_difference_can_be(p: np.ndarray, r: float) -> None:
    """Limits beyond 1 are how a normal interval betrays itself."""
    low, high = wilson_interval(np.round(p * 9), 9)
    r4 = np.full((4, 4), abs(r))
    np.fill_diagonal(r4, 1)
    limits = mover_limits(np.round(p * 9) / 9, low, high, [0.5, -0.5, -0.5, 0.5], r4)
    assert -1 - 1e-12 <= limits[0] <= limits[1] <= 1 + 1e-12


def test_exchanging_the_classes_mirrors_the_interval() -> None:
    a, b = difference((9, 3), (12, 30), 0.3), difference((3, 9), (30, 12), 0.3)
    np.testing.assert_allclose(a, (-b[1], -b[0]), atol=1e-14)


def test_rates_that_always_agree_still_leave_a_width() -> None:
    """Perfectly correlated rates at .5: square-and-add alone has width zero."""
    low, high = wilson_interval((10, 10), (20, 20))
    limits = mover_limits([0.5, 0.5], low, high, MINUS, np.ones((2, 2)))
    assert limits[1] - limits[0] == pytest.approx(0, abs=1e-9)
    wide = widened_to_unseen(*limits, 0.0, units=20, quantile=2.0, step=1.0)
    np.testing.assert_allclose(wide, (-4 / 24, 4 / 24), atol=1e-12)


def test_widening_never_narrows_and_never_leaves_the_range() -> None:
    assert [float(x) for x in widened_to_unseen(-0.9, 0.9, 0.0, units=20, quantile=2.0, step=1.0)] == [-0.9, 0.9]
    low, high = widened_to_unseen(0.9, 1.0, 1.0, units=20, quantile=2.0, step=1.0)
    assert (low, high) == (pytest.approx(1 - 4 / 24), 1)


def test_correlation_with_a_constant_is_zero_and_with_itself_one() -> None:
    r = correlations([[0.04, 0.01, 0], [0.01, 0.01, 0], [0, 0, 0]])
    np.testing.assert_allclose(r, [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
