"""P-values of several tests adjusted together; a test that was not run is not part of the family."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


def holm(p_values: ArrayLike) -> Floats:
    """Holm's step-down adjustment: family-wise error under any dependence, never less powerful than Bonferroni.

    Parameters
    ----------
    p_values : array_like, one axis, in [0, 1]
        NaN marks a test that was not run: it stays NaN and does not count.

    Returns
    -------
    ndarray
        Adjusted p-values in the order given, at most 1, monotone in the p-values.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6:65-70.
    """
    p, run = _family(p_values)
    order = np.argsort(p[run], kind="stable")
    steps = np.arange(len(order), 0, -1)
    return _placed(p, run, order, np.maximum.accumulate(p[run][order] * steps))


def bonferroni(p_values: ArrayLike) -> Floats:
    """P-values times the number of tests run, at most 1; NaN marks a test that was not run."""
    p, run = _family(p_values)
    return np.minimum(p * run.sum(), 1)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Step-up adjustment for the false discovery rate: for exploration, not for claims about single tests.

    Parameters and returned values are those of ``holm``.

    References
    ----------
    Benjamini and Hochberg (1995), JRSS B 57:289-300, doi:10.1111/j.2517-6161.1995.tb02031.x.
    """
    p, run = _family(p_values)
    order = np.argsort(p[run], kind="stable")[::-1]
    size = len(order)
    steps = size / np.arange(size, 0, -1)
    return _placed(p, run, order, np.minimum.accumulate(p[run][order] * steps))


def adjusted_bound(p_values: ArrayLike, p_adjusted: ArrayLike, resolution: ArrayLike) -> Floats:
    """Below what an adjusted p-value lies if its test gave the smallest p-value that its draws allow.

    Parameters
    ----------
    p_values, p_adjusted : array_like
    resolution : array_like
        Smallest p-value that each test could give by its draws; NaN where it is exact.

    Returns
    -------
    ndarray
        The adjusted p-value itself where the raw one is at its resolution, so that it is read as a bound;
        NaN elsewhere.
    """
    p, adjusted, floor = np.broadcast_arrays(*(np.asarray(x, float) for x in (p_values, p_adjusted, resolution)))
    return np.where(p <= floor, adjusted, np.nan)


def family_size(p_values: ArrayLike) -> int:
    """Number of tests that were run."""
    return int(_family(p_values)[1].sum())


def _family(p_values: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    p = np.atleast_1d(np.asarray(p_values, float))
    run = ~np.isnan(p)
    if p.ndim != 1 or ((p[run] < 0) | (p[run] > 1)).any():
        raise AnalysisError(
            f"p-values must be one list of numbers in [0, 1]; found shape {p.shape}, values {p[run][:5]}"
        )
    return p, run


def _placed(p: Floats, run: NDArray[np.bool_], order: NDArray[np.intp], adjusted: Floats) -> Floats:
    values = np.empty(len(order))
    values[order] = np.minimum(adjusted, 1)
    result = np.full(p.shape, np.nan)
    result[run] = values
    return result
