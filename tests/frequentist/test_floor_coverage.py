"""Coverage of the intervals and size of the floor test, in simulated regimes whose truth is known.

The accepted band follows from the number of replicates: 3 standard errors, where the variance is the binomial one
plus .007 squared, the stated error of the reference simulations. ``make calibrate`` runs all regimes.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from analysis.frequentist import clustered_rates as clustered_rates_module
from analysis.frequentist import signal_detection_limits
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
from analysis.frequentist.signal_detection_limits import z_difference_limits
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


FEW_REPLICATES = 20_000
FEW_UNITS_REGIMES = {
    "PS, 6 surfaces": ("polarity_sensitivity", Regime("chance", (0.5,) * 4, 6, 24, difficulty=1.0)),
    "PS, 4 surfaces that lean": ("polarity_sensitivity", Regime("chance", (0.5,) * 4, 4, 24, tendency=1.0)),
    "bias, 4 surfaces": ("answer_bias", Regime("chance", (0.5,) * 4, 4, 24, difficulty=1.0)),
    "VAL, 4 surfaces": ("validity_contrast", Regime("chance", (0.5,) * 4, 4, 24, difficulty=1.0)),
    "d', 4 surfaces that lean": ("d_prime", Regime("chance", (0.5,) * 4, 4, 24, tendency=1.0)),
    "c, 4 surfaces": ("criterion_c", Regime("chance", (0.5,) * 4, 4, 24, difficulty=1.0)),
}


def few_units_coverage(measure: str, regime: Regime) -> float:
    rng = np.random.default_rng(11)
    rates = clustered_rates(asked(regime), right_answers(regime, FEW_REPLICATES, rng), DESIGN.weights)
    truth = DESIGN.weights @ np.array(regime.cells)
    if measure in DESIGN.names:
        at = DESIGN.at(measure)
        return covered(difference_limits(rates, at, (0, 1, 2, 3), DESIGN.weights[at]), truth[at])
    z_yes, z_no = stats.norm.ppf(truth[list(CLASSES)])
    criterion = measure == "criterion_c"
    responses = asked(regime).sum(axis=0) @ np.array([[1, 0], [0, 1], [0, 1], [1, 0]])
    found = z_difference_limits(rates, CLASSES, DESIGN.at("answer_bias"), responses, criterion=criterion)
    return covered((found[2], found[3]), (z_no - z_yes) / 2 if criterion else z_yes + z_no)


@pytest.mark.parametrize(("measure", "regime"), FEW_UNITS_REGIMES.values(), ids=FEW_UNITS_REGIMES.keys())
def test_contrasts_of_few_units_keep_their_level(measure: str, regime: Regime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches square-and-add limits that are too narrow with few units; the same limits without the rule are shown
    to fall short, so that the simulation can see it."""
    least = 0.95 - 3 * float(np.sqrt(0.95 * 0.05 / FEW_REPLICATES))
    assert few_units_coverage(measure, regime) >= least
    for module in (clustered_rates_module, signal_detection_limits):
        monkeypatch.setattr(module, "widened_to_t", lambda low, high, *_, **__: (low, high))
    assert few_units_coverage(measure, regime) < least


def test_sensitivity_at_a_ceiling_keeps_its_level() -> None:
    """Catches limits of d' that the correction for rates of 0 and 1 keeps from values that few responses cannot show:
    with 20 surfaces at .98/.99 corrected limits covered .76 of the time."""
    regime = Regime("ceiling", (0.99, 0.99, 0.99, 0.97), 20, 1, tendency=1.0)
    assert few_units_coverage("d_prime", regime) >= 0.95
    assert few_units_coverage("criterion_c", regime) >= 0.95


def test_many_units_are_left_alone_and_the_range_is_kept() -> None:
    """Catches a rule that also moves limits of large designs, or that leaves what a difference can be."""
    regime = Regime("chance", (0.5,) * 4, 30, 1)
    rates = clustered_rates(asked(regime), right_answers(regime, 200, np.random.default_rng(5)), DESIGN.weights)
    at = DESIGN.at("polarity_sensitivity")
    low, high = difference_limits(rates, at, (0, 1, 2, 3), DESIGN.weights[at])
    half = stats.t.ppf(0.975, rates.contrasts.df[:, at]) * np.sqrt(rates.contrasts.variance[:, at])
    assert (high - low < 2 * half).all()
    few = Regime("apart", (0.9, 0.1, 0.9, 0.1), 4, 1)
    rates = clustered_rates(asked(few), right_answers(few, 500, np.random.default_rng(6)), DESIGN.weights)
    low, high = difference_limits(rates, at, (0, 1, 2, 3), DESIGN.weights[at])
    assert (low >= -1).all()
    assert (high <= 1).all()
