"""One value per unit whose mean is a contrast of weighted rates: what sign flips and bootstraps of contrasts need."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


def unit_contrast_values(n: ArrayLike, y: ArrayLike, weights: ArrayLike) -> Floats:
    """Values of each unit whose mean over units is the contrast of rates.

    Parameters
    ----------
    n, y : array_like (..., G, K)
        Weight of responses and of events by unit and group (see ``unit_arrays.UnitArrays``).
    weights : array_like (Q, K)
        Contrasts of group rates.

    Returns
    -------
    ndarray (..., Q, G)
        NaN for units that serve no group of the contrast, and throughout where a group is empty. Where
        all units have the same weight in each group these are the units' own contrasts; else a unit
        moves by its influence, theta + G * sum_c w_c n_gc (ybar_gc - rate_c) / n_c.

    References
    ----------
    Deville (1999), Survey Methodology 25:193-203 (linearisation).
    """
    trials, events = np.asarray(n, float), np.asarray(y, float)
    ell = np.atleast_2d(np.asarray(weights, float))
    if trials.ndim < 2 or trials.shape[-2:] != events.shape[-2:] or ell.shape[-1] != trials.shape[-1]:
        raise AnalysisError(
            f"n, y (units, groups) and weights (contrasts, groups) do not fit: "
            f"{trials.shape}, {events.shape}, {ell.shape}"
        )
    total = trials.sum(axis=-2)
    rate = np.divide(events.sum(axis=-2), total, out=np.zeros(np.broadcast_shapes(total.shape)), where=total > 0)
    share = np.divide(
        events - trials * rate[..., None, :],
        total[..., None, :],
        out=np.zeros_like(events),
        where=total[..., None, :] > 0,
    )
    serves = (trials > 0).astype(float) @ (ell != 0).T.astype(float) > 0
    units = serves.sum(axis=-2, keepdims=True)
    values = (rate @ ell.T)[..., None, :] + units * (share @ ell.T)
    lost = ((total <= 0)[..., None, :] & (ell != 0)).any(axis=-1)
    return np.swapaxes(np.where(serves & ~lost[..., None, :], values, np.nan), -1, -2)
