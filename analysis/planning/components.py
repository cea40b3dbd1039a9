"""How much of a standard error comes from responses within units, and how much from the units."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def within_variance(n: ArrayLike, y: ArrayLike, share: ArrayLike, weights: ArrayLike) -> Floats:
    """Part of the variance of a contrast that more responses per unit would take away, by the method of moments.

    Parameters
    ----------
    n, y : array_like (..., G, K)
        Responses and events of each unit in each group.
    share : array_like (..., G, K)
        Weight of the unit in the group's rate, 1 in sum over units.
    weights : array_like (Q, K)
        Of the groups in each contrast.

    Returns
    -------
    ndarray (..., Q)
        sum_g sum_c w_c^2 h_gc^2 ybar_gc (1 - ybar_gc) / (n_gc - 1); NaN where units asked more than once in a group
        carry less than half of its weight, so that nothing is known of how responses vary within units. Units asked
        once count like the mean of the others.

    Notes
    -----
    ybar (1 - ybar) / (n - 1) is unbiased for the variance of the mean of n independent responses of one unit. What
    is left of the cluster-robust variance is due to differences between units, and stays however often they are
    asked: SE^2 with f times as many responses per unit is (SE^2 - W) + W / f, at f = 1 exactly that of the design.
    """
    trials, events, h = (np.asarray(v, float) for v in (n, y, share))
    rate = np.divide(events, trials, out=np.zeros(np.broadcast_shapes(events.shape, trials.shape)), where=trials > 0)
    known = np.broadcast_to(trials > 1, rate.shape)
    own = np.divide(rate * (1 - rate), trials - 1, out=np.zeros_like(rate), where=known)
    # Units asked once: their responses vary like those of the others, in units asked once.
    spread = np.where(known, own * trials, 0.0)
    weight = np.where(known, h, 0.0).sum(axis=-2)
    mean = np.divide((spread * h).sum(axis=-2), weight, out=np.full(weight.shape, np.nan), where=weight > 0)
    filled = np.where(known, own, np.where(trials > 0, mean[..., None, :], 0.0))
    by_group = (filled * h**2).sum(axis=-2)
    by_group = np.where(weight >= 0.5, by_group, np.nan)
    squared = np.asarray(weights, float) ** 2
    return np.where(squared > 0, squared * by_group[..., None, :], 0.0).sum(axis=-1)


def rescaled_std_error(
    std_error: ArrayLike, within: ArrayLike, *, units: ArrayLike = 1.0, rows: ArrayLike = 1.0
) -> Floats:
    """Standard error of a design with ``units`` times the units and ``rows`` times the responses of each.

    ``within`` is that of ``within_variance``; it is cut at the whole variance, where units do not seem to differ.
    """
    whole = np.asarray(std_error, float) ** 2
    inside = np.minimum(np.asarray(within, float), whole)
    return np.asarray(np.sqrt((whole - inside + inside / np.asarray(rows, float)) / np.asarray(units, float)))
