"""Correlation of two measures over models (or other objects): Pearson, Spearman, Kendall, with exact p-values."""

from dataclasses import dataclass
from itertools import permutations as all_orders
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import kendalltau, rankdata

from analysis.arguments import check_level
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
KINDS: Final = ("pearson", "spearman", "kendall")
#: All orders are enumerated up to this many objects (9! = 362,880).
ENUMERATED_OBJECTS: Final = 9
_TIE: Final = 1e-10
_BLOCK: Final = 4_000_000
#: Comparisons (orders x pairs) above which Kendall's p-value is the asymptotic one.
_MOST_COMPARISONS: Final = 400_000_000


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlation of two measures over n objects.

    Attributes
    ----------
    kind : {"pearson", "spearman", "kendall"}
        Kendall's is tau-b.
    estimate : float in [-1, 1]
    std_error : float
        Of atanh(estimate).
    df : float
        n - 2.
    statistic : float
        atanh(estimate) / std_error.
    p_value : float in (0, 1]
        Two-sided, from orders of one side against the other.
    p_method : {"exact", "permutation", "asymptotic"}
    mc_error : float
    ci_low, ci_high, ci_level : float
    ci_method : str
    n_clusters : int
        Objects n with both values.
    n_tied : int
        Objects that share their value with another, on either side.
    reason : str
    """

    kind: str
    estimate: float
    std_error: float
    df: float
    statistic: float
    p_value: float
    p_method: str
    mc_error: float
    ci_low: float
    ci_high: float
    ci_level: float
    ci_method: str
    n_clusters: int
    n_tied: int
    reason: str


def correlation(
    x: ArrayLike,
    y: ArrayLike,
    *,
    rng: np.random.Generator,
    kind: str = "spearman",
    permutations: int = 20_000,
    ci_level: float = 0.95,
) -> Correlation:
    """Correlation with an interval and an exact or permutation p-value.

    Parameters
    ----------
    x, y : array_like (n,)
        Objects with a missing value on either side are left out.
    rng : Generator
        Not used with 9 objects or fewer: all orders are enumerated.
    kind : {"pearson", "spearman", "kendall"}
    permutations : int
    ci_level : float in (0, 1)

    Notes
    -----
    Limits are those of atanh(r) with variance 1 / (n - 3) (Pearson), (1 + r^2 / 2) / (n - 3) (Spearman)
    and .437 / (n - 4) (Kendall). Objects are taken as independent and their values as known: for the
    noise of the values themselves correlate bootstrap replicates with ``replicate_correlations``.

    References
    ----------
    Bonett and Wright (2000), Psychometrika 65:23-28, doi:10.1007/BF02294183.
    Fieller, Hartley and Pearson (1957), Biometrika 44:470-481.
    """
    _check(kind)
    check_level(ci_level)
    a, b = np.asarray(x, float), np.asarray(y, float)
    if a.ndim != 1 or a.shape != b.shape or np.isinf(a).any() or np.isinf(b).any():
        raise AnalysisError(f"x and y must be two lists of finite numbers of equal length; found {a.shape}, {b.shape}")
    both = ~(np.isnan(a) | np.isnan(b))
    order = np.lexsort((b[both], a[both]))
    a, b = a[both][order], b[both][order]
    n, tied = len(a), int((_repeated(a) | _repeated(b)).sum())
    reason = _undefined(a, b)
    if reason:
        nothing = (np.nan,) * 4
        return Correlation(kind, *nothing, np.nan, "", np.nan, np.nan, np.nan, ci_level, "", n, tied, reason)
    r = float(replicate_correlations(a[None], b[None], kind=kind)[0])
    p, method, mc = _p_value(a, b, kind, rng, permutations)
    error, ci_method = _error(r, n, kind)
    perfect = abs(r) > 1 - 1e-12
    if perfect:
        reason = "perfect correlation: no interval"
    elif np.isnan(error):
        reason = f"{n} objects are too few for an interval"
    known = not reason
    z = np.arctanh(r) if known else np.nan
    reach = float(ndtri(0.5 + ci_level / 2)) * error
    return Correlation(
        kind=kind,
        estimate=r,
        std_error=error if known else np.nan,
        df=n - 2.0,
        statistic=float(z / error) if known else np.nan,
        p_value=p,
        p_method=method,
        mc_error=mc,
        ci_low=float(np.tanh(z - reach)),
        ci_high=float(np.tanh(z + reach)),
        ci_level=ci_level,
        ci_method=ci_method if known else "",
        n_clusters=n,
        n_tied=tied,
        reason=reason,
    )


def replicate_correlations(x: ArrayLike, y: ArrayLike, *, kind: str = "spearman") -> Floats:
    """Correlation along the last axis of each replicate.

    Parameters
    ----------
    x, y : array_like (B, n), broadcastable
        Bootstrap replicates (or posterior draws) of two measures of n objects.

    Returns
    -------
    ndarray (B,)
        NaN where a side is constant.
    """
    _check(kind)
    a, b = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    if kind == "spearman":
        a, b = rankdata(a, axis=-1), rankdata(b, axis=-1)
    if kind == "kendall":
        i, j = np.triu_indices(a.shape[-1], 1)
        a, b = np.sign(a[..., i] - a[..., j]), np.sign(b[..., i] - b[..., j])
    else:
        a, b = _centred(a), _centred(b)
    scale = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    top = (a * b).sum(axis=-1)
    return np.clip(np.divide(top, scale, out=np.full(top.shape, np.nan), where=scale > 0), -1, 1)


def _p_value(a: Floats, b: Floats, kind: str, rng: np.random.Generator, permutations: int) -> tuple[float, str, float]:
    n = len(a)
    if kind == "kendall" and n > ENUMERATED_OBJECTS and permutations * n * (n - 1) / 2 > _MOST_COMPARISONS:
        return max(float(kendalltau(a, b, method="asymptotic").pvalue), np.finfo(float).tiny), "asymptotic", 0.0
    if kind == "spearman":
        a, b = rankdata(a), rankdata(b)
    exact = n <= ENUMERATED_OBJECTS
    hits = drawn = 0
    for orders in _enumerated(n) if exact else _drawn(n, rng, permutations):
        hits += _hits(a, b, orders, kind)
        drawn += len(orders)
    if exact:
        return hits / drawn, "exact", 0.0
    p = (hits + 1) / (drawn + 1)
    return p, "permutation", float(np.sqrt(p * (1 - p) / drawn))


def _hits(a: Floats, b: Floats, orders: NDArray[np.int64], kind: str) -> int:
    """Orders whose correlation is as far from 0 as the observed one."""
    if kind == "kendall":
        i, j = np.triu_indices(len(a), 1)
        left, right = np.sign(a[i] - a[j]), np.sign(b[:, None] - b[None, :])
        sums, observed = right[orders[:, i], orders[:, j]] @ left, right[i, j] @ left
        slack = 0.5
    else:
        left, right = a - a.mean(), b - b.mean()
        sums, observed = right[orders] @ left, right @ left
        slack = _TIE * float(np.abs(left) @ np.abs(right))
    return int(np.count_nonzero(np.abs(sums) >= abs(observed) - slack))


def _enumerated(n: int) -> list[NDArray[np.int64]]:
    return [np.array(list(all_orders(range(n))), dtype=np.int64)]


def _drawn(n: int, rng: np.random.Generator, permutations: int) -> list[NDArray[np.int64]]:
    size = max(_BLOCK // (n * n), 16)
    starts = range(0, permutations, size)
    return [np.argsort(rng.random((min(size, permutations - at), n)), axis=1) for at in starts]


def _error(r: float, n: int, kind: str) -> tuple[float, str]:
    if kind == "kendall":
        return (float(np.sqrt(0.437 / (n - 4))) if n > 4 else np.nan), "Fisher z, Fieller"
    inflation = 1 + r**2 / 2 if kind == "spearman" else 1.0
    name = "Fisher z, Bonett-Wright" if kind == "spearman" else "Fisher z"
    return (float(np.sqrt(inflation / (n - 3))) if n > 3 else np.nan), name


def _undefined(a: Floats, b: Floats) -> str:
    if len(a) < 3:
        return f"{len(a)} objects with both values: 3 or more are needed"
    for name, side in (("first", a), ("second", b)):
        if np.ptp(side) <= 1e-12 * np.abs(side).max():
            return f"the {name} measure is the same for all objects"
    return ""


def _centred(values: Floats) -> Floats:
    off = values - values.mean(axis=-1, keepdims=True)
    scale = np.abs(values).max(axis=-1, keepdims=True, initial=0)
    return np.where(np.abs(off) <= 1e-13 * scale, 0.0, off)


def _repeated(values: Floats) -> NDArray[np.bool_]:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return counts[inverse] > 1


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise AnalysisError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
