"""Friedman's test of several conditions on the same units, Kendall's W, and Nemenyi's comparisons."""

from dataclasses import dataclass
from itertools import permutations as all_orders
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, rankdata
from scipy.stats import f as f_distribution

from analysis.errors import AnalysisError
from analysis.frequentist.level_effects import effects_within
from analysis.frequentist.level_permutations import permuted_levels
from analysis.frequentist.pairwise import model_pairs
from analysis.frequentist.proportion import SMALLEST_P
from analysis.frequentist.studentised_range import range_probability, range_quantile

Floats = NDArray[np.float64]
#: The exact distribution is used while it needs no more than this many states times orders.
_MOST_STATES: Final = 400_000
#: Largest number of conditions whose orders are enumerated.
_MOST_LEVELS: Final = 5
#: Below this the complement of the studentised range distribution is rounding.
_SMALLEST_RANGE_P: Final = 1e-12


@dataclass(frozen=True, slots=True)
class FriedmanTest:
    """Friedman's test over units that have all k conditions.

    Attributes
    ----------
    estimate : float in [0, 1]
        Kendall's W: 0 no agreement between units on the order of conditions, 1 complete.
    std_error : float
        NaN.
    statistic, df : float
        Chi-squared, corrected for ties, and k - 1.
    p_value : float in (0, 1]
        Exact or by permutation within units; ``p_method`` says which.
    p_chi2, p_f : float
        From the chi-squared approximation and from Iman and Davenport's F.
    p_method : {"exact", "permutation"}
    mc_error : float
    mean_ranks : (k,)
        1 is the smallest value.
    n_clusters, n_set_aside : int
        Units with all conditions; units that lack one.
    n_tied : int
        Units in which two conditions tie.
    reason : str
    """

    estimate: float
    std_error: float
    statistic: float
    df: float
    p_value: float
    p_chi2: float
    p_f: float
    p_method: str
    mc_error: float
    mean_ranks: Floats
    n_clusters: int
    n_set_aside: int
    n_tied: int
    reason: str


@dataclass(frozen=True, slots=True)
class NemenyiTest:
    """All pairs of conditions by mean ranks; arrays (P,).

    Attributes
    ----------
    pairs : (P, 2) of int
    estimate : ndarray
        Difference of mean ranks, first minus second.
    std_error : float
        Of one mean rank without ties, sqrt(k (k + 1) / (12 G)).
    statistic : ndarray
        |estimate| / std_error, a studentised range.
    p_adjusted : ndarray in (0, 1]
        Family-wise over all pairs.
    critical_difference : float
        Difference of mean ranks needed at .05.
    n_clusters : int
    reason : str
    """

    pairs: NDArray[np.int64]
    estimate: Floats
    std_error: float
    statistic: Floats
    p_adjusted: Floats
    critical_difference: float
    n_clusters: int
    reason: str


def friedman_test(values: ArrayLike, *, rng: np.random.Generator, permutations: int = 20_000) -> FriedmanTest:
    """Do the conditions differ in rank within units?

    Parameters
    ----------
    values : array_like (G, k)
        Units (not rows) by conditions; units with a missing condition are set aside.
    rng : Generator
        Not used where the distribution is enumerated.

    References
    ----------
    Friedman (1937), JASA 32:675-701. Kendall and Babington Smith (1939), Ann. Math. Stat. 10:275-287.
    Iman and Davenport (1980), Communications in Statistics A 9:571-595.
    """
    table = np.asarray(values, float)
    if table.ndim != 2 or table.shape[1] < 2 or np.isinf(table).any():
        raise AnalysisError(f"values must be finite or missing, (units, 2 or more conditions); found {table.shape}")
    full = table[~np.isnan(table).any(axis=1)]
    (g, k), aside = full.shape, len(table) - len(full)
    ranks = rankdata(full, axis=1) if g else full
    tied = int(sum(len(np.unique(row)) < k for row in full))
    total = float(((ranks - (k + 1) / 2) ** 2).sum())
    if g == 0 or total == 0:
        reason = "all conditions tie in every unit" if g else "no unit has all conditions"
        missing = (np.nan,) * 4
        return FriedmanTest(*missing, np.nan, np.nan, np.nan, "", np.nan, np.full(k, np.nan), g, aside, tied, reason)
    between = float(g * ((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    w = min(between / total, 1.0)
    statistic = w * g * (k - 1)
    p, method, mc = _p_value(ranks, between, rng, permutations)
    f = (g - 1) * w / (1 - w) if w < 1 - 1e-12 else np.inf
    p_f = float(f_distribution.sf(f, k - 1, (g - 1) * (k - 1))) if g > 1 else np.nan
    return FriedmanTest(
        estimate=w,
        std_error=np.nan,
        statistic=statistic,
        df=k - 1.0,
        p_value=p,
        p_chi2=max(float(chi2.sf(statistic, k - 1)), SMALLEST_P),
        p_f=max(p_f, SMALLEST_P) if g > 1 else np.nan,
        p_method=method,
        mc_error=mc,
        mean_ranks=ranks.mean(axis=0),
        n_clusters=g,
        n_set_aside=aside,
        n_tied=tied,
        reason="" if g > 1 else "one unit only",
    )


def nemenyi_test(mean_ranks: ArrayLike, n_clusters: int) -> NemenyiTest:
    """Differences of mean ranks against the studentised range.

    Parameters
    ----------
    mean_ranks : array_like (k,)
        Of a ``FriedmanTest``.
    n_clusters : int
        Its units.

    References
    ----------
    Demsar (2006), J. Machine Learning Research 7:1-30. Nemenyi (1963), thesis, Princeton.
    """
    ranks = np.asarray(mean_ranks, float)
    k = len(ranks)
    if ranks.ndim != 1 or k < 2:
        raise AnalysisError(f"mean ranks must be one number a condition, 2 or more; found shape {ranks.shape}")
    pairs = model_pairs(None, k)
    estimate = ranks[pairs[:, 0]] - ranks[pairs[:, 1]]
    error = float(np.sqrt(k * (k + 1) / (12 * n_clusters))) if n_clusters else np.nan
    width = np.abs(estimate) / error
    p = np.where(np.isnan(width), np.nan, np.maximum(1 - range_probability(np.nan_to_num(width), k), _SMALLEST_RANGE_P))
    return NemenyiTest(
        pairs, estimate, error, width, p, range_quantile(0.95, k) * error, n_clusters, "" if n_clusters else "no unit"
    )


def _p_value(ranks: Floats, between: float, rng: np.random.Generator, permutations: int) -> tuple[float, str, float]:
    reached = between * (1 - 1e-9)
    states = _level_sums(np.rint(2 * ranks).astype(np.int64))
    if states is not None:
        sums, share = states
        g, k = ranks.shape
        squares = ((sums / 2 - g * (k + 1) / 2) ** 2).sum(axis=1) / g
        return min(float(share[squares >= reached].sum()), 1.0), "exact", 0.0
    fit = effects_within(ranks[None])
    if isinstance(fit, str):
        raise AnalysisError(fit)
    squares = permuted_levels(fit, rng=rng, permutations=permutations).squares[:, 0]
    p = (int(np.count_nonzero(squares >= reached)) + 1) / (permutations + 1)
    return p, "permutation", float(np.sqrt(p * (1 - p) / permutations))


def _level_sums(doubled: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats] | None:
    """Sums of ranks by condition over all orders within units, with their probability; None if too many."""
    k = doubled.shape[1]
    if k > _MOST_LEVELS:
        return None
    orders = np.array(list(all_orders(range(k))))
    sums, share = np.zeros((1, k), dtype=np.int64), np.ones(1)
    for row in np.sort(doubled, axis=1):
        if len(sums) * len(orders) > _MOST_STATES:
            return None
        # Only which sums occur matters, not where: the statistic does not know the conditions apart.
        grown = np.sort((sums[:, None, :] + row[orders][None]).reshape(-1, k), axis=1)
        sums, inverse = np.unique(grown, axis=0, return_inverse=True)
        share = np.bincount(inverse.ravel(), np.repeat(share / len(orders), len(orders)))
    return sums, share
