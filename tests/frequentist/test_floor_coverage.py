"""Coverage of the intervals and size of the floor test, in simulated regimes whose truth is known.

The accepted band follows from the number of replicates: 3 standard errors, where the variance is the binomial one
plus .007 squared, the stated error of the reference simulations. ``make calibrate`` runs all regimes.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from analysis.frequentist.cell_rates import FOUR_CELL_DESIGN as DESIGN
from analysis.frequentist.clustered_rates import (
    ClusteredRates,
    clustered_rates,
    difference_limits,
    floor_limits,
    rate_limits,
)
from analysis.frequentist.floor import floor_above, floor_below
from analysis.frequentist.proportion import score_limits
from benchmarks.floor_regimes import CASES, Regime, asked, right_answers, split_regime

REPLICATES = 2000
REFERENCE_ERROR = 0.007
CLASSES = (DESIGN.at("acc_yes"), DESIGN.at("acc_no"))
Limits = tuple[np.ndarray, np.ndarray]


def half_band(nominal: float) -> float:
    return 3 * float(np.sqrt(nominal * (1 - nominal) / REPLICATES + REFERENCE_ERROR**2))


def simulated(regime: Regime, seed: int = 1) -> ClusteredRates:
    rng = np.random.default_rng(seed)
    return clustered_rates(asked(regime), right_answers(regime, REPLICATES, rng), DESIGN.weights)


def covered(limits: Limits, truth: float) -> float:
    """Share of intervals that hold the truth; rounding at the ends does not decide."""
    return float(((limits[0] <= truth + 1e-12) & (truth - 1e-12 <= limits[1])).mean())


def floor_truth(regime: Regime) -> float:
    return float((DESIGN.weights @ np.array(regime.cells))[list(CLASSES)].min())


# regime, share of intervals that should hold the truth: nominal at a tie or a gap; up to 97.5 % near a tie, where the
# upper limit can miss on one side only; above nominal at a ceiling, where few values are possible.
REGIMES = {
    "tie, one row a surface": (Regime("tie", CASES["tie .70/.70"], 80, 1), (0.95, 0.95)),
    "tie, clustered by tendency": (Regime("tie", CASES["tie .70/.70"], 80, 30, tendency=1.0), (0.95, 0.95)),
    "tie, clustered by difficulty": (Regime("tie", CASES["tie .70/.70"], 80, 30, difficulty=1.0), (0.95, 0.95)),
    "near tie, clustered": (Regime("near", CASES["near tie .70/.74"], 80, 30, tendency=1.0), (0.95, 0.975)),
    "gap": (Regime("gap", CASES["gap .60/.80"], 80, 5), (0.95, 0.95)),
    "ceiling": (Regime("ceiling", CASES["ceiling .98/.99"], 80, 5), (0.95, 0.975)),
    "items with one gold answer": (split_regime("tie .70/.70", "by gold 60/20", 1.0, 0.0), (0.95, 0.95)),
    "templates, 40 and 40": (split_regime("gap .60/.80", "by validity 40/40", 0.0, 1.0), (0.95, 0.95)),
}


@pytest.mark.parametrize("name", REGIMES)
def test_floor_interval_covers_as_stated(name: str) -> None:
    """Too narrow fails below the band, too wide above it."""
    regime, (low, high) = REGIMES[name]
    coverage = covered(floor_limits(simulated(regime), CLASSES), floor_truth(regime))
    assert low - half_band(low) <= coverage <= high + half_band(high)


def row_limits(rates: ClusteredRates, regime: Regime) -> Limits:
    """Responses taken as independent."""
    rate = rates.contrasts.estimate[:, list(CLASSES)]
    return score_limits(rate, 2 * regime.surfaces * regime.per_surface, stats.norm.ppf(0.975))


def doubled_limits(rates: ClusteredRates, regime: Regime) -> Limits:
    low, high = (limit[:, list(CLASSES)] for limit in rate_limits(rates))
    rate = rates.contrasts.estimate[:, list(CLASSES)]
    return rate - 1.5 * (rate - low), rate + 1.5 * (high - rate)


@pytest.mark.parametrize("wrong", [row_limits, doubled_limits])
def test_the_band_refuses_intervals_that_are_wrong(wrong: Callable[[ClusteredRates, Regime], Limits]) -> None:
    """Rows as units cover about half of the time, half as wide again nearly always: the check can fail both ways."""
    regime, (low, high) = REGIMES["tie, clustered by tendency"]
    limits = wrong(simulated(regime), regime)
    coverage = covered((limits[0].min(axis=1), limits[1].min(axis=1)), floor_truth(regime))
    assert not low - half_band(low) <= coverage <= high + half_band(high)


@pytest.mark.parametrize("measure", DESIGN.differences)
@pytest.mark.parametrize(
    "name", ["tie, one row a surface", "tie, clustered by tendency", "gap", "templates, 40 and 40"]
)
def test_difference_intervals_cover_as_stated(measure: str, name: str) -> None:
    regime, _ = REGIMES[name]
    rates, at = simulated(regime, seed=2), DESIGN.at(measure)
    limits = difference_limits(rates, at, (0, 1, 2, 3), DESIGN.weights[at])
    coverage = covered(limits, float(DESIGN.weights[at] @ np.array(regime.cells)))
    assert abs(coverage - 0.95) <= half_band(0.95)


def test_cell_floor_costs_no_more_than_alpha_at_a_tie_of_four() -> None:
    """Plain upper limits would miss about 1 - .975^4 = 9.6 %."""
    regime = Regime("four", CASES["four-way tie .70"], 80, 5)
    rates = simulated(regime, seed=3)
    coverage = covered(floor_limits(rates, (0, 1, 2, 3)), 0.7)
    assert abs(coverage - 0.95) <= half_band(0.95)
    low, high = rate_limits(rates)
    plain = covered((low[:, :4].min(axis=1), high[:, :4].min(axis=1)), 0.7)
    assert plain < 0.95 - half_band(0.95)


def p_values(regime: Regime, test: Callable[..., tuple[np.ndarray, ...]]) -> np.ndarray:
    rates = simulated(regime, seed=4)
    index = list(CLASSES)
    return test(rates.contrasts.estimate[:, index], rates.n_eff[:, index], rates.contrasts.df[:, index])[1]


def test_size_of_the_floor_test_at_its_least_favourable_point() -> None:
    """One class at .5 and the other well above: nominal .05, neither more nor much less."""
    regime = Regime("one at .5", (0.6, 0.9, 0.9, 0.4), 80, 30, difficulty=1.0)
    assert abs((p_values(regime, floor_above) <= 0.05).mean() - 0.05) <= half_band(0.05)


def test_size_of_the_floor_test_at_a_tie() -> None:
    """Both classes at .5: above is conservative; below costs .05 and not the .10 of an undoubled p."""
    regime = Regime("both at .5", (0.7, 0.3, 0.7, 0.3), 80, 30, tendency=1.0)
    assert (p_values(regime, floor_above) <= 0.05).mean() <= 0.05
    assert abs((p_values(regime, floor_below) <= 0.05).mean() - 0.05) <= half_band(0.05)
