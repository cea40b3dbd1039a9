"""How much of a spread between levels is left when the noise of their means is taken off."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ncfdtr

from analysis.arguments import check_level

Floats = NDArray[np.float64]


def denoised_sd(
    f: ArrayLike, mse: ArrayLike, n: float, df_levels: int, df_error: int, *, ci_level: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Standard deviation between true level means, with an interval.

    Parameters
    ----------
    f, mse : array_like (...,)
        F statistic n var(level means) / mse, and the mean square of unit x level.
    n : float
        Units per level.
    df_levels, df_error : int
        k - 1 and the degrees of freedom of mse.
    ci_level : float in (0, 1)

    Returns
    -------
    estimate, low, high : ndarray (...,)
        In the unit of the means; NaN where mse is 0 or unknown.

    Notes
    -----
    tau^2 = max(0, (F - 1) mse / n). Limits invert the noncentral F distribution with noncentrality
    n (k - 1) tau^2 / sigma^2: a bootstrap of tau^2 degenerates near 0. Both
    are 0 where level means differ less than noise alone lets them in all but (1 - ci_level) / 2 of samples.

    References
    ----------
    Steiger (2004), Psychological Methods 9:164-182, doi:10.1037/1082-989X.9.2.164.
    """
    tail = (1 - check_level(ci_level)) / 2
    statistic, noise = np.broadcast_arrays(np.asarray(f, float), np.asarray(mse, float))
    known = np.isfinite(statistic) & (noise > 0)
    estimate = np.sqrt(np.maximum(np.where(known, statistic, 1) - 1, 0) * noise / n)
    limits = np.full((2, *statistic.shape), np.nan)
    for index in np.argwhere(known):
        at = tuple(index)
        for side, probability in enumerate((1 - tail, tail)):
            limits[(side, *at)] = _noncentrality(float(statistic[at]), df_levels, df_error, probability)
    low, high = np.sqrt(limits * noise / (n * df_levels))
    return np.where(known, estimate, np.nan), low, high


def denoised_range(observed: ArrayLike, null_mean_square: ArrayLike) -> Floats:
    """Range between true level means: root of observed^2 - E[range^2 without any effect], at least 0.

    Subtracting the expected range itself takes off too much where there are true differences.
    """
    return np.sqrt(np.maximum(np.asarray(observed, float) ** 2 - np.asarray(null_mean_square, float), 0))


def _noncentrality(f: float, df_levels: int, df_error: int, probability: float) -> float:
    """Noncentrality under which F stays below ``f`` with this probability; 0 where none is small enough."""

    def excess(value: float) -> float:
        return float(ncfdtr(df_levels, df_error, value, f)) - probability

    if excess(0.0) <= 0:
        return 0.0
    top = max(4.0 * df_levels * f, 16.0)
    while excess(top) > 0:
        top *= 2
    return float(brentq(excess, 0.0, top, xtol=1e-10, rtol=1e-12))
