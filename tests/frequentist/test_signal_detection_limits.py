"""Intervals for d' and c."""

import numpy as np
import pytest
from scipy import stats

from analysis.frequentist.cell_rates import TWO_CLASS_DESIGN as DESIGN
from analysis.frequentist.clustered_rates import clustered_rates
from analysis.frequentist.signal_detection_limits import z_difference_limits


def limits(yes: float, no: float, items: int, *, criterion: bool) -> tuple[float, float, float, float]:
    """``items`` items of each gold answer, one response each."""
    n = np.repeat(np.eye(2), items, axis=0)
    y = n.copy()
    y[round(yes * items) : items, 0] = 0
    y[items + round(no * items) :, 1] = 0
    rates = clustered_rates(n, y, DESIGN.weights)
    found = z_difference_limits(rates, (0, 1), DESIGN.at("answer_bias"), [items, items], criterion=criterion)
    return tuple(float(x) for x in found)


@pytest.mark.parametrize("criterion", [False, True])
def test_large_samples_agree_with_the_textbook_delta_method(criterion: bool) -> None:
    """Var d' = pq / (n phi^2) summed over classes, a quarter of it for c; a missing half or slope fails."""
    estimate, variance, low, high = limits(0.8, 0.7, 20_000, criterion=criterion)
    parts = [p * (1 - p) / 20_000 / stats.norm.pdf(stats.norm.ppf(p)) ** 2 for p in (0.8, 0.7)]
    expected = sum(parts) / (4 if criterion else 1)
    assert variance == pytest.approx(expected, rel=1e-3)
    assert (low, high) == (
        pytest.approx(estimate - 1.96 * np.sqrt(expected), abs=5e-4),
        pytest.approx(estimate + 1.96 * np.sqrt(expected), abs=5e-4),
    )


@pytest.mark.parametrize(
    ("yes", "no", "criterion", "ends"),
    [
        (1, 0.5, False, (True, False)),
        (1, 1, False, (True, False)),
        (0, 0, False, (False, True)),
        (1, 0, False, (False, False)),
        # c = (z(no) - z(yes)) / 2: a hit rate of 1 leaves no lower limit.
        (1, 0.5, True, (False, True)),
        (0.5, 1, True, (True, False)),
        (1, 1, True, (False, False)),
    ],
)
def test_a_class_without_errors_has_a_limit_on_one_side(
    yes: float, no: float, criterion: bool, ends: tuple[bool, bool]
) -> None:
    """Catches a finite limit where the accuracy may be as near to 1 as one likes, and an open side that is the wrong
    one; the side that is there is that of the other limits alone."""
    estimate, _, low, high = limits(yes, no, 20, criterion=criterion)
    assert np.isfinite(estimate)
    assert (np.isfinite(low), np.isfinite(high)) == ends
    assert low <= estimate <= high
    if (yes, no, criterion) == (1, 1, False):
        wilson = stats.binomtest(20, 20).proportion_ci(method="wilson").low
        # Square-and-add, t for normal quantiles: a little below 2 z - sqrt(2) (z - z(l)), z that of 20.5 in 21.
        z = stats.norm.ppf(20.5 / 21)
        normal = 2 * z - np.sqrt(2) * (z - stats.norm.ppf(wilson))
        assert normal - 0.15 < low < normal


def test_leaning_to_yes_has_its_interval_below_zero() -> None:
    assert limits(0.9, 0.3, 200, criterion=True)[3] < 0
