"""Intervals and tests for the smallest of several rates."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arguments import check_level
from analysis.frequentist.proportion import score_p_value

Floats = NDArray[np.float64]


def floor_interval(low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats]:
    """Interval for the minimum of rates whose limits stand on the last axis.

    Parameters
    ----------
    low, high : array_like (..., m)
        Limits of each rate; the upper ones at ``floor_upper_level(ci_level, m)``.

    Returns
    -------
    low, high : ndarray (...,)
        Smallest lower and smallest upper limit; NaN where a rate is unknown.

    Notes
    -----
    The lower limit lies above the minimum no more often than that of the smallest rate alone does:
    an intersection-union argument without a price for the number of rates. At a tie the smallest of
    m upper limits errs up to m times as often as one; hence their level.

    References
    ----------
    Berger (1982), Technometrics 24:295-300 (intersection-union).
    """
    return np.asarray(low, float).min(axis=-1), np.asarray(high, float).min(axis=-1)


def floor_upper_level(ci_level: float, rates: int) -> float:
    """Two-sided level for the upper limits, such that a tie of all rates costs 1 - ci_level at most.

    Each upper limit may err with (1 - ci_level) / rates: the plain level for two rates, where at an
    exact tie the misses on both sides then add up to 1 - ci_level, and 97.5 % for four at 95 %.
    """
    return 1 - 2 * (1 - check_level(ci_level)) / rates


def floor_above(
    rate: ArrayLike, n_eff: ArrayLike, df: ArrayLike, *, null: float = 0.5
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Intersection-union test of "every rate exceeds ``null``".

    Parameters
    ----------
    rate, n_eff, df : array_like (..., m)
    null : float in (0, 1)

    Returns
    -------
    statistic, p_value : ndarray (...,)
        Of the rate with the largest one-sided p-value; NaN where a rate is unknown. Rejects at alpha
        exactly where every one-sided score limit at level 1 - alpha lies above ``null``.
    index : ndarray of int (...,)
        Position of that rate.
    """
    statistic, p = score_p_value(rate, n_eff, df, null=null, alternative="greater")
    return _at(statistic, p, np.where(np.isnan(p), np.inf, p).argmax(axis=-1))


def floor_below(
    rate: ArrayLike, n_eff: ArrayLike, df: ArrayLike, *, null: float = 0.5
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Test of "some rate falls short of ``null``": m times the smallest one-sided p-value, at most 1.

    Parameters and returned values are those of ``floor_above``, for the smallest p-value.
    """
    statistic, p = score_p_value(rate, n_eff, df, null=null, alternative="less")
    chosen, smallest, index = _at(statistic, p, np.where(np.isnan(p), -np.inf, p).argmin(axis=-1))
    return chosen, np.minimum(smallest * np.shape(p)[-1], 1), index


def _at(statistic: Floats, p: Floats, index: NDArray[np.intp]) -> tuple[Floats, Floats, NDArray[np.intp]]:
    pick = index[..., None]
    return np.take_along_axis(statistic, pick, -1)[..., 0], np.take_along_axis(p, pick, -1)[..., 0], index
