"""Score intervals and tests for one proportion: independent responses, or an effective number of them."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import t as student

from analysis.arguments import check_counts, check_level

#: A p-value below this is not representable; it is kept above 0 and read as "less than".
SMALLEST_P: Final = float(np.finfo(float).tiny)


def wilson_interval(
    k: ArrayLike, n: ArrayLike, *, ci_level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score interval for the proportion of independent responses.

    Parameters
    ----------
    k, n : array_like of int, broadcastable, 0 <= k <= n
        Events and responses.
    ci_level : float in (0, 1)

    Returns
    -------
    low, high : ndarray
        NaN where ``n == 0``: without a response nothing is known.

    References
    ----------
    Wilson (1927), JASA 22:209-212, doi:10.1080/01621459.1927.10502953.
    """
    events, trials = check_counts(k, n)
    rate = np.divide(events, trials, out=np.full(events.shape, np.nan), where=trials > 0)
    return score_limits(rate, np.where(trials > 0, trials, np.nan), ndtri(0.5 + check_level(ci_level) / 2))


def score_limits(
    rate: ArrayLike, n_eff: ArrayLike, quantile: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Limits p that solve |rate - p| = quantile * sqrt(p (1 - p) / n_eff).

    Parameters
    ----------
    rate : array_like in [0, 1]
    n_eff : array_like > 0
        Number of independent responses with the same variance.
    quantile : array_like
        Of the normal distribution, or of Student's t where the variance behind ``n_eff`` was estimated.

    Returns
    -------
    low, high : ndarray in [0, 1], never of zero width; NaN where an argument is NaN
    """
    p, n, q2 = np.asarray(rate, float), np.asarray(n_eff, float), np.asarray(quantile, float) ** 2
    half = np.sqrt(q2 * (n * p * (1 - p) + q2 / 4)) / (n + q2)
    centre = (n * p + q2 / 2) / (n + q2)
    # Rounding must not push a limit past the rate, least of all at 0 and 1.
    return np.maximum(np.minimum(centre - half, p), 0), np.minimum(np.maximum(centre + half, p), 1)


def effective_n(
    rate: ArrayLike,
    variance: ArrayLike,
    *,
    rows: ArrayLike,
    design_units: ArrayLike,
    few_deviate: ArrayLike,
) -> NDArray[np.float64]:
    """Independent responses that would know the rate as well as these clustered ones do.

    Parameters
    ----------
    rate, variance : array_like
        Estimate in [0, 1] and its cluster-robust variance.
    rows : array_like
        Scored responses behind the rate.
    design_units : array_like
        Effective number of units (see ``clustered.GroupMoments``).
    few_deviate : array_like of bool
        Whether the variance rests on a handful of units (see ``unit_values.few_deviate``).

    Returns
    -------
    ndarray
        rate (1 - rate) / variance, between 2 and 4 * rows; where few units deviate, or none, no more
        than ``design_units``.
    """
    p, var = np.asarray(rate, float), np.asarray(variance, float)
    raw = np.divide(p * (1 - p), var, out=np.full(np.broadcast_shapes(p.shape, var.shape), np.inf), where=var > 0)
    bounded = np.clip(raw, 2, np.maximum(4 * np.asarray(rows, float), 2))
    few = np.asarray(few_deviate, bool) | (var == 0)
    capped = np.where(few, np.minimum(bounded, np.maximum(design_units, 2)), bounded)
    return np.where(np.isnan(p) | np.isnan(var), np.nan, capped)


def score_p_value(
    rate: ArrayLike, n_eff: ArrayLike, df: ArrayLike, *, null: float = 0.5, alternative: str = "greater"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One-sided test of a rate against ``null``, matched to ``score_limits``.

    Parameters
    ----------
    rate, n_eff, df : array_like
    null : float in (0, 1)
    alternative : {"greater", "less"}

    Returns
    -------
    statistic, p_value : ndarray
        ``p_value < alpha`` exactly where the one-sided limit at level ``1 - alpha`` excludes ``null``.
        Never 0: a tail too small to represent becomes the smallest positive float.
    """
    statistic = (np.asarray(rate, float) - null) / np.sqrt(null * (1 - null) / np.asarray(n_eff, float))
    tail = statistic if alternative == "greater" else -statistic
    return statistic, np.maximum(student.sf(tail, df), SMALLEST_P)
