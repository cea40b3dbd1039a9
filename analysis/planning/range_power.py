"""Power to see that levels of a factor differ, by the range of their means."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from analysis.frequentist.studentised_range import range_quantile

Floats = NDArray[np.float64]
_GRID = np.linspace(-9.0, 9.0, 361)


def range_power(spread: float, std_error: float, levels: int, *, level: float = 0.05) -> float:
    """Probability that the range of the level means exceeds what chance alone gives in 1 - ``level`` of cases.

    Parameters
    ----------
    spread : float >= 0
        True largest minus smallest mean; the other levels lie in the middle, where they help the test least.
    std_error : float > 0
        Of the mean of one level, the differences between units taken out.
    levels : int >= 2
    level : float in (0, 1)

    Notes
    -----
    For independent normal means the range stays below w with probability
    sum_i int phi(z - mu_i) prod_{j != i} [Phi(z + w - mu_j) - Phi(z - mu_j)] dz: level i is the smallest. The
    standard error counts as known; a permutation of labels over the same units has the same power to about .02.

    References
    ----------
    Tippett (1925), Biometrika 17:364-387.
    """
    width = _width(1 - level, levels)
    means = np.zeros(levels)
    means[0], means[-1] = -spread / 2 / std_error, spread / 2 / std_error
    return float(1 - range_below(width, means))


def range_below(width: float, means: ArrayLike) -> float:
    """Probability that independent normal values, unit variance, these means, have a range of at most ``width``."""
    mu = np.asarray(means, float)
    total, step = 0.0, _GRID[1] - _GRID[0]
    for i in range(len(mu)):
        z = _GRID + mu[i]
        inside = np.clip(ndtr(z[:, None] + width - mu) - ndtr(z[:, None] - mu), 0, 1)
        inside[:, i] = 1.0
        total += float((np.exp(-(_GRID**2) / 2) * inside.prod(axis=1)).sum()) * step / np.sqrt(2 * np.pi)
    return min(max(total, 0.0), 1.0)


def level_std_error(
    accuracy: float, units: ArrayLike, *, rows_per_unit: float = 1.0, rho: float = 0.0, interaction: float = 0.0
) -> Floats:
    """Standard error of a level's mean once the differences between units, which all levels share, are taken out.

    Parameters
    ----------
    accuracy : float in (0, 1)
    units : array_like
        Each is asked at every level.
    rows_per_unit : float
        Responses of a unit at a level.
    rho : float in [0, 1]
        Correlation of responses of one unit, whatever their levels.
    interaction : float >= 0
        Standard deviation over units of how a level acts on them.
    """
    variance = accuracy * (1 - accuracy) * (1 - rho) / rows_per_unit + interaction**2
    return np.asarray(np.sqrt(variance / np.asarray(units, float)))


@lru_cache(maxsize=64)
def _width(probability: float, levels: int) -> float:
    """Quantile of the range without an effect, which a search for an effect asks for again and again."""
    return range_quantile(probability, levels)
