"""Linear contrasts of group rates when responses come in units: variance and degrees of freedom.

A group is a cell, or a cell within a stratum. Its rate is sum(y) / sum(n) over units; a unit may serve
one group or many. Everything a contrast needs follows from products of groups, so that thousands of
units are passed over once, whatever the number of contrasts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
#: Deviations below this share of a unit's weight are rounding, not variation.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class GroupMoments:
    """What contrasts of K groups need to know about the units; leading axes are models or replicates.

    Attributes
    ----------
    rate : (..., K)
        sum(y) / sum(n); 0 where a group is empty.
    covariance : (..., K, K)
        CR2 covariance of the rates; meaningless in groups with fewer than two units.
    trace, trace_square : (..., K) and (..., K, K)
        tr P and the terms of tr P^2 of the Satterthwaite approximation, per squared contrast weight.
    overlap : (..., K, K)
        Sum over units of the products of their shares of two groups.
    linked : (..., K, K) of bool
        Whether two groups share a unit.
    units : (..., K) of int
        Units that serve the group.
    """

    rate: Floats
    covariance: Floats
    trace: Floats
    trace_square: Floats
    overlap: Floats
    linked: NDArray[np.bool_]
    units: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClusteredContrasts:
    """Estimates of Q contrasts with what intervals need; leading axes are models or replicates.

    Attributes
    ----------
    estimate : (..., Q)
        NaN where a group that the contrast uses is empty.
    covariance : (..., Q, Q)
        NaN where, moreover, a group has one unit only.
    df : (..., Q)
        Satterthwaite degrees of freedom.
    design_units : (..., Q)
        1 / sum of squared shares of the units in the contrast: G for G equal units, fewer when a
        few units carry most of the weight.
    empty, single : (..., Q) of bool
        A group used has no response; a group used has one unit only.
    """

    estimate: Floats
    covariance: Floats
    df: Floats
    design_units: Floats
    empty: NDArray[np.bool_]
    single: NDArray[np.bool_]

    @property
    def variance(self) -> Floats:
        """Diagonal of the covariance, (..., Q)."""
        return np.diagonal(self.covariance, axis1=-2, axis2=-1)


def clustered_contrasts(n: ArrayLike, y: ArrayLike, weights: ArrayLike) -> ClusteredContrasts:
    """Contrasts of group rates with cluster-robust covariance and degrees of freedom.

    Parameters
    ----------
    n : array_like (G, K) or (..., G, K)
        Responses, or their weight, of each unit in each group.
    y : array_like (..., G, K)
        Right answers among them, 0 <= y <= n.
    weights : array_like (Q, K) or (..., Q, K)

    Notes
    -----
    The model is one mean per group; its CR2 adjustment has a closed form. With h_gc = n_gc / n_c,

        psi_gc = h_gc (ybar_gc - rate_c) / sqrt(1 - h_gc),   Cov = sum_g psi_g psi_g'.

    For G equal units this is the sample covariance over G; where units serve one group each it is
    the diagonal of s_c^2 / G_c. Degrees of freedom: see ``contrasts_from_moments``.

    References
    ----------
    Bell and McCaffrey (2002), Survey Methodology 28:169-181.
    Pustejovsky and Tipton (2018), J. Bus. Econ. Stat. 36:672-683, doi:10.1080/07350015.2016.1247004.
    """
    return contrasts_from_moments(group_moments(n, y), weights)


def group_moments(n: ArrayLike, y: ArrayLike) -> GroupMoments:
    """Pass once over units; ``n`` without leading axes is a design that all of ``y`` shares."""
    weight, right = np.asarray(n, float), np.asarray(y, float)
    if weight.ndim < 2 or weight.shape[-2:] != right.shape[-2:]:
        raise AnalysisError(f"n and y need the same (units, groups); found shapes {weight.shape} and {right.shape}")
    total = weight.sum(axis=-2)
    safe = np.where(total > 0, total, 1.0)
    rate = right.sum(axis=-2) / safe
    share = weight / safe[..., None, :]
    adjust = 1 - share
    adjust[adjust <= _ROUNDING] = 1.0
    off = right - weight * rate[..., None, :]
    off[np.abs(off) <= _ROUNDING * weight] = 0.0
    psi = off / (safe[..., None, :] * np.sqrt(adjust))
    spread = share / (safe[..., None, :] * adjust)
    serves = weight > 0
    nested = bool((np.count_nonzero(serves, axis=-1) <= 1).all())
    loss = spread * share
    root = np.sqrt(loss)
    crossed = _gram(spread, loss, nested)
    units = np.count_nonzero(serves, axis=-2)
    return GroupMoments(
        rate=rate,
        covariance=_gram(psi, psi, nested),
        trace=(spread - loss).sum(axis=-2),
        trace_square=_gram(spread, spread, nested)
        - crossed
        - np.swapaxes(crossed, -1, -2)
        + _gram(root, root, nested) ** 2,
        overlap=_gram(share, share, nested),
        linked=_linked(serves, units, nested),
        units=units,
    )


def contrasts_from_moments(moments: GroupMoments, weights: ArrayLike) -> ClusteredContrasts:
    """Contrasts of groups whose moments are known.

    Notes
    -----
    Degrees of freedom. Groups that share units, directly or through other groups of the contrast,
    form a component; components are independent. Within a component the variance estimator is a
    quadratic form e'Pe in responses with equal variances, P = D - sum_c b_c b_c', and
    df = (tr P)^2 / tr P^2 (Bell and McCaffrey 2002). Components are combined with their observed
    variances (Welch 1947, doi:10.1093/biomet/34.1-2.28), or with those expected under equal variances
    where nothing varied. In balanced designs this gives G - 1 and the classical Welch value.
    """
    ell = np.asarray(weights, float)
    used = ell != 0
    covariance = ell @ moments.covariance @ np.swapaxes(ell, -1, -2)
    size = np.abs(ell)
    scale = (size @ np.sqrt(np.diagonal(moments.covariance, axis1=-2, axis2=-1))[..., None])[..., 0]
    rows, columns = scale[..., :, None], scale[..., None, :]
    covariance = np.where(np.abs(covariance) > _ROUNDING * rows * columns, covariance, 0.0)
    empty = (used & (moments.units == 0)[..., None, :]).any(axis=-1)
    single = (used & (moments.units == 1)[..., None, :]).any(axis=-1)
    estimate = (ell @ moments.rate[..., None])[..., 0]
    empty, single = np.broadcast_to(empty, estimate.shape), np.broadcast_to(single, estimate.shape)
    unknown = empty | single
    share = ((size @ moments.overlap) * size).sum(axis=-1)
    spread_over = np.divide(size.sum(axis=-1) ** 2, share, out=np.full(share.shape, np.nan), where=share > 0)
    return ClusteredContrasts(
        estimate=np.where(empty, np.nan, estimate),
        covariance=np.where(unknown[..., :, None] | unknown[..., None, :], np.nan, covariance),
        df=np.where(unknown, np.nan, _degrees_of_freedom(moments, ell, estimate.shape)),
        design_units=np.broadcast_to(spread_over, estimate.shape),
        empty=empty,
        single=single,
    )


def components(linked: NDArray[np.bool_], used: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Indices of the used groups, parted such that no unit serves two parts."""
    index = np.flatnonzero(used)
    block = linked[np.ix_(index, index)]
    # Mostly all groups share units, or none do: no search is needed then.
    if len(index) and block.all():
        return [index]
    if np.count_nonzero(block) == np.count_nonzero(block.diagonal()):
        return list(index[:, None])
    count, labels = connected_components(block, directed=False)
    return [index[labels == label] for label in range(count)]


def _gram(a: Floats, b: Floats, nested: bool) -> Floats:
    """Sum over units of a_gc b_gd; diagonal where every unit serves one group."""
    if not nested:
        return np.swapaxes(a, -1, -2) @ b
    return np.einsum("...gk,...gk->...k", a, b)[..., None, :] * np.eye(a.shape[-1])


def _linked(serves: NDArray[np.bool_], units: NDArray[np.int64], nested: bool) -> NDArray[np.bool_]:
    if nested:
        return (units > 0)[..., None, :] & np.eye(serves.shape[-1], dtype=bool)
    counted = serves.astype(float)
    return _gram(counted, counted, nested) > 0


def _degrees_of_freedom(moments: GroupMoments, ell: Floats, shape: tuple[int, ...]) -> Floats:
    """Satterthwaite degrees of freedom of every contrast, ``shape`` (..., Q)."""
    lead, (q, k) = shape[:-1], ell.shape[-2:]
    size = int(np.prod(lead))
    ell = np.broadcast_to(ell, (*lead, q, k)).reshape(size, q, k)
    covariance = np.broadcast_to(moments.covariance, (*lead, k, k)).reshape(size, k, k)
    linked = moments.linked.reshape(-1, k, k)
    trace = (
        np.broadcast_to(moments.trace.reshape(-1, k), (size, k)) if len(linked) == 1 else moments.trace.reshape(-1, k)
    )
    square = moments.trace_square.reshape(-1, k, k)
    square = np.broadcast_to(square, (size, k, k)) if len(linked) == 1 else square
    df = np.full((size, q), np.nan)
    for pattern, members in _patterns(linked, size):
        for j in range(q):
            parts = components(pattern, (ell[:, j] != 0).any(axis=0))
            weights = ell[members, j]
            df[members, j] = _welch(weights, covariance[members], trace[members], square[members], parts)
    return df.reshape(shape)


def _patterns(linked: NDArray[np.bool_], size: int) -> list[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """Distinct patterns of shared units, each with the leading indices that have it."""
    if len(linked) == 1:
        return [(linked[0], np.arange(size))]
    flat = np.packbits(linked.reshape(len(linked), -1), axis=1)
    _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    return [(linked[i], np.flatnonzero(inverse.ravel() == j)) for j, i in enumerate(first)]


def _welch(ell: Floats, covariance: Floats, trace: Floats, square: Floats, parts: list[NDArray[np.int64]]) -> Floats:
    """Welch-Satterthwaite combination of independent parts of one contrast; ``ell`` is (N, K)."""
    observed = np.zeros((len(parts), len(ell)))
    expected, df = np.zeros_like(observed), np.zeros_like(observed)
    for i, part in enumerate(parts):
        weights = ell[:, part]
        block = covariance[:, part[:, None], part]
        observed[i] = np.maximum(((weights[:, None] @ block)[:, 0] * weights).sum(axis=1), 0)
        squared = weights**2
        expected[i] = (squared * trace[:, part]).sum(axis=1)
        spread = ((squared[:, None] @ square[:, part[:, None], part])[:, 0] * squared).sum(axis=1)
        df[i] = np.divide(expected[i] ** 2, spread, out=np.full(len(ell), np.nan), where=spread > 0)
    variance = np.where(observed.sum(axis=0) > 0, observed, expected)
    loss = np.divide(variance**2, df, out=np.zeros_like(variance), where=(variance > 0) & (df > 0)).sum(axis=0)
    return np.divide(variance.sum(axis=0) ** 2, loss, out=np.full(len(ell), np.nan), where=loss > 0)
