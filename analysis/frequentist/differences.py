"""Intervals for differences of correlated rates, from the interval of each rate."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
#: Effective units below which a square-and-add interval reaches at least as far as the cluster t interval.
FEW_UNITS: Final = 30
_ROUNDING: Final = 1e-9


def mover_limits(
    estimate: ArrayLike, low: ArrayLike, high: ArrayLike, weights: ArrayLike, correlation: ArrayLike
) -> tuple[Floats, Floats]:
    """Square-and-add interval for a weighted sum of correlated rates, from the interval of each.

    Parameters
    ----------
    estimate, low, high : array_like (..., C)
        Rates with their limits.
    weights : array_like (C,)
        For a difference of two rates (1, -1); for the contrasts of four cells +-1/2.
    correlation : array_like (..., C, C)
        Of the estimates; 0 where they rest on different units.

    Returns
    -------
    low, high : ndarray (...,)
        For limits in [0, 1], within the smallest and largest value that the weights allow.

    Notes
    -----
    With w the weights, p the rates and (l, u) their limits, the distance to the lower limit is
    sqrt(sum_ij r_ij d_i d_j) with d_i = w_i (p_i - l_i) for w_i > 0 and w_i (u_i - p_i) for w_i < 0;
    the distance to the upper limit has l and u exchanged.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:873-890 (independent) and 17:2635-2650 (paired rates).
    Zou and Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095 (any number, correlated).
    """
    p, below, above = np.asarray(estimate, float), np.asarray(low, float), np.asarray(high, float)
    ell, r = np.asarray(weights, float), np.asarray(correlation, float)
    down, up = p - below, above - p
    centre = p @ ell
    return centre - _length(ell * np.where(ell > 0, down, up), r), centre + _length(
        ell * np.where(ell > 0, up, down), r
    )


def correlations(covariance: ArrayLike) -> Floats:
    """Correlation matrices (..., C, C), unit diagonal; 0 beside estimates that do not vary, where none can be seen."""
    matrix = np.asarray(covariance, float)
    scale = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    product = scale[..., :, None] * scale[..., None, :]
    r = np.clip(np.divide(matrix, product, out=np.zeros_like(matrix), where=product != 0), -1, 1)
    return np.where(np.eye(matrix.shape[-1], dtype=bool), 1.0, r)


def widened_to_unseen(
    low: ArrayLike, high: ArrayLike, difference: ArrayLike, *, units: ArrayLike, quantile: ArrayLike, step: float
) -> tuple[Floats, Floats]:
    """Widen an interval to what units of a kind that was not seen would still allow.

    Parameters
    ----------
    low, high, difference : array_like
    units : array_like
        Effective number of units.
    quantile : array_like
        Of Student's t.
    step : float
        What one such unit changes: the largest weight in the difference.

    Returns
    -------
    low, high : ndarray
        At least step * q^2 / (units + q^2) away from the difference on each side, inside [-1, 1];
        q^2 / (units + q^2) is the upper score limit for a share of which 0 units were seen.
    """
    q2 = np.asarray(quantile, float) ** 2
    reach = step * q2 / (np.asarray(units, float) + q2)
    d = np.asarray(difference, float)
    return np.maximum(np.minimum(low, d - reach), -1), np.minimum(np.maximum(high, d + reach), 1)


def widened_to_t(
    low: ArrayLike, high: ArrayLike, estimate: ArrayLike, variance: ArrayLike, *, units: ArrayLike, quantile: ArrayLike
) -> tuple[Floats, Floats]:
    """Widen a square-and-add interval to the cluster t interval where few units stand behind it.

    Parameters
    ----------
    low, high, estimate, variance : array_like
        On one scale; ``variance`` is the cluster-robust one of the estimate.
    units : array_like
        Effective number of units; from ``FEW_UNITS`` on nothing changes.
    quantile : array_like
        Of Student's t.

    Notes
    -----
    Wilson's limits are narrower than estimate ± q SE by up to sqrt(1 + q^2 / n). One proportion gains by it; a
    contrast of several averages towards a normal shape and loses: 6 units give q = 2.6, and limits some 14 % too
    narrow. Near 0 and 1 it is the t interval that is too narrow, hence the wider of both, on each side.
    """
    half = np.asarray(quantile, float) * np.sqrt(np.maximum(np.asarray(variance, float), 0))
    centre, few = np.asarray(estimate, float), np.asarray(units, float) < FEW_UNITS - _ROUNDING
    below, above = np.asarray(low, float), np.asarray(high, float)
    return np.where(few, np.minimum(below, centre - half), below), np.where(
        few, np.maximum(above, centre + half), above
    )


def _length(steps: Floats, r: Floats) -> Floats:
    squared = ((steps[..., None, :] @ r)[..., 0, :] * steps).sum(axis=-1)
    return np.sqrt(np.maximum(squared, 0))
