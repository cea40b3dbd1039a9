"""Are two things the same for practical purposes? Two one-sided tests against bounds fixed beforehand."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from analysis.errors import AnalysisError
from analysis.frequentist.proportion import SMALLEST_P

#: Scale -> half-width within which a difference is taken as none; to be printed, and open to change.
DEFAULT_ROPE: Final = {"probability difference": 0.02, "log_odds": 0.05}


def agreed_decision(
    decision: ArrayLike,
    *,
    ci_low: ArrayLike,
    ci_high: ArrayLike,
    p_adjusted: ArrayLike,
    rope: float,
    alpha: float = 0.05,
) -> NDArray[np.object_]:
    """Decisions that say "difference" only where the printed interval and the adjusted p-value both do.

    Parameters
    ----------
    decision : array_like of str
        Of ``equivalence_test``: whether the estimate could be tested, and whether it is equivalent.
    ci_low, ci_high : array_like
        Limits that are printed beside the decision; a difference is shown where they lie beyond +-``rope``.
    p_adjusted : array_like
        Of a difference from 0, adjusted over the family that is printed; a missing one shows nothing.
    rope, alpha : float
    """
    found = np.asarray(decision, object)
    low, high, p = (np.asarray(x, float) for x in (ci_low, ci_high, p_adjusted))
    beyond = ((low > rope) | (high < -rope)) & (p <= alpha)
    open_ones = ~np.isin(found.astype(str), ("equivalent", "not tested"))
    return np.where(open_ones, np.where(beyond, "difference", "undecided"), found).astype(object)


@dataclass(frozen=True, slots=True)
class EquivalenceTest:
    """Two one-sided t tests; each field is a number or an array of the broadcast shape.

    Attributes
    ----------
    estimate, std_error, df : float
        As given.
    statistic : float
        The smaller, in distance, of the two t values.
    p_value : float in (0, 1]
        Of equivalence: the larger of the two one-sided p-values.
    p_beyond : float in (0, 1]
        Of a difference beyond the bounds: twice the smaller one-sided p-value against the nearer bound.
    p_zero : float in (0, 1]
        Of a difference from 0.
    ci_low, ci_high : float
        Limits at level 1 - 2 alpha: equivalent exactly where they lie inside the bounds.
    rope_low, rope_high, alpha : float
    decision : str
        "equivalent", "difference" (beyond the bounds), "undecided" or "not tested".
    n_clusters : int or None
    reason : str
    """

    estimate: Any
    std_error: Any
    df: Any
    statistic: Any
    p_value: Any
    p_beyond: Any
    p_zero: Any
    ci_low: Any
    ci_high: Any
    rope_low: float
    rope_high: float
    alpha: float
    decision: Any
    n_clusters: Any
    reason: Any


def equivalence_test(
    estimate: ArrayLike,
    std_error: ArrayLike,
    df: ArrayLike,
    *,
    rope: tuple[float, float],
    alpha: float = 0.05,
    n_clusters: ArrayLike | None = None,
) -> EquivalenceTest:
    """TOST of an estimate with its cluster-robust standard error.

    Parameters
    ----------
    estimate, std_error, df : array_like
    rope : (low, high)
        Bounds of what counts as no difference, low < high.
    alpha : float in (0, 0.5)
    n_clusters : array_like of int, optional
        Units behind the estimate, handed on.

    References
    ----------
    Schuirmann (1987), J. Pharmacokinetics and Biopharmaceutics 15:657-680, doi:10.1007/BF01068419.
    """
    low, high = rope
    if not (low < high and 0 < alpha < 0.5):
        raise AnalysisError(f"bounds must have low < high and alpha lie in (0, 0.5); found {rope}, {alpha!r}")
    value, error, freedom = np.broadcast_arrays(*(np.asarray(x, float) for x in (estimate, std_error, df)))
    usable = (error > 0) & (freedom > 0)
    safe, free = np.where(usable, error, 1.0), np.where(usable, freedom, 1.0)
    above, below = (value - low) / safe, (value - high) / safe
    p_above, p_below = (np.maximum(student.sf(x, free), SMALLEST_P) for x in (above, -below))
    p_equal = np.maximum(p_above, p_below)
    p_beyond = np.maximum(np.minimum(1, 2 * np.minimum(student.cdf(above, free), student.sf(below, free))), SMALLEST_P)
    p_zero = np.maximum(2 * student.sf(np.abs(value) / safe, free), SMALLEST_P)
    reach = student.ppf(1 - alpha, free) * safe
    decided = np.select([p_equal <= alpha, p_beyond <= alpha], ["equivalent", "difference"], "undecided")
    nearer = np.where(np.abs(above) < np.abs(below), above, below)

    def shown(x: Any) -> Any:
        return np.where(usable & ~np.isnan(value), x, np.nan)[()]

    return EquivalenceTest(
        estimate=value[()],
        std_error=error[()],
        df=freedom[()],
        statistic=shown(nearer),
        p_value=shown(p_equal),
        p_beyond=shown(p_beyond),
        p_zero=shown(p_zero),
        ci_low=shown(value - reach),
        ci_high=shown(value + reach),
        rope_low=float(low),
        rope_high=float(high),
        alpha=alpha,
        decision=np.where(usable & ~np.isnan(value), decided, "not tested")[()],
        n_clusters=n_clusters,
        reason=np.where(usable & ~np.isnan(value), "", "no standard error")[()],
    )
