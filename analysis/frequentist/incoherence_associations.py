"""Correlations between values of instances that share units: rank correlation, and correlation within instances."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from scipy.stats import t as student

from analysis.arguments import check_level

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClusteredCorrelation:
    """A correlation with its interval by unit.

    Attributes
    ----------
    estimate, std_error : float
    ci_low, ci_high, ci_level : float
        Fisher's z with the cluster-robust standard error and Student's t.
    n, n_clusters : int
    reason : str
    """

    estimate: float
    std_error: float
    ci_low: float
    ci_high: float
    ci_level: float
    n: int
    n_clusters: int
    reason: str


def rank_correlation(x: ArrayLike, y: ArrayLike, units: ArrayLike, *, ci_level: float = 0.95) -> ClusteredCorrelation:
    """Spearman's correlation over instances, its error by unit.

    Parameters
    ----------
    x, y : array_like (n,)
        NaN pairs are left out.
    units : array_like (n,)

    Notes
    -----
    The influence of an instance on the covariance of mid-ranks has three terms: its own product, and what it does to
    the ranks of the others on either side. They are summed by unit.

    References
    ----------
    Borkowf (2002), Comput. Stat. Data Anal. 39:271-286, doi:10.1016/S0167-9473(01)00081-0 (variance of Spearman's rho).
    """
    a, b, code = _complete(x, y, units)
    n = len(a)
    if n < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return _undefined(n, code, ci_level, "fewer than three instances, or one side does not vary")
    f, g = ((rankdata(side) - 0.5) / n - 0.5 for side in (a, b))
    scale = np.sqrt((f**2).mean() * (g**2).mean())
    covariance = (f * g).mean()
    own = f * g + _above(a, g) + _above(b, f)
    influence = (own - own.mean()) / scale
    return _with_limits(float(covariance / scale), influence, code, ci_level)


def centred_correlation(
    x: ArrayLike, y: ArrayLike, instances: ArrayLike, units: ArrayLike, *, ci_level: float = 0.95
) -> ClusteredCorrelation:
    """Pearson's correlation of values minus the mean of their instance: between wordings of the same question.

    Parameters
    ----------
    x, y : array_like (n,)
        One value per instance and wording; instances with one wording add nothing and are left out.
    instances, units : array_like (n,)
    """
    known = np.isfinite(np.asarray(x, float)) & np.isfinite(np.asarray(y, float))
    a, b = np.asarray(x, float)[known], np.asarray(y, float)[known]
    _, instance = np.unique(np.asarray(instances)[known], return_inverse=True)
    count = np.bincount(instance)
    a, b = (side - (np.bincount(instance, weights=side) / np.maximum(count, 1))[instance] for side in (a, b))
    several = count[instance] > 1
    a, b, code = a[several], b[several], np.unique(np.asarray(units)[known][several], return_inverse=True)[1]
    scale = np.sqrt((a**2).sum() * (b**2).sum())
    if len(a) < 3 or scale <= 1e-12:
        return _undefined(len(a), code, ci_level, "no instance varies between wordings on both sides")
    r = float((a * b).sum() / scale)
    u, v = a / np.sqrt((a**2).mean()), b / np.sqrt((b**2).mean())
    return _with_limits(r, u * v - r * (u**2 + v**2) / 2, code, ci_level)


def _above(x: Floats, weight: Floats) -> Floats:
    """Mean over all j of weight_j where x_j lies above x_i, half where it equals it."""
    order = np.argsort(x, kind="stable")
    ordered, w = x[order], weight[order]
    total = np.concatenate([[0.0], np.cumsum(w)])
    first, last = np.searchsorted(ordered, x, side="left"), np.searchsorted(ordered, x, side="right")
    found: Floats = (total[-1] - total[last] + (total[last] - total[first]) / 2) / len(x)
    return found


def _complete(x: ArrayLike, y: ArrayLike, units: ArrayLike) -> tuple[Floats, Floats, NDArray[np.int64]]:
    a, b = np.asarray(x, float), np.asarray(y, float)
    known = np.isfinite(a) & np.isfinite(b)
    return a[known], b[known], np.unique(np.asarray(units)[known], return_inverse=True)[1]


def _with_limits(r: float, influence: Floats, code: NDArray[np.int64], ci_level: float) -> ClusteredCorrelation:
    sums = np.bincount(code, weights=influence)
    g, n = len(sums), len(influence)
    if g < 3:
        return ClusteredCorrelation(r, np.nan, np.nan, np.nan, ci_level, n, g, "fewer than three units: no interval")
    error = float(np.sqrt(g / (g - 1) * ((sums - sums.mean()) ** 2).sum()) / n)
    inside = float(np.clip(r, -1 + 1e-12, 1 - 1e-12))
    half = student.ppf(0.5 + check_level(ci_level) / 2, g - 1) * error / (1 - inside**2)
    low, high = np.tanh(np.arctanh(inside) + np.array([-half, half]))
    return ClusteredCorrelation(r, error, float(low), float(high), ci_level, n, g, "")


def _undefined(n: int, code: NDArray[np.int64], ci_level: float, reason: str) -> ClusteredCorrelation:
    units = int(code.max()) + 1 if len(code) else 0
    return ClusteredCorrelation(np.nan, np.nan, np.nan, np.nan, ci_level, n, units, reason)
