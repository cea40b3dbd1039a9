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


@pytest.mark.parametrize(("yes", "no"), [(1, 1), (0, 0), (1, 0), (1, 0.5)])
@pytest.mark.parametrize("criterion", [False, True])
def test_ceilings_have_finite_intervals_of_some_width(yes: float, no: float, criterion: bool) -> None:
    """A hit rate of 1: the delta method alone has no width, the uncorrected limit is infinite."""
    estimate, _, low, high = limits(yes, no, 20, criterion=criterion)
    assert np.isfinite([estimate, low, high]).all()
    assert high - low > 0.5
    assert low <= estimate <= high


def test_leaning_to_yes_has_its_interval_below_zero() -> None:
    assert limits(0.9, 0.3, 200, criterion=True)[3] < 0
