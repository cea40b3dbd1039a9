"""Size of a paired difference in standard deviations; which one is part of its name."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


def d_z(first: ArrayLike, second: ArrayLike) -> Floats:
    """Mean difference over the standard deviation of the differences.

    Parameters
    ----------
    first, second : array_like (..., G)
        Unit values; units with one side only are left out.

    Returns
    -------
    ndarray (...,)
        Signal to noise of the paired design: it grows with the correlation of the two sides, so it
        compares with no d of unpaired groups. NaN with fewer than two units or no variation.

    References
    ----------
    Lakens (2013), Frontiers in Psychology 4:863, doi:10.3389/fpsyg.2013.00863.
    """
    a, b = _paired(first, second)
    return _over(_mean(a - b), np.sqrt(_variance(a - b)), np.abs(a).max(axis=-1, initial=0, where=~np.isnan(a)))


def d_av(first: ArrayLike, second: ArrayLike) -> Floats:
    """Mean difference over the root mean variance of the two sides: comparable between designs.

    Parameters and returned values are those of ``d_z``.
    """
    a, b = _paired(first, second)
    spread = np.sqrt((_variance(a) + _variance(b)) / 2)
    return _over(_mean(a - b), spread, np.abs(a).max(axis=-1, initial=0, where=~np.isnan(a)))


def _paired(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    try:
        a, b = np.broadcast_arrays(np.asarray(first, float), np.asarray(second, float))
    except ValueError as error:
        raise AnalysisError(f"paired values need the same units on both sides: {error}") from error
    both = ~(np.isnan(a) | np.isnan(b))
    return np.where(both, a, np.nan), np.where(both, b, np.nan)


def _mean(values: Floats) -> Floats:
    n = np.count_nonzero(~np.isnan(values), axis=-1)
    total = np.nansum(values, axis=-1)
    return np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)


def _variance(values: Floats) -> Floats:
    n = np.count_nonzero(~np.isnan(values), axis=-1)
    squares = np.nansum((values - _mean(values)[..., None]) ** 2, axis=-1)
    return np.divide(squares, n - 1.0, out=np.full(n.shape, np.nan), where=n > 1)


def _over(mean: Floats, spread: Floats, scale: Floats) -> Floats:
    known = spread > 1e-12 * np.maximum(scale, np.finfo(float).tiny)
    return np.divide(mean, spread, out=np.full(mean.shape, np.nan), where=known)[()]
