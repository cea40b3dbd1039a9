"""Tables of gold against given answers, and what is read off them.

A table has gold classes on the axis before the last and predictions on the last: the same classes, then one
column of responses without a readable answer. Leading axes are models or replicates.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError
from analysis.measures.rates import check_treatment, share

Floats = NDArray[np.float64]


def treated_table(table: ArrayLike, *, uncertain: str = "incorrect") -> Floats:
    """The table under a treatment of unreadable answers.

    Parameters
    ----------
    table : array_like (..., K, K + 1)
    uncertain : {"incorrect", "excluded", "half"}
        ``incorrect`` keeps them as predictions of no class: they lower accuracy, recall and specificity and
        are never a positive prediction. ``excluded`` drops them. ``half`` gives half of them to the right
        class and half, in equal parts, to the others.
    """
    counts = _checked(table).copy()
    check_treatment(uncertain)
    if uncertain == "incorrect":
        return counts
    lost = counts[..., -1:].copy()
    counts[..., -1] = 0.0
    if uncertain == "half":
        k = counts.shape[-2]
        credit = np.where(np.eye(k, dtype=bool), 0.5, 0.5 / (k - 1))
        counts[..., :-1] += lost * credit
    return counts


def credited(rate: ArrayLike, unclear: ArrayLike, *, uncertain: str = "incorrect") -> Floats:
    """Share of right (or yes) answers under a treatment of unreadable ones.

    Parameters
    ----------
    rate, unclear : array_like in [0, 1], broadcastable
        Shares of the scored responses to one question that are right, and that are unreadable; NaN where
        nothing was scored.
    uncertain : {"incorrect", "excluded", "half"}

    Returns
    -------
    ndarray
        NaN where nothing counts.
    """
    check_treatment(uncertain)
    value, lost = np.broadcast_arrays(np.asarray(rate, float), np.asarray(unclear, float))
    if uncertain == "excluded":
        return share(value, np.where(lost < 1, 1 - lost, 0.0))
    return value + 0.5 * lost if uncertain == "half" else value.copy()


def accuracy(table: ArrayLike) -> Floats:
    """Share of right answers among all of the table; for classes that exclude each other also micro F1."""
    counts = _checked(table)
    return share(_right(counts).sum(axis=-1), counts.sum(axis=(-2, -1)))


def precision(table: ArrayLike) -> Floats:
    """(..., K): share of right ones among the predictions of each class; NaN where it was never predicted."""
    counts = _checked(table)
    return share(_right(counts), counts[..., :-1].sum(axis=-2))


def recall(table: ArrayLike) -> Floats:
    """(..., K): accuracy on each gold class. Of two classes, the recall of one is the specificity of the other."""
    counts = _checked(table)
    return share(_right(counts), counts.sum(axis=-1))


def f1(table: ArrayLike) -> Floats:
    """(..., K): harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN).

    Notes
    -----
    Defined (and 0) where a class was never predicted but occurs; NaN where it does neither.

    References
    ----------
    van Rijsbergen (1979). Information Retrieval, 2nd ed., chapter 7.
    """
    counts = _checked(table)
    return share(2 * _right(counts), counts[..., :-1].sum(axis=-2) + counts.sum(axis=-1))


def macro_f1(table: ArrayLike) -> Floats:
    """Mean of the classes' F1: every class weighs the same."""
    return f1(table).mean(axis=-1)


def micro_f1(table: ArrayLike) -> Floats:
    """F1 of the sums over classes: accuracy where every response is a prediction, more where some are unreadable."""
    counts = _checked(table)
    return share(2 * _right(counts).sum(axis=-1), counts[..., :-1].sum(axis=(-2, -1)) + counts.sum(axis=(-2, -1)))


def macro_recall(table: ArrayLike) -> Floats:
    """Mean of the classes' recall, also called balanced accuracy."""
    return recall(table).mean(axis=-1)


def matthews_correlation(table: ArrayLike) -> Floats:
    """Correlation of gold and given answers in [-1, 1], for any number of classes.

    Notes
    -----
    With s responses, c of them right, t_k of gold class k and p_k given as class k:
    (c s - sum t_k p_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)). For two classes without unreadable
    answers this is the phi coefficient. Unreadable answers, where kept, are a class of predictions of
    their own that is never right. NaN where one class has all gold answers, or all predictions.

    References
    ----------
    Matthews (1975), Biochimica et Biophysica Acta 405:442-451, doi:10.1016/0005-2795(75)90109-9.
    Gorodkin (2004), Computational Biology and Chemistry 28:367-374, doi:10.1016/j.compbiolchem.2004.09.006.
    """
    counts = _checked(table)
    total = counts.sum(axis=(-2, -1))
    gold, given = counts.sum(axis=-1), counts.sum(axis=-2)
    top = _right(counts).sum(axis=-1) * total - (gold * given[..., :-1]).sum(axis=-1)
    spread = (total**2 - (given**2).sum(axis=-1)) * (total**2 - (gold**2).sum(axis=-1))
    return share(top, np.sqrt(np.maximum(spread, 0)))


def prediction_rate(table: ArrayLike) -> Floats:
    """(..., K): share of each class among all predictions of the table, unreadable ones included below the line."""
    counts = _checked(table)
    return share(counts[..., :-1].sum(axis=-2), counts.sum(axis=(-2, -1))[..., None])


def _right(counts: Floats) -> Floats:
    return np.diagonal(counts[..., :-1], axis1=-2, axis2=-1)


def _checked(table: ArrayLike) -> Floats:
    counts = np.asarray(table, float)
    if counts.ndim < 2 or counts.shape[-2] < 2 or counts.shape[-1] != counts.shape[-2] + 1:
        raise AnalysisError(
            f"a table has K >= 2 gold classes and K + 1 columns, the last one unreadable answers; found {counts.shape}"
        )
    return counts
