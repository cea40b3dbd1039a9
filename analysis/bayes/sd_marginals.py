"""Approximate marginal posteriors of single hyper-parameters, as transformed normal variables."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

Floats = NDArray[np.float64]

#: Log standard deviations at which the marginal is evaluated.
_GRID: Final = np.linspace(-11.0, 3.0, 561)
#: Least share of the data in the curvature of an effect; below, an effect says nothing of its sd.
_LEAST_TOLD: Final = 1e-9
_MOST_BEND: Final = 3.0
_MOST_TAPER: Final = 20.0
_LEAST_SCALE: Final = 0.01


@dataclass(frozen=True, slots=True)
class Marginal:
    """A hyper-parameter as a function of a standard normal z.

    centre + scale z - bend z^2 / 2 where z < 0, centre + scale log(1 + taper z) / taper above.
    """

    centre: float
    scale: float
    bend: float
    taper: float


def log_sd_marginal(offset: Floats, variance: Floats, log_sd: float, prior_log_scale: float) -> Marginal:
    """Marginal posterior of a log standard deviation, effects integrated out.

    Parameters
    ----------
    offset, variance : ndarray (n,)
        Mode of each effect minus its mean, and its variance, given that its sd is exp(log_sd). Without effects
        the prior's marginal is returned.
    log_sd : float
    prior_log_scale : float
        Logarithm of the scale of the half-normal prior of the sd.

    Notes
    -----
    Of n effects with data alone estimates d = offset / told and variances v = variance / told, told being the
    share of the data in the curvature, each is Normal(0, sd^2 + v). Effects are taken as independent.
    """
    told = np.clip(1.0 - variance * np.exp(-2.0 * log_sd), _LEAST_TOLD, 1.0)
    return marginal_of_estimates(offset / told, variance / told, prior_log_scale)


def marginal_of_estimates(alone: Floats, spread: Floats, prior_log_scale: float) -> Marginal:
    """Marginal posterior of a log standard deviation whose effects data alone estimate at ``alone``.

    Parameters
    ----------
    alone, spread : ndarray (n,)
        Estimate of each effect minus its mean, and the variance of the estimate.
    prior_log_scale : float
        As of ``log_sd_marginal``.
    """
    total = np.exp(2.0 * _GRID)[:, None] + spread
    log_density = -0.5 * (np.log(total) + alone**2 / total).sum(axis=1)
    log_density += _GRID - 0.5 * np.exp(2.0 * (_GRID - prior_log_scale))
    return matched(_GRID, log_density)


def matched(grid: Floats, log_density: Floats) -> Marginal:
    """The transformed normal with the median and the quantiles at z = -2, 1 and 2 of a density on an even grid.

    The upper tail of a log sd is shorter than a normal one, the lower longer where an sd of 0 is possible.
    """
    cumulative = np.cumsum(np.exp(log_density - log_density.max()))
    # A point stands for the interval around it, whose upper end the sum reaches.
    ends = grid + 0.5 * (grid[1] - grid[0])
    low, centre, high, far = np.interp(ndtr([-2.0, 0.0, 1.0, 2.0]) * cumulative[-1], cumulative, ends)
    one, two = max(high - centre, _LEAST_SCALE), max(far - centre, _LEAST_SCALE)
    taper = _taper(two / one)
    scale = one * taper / math.log1p(taper) if taper > 0 else one
    bend = float(np.clip((centre - low - 2.0 * scale) / 2.0, 0.0, _MOST_BEND))
    return Marginal(float(centre), float(scale), bend, taper)


def _taper(ratio: float) -> float:
    """Root k of log(1 + 2 k) / log(1 + k) = ratio; 0 for a ratio of 2, that of a normal tail, and above."""

    def excess(k: float) -> float:
        return math.log1p(2.0 * k) - ratio * math.log1p(k)

    small = 1e-3
    if excess(small) <= 0:
        return 0.0
    return _MOST_TAPER if excess(_MOST_TAPER) > 0 else float(brentq(excess, small, _MOST_TAPER))
