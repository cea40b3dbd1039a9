"""Priors of the endorsement model, named, with their meaning on the probability scale, and their gate."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.prior_values import check_values
from analysis.bayes.quadrature import mean_logistic
from analysis.errors import AnalysisError
from analysis.measures.belief import belief_bias

Floats = NDArray[np.float64]

#: What the gate asks: central 90 % of an accuracy and of the belief bias of a model, and share of cells outside
#: [.02, .98].
ACCURACY_RANGE: Final = (0.05, 0.95)
BIAS_RANGE: Final = (-0.2, 0.2)
EXTREME_CELL: Final = 0.02
LARGEST_EXTREME_SHARE: Final = 0.40
#: Priors that may be negative.
LOCATIONS: Final = frozenset({"discrimination_mean", "belief_mean"})


@dataclass(frozen=True, slots=True)
class BeliefPriors:
    """Scales of normal priors of means and of half-normal priors of standard deviations, in log-odds.

    ``MEANINGS`` says what each is, and what it implies in probabilities.
    """

    lean_mean_sd: float = 1.5
    lean_sd: float = 2.0
    discrimination_mean: float = 1.0
    discrimination_mean_sd: float = 2.0
    discrimination_sd: float = 2.5
    belief_mean: float = 0.3
    belief_mean_sd: float = 1.0
    belief_sd: float = 1.0
    belief_discrimination_mean_sd: float = 0.7
    belief_discrimination_sd: float = 0.7
    level_sd: float = 0.5
    model_level_sd: float = 0.5
    item_sd: float = 1.5
    model_item_sd: float = 1.0
    version_sd: float = 1.0

    def __post_init__(self) -> None:
        check_values(self, LOCATIONS)


#: Prior -> what it scales, and its meaning on the probability scale.
MEANINGS: Final[Mapping[str, str]] = {
    "lean_mean_sd": "sd of the mean leaning to endorse; 1.5: a typical model without any skill endorses 5-95 %",
    "lean_sd": "half-normal scale of the sd between models of leaning; 2: models may lie anywhere in 2-98 %",
    "discrimination_mean": "mean discrimination (half the distance valid - invalid); 1: typical accuracies around .73",
    "discrimination_mean_sd": "sd of that mean; 2: typical accuracies from .05 (answers inverted) to .99",
    "discrimination_sd": "half-normal scale of its sd between models; 2.5: models from inverted to perfect",
    "belief_mean": "mean pull of a believable conclusion (half the shift); .3: endorsement .57 : .43",
    "belief_mean_sd": "sd of that mean; 1: endorsement by believability alone from .16-.91",
    "belief_sd": "half-normal scale of its sd between models; 1: by up to .38 in either direction",
    "belief_discrimination_mean_sd": "sd of what belief does to discrimination on average; .7: accuracies by up to .3",
    "belief_discrimination_sd": "half-normal scale of its sd between models; .7: by up to .3 in either direction",
    "level_sd": "half-normal scale of the sd of levels of a condition or of versions, common to all models; .5: a "
    "level moves .5 to .27-.73",
    "model_level_sd": "the same for what a level does to one model",
    "item_sd": "half-normal scale of the sd of base items, common to all models; 1.5: an item moves .5 to .05-.95",
    "model_item_sd": "the same for what an item does to one model; 1: .5 to .12-.88",
    "version_sd": "the same for one version of an item and one model; 1: .5 to .12-.88",
}


@dataclass(frozen=True, slots=True)
class PriorPredictive:
    """What the priors imply before any data, of one model under one configuration, over new items.

    Attributes
    ----------
    accuracy_low, accuracy_high, bias_low, bias_high : float
        5 % and 95 % quantile of the accuracy of a cell, and of the belief bias.
    extreme_cells : float
        Share of the four cells outside [.02, .98].
    passed : bool
        Accuracy and bias cover at least ACCURACY_RANGE and BIAS_RANGE, and at most LARGEST_EXTREME_SHARE of cells are
        extreme.
    """

    accuracy_low: float
    accuracy_high: float
    bias_low: float
    bias_high: float
    extreme_cells: float
    passed: bool

    @property
    def sentence(self) -> str:
        """The quantiles for a reader."""
        return (
            f"Before any data the priors put the accuracy of a cell between {self.accuracy_low:.2f} and "
            f"{self.accuracy_high:.2f} and belief bias between {self.bias_low:+.2f} and {self.bias_high:+.2f} "
            "(5 and 95 % quantiles)."
        )


def prior_table(priors: BeliefPriors) -> list[tuple[str, float, str]]:
    """(name, value, meaning) of every prior, in order."""
    return [(name, float(value), MEANINGS[name]) for name, value in asdict(priors).items()]


def prior_predictive(priors: BeliefPriors, rng: np.random.Generator, *, draws: int = 4000) -> PriorPredictive:
    """Simulate one model from the priors, with effects of a level, of items and of versions, and judge the result."""
    if draws < 1:
        raise AnalysisError("a prior predictive check needs at least 1 draw")
    p = priors

    def half_normal(scale: float) -> Floats:
        return scale * np.abs(rng.normal(size=draws))

    def coefficient(mean: float, mean_sd: float, scale: float) -> Floats:
        return mean + mean_sd * rng.normal(size=draws) + half_normal(scale) * rng.normal(size=draws)

    def level() -> Floats:
        return sum((half_normal(s) * rng.normal(size=draws) for s in (p.level_sd, p.model_level_sd)), np.zeros(draws))

    lean = coefficient(0.0, p.lean_mean_sd, p.lean_sd) + level()
    discrimination = coefficient(p.discrimination_mean, p.discrimination_mean_sd, p.discrimination_sd) + level()
    belief = coefficient(p.belief_mean, p.belief_mean_sd, p.belief_sd)
    both = coefficient(0.0, p.belief_discrimination_mean_sd, p.belief_discrimination_sd)
    v, u = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    eta = lean[:, None] + discrimination[:, None] * v + belief[:, None] * u + both[:, None] * v * u
    variance = sum((half_normal(s) ** 2 for s in (p.item_sd, p.model_item_sd, p.version_sd)), np.zeros(draws))
    endorsed = mean_logistic(eta, variance)
    accuracy = np.where(v > 0, endorsed, 1 - endorsed)
    bias = belief_bias(accuracy)
    low, high = np.quantile(accuracy, [0.05, 0.95])
    bias_low, bias_high = np.quantile(bias, [0.05, 0.95])
    extreme = float(((accuracy < EXTREME_CELL) | (accuracy > 1 - EXTREME_CELL)).mean())
    wide = low <= ACCURACY_RANGE[0] and high >= ACCURACY_RANGE[1]
    free = bias_low <= BIAS_RANGE[0] and bias_high >= BIAS_RANGE[1]
    passed = bool(wide and free and extreme <= LARGEST_EXTREME_SHARE)
    return PriorPredictive(float(low), float(high), float(bias_low), float(bias_high), extreme, passed)
