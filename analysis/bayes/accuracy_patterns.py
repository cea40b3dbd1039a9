"""Answers reduced to what their likelihood depends on, so that items with equal answers cost nothing.

Without a spread of samples the likelihood of an item depends on which models were asked how often and on the sum of
right answers alone (Rasch: the sum is sufficient); with one, on each model's own counts.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.accuracy_data import AnswerSet

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Patterns(NamedTuple):
    """P distinct columns of answers.

    Attributes
    ----------
    code : ndarray of int (P, M)
        With a spread of samples: place of each model's answers among ``pairs``; otherwise (0, M).
    pairs : ndarray of int (C, 2)
        Of (right, wrong); the first is (0, 0), not asked.
    asked : ndarray of int (P,)
        Without: place of the answers asked for among ``counts``.
    score : ndarray of float (P,)
        Without: right answers of all models together.
    counts : ndarray of float (K, M)
        Distinct numbers of answers by model.
    right : ndarray of float (M,)
        Without: right answers of each model to all items.
    of_item : ndarray of int (I,)
        Pattern of each item.
    weight : ndarray of float (P,)
        Items of each pattern.
    start : ndarray of int (U + 1,)
        Where the patterns of each unit begin; of length 1 without effects of units.
    place, times : ndarray of int, ndarray of float
        Patterns of the units, one after the other, and how many items of the unit have them.
    """

    code: Ints
    pairs: Ints
    asked: Ints
    score: Floats
    counts: Floats
    right: Floats
    of_item: Ints
    weight: Floats
    start: Ints
    place: Ints
    times: Floats

    @property
    def additions(self) -> int:
        """Additions per point of integration of one evaluation, units apart."""
        return self.code.size or self.counts.size + len(self.score)


def patterns_of(answers: AnswerSet) -> Patterns:
    """The distinct columns of answers and where they occur."""
    models = len(answers.models)
    code, pairs = np.zeros((0, models), np.int64), np.zeros((1, 2), np.int64)
    asked, score, counts, right = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, models)), np.zeros(0)
    if answers.has_residual:
        flat = np.stack([answers.right.ravel(), (answers.n - answers.right).ravel()], axis=1)
        pairs, codes = np.unique(np.concatenate([[[0, 0]], flat]), axis=0, return_inverse=True)
        columns = codes.ravel()[1:].reshape(answers.n.shape).T
        code, of_item, many = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
    else:
        distinct, which = np.unique(answers.n.T, axis=0, return_inverse=True)
        both = np.stack([which.ravel(), answers.right.sum(axis=0)], axis=1)
        kinds, of_item, many = np.unique(both, axis=0, return_inverse=True, return_counts=True)
        asked, score = np.ascontiguousarray(kinds[:, 0]), kinds[:, 1].astype(float)
        counts, right = distinct.astype(float), answers.right.sum(axis=1).astype(float)
    of_item = of_item.ravel().astype(np.int64)
    start, place, times = np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0)
    if answers.has_unit:
        pair, often = np.unique(np.stack([answers.unit, of_item], axis=1), axis=0, return_counts=True)
        start = np.searchsorted(pair[:, 0], np.arange(answers.unit.max() + 2)).astype(np.int64)
        place, times = np.ascontiguousarray(pair[:, 1]), often.astype(float)
    return Patterns(
        code=np.ascontiguousarray(code),
        pairs=np.ascontiguousarray(pairs),
        asked=asked.astype(np.int64),
        score=score,
        counts=np.ascontiguousarray(counts),
        right=right,
        of_item=of_item,
        weight=many.astype(float),
        start=start,
        place=place,
        times=times,
    )
