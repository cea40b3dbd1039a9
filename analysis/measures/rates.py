"""Shares of responses: right, Yes, uncertain; what each treatment of uncertain answers counts; their bounds."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

#: Treatment of uncertain answers -> what it does, for notes under tables.
UNCERTAIN_TREATMENTS: Final = {
    "incorrect": "uncertain answers count as wrong",
    "excluded": "uncertain answers are left out; what is left is conditional on having answered",
    "half": "uncertain answers count as half right, as a coin would",
}


def share(k: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Events over trials, broadcast; NaN where ``n == 0``, as nothing is known there."""
    events, trials = np.asarray(k, float), np.asarray(n, float)
    shape = np.broadcast_shapes(events.shape, trials.shape)
    return np.divide(events, trials, out=np.full(shape, np.nan), where=np.broadcast_to(trials > 0, shape))


def check_treatment(uncertain: str) -> str:
    """Return the name of a treatment of uncertain answers after checking that there is one."""
    if uncertain not in UNCERTAIN_TREATMENTS:
        raise AnalysisError(f"uncertain must be one of {', '.join(UNCERTAIN_TREATMENTS)}, not {uncertain!r}")
    return uncertain


def treated_counts(
    scored: ArrayLike,
    correct: ArrayLike,
    unclear: ArrayLike,
    answered: ArrayLike,
    correct_answered: ArrayLike,
    *,
    uncertain: str = "incorrect",
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Trials and right answers under one treatment of uncertain answers.

    Parameters
    ----------
    scored, correct, unclear : array_like
        Weight of scored responses (answered or uncertain), of right and of uncertain ones among them.
    answered, correct_answered : array_like
        Weight of answered responses and of right ones among them; with unit weights these repeat
        ``scored - unclear`` and ``correct``.
    uncertain : {"incorrect", "excluded", "half"}

    Returns
    -------
    n, y : ndarray
        Accuracy is ``y.sum() / n.sum()``.
    """
    check_treatment(uncertain)
    if uncertain == "excluded":
        return np.asarray(answered, float), np.asarray(correct_answered, float)
    credit = 0.5 if uncertain == "half" else 0.0
    return np.asarray(scored, float), np.asarray(correct, float) + credit * np.asarray(unclear, float)


def bounded_shares(
    correct: ArrayLike, uncertain: ArrayLike, set_aside: ArrayLike, planned: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Worst and best accuracy over everything planned.

    Parameters
    ----------
    correct, uncertain, set_aside, planned : array_like, broadcastable
        Counts; uncertain and set-aside responses are all wrong at worst, all right at best.

    Returns
    -------
    worst, best : ndarray, NaN where nothing was planned
    """
    known = np.asarray(correct, float)
    return share(known, planned), share(known + np.asarray(uncertain, float) + np.asarray(set_aside, float), planned)
