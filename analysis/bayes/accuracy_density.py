"""Log-likelihood of the accuracy model with effects of items and units integrated out, on equally spaced points.

The sum over equally spaced points of a smooth integrand that vanishes at both ends converges faster than any power of
the spacing (Trefethen and Weideman 2014, SIAM Review 56:385-458, doi:10.1137/130932132). Points lie on the scale of
the standard normal; the probability of an answer depends on model and point alone, so that it is computed once for
all items, and equal items are computed once.
"""

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from analysis.bayes.accuracy_data import AnswerSet

Floats = NDArray[np.float64]

#: Range of the points: what lies beyond is less than 1e-8 of a standard normal.
RANGE: Final = 6.0
#: Spacing in the least standard deviation that the effect of an item, or of a unit, can have given its answers.
SPACING: Final = 1.2
#: Part of an item's largest likelihood below which a point adds nothing.
_NOTHING: Final = 1e-16
_FEWEST: Final = 31
_MOST: Final = 601


class Points(NamedTuple):
    """Equally spaced points of the effect of an item, and of a unit; a single 0 where there is no such effect."""

    item: Floats
    unit: Floats


def points_for(answers: AnswerSet, sd: float, share: float, *, finer: float = 1.0) -> Points:
    """Points that resolve the effects of items and units at one standard deviation and share of units.

    Parameters
    ----------
    answers : AnswerSet
    sd : float
        Standard deviation of items, units included.
    share : float
        Part of its square that belongs to units.
    finer : float
        Divides the spacing.

    Notes
    -----
    Given its answers the effect of an item has a precision of at most 1/sd^2 + n/4.
    """
    item = np.zeros(1)
    if answers.has_item:
        precision = 1.0 + sd**2 * float(answers.n.sum(axis=0).max()) / 4
        if answers.has_unit:
            precision = max(precision, 1 / max(1 - share, 1e-4))
        item = _spaced(SPACING / np.sqrt(precision) / finer)
    unit = np.zeros(1)
    if answers.has_unit:
        items = np.bincount(answers.unit)
        responses = np.bincount(answers.unit, answers.n.sum(axis=0))
        own = sd**2 * max(1 - share, 1e-4)
        known = np.minimum(responses / 4, items / own).max()
        unit = _spaced(SPACING / np.sqrt(1 + sd**2 * share * known) / finer)
    return Points(item, unit)


def _spaced(step: float) -> Floats:
    half = int(np.clip(np.ceil(RANGE / step), (_FEWEST - 1) // 2, (_MOST - 1) // 2))
    return np.linspace(-RANGE, RANGE, 2 * half + 1)


@njit(cache=True, nogil=True)
def _tables(level, sd, log_phi, points, pairs):  # type: ignore[no-untyped-def]
    """Log probability of each pair of (right, wrong) and its slope in log-odds, (M, C, G) each.

    Binomial without residual, which an infinite ``log_phi`` says; no binomial coefficients.
    """
    models, many, size = len(level), len(pairs), len(points)
    value, slope = np.zeros((models, many, size)), np.zeros((models, many, size))
    right_most, wrong_most = pairs[:, 0].max(), pairs[:, 1].max()
    a, b = np.zeros(right_most + 1), np.zeros(wrong_most + 1)
    da, db = np.zeros(right_most + 1), np.zeros(wrong_most + 1)
    total = np.zeros(right_most + wrong_most + 1)
    phi = np.exp(log_phi)
    if np.isfinite(phi):
        for t in range(right_most + wrong_most):
            total[t + 1] = total[t] + np.log1p(t / phi)
    for m in range(models):
        for g in range(size):
            eta = level[m] + sd * points[g]
            low = np.exp(-abs(eta))
            p = 1 / (1 + low) if eta >= 0 else low / (1 + low)
            q = 1 / (1 + low) if eta < 0 else low / (1 + low)
            log_p = min(eta, 0.0) - np.log1p(low)
            log_q = min(-eta, 0.0) - np.log1p(low)
            for c in range(many):
                y, r = pairs[c]
                value[m, c, g] = y * log_p + r * log_q
                slope[m, c, g] = y * q - r * p
            if not np.isfinite(phi):
                continue
            for t in range(1, right_most):
                a[t + 1] = a[t] + np.log(p + t / phi)
                da[t + 1] = da[t] + 1 / (p + t / phi)
            for t in range(1, wrong_most):
                b[t + 1] = b[t] + np.log(q + t / phi)
                db[t + 1] = db[t] + 1 / (q + t / phi)
            for c in range(many):
                y, r = pairs[c]
                if y + r > 1:
                    first = (log_p if y else 0.0) + (log_q if r else 0.0)
                    value[m, c, g] = first + a[y] + b[r] - total[y + r]
                    own = (q if y else 0.0) - (p if r else 0.0)
                    slope[m, c, g] = own + p * q * (da[y] - db[r])
    return value, slope


@njit(cache=True, nogil=True)
def log_likelihood(level, sd, share, log_phi, patterns, points, gradient):  # type: ignore[no-untyped-def]
    """Log-likelihood up to the binomial coefficients; ``gradient`` (M + 1,) gets slopes in levels and sd.

    Parameters
    ----------
    level : ndarray (M,)
        Log-odds of a right answer to an item without effect.
    sd : float
        Standard deviation of items, units included; 0 without items. Its sign does not matter.
    share : float
        Part of its square that belongs to units; 0 without units.
    log_phi : float
        Log concentration of the samples of one item; infinite: none.
    patterns : Patterns
    points : Points
    gradient : ndarray (M + 1,) or (0,)
        Changed in place; of length 0: not wanted.
    """
    z = points.item
    value, slope = _tables(level, sd, log_phi, z, patterns.pairs)
    many, size, models = len(patterns.code), len(z), len(level)
    joint = np.zeros((many, size))
    most = np.empty(many)
    for i in range(many):
        row = joint[i]
        for m in range(models):
            code = patterns.code[i, m]
            if patterns.pairs[code, 0] + patterns.pairs[code, 1] > 0:
                table = value[m, code]
                for g in range(size):
                    row[g] += table[g]
        most[i] = row.max()
        for g in range(size):
            row[g] = np.exp(row[g] - most[i])
    wanted = len(gradient) > 0
    found = 0.0
    if len(patterns.start) == 1:
        weight = np.exp(-0.5 * z**2)
        weight /= weight.sum()
        for i in range(many):
            total = 0.0
            for g in range(size):
                joint[i, g] *= weight[g]
                total += joint[i, g]
            found += patterns.weight[i] * (np.log(total) + most[i])
            if wanted:
                for g in range(size):
                    joint[i, g] *= patterns.weight[i] / total
    else:
        x = points.unit
        kernel = np.empty((size, len(x)))
        narrow = max(np.sqrt(1 - share), 0.25 * (z[1] - z[0]))
        for k in range(len(x)):
            for g in range(size):
                away = (z[g] - np.sqrt(share) * x[k]) / narrow
                kernel[g, k] = np.exp(-0.5 * away**2)
            kernel[:, k] /= kernel[:, k].sum()
        inner = np.zeros((many, len(x)))
        for i in range(many):
            for g in range(size):
                if joint[i, g] > _NOTHING:
                    inner[i] += joint[i, g] * kernel[g]
        back = np.zeros((many, len(x)))
        log_inner = np.log(inner + 1e-300)
        log_weight = -0.5 * x**2
        log_weight = log_weight - np.log(np.exp(log_weight).sum())
        for j in range(len(patterns.start) - 1):
            own = log_weight.copy()
            for e in range(patterns.start[j], patterns.start[j + 1]):
                own += patterns.times[e] * (log_inner[patterns.place[e]] + most[patterns.place[e]])
            top = own.max()
            own = np.exp(own - top)
            total = own.sum()
            found += top + np.log(total)
            if wanted:
                for e in range(patterns.start[j], patterns.start[j + 1]):
                    back[patterns.place[e]] += patterns.times[e] * own / total
        if wanted:
            back /= inner + 1e-300
            for i in range(many):
                for g in range(size):
                    if joint[i, g] > _NOTHING:
                        joint[i, g] *= np.dot(back[i], kernel[g])
    if wanted:
        gathered = np.zeros(value.shape)
        for i in range(many):
            for m in range(models):
                target = gathered[m, patterns.code[i, m]]
                for g in range(size):
                    target[g] += joint[i, g]
        for m in range(models):
            gradient[m] = 0.0
        gradient[models] = 0.0
        for m in range(models):
            for c in range(len(patterns.pairs)):
                for g in range(size):
                    part = gathered[m, c, g] * slope[m, c, g]
                    gradient[m] += part
                    gradient[models] += part * z[g]
    return found
