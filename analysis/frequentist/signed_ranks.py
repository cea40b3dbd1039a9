"""Wilcoxon's signed-rank test with its exact distribution, ties and zeros included."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from scipy.stats import rankdata

from analysis.errors import AnalysisError
from analysis.frequentist.proportion import SMALLEST_P

Floats = NDArray[np.float64]
#: Above this many units the normal approximation, with its correction for ties, takes over.
EXACT_UNITS: Final = 200
#: Differences that agree in this many digits of the largest are one value written in two ways.
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class SignedRankTest:
    """Wilcoxon signed-rank test.

    Attributes
    ----------
    estimate : float
        Hodges-Lehmann: median of the means of all pairs of differences.
    std_error : float
        NaN: the test has none.
    df : float
        NaN.
    statistic : float
        Sum of the ranks of the positive differences.
    effect_size : float in [-1, 1]
        Rank-biserial: positive minus negative rank sum, over both.
    p_value : float in (0, 1]
        Two-sided.
    exact : bool
        All sign patterns of these ranks, ties included; else normal approximation.
    n_clusters : int
        Units with a difference other than 0, which alone are ranked.
    n_zero, n_tied : int
        Differences of 0 (left out); differences that share their size with another.
    reason : str
    """

    estimate: float
    std_error: float
    df: float
    statistic: float
    effect_size: float
    p_value: float
    exact: bool
    n_clusters: int
    n_zero: int
    n_tied: int
    reason: str


def signed_rank_test(values: ArrayLike) -> SignedRankTest:
    """Is the distribution of differences symmetric about 0?

    Parameters
    ----------
    values : array_like (G,)
        Difference of each independent unit; NaN where a unit is absent.

    References
    ----------
    Wilcoxon (1945), Biometrics Bulletin 1:80-83. Pratt and Gibbons (1981), Concepts of Nonparametric
    Theory, section 3.7 (ties, zeros).
    """
    given = np.asarray(values, float)
    if given.ndim != 1 or np.isinf(given).any():
        raise AnalysisError(f"differences must be one finite or missing number a unit; found shape {given.shape}")
    d = np.sort(given[~np.isnan(given)])
    scale = np.abs(d).max(initial=0)
    relative = np.round(d / scale, _DIGITS) if scale else d
    moved = relative[relative != 0]
    n, zeros = len(moved), len(d) - len(moved)
    if n == 0:
        reason = "every difference is 0" if len(d) else "no unit has a value"
        p = 1.0 if len(d) else np.nan
        return SignedRankTest(0.0 if len(d) else np.nan, np.nan, np.nan, 0.0, np.nan, p, True, 0, zeros, 0, reason)
    ranks = rankdata(np.abs(moved))
    positive, total = float(ranks[moved > 0].sum()), float(ranks.sum())
    exact = n <= EXACT_UNITS
    p = _exact(ranks, positive) if exact else _approximate(ranks, positive)
    _, counts = np.unique(np.abs(moved), return_counts=True)
    return SignedRankTest(
        estimate=_hodges_lehmann(d),
        std_error=np.nan,
        df=np.nan,
        statistic=positive,
        effect_size=(2 * positive - total) / total,
        p_value=max(p, SMALLEST_P),
        exact=exact,
        n_clusters=n,
        n_zero=zeros,
        n_tied=int(counts[counts > 1].sum()),
        reason="",
    )


def _exact(ranks: Floats, positive: float) -> float:
    """Both tails over all sign patterns; doubled ranks are whole numbers even where they are tied."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    share = np.zeros(int(doubled.sum()) + 1)
    share[0] = 1.0
    for rank in doubled:
        moved = np.zeros_like(share)
        moved[rank:] = share[: len(share) - rank]
        share = (share + moved) / 2
    at = round(2 * positive)
    return float(min(1.0, 2 * min(share[: at + 1].sum(), share[at:].sum())))


def _approximate(ranks: Floats, positive: float) -> float:
    z = (positive - ranks.sum() / 2) / np.sqrt((ranks**2).sum() / 4)
    return float(2 * ndtr(-abs(z)))


def _hodges_lehmann(d: Floats) -> float:
    """Median of the means of all pairs, each value with itself included."""
    i, j = np.triu_indices(len(d)) if len(d) <= 2000 else (np.arange(len(d)),) * 2
    return float(np.median((d[i] + d[j]) / 2))
