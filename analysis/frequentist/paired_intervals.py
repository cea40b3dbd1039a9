"""How large a paired change is: difference of proportions and odds ratio, with intervals by unit."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import beta, binom
from scipy.stats import t as student

from analysis.arguments import check_counts, check_level
from analysis.errors import AnalysisError
from analysis.frequentist.clustered_rates import clustered_rates, difference_limits
from analysis.frequentist.mcnemar import mcnemar
from analysis.frequentist.proportion import SMALLEST_P

Floats = NDArray[np.float64]
_CONTRASTS: Final = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """First minus second proportion over matched pairs; each field is a number or an array (...,).

    Attributes
    ----------
    estimate, std_error, df : float
        Difference in [-1, 1], cluster-robust standard error, Satterthwaite degrees of freedom.
    statistic, p_value : float
        t = estimate / std_error, two-sided.
    ci_low, ci_high : float
        Square-and-add from the Wilson limits of the two proportions, clusters and pairing kept.
    rate_first, rate_second : float
        The two proportions, over the same pairs.
    n : float
        Pairs.
    n_clusters : int
    reason : str
    """

    estimate: Any
    std_error: Any
    df: Any
    statistic: Any
    p_value: Any
    ci_low: Any
    ci_high: Any
    ci_level: float
    rate_first: Any
    rate_second: Any
    n: Any
    n_clusters: Any
    reason: Any


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """Odds b / c that a pair with one event has it on the first side.

    Attributes
    ----------
    estimate : float
        b / c; NaN where c = 0.
    std_error, df : float
        Of its logarithm, and degrees of freedom; NaN for ``exact`` and ``mid-p``.
    statistic, p_value : float
        McNemar's, exact or mid-p; for ``cluster`` t of the log ratio and its p-value.
    ci_low, ci_high : float
        ``ci_low`` is 0 where b = 0; ``ci_high`` NaN where c = 0: no limit exists.
    ci_method : {"exact", "mid-p", "cluster t"}
    n_clusters : float
        Units with a pair; for ``exact`` and ``mid-p`` the discordant pairs.
    reason : str
    """

    estimate: float
    std_error: float
    df: float
    statistic: float
    p_value: float
    ci_low: float
    ci_high: float
    ci_level: float
    ci_method: str
    n_clusters: float
    reason: str


def paired_difference(
    n: ArrayLike, k_first: ArrayLike, k_second: ArrayLike, *, ci_level: float = 0.95
) -> PairedDifference:
    """Difference of two proportions over the same pairs, clustered by unit.

    Parameters
    ----------
    n : array_like (..., G)
        Matched pairs of each unit.
    k_first, k_second : array_like (..., G)
        Events (right answers, Yes answers) among them on either side.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:2635-2650. See ``clustered.clustered_contrasts``.
    """
    first, pairs = check_counts(k_first, n)
    second, pairs = check_counts(k_second, pairs)
    first = np.broadcast_to(first, pairs.shape)
    trials = np.stack([pairs, pairs], axis=-1)
    rates = clustered_rates(trials, np.stack([first, second], axis=-1), _CONTRASTS)
    found = rates.contrasts
    low, high = difference_limits(rates, 2, (0, 1), _CONTRASTS[2, :2], ci_level=ci_level)
    estimate, error, df = found.estimate[..., 2], np.sqrt(np.maximum(found.variance[..., 2], 0)), found.df[..., 2]
    t = np.divide(estimate, error, out=np.full(estimate.shape, np.nan), where=error > 0)
    empty, single = found.empty[..., 2], found.single[..., 2]
    agree = ~empty & ~single & (error == 0)
    return PairedDifference(
        estimate=estimate[()],
        std_error=error[()],
        df=df[()],
        statistic=t[()],
        p_value=np.maximum(2 * student.sf(np.abs(t), df), SMALLEST_P)[()],
        ci_low=low[()],
        ci_high=high[()],
        ci_level=ci_level,
        rate_first=found.estimate[..., 0][()],
        rate_second=found.estimate[..., 1][()],
        n=pairs.sum(axis=-1)[()],
        n_clusters=np.count_nonzero(pairs > 0, axis=-1)[()],
        reason=np.select(
            [empty, single, agree],
            ["no pair", "one unit only", "no t test: the difference is the same in all units"],
            "",
        )[()],
    )


def odds_ratio(b: float, c: float, *, ci_level: float = 0.95, method: str = "mid-p") -> OddsRatio:
    """Conditional odds ratio b / c of independent pairs.

    Parameters
    ----------
    b, c : int >= 0
        Pairs with the event on the first side only, and on the second side only.
    method : {"exact", "mid-p"}
        Clopper-Pearson or mid-p limits for b of b + c, carried to the odds.
    """
    level = check_level(ci_level)
    if method not in ("exact", "mid-p"):
        raise AnalysisError(
            f"method must be exact or mid-p, not {method!r}; for clustered pairs use odds_ratio_by_unit"
        )
    test = mcnemar(b, c, method=method)
    low, high = (np.nan, np.nan) if b + c == 0 else _share_limits(float(b), float(b + c), level, method)
    return OddsRatio(
        estimate=float(b / c) if c else np.nan,
        std_error=np.nan,
        df=np.nan,
        statistic=float(test.statistic),
        p_value=float(test.p_value),
        ci_low=float(low / (1 - low)) if low < 1 else np.nan,
        ci_high=float(high / (1 - high)) if c else np.nan,
        ci_level=level,
        ci_method=method,
        n_clusters=float(b + c),
        reason=_one_sided(float(b), float(c)),
    )


def odds_ratio_by_unit(b_units: ArrayLike, c_units: ArrayLike, *, ci_level: float = 0.95) -> OddsRatio:
    """Odds ratio b / c when pairs come in units: t limits on the log scale, variance by linearisation.

    Parameters
    ----------
    b_units, c_units : array_like (G,)
        Discordant pairs of each unit; NaN where a unit has no pairs.

    Notes
    -----
    Var(log b / c) = G / (G - 1) * sum (b_u / b - c_u / c)^2, with G - 1 degrees of freedom.
    """
    level = check_level(ci_level)
    first, second = np.broadcast_arrays(np.asarray(b_units, float), np.asarray(c_units, float))
    present = ~(np.isnan(first) | np.isnan(second))
    bu, cu, g = first[present], second[present], int(present.sum())
    b, c = float(bu.sum()), float(cu.sum())
    reason = _one_sided(b, c) or ("" if g > 1 else "one unit only")
    error = np.nan
    if b and c and g > 1:
        error = float(np.sqrt(g / (g - 1) * ((bu / b - cu / c) ** 2).sum()))
        reason = "" if error else "all units changed in the same proportion"
    log = np.log(b / c) if b and c else np.nan
    usable = bool(error > 0)
    reach = student.ppf(0.5 + level / 2, g - 1) * error if usable else np.nan
    p = max(2 * student.sf(abs(log) / error, g - 1), SMALLEST_P) if usable else np.nan
    return OddsRatio(
        estimate=b / c if c else np.nan,
        std_error=error,
        df=g - 1.0 if g else np.nan,
        statistic=float(log / error) if usable else np.nan,
        p_value=float(p),
        ci_low=float(np.exp(log - reach)),
        ci_high=float(np.exp(log + reach)),
        ci_level=level,
        ci_method="cluster t",
        n_clusters=g,
        reason=reason,
    )


def _share_limits(k: float, n: float, level: float, method: str) -> tuple[float, float]:
    """Limits for a binomial share that invert the exact or the mid-p tests."""
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else float(beta.ppf(tail, k, n - k + 1))
    high = 1.0 if k == n else float(beta.isf(tail, k + 1, n - k))
    if method == "exact":
        return low, high

    def above(p: float) -> float:
        return float(binom.sf(k, n, p) + binom.pmf(k, n, p) / 2)

    # Mid-p limits lie inside the exact ones, except at 0 and n, where the exact ones are 0 and 1.
    inner_low = 0.0 if k == 0 else brentq(lambda p: above(p) - tail, low * 0.999, 1 - 1e-12)
    inner_high = 1.0 if k == n else brentq(lambda p: 1 - above(p) - tail, 1e-12, min(high * 1.001, 1.0))
    return float(inner_low), float(inner_high)


def _one_sided(b: float, c: float) -> str:
    if b + c == 0:
        return "no pair differs"
    if c == 0:
        return "no pair has its event on the second side only: the ratio has no upper limit"
    return "no pair has its event on the first side only: the ratio is 0" if b == 0 else ""
