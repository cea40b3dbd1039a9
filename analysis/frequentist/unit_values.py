"""How many independent units stand behind a contrast, and how many of them disagree with the rest."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.frequentist.clustered import Floats, GroupMoments, components

#: Unit values that differ by less are one value written in two ways.
_DIGITS: Final = 12
#: Fewer units than this off the most frequent value say too little about the variance between units.
FEW_UNITS: Final = 5


def few_deviate(deviating: ArrayLike, units: ArrayLike) -> NDArray[np.bool_]:
    """Whether a variance rests on a handful of units: under 5 deviate from a value that most units share.

    Parameters
    ----------
    deviating, units : array_like of int
        As ``deviating_units`` and ``unit_counts`` return.

    Notes
    -----
    Without the second condition every design of five units or fewer would qualify, whatever they do.
    """
    off = np.asarray(deviating)
    return (off < FEW_UNITS) & (2 * off < np.asarray(units))


def unit_counts(n: ArrayLike, weights: ArrayLike) -> NDArray[np.int64]:
    """Units that serve at least one group of each contrast.

    Parameters
    ----------
    n : array_like (..., G, K)
    weights : array_like (Q, K)

    Returns
    -------
    ndarray of int (..., Q)
    """
    serves, used = np.asarray(n) > 0, np.asarray(weights) != 0
    if (np.count_nonzero(serves, axis=-1) <= 1).all():
        per_group = np.count_nonzero(serves, axis=-2)
        return np.stack([per_group[..., row].sum(axis=-1) for row in used], axis=-1)
    return np.stack([np.count_nonzero(serves[..., row].any(axis=-1), axis=-1) for row in used], axis=-1)


def deviating_units(n: ArrayLike, y: ArrayLike, weights: ArrayLike, moments: GroupMoments) -> NDArray[np.int64]:
    """Units whose value of a contrast is not the most frequent one among units that answer alike throughout.

    Parameters
    ----------
    n : array_like (G, K) or (..., G, K)
    y : array_like (..., G, K)
    weights : array_like (Q, K)
    moments : GroupMoments
        Of the same ``n`` and ``y``.

    Returns
    -------
    ndarray of int (..., Q)
        A unit's value is its own weighted mean over the groups it serves. Where no unit serves two
        parts of the contrast, the most frequent value is sought in each part and the counts added.

    Notes
    -----
    Only a value of units that are all right or all wrong within every group can be shared because nothing
    varies; units with the same share of right answers strictly between do so by chance, and count as
    deviating from each other. One answer more or less would otherwise make the interval jump.
    """
    weight, right, ell = np.asarray(n, float), np.asarray(y, float), np.asarray(weights, float)
    lead = np.broadcast_shapes(weight.shape[:-2], right.shape[:-2])
    total = weight.sum(axis=-2, keepdims=True)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    hits = np.divide(right, total, out=np.zeros(np.broadcast_shapes(right.shape, total.shape)), where=total > 0)
    linked = moments.linked.reshape(-1, *moments.linked.shape[-2:]).any(axis=0)
    counted: dict[bytes, NDArray[np.int64]] = {}
    result = np.zeros((*lead, len(ell)), dtype=np.int64)
    for q, row in enumerate(ell):
        for part in components(linked, row != 0):
            used = row[part] / row[part[0]]
            key = part.tobytes() + used.tobytes()
            if key not in counted:
                values = _values(hits[..., part], share[..., part], used)
                counted[key] = _off_the_mode(values, _unanimous(weight[..., part], right[..., part]))
            result[..., q] += counted[key]
    return result


def _values(hits: Floats, share: Floats, weights: Floats) -> Floats:
    """Weighted mean of each unit, (..., G); NaN for units that serve none of the groups."""
    if len(weights) == 1:
        top, bottom = hits[..., 0], share[..., 0]
    else:
        top, bottom = hits @ weights, share @ np.abs(weights)
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    values = np.divide(top, bottom, out=np.full(shape, np.nan), where=np.broadcast_to(bottom > 0, shape))
    return np.round(values, _DIGITS)


def _unanimous(n: Floats, y: Floats) -> NDArray[np.bool_]:
    """Units (..., G) whose responses are all right or all wrong within each group that they serve."""
    return ((n == 0) | (y == 0) | (y == n)).all(axis=-1)


def _off_the_mode(values: Floats, sharing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Values along the last axis, NaN left out, minus the longest run of equal ones among the ``sharing``."""
    alike = np.sort(np.where(sharing, values, np.nan), axis=-1)
    position = np.arange(alike.shape[-1])
    fresh = np.ones(alike.shape, dtype=bool)
    fresh[..., 1:] = alike[..., 1:] != alike[..., :-1]
    run = position - np.maximum.accumulate(np.where(fresh, position, 0), axis=-1) + 1
    longest = np.where(~np.isnan(alike), run, 0).max(axis=-1, initial=0)
    return np.count_nonzero(~np.isnan(values), axis=-1) - longest
