"""How sure is an order of models? Limits for ranks from resampled units."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from analysis.arguments import check_level
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankIntervals:
    """Ranks of M models; 1 is the highest value. Arrays (M,).

    Attributes
    ----------
    estimate : ndarray
        Rank of the observed value, ties sharing their mean rank; NaN without a value.
    std_error : ndarray
        Standard deviation of the resampled rank.
    ci_low, ci_high : ndarray
        Best and worst rank that the resamples leave open: whole numbers, ties counted against certainty.
    ci_level : float
    p_first : ndarray
        Share of resamples in which the model has the highest value, shared between models that tie.
    resamples, n_models : int
    reason : ndarray of str
    """

    estimate: Floats
    std_error: Floats
    ci_low: Floats
    ci_high: Floats
    ci_level: float
    p_first: Floats
    resamples: int
    n_models: int
    reason: NDArray[np.object_]


def rank_intervals(values: ArrayLike, replicates: ArrayLike, *, ci_level: float = 0.95) -> RankIntervals:
    """Limits for the rank of each model from replicates of all models with the same units.

    Parameters
    ----------
    values : array_like (M,)
        Observed values; NaN: the model has none and is not ranked.
    replicates : array_like (B, M)
        ``unit_bootstrap.resampled_rates`` carried through the measure, or posterior draws.
    ci_level : float in (0, 1)
        Of each model's own limits, not of all of them together.

    References
    ----------
    Goldstein and Spiegelhalter (1996), JRSS A 159:385-443, doi:10.2307/2983325.
    """
    observed, drawn = np.asarray(values, float), np.asarray(replicates, float)
    if observed.ndim != 1 or drawn.ndim != 2 or drawn.shape[1] != len(observed):
        raise AnalysisError(
            f"values (models) and replicates (resamples, models) do not fit: {observed.shape}, {drawn.shape}"
        )
    tail = (1 - check_level(ci_level)) / 2
    ranked = np.flatnonzero(~np.isnan(observed) & ~np.isnan(drawn).all(axis=0))
    use = drawn[:, ranked]
    use = use[~np.isnan(use).any(axis=1)]
    columns = {name: np.full(len(observed), np.nan) for name in ("estimate", "std_error", "low", "high", "first")}
    if len(ranked) and len(use):
        middle = rankdata(-use, axis=1)
        columns["estimate"][ranked] = rankdata(-observed[ranked])
        columns["std_error"][ranked] = middle.std(axis=0)
        best, worst = rankdata(-use, axis=1, method="min"), rankdata(-use, axis=1, method="max")
        columns["low"][ranked] = np.quantile(best, tail, axis=0, method="lower")
        columns["high"][ranked] = np.quantile(worst, 1 - tail, axis=0, method="higher")
        top = (best == 1).astype(float)
        columns["first"][ranked] = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
    return RankIntervals(
        estimate=columns["estimate"],
        std_error=columns["std_error"],
        ci_low=columns["low"],
        ci_high=columns["high"],
        ci_level=ci_level,
        p_first=columns["first"],
        resamples=len(use),
        n_models=len(ranked),
        reason=np.where(np.isnan(columns["estimate"]), "no value to rank", "").astype(object),
    )
