"""Priors of the accuracy model, named, with their meaning on the probability scale, and their gate."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.accuracy_points import RANGE
from analysis.bayes.prior_values import check_values

Floats = NDArray[np.float64]

#: What the gate asks: central 90 % of a model's accuracy and of the difference of two models, and the share of
#: accuracies outside [.02, .98].
ACCURACY_RANGE: Final = (0.10, 0.90)
DIFFERENCE: Final = 0.2
EXTREME: Final = 0.02
LARGEST_EXTREME_SHARE: Final = 0.10
#: Priors that may be negative.
LOCATIONS: Final = frozenset({"level_mean", "concentration_mean"})
#: Points of effects of items.
_EFFECTS: Final = np.linspace(-RANGE, RANGE, 61)
_WEIGHTS: Final = np.exp(-0.5 * _EFFECTS**2) / np.exp(-0.5 * _EFFECTS**2).sum()


@dataclass(frozen=True, slots=True)
class AccuracyPriors:
    """Priors in log-odds; ``MEANINGS`` says what each is, and what it implies in probabilities."""

    level_mean: float = 0.5
    level_mean_sd: float = 2.0
    level_sd: float = 1.5
    item_sd: float = 2.0
    unit_shape: float = 2.0
    reaction_sd: float = 1.0
    concentration_mean: float = 1.0
    concentration_sd: float = 1.5

    def __post_init__(self) -> None:
        check_values(self, LOCATIONS)


#: Prior -> what it is, and its meaning on the probability scale.
MEANINGS: Final[Mapping[str, str]] = {
    "level_mean": "mean level of models; .5: .62 on a typical item",
    "level_mean_sd": "sd of that mean; 2: a typical model solves a typical item with .06-.98",
    "level_sd": "half-normal scale of the sd of levels between models; 1.5: a model one sd off .5 lies at .18-.82",
    "item_sd": "half-normal scale of the sd of items, units included; 2: an item one sd off moves .5 to .12-.88",
    "unit_shape": "both shapes of the beta prior of the share of that variance that items of one unit have in common",
    "reaction_sd": "half-normal scale of the sd of what a unit is to one model alone; 1: one sd moves .5 to .27-.73",
    "concentration_mean": "mean log concentration of the samples of one item and model; 1: a spread of .26 at .5",
    "concentration_sd": "sd of that log concentration; 1.5: spreads from .09 to .46 at .5",
}


def prior_table(priors: AccuracyPriors) -> list[tuple[str, float, str]]:
    """(name, value, meaning) of every prior, in order."""
    return [(name, float(value), MEANINGS[name]) for name, value in asdict(priors).items()]


def mean_accuracy(level: Floats, sd: Floats) -> Floats:
    """Accuracy over new items: mean of logistic(level + sd z) over standard normal z; arguments broadcast."""
    total = np.zeros(np.broadcast_shapes(np.shape(level), np.shape(sd)))
    for z, weight in zip(_EFFECTS, _WEIGHTS, strict=True):
        total += weight / (1 + np.exp(-np.clip(level + sd * z, -700, 700)))
    return total


def log_level_prior(level: Floats, log_sd: Floats, priors: AccuracyPriors) -> Floats:
    """Log density (S,) of the levels (S, M) of all models and the log sd (S,) between them, their mean integrated out.

    One model has the prior of a mean, widened by that of the sd; ``log_sd`` is not read.
    """
    p, models = priors, level.shape[1]
    away = level - p.level_mean
    if models == 1:
        widened = p.level_mean_sd**2 + p.level_sd**2
        return np.asarray(-0.5 * (np.log(2 * np.pi * widened) + away[:, 0] ** 2 / widened))
    variance, wide = np.exp(2 * log_sd), p.level_mean_sd**2
    # Covariance s^2 I + w^2 1 1': determinant and inverse by the matrix determinant lemma.
    sum_variance = variance + models * wide
    log_det = (models - 1) * 2 * log_sd + np.log(sum_variance)
    centre = away.mean(axis=1)
    square = ((away - centre[:, None]) ** 2).sum(axis=1)
    form = square / variance + models * centre**2 / sum_variance
    return np.asarray(-0.5 * (models * np.log(2 * np.pi) + log_det + form) + log_sd_prior(log_sd, p))


def log_sd_prior(log_sd: Floats, priors: AccuracyPriors) -> Floats:
    """Log density of the log sd between models: half-normal, with its Jacobian."""
    scale = priors.level_sd
    half_normal = 0.5 * np.log(2 / np.pi) - np.log(scale) - 0.5 * np.exp(2 * log_sd) / scale**2
    return np.asarray(half_normal + log_sd)


def level_precision(sd: Floats, models: int, priors: AccuracyPriors) -> tuple[Floats, Floats]:
    """Inverse covariance (S, M, M) of levels given the sd (S,) between them, and its product with their mean (S, M)."""
    p = priors
    if models == 1:
        matrix = np.full((len(sd), 1, 1), 1 / (p.level_mean_sd**2 + p.level_sd**2))
    else:
        variance, wide = sd**2, p.level_mean_sd**2
        shared = wide / (variance * (variance + models * wide))
        matrix = np.eye(models) / variance[:, None, None] - shared[:, None, None]
    return matrix, matrix.sum(axis=2) * p.level_mean


@dataclass(frozen=True, slots=True)
class PriorPredictive:
    """What the priors imply before any data about models on new items.

    Attributes
    ----------
    accuracy_low, accuracy_high, difference_low, difference_high : float
        5 % and 95 % quantile of a model's accuracy, and of the difference of two models.
    extreme : float
        Share of accuracies outside [.02, .98].
    passed : bool
        Accuracy covers ACCURACY_RANGE, the difference at least +-DIFFERENCE, and at most LARGEST_EXTREME_SHARE of
        accuracies are extreme.
    """

    accuracy_low: float
    accuracy_high: float
    difference_low: float
    difference_high: float
    extreme: float
    passed: bool

    @property
    def sentence(self) -> str:
        """The quantiles for a reader."""
        return (
            f"Before any data the priors put the accuracy of a model between {self.accuracy_low:.2f} and "
            f"{self.accuracy_high:.2f} and the difference of two models between {self.difference_low:+.2f} and "
            f"{self.difference_high:+.2f} (5 and 95 % quantiles)."
        )


def prior_predictive(
    priors: AccuracyPriors, rng: np.random.Generator, *, draws: int = 20_000, items: bool = True
) -> PriorPredictive:
    """Accuracies of two models and their difference under the priors; without effects of items if not ``items``."""
    p = priors
    mean = p.level_mean + p.level_mean_sd * rng.normal(size=(draws, 1))
    level = mean + p.level_sd * np.abs(rng.normal(size=(draws, 1))) * rng.normal(size=(draws, 2))
    sd = p.item_sd * np.abs(rng.normal(size=(draws, 1))) * items
    accuracy = mean_accuracy(level, sd)
    low, high = np.quantile(accuracy[:, 0], (0.05, 0.95))
    difference_low, difference_high = np.quantile(accuracy[:, 0] - accuracy[:, 1], (0.05, 0.95))
    extreme = float((np.abs(accuracy - 0.5) > 0.5 - EXTREME).mean())
    passed = low <= ACCURACY_RANGE[0] and high >= ACCURACY_RANGE[1] and extreme <= LARGEST_EXTREME_SHARE
    wide = difference_low <= -DIFFERENCE and difference_high >= DIFFERENCE
    return PriorPredictive(
        accuracy_low=float(low),
        accuracy_high=float(high),
        difference_low=float(difference_low),
        difference_high=float(difference_high),
        extreme=extreme,
        passed=bool(passed and wide),
    )
