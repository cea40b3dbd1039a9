"""How well a probability tells two classes apart, and where to cut it: ties counted, no threshold chosen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EvenCut:
    """Cut of a score at which both classes are told equally well.

    Attributes
    ----------
    threshold : float
        Yes above it. Where a whole range of cuts would do, its middle; NaN without both classes.
    low, high : float
        That range; equal where the cut falls on a score that several answers share.
    accuracy : float
        Accuracy of both classes there. Scores at the cut count for each side with the share that makes them equal.
    """

    threshold: float
    low: float
    high: float
    accuracy: float


def placements(score: ArrayLike, positive: ArrayLike) -> Floats:
    """Share of the other class that each score lies on the right side of, ties half.

    Parameters
    ----------
    score : array_like (N,)
    positive : array_like of bool (N,)

    Returns
    -------
    ndarray (N,) in [0, 1]
        Their mean over either class is the area under the ROC curve; NaN without an opposite.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44:837-845.
    """
    value, yes = _checked(score, positive)
    whole = rankdata(value)
    own = np.empty_like(whole)
    for side in (yes, ~yes):
        own[side] = rankdata(value[side]) if side.any() else []
    below = whole - own
    ones, zeros = np.count_nonzero(yes), np.count_nonzero(~yes)
    others = np.where(yes, zeros, ones)
    share = np.divide(below, others, out=np.full(len(value), np.nan), where=others > 0)
    return np.where(yes, share, 1 - share)


def even_cut(score: ArrayLike, positive: ArrayLike) -> EvenCut:
    """Threshold at which the accuracies of both classes are equal, so that answers lean to neither.

    Parameters
    ----------
    score : array_like (N,)
    positive : array_like of bool (N,)
    """
    value, yes = _checked(score, positive)
    ones, zeros = np.count_nonzero(yes), np.count_nonzero(~yes)
    if not ones or not zeros:
        return EvenCut(np.nan, np.nan, np.nan, np.nan)
    levels, at = np.unique(value, return_inverse=True)
    hits = np.bincount(at, yes, minlength=len(levels)) / ones
    false = np.bincount(at, ~yes, minlength=len(levels)) / zeros
    # Bias = share of yes called yes - share of no called no, cutting below level i, from 1 down to -1.
    above = np.concatenate([[1.0], 1 - np.cumsum(hits)])
    right_no = np.concatenate([[0.0], np.cumsum(false)])
    bias = np.round(above - right_no, 12)
    zero = np.flatnonzero(bias == 0)
    if len(zero):
        low, high = float(levels[zero[0] - 1]), float(levels[zero[-1]])
        return EvenCut((low + high) / 2, low, high, float(above[zero[0]]))
    first = int(np.flatnonzero(bias < 0)[0])
    part = bias[first - 1] / (bias[first - 1] - bias[first])
    cut = float(levels[first - 1])
    return EvenCut(cut, cut, cut, float(above[first - 1] - part * hits[first - 1]))


def _checked(score: ArrayLike, positive: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    value, yes = np.asarray(score, float), np.asarray(positive, bool)
    if value.ndim != 1 or value.shape != yes.shape or np.isnan(value).any():
        raise AnalysisError(f"scores must be known, one per answer; found shapes {value.shape} and {yes.shape}")
    return value, yes
