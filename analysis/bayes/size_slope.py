"""Posterior of slopes on the logarithm of model size, exact but for a grid over two standard deviations.

Given the scatter of models around the lines and the spread of slopes between families everything is normal
(``models.size_slope`` states the model): levels and slopes are integrated in closed form, and the two standard
deviations by quadrature. There are no draws, hence no Monte-Carlo error.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from analysis.bayes.prior_values import check_values

Floats = NDArray[np.float64]

#: Points of each standard deviation, equally spaced in logarithm, between these multiples of its scale.
_POINTS: Final = 61
_RANGE: Final = (1e-3, 6.0)
#: Weights below this share of the largest one are left out of quantiles.
_NEGLIGIBLE: Final = 1e-6
_BISECTIONS: Final = 40
#: Gates: mass on the upper edge of the grid, and what leaving out every second point may change, in posterior sds.
MOST_EDGE: Final = 1e-3
MOST_CHANGE: Final = 0.01


@dataclass(frozen=True, slots=True)
class SlopePriors:
    """Priors in the unit of the measure, proportions, per doubling of size.

    ``slope_sd``: sd of the mean slope; .1: a doubling moves a measure by up to 20 points either way. ``spread_scale``:
    half-normal scale of the sd of slopes between families. ``scatter_scale``: the same of models around their line.
    """

    slope_sd: float = 0.10
    spread_scale: float = 0.05
    scatter_scale: float = 0.10

    def __post_init__(self) -> None:
        check_values(self, frozenset())

    def doubled(self) -> "SlopePriors":
        """The second prior: both standard deviations twice as wide."""
        return replace(self, spread_scale=2 * self.spread_scale, scatter_scale=2 * self.scatter_scale)


@dataclass(frozen=True, slots=True)
class SizeSlopes:
    """Posterior of Q = 2 + F slopes: of families like these, the mean of these families, each family.

    Attributes
    ----------
    median, mean, sd, low, high : ndarray (Q,)
        Equal-tailed interval.
    p_positive : ndarray (Q,)
    spread, scatter : tuple of float
        Median and one-sided upper bound of either standard deviation.
    edge : float
        Posterior mass on the upper edges of the grid.
    change : float
        Largest change of a mean or sd, in posterior sds, when every second point of the grid is left out.
    """

    median: Floats
    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    p_positive: Floats
    spread: tuple[float, float]
    scatter: tuple[float, float]
    edge: float
    change: float

    @property
    def problem(self) -> str:
        """Which gate was not passed; empty otherwise."""
        if self.edge > MOST_EDGE:
            return f"the grid of standard deviations ends too early: mass {self.edge:.2g} on its edge"
        if self.change > MOST_CHANGE:
            return f"the grid of standard deviations is too coarse: {self.change:.2g} posterior sds"
        return ""


@dataclass(frozen=True, slots=True)
class _Mixture:
    """Normal components (G, Q) with log weights (G,)."""

    log_weight: Floats
    mean: Floats
    variance: Floats

    def moments(self) -> tuple[Floats, Floats]:
        weight = np.exp(self.log_weight - self.log_weight.max())
        weight /= weight.sum()
        mean = weight @ self.mean
        return mean, np.sqrt(weight @ (self.variance + self.mean**2) - mean**2)


def size_slopes(
    x: Floats,
    y: Floats,
    std_error: Floats,
    family: NDArray[np.int64],
    priors: SlopePriors,
    *,
    ci_level: float = 0.95,
) -> SizeSlopes:
    """Posterior of the slopes.

    Parameters
    ----------
    x : ndarray (M,)
        log2 of size; only differences within families count.
    y, std_error : ndarray (M,)
    family : ndarray (M,) of int
        0 to F - 1, each with two different x or more.
    priors : SlopePriors
    ci_level : float in (0, 1)
    """
    scatter, spread = (s * np.geomspace(*_RANGE, _POINTS) for s in (priors.scatter_scale, priors.spread_scale))
    slope, variance, log_likelihood = _family_lines(x, y, std_error, family, scatter)
    mixture = _mixture(slope, variance, log_likelihood, scatter, spread, priors)
    mean, sd = mixture.moments()
    coarse_mean, coarse_sd = _thinned(mixture).moments()
    tail = (1 - ci_level) / 2
    low, median, high = _quantiles(mixture, (tail, 0.5, 1 - tail), mean, sd)
    weight = np.exp(mixture.log_weight - mixture.log_weight.max()).reshape(_POINTS, _POINTS)
    weight /= weight.sum()
    z = mixture.mean / np.sqrt(mixture.variance)
    return SizeSlopes(
        median=median,
        mean=mean,
        sd=sd,
        low=low,
        high=high,
        p_positive=weight.ravel() @ ndtr(z),
        spread=_middle_and_upper(spread, weight.sum(axis=0), ci_level),
        scatter=_middle_and_upper(scatter, weight.sum(axis=1), ci_level),
        edge=float(max(weight[-1].sum(), weight[:, -1].sum())),
        change=float(np.max(np.abs(np.concatenate([coarse_mean - mean, coarse_sd - sd])) / np.tile(sd, 2))),
    )


def _family_lines(
    x: Floats, y: Floats, std_error: Floats, family: NDArray[np.int64], scatter: Floats
) -> tuple[Floats, Floats, Floats]:
    """Weighted slope and its variance (S, F) by family, and the log-likelihood (S,) with slopes at their best.

    Levels are integrated under a flat prior, for each scatter.
    """
    weight = 1.0 / (std_error**2 + scatter[:, None] ** 2)
    place = family[:, None] == np.arange(family.max() + 1)
    total = weight @ place
    centred_x, centred_y = (v - ((weight * v) @ place / total)[:, family] for v in (x, y))
    sxx, sxy, syy = (
        (weight * a * b) @ place for a, b in ((centred_x, centred_x), (centred_x, centred_y), (centred_y, centred_y))
    )
    left = (syy - sxy**2 / sxx).sum(axis=1)
    log_likelihood = 0.5 * (np.log(weight).sum(axis=1) - np.log(total).sum(axis=1) - left)
    return sxy / sxx, 1.0 / sxx, log_likelihood


def _mixture(
    slope: Floats, variance: Floats, log_likelihood: Floats, scatter: Floats, spread: Floats, priors: SlopePriors
) -> _Mixture:
    """Normal posteriors on the grid (scatter, spread), flattened, of the quantities of ``SizeSlopes``."""
    own = spread[None, :, None] ** 2
    total = variance[:, None, :] + own
    precision = 1.0 / priors.slope_sd**2 + (1.0 / total).sum(axis=-1)
    middle = (slope[:, None, :] / total).sum(axis=-1) / precision
    log_evidence = 0.5 * (
        np.log(variance).sum(axis=-1)[:, None]
        - np.log(total).sum(axis=-1)
        - np.log(precision)
        - (slope[:, None, :] ** 2 / total).sum(axis=-1)
        + middle**2 * precision
    )
    log_prior = [
        np.log(sd) - 0.5 * (sd / scale) ** 2
        for sd, scale in ((scatter, priors.scatter_scale), (spread, priors.spread_scale))
    ]
    log_weight = log_likelihood[:, None] + log_evidence + log_prior[0][:, None] + log_prior[1]
    kept = own / total
    mean = kept * slope[:, None, :] + (1 - kept) * middle[..., None]
    of_slope = 1.0 / precision
    var = kept * variance[:, None, :] + (1 - kept) ** 2 * of_slope[..., None]
    families = slope.shape[1]
    of_mean = (kept * variance[:, None, :]).sum(axis=-1) / families**2 + (1 - kept).mean(axis=-1) ** 2 * of_slope
    means = np.concatenate([middle[..., None], mean.mean(axis=-1, keepdims=True), mean], axis=-1)
    variances = np.concatenate([of_slope[..., None], of_mean[..., None], var], axis=-1)
    return _Mixture(log_weight.ravel(), means.reshape(-1, families + 2), variances.reshape(-1, families + 2))


def _thinned(mixture: _Mixture) -> _Mixture:
    """Every second point of the grid in either direction."""
    chosen = np.arange(_POINTS**2).reshape(_POINTS, _POINTS)[::2, ::2].ravel()
    return _Mixture(mixture.log_weight[chosen], mixture.mean[chosen], mixture.variance[chosen])


def _quantiles(mixture: _Mixture, probabilities: tuple[float, ...], centre: Floats, sd: Floats) -> list[Floats]:
    """Quantiles (Q,) of the mixture, by bisection."""
    chosen = mixture.log_weight > mixture.log_weight.max() + np.log(_NEGLIGIBLE)
    weight = np.exp(mixture.log_weight[chosen] - mixture.log_weight.max())
    weight /= weight.sum()
    mean, scale = mixture.mean[chosen], np.sqrt(mixture.variance[chosen])
    found = []
    for probability in probabilities:
        low, high = centre - 20 * sd, centre + 20 * sd
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            below = weight @ ndtr((middle - mean) / scale) < probability
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found.append((low + high) / 2)
    return found


def _middle_and_upper(values: Floats, weight: Floats, ci_level: float) -> tuple[float, float]:
    """Median and upper bound of a standard deviation from its weights on the grid."""
    cumulative = np.cumsum(weight) - weight / 2
    middle, upper = np.exp(np.interp([0.5, ci_level], cumulative, np.log(values)))
    return float(middle), float(upper)
