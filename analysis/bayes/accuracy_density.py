"""Log-likelihood of the accuracy model with effects of items and units integrated out, on equally spaced points.

The probability of an answer depends on model and point alone, so that it is computed once for all items, and equal
items are computed once (``accuracy_patterns``).
"""

from typing import Final

import numpy as np

from analysis.bayes.accuracy_points import points_for
from analysis.bayes.compiled import compiled

#: Part of an item's largest likelihood below which a point adds nothing.
_NOTHING: Final = 1e-16


@compiled()
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


@compiled()
def _by_model(value, patterns):  # type: ignore[no-untyped-def]
    """Log-likelihood (P, G) of patterns from the tables of each model's own answers."""
    many, models = patterns.code.shape
    size = value.shape[2]
    joint = np.zeros((many, size))
    for i in range(many):
        row = joint[i]
        for m in range(models):
            code = patterns.code[i, m]
            if patterns.pairs[code, 0] + patterns.pairs[code, 1] > 0:
                table = value[m, code]
                for g in range(size):
                    row[g] += table[g]
    return joint


@compiled()
def _rates(level, sd, points):  # type: ignore[no-untyped-def]
    """Log probability of a wrong answer, and probability of a right one, (M, G) each."""
    models, size = len(level), len(points)
    log_wrong, right = np.empty((models, size)), np.empty((models, size))
    for m in range(models):
        for g in range(size):
            eta = level[m] + sd * points[g]
            low = np.exp(-abs(eta))
            right[m, g] = 1 / (1 + low) if eta >= 0 else low / (1 + low)
            log_wrong[m, g] = min(-eta, 0.0) - np.log1p(low)
    return log_wrong, right


@compiled()
def _by_score(log_wrong, sd, points, patterns):  # type: ignore[no-untyped-def]
    """Log-likelihood (P, G) of patterns but for the sum of right answers times levels, which no effect changes."""
    kinds, models = patterns.counts.shape
    size = len(points)
    base = np.zeros((kinds, size))
    for k in range(kinds):
        for m in range(models):
            if patterns.counts[k, m] > 0:
                for g in range(size):
                    base[k, g] += patterns.counts[k, m] * log_wrong[m, g]
    joint = np.empty((len(patterns.score), size))
    for i in range(len(patterns.score)):
        own = base[patterns.asked[i]]
        for g in range(size):
            joint[i, g] = sd * points[g] * patterns.score[i] + own[g]
    return joint


@compiled()
def by_pattern(level, sd, log_phi, patterns, points):  # type: ignore[no-untyped-def]
    """Log-likelihood (P, G) of patterns at the points of an item's effect, each up to a constant."""
    if len(patterns.score) == 0:
        return _by_model(_tables(level, sd, log_phi, points, patterns.pairs)[0], patterns)
    return _by_score(_rates(level, sd, points)[0], sd, points, patterns)


@compiled()
def unit_kernel(share, points):  # type: ignore[no-untyped-def]
    """Weights (G, K) of the points of an item given that of its unit; columns sum to 1."""
    z, x = points.item, points.unit
    kernel = np.empty((len(z), len(x)))
    narrow = max(np.sqrt(1 - share), 0.25 * (z[1] - z[0]))
    for k in range(len(x)):
        for g in range(len(z)):
            away = (z[g] - np.sqrt(share) * x[k]) / narrow
            kernel[g, k] = np.exp(-0.5 * away**2)
        kernel[:, k] /= kernel[:, k].sum()
    return kernel


@compiled()
def _integrated(joint, share, patterns, points, wanted):  # type: ignore[no-untyped-def]
    """Log-likelihood of all items; ``joint`` becomes the posterior weight of each point, times items, if wanted."""
    many, size = joint.shape
    most = np.empty(many)
    for i in range(many):
        most[i] = joint[i].max()
        for g in range(size):
            joint[i, g] = np.exp(joint[i, g] - most[i])
    found = 0.0
    if len(patterns.start) == 1:
        weight = np.exp(-0.5 * points.item**2)
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
        return found
    x, kernel = points.unit, unit_kernel(share, points)
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
                else:
                    joint[i, g] = 0.0
    return found


@compiled()
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
    z, wanted = points.item, len(gradient) > 0
    if len(patterns.score) == 0:
        value, slope = _tables(level, sd, log_phi, z, patterns.pairs)
        joint = _by_model(value, patterns)
        found = _integrated(joint, share, patterns, points, wanted)
        if wanted:
            _slopes_by_model(joint, slope, z, patterns, gradient)
        return found
    log_wrong, right = _rates(level, sd, z)
    joint = _by_score(log_wrong, sd, z, patterns)
    found = _integrated(joint, share, patterns, points, wanted)
    for m in range(len(level)):
        found += patterns.right[m] * level[m]
    if wanted:
        _slopes_by_score(joint, right, z, patterns, gradient)
    return found


@compiled()
def log_likelihoods(level, sd, share, log_phi, patterns, sizes, finer):  # type: ignore[no-untyped-def]
    """``log_likelihood`` (S,) of S levels (S, M), sds, shares and log concentrations, each over its own points."""
    found, none = np.empty(len(sd)), np.zeros(0)
    for s in range(len(sd)):
        points = points_for(sizes, sd[s], share[s], finer)
        found[s] = log_likelihood(level[s], sd[s], share[s], log_phi[s], patterns, points, none)
    return found


@compiled()
def _slopes_by_model(joint, slope, z, patterns, gradient):  # type: ignore[no-untyped-def]
    """Slopes in levels and sd from the weights (P, G) of points and the slopes of the tables."""
    models, size = slope.shape[0], len(z)
    gathered = np.zeros(slope.shape)
    for i in range(len(joint)):
        for m in range(models):
            target = gathered[m, patterns.code[i, m]]
            for g in range(size):
                target[g] += joint[i, g]
    gradient[:] = 0.0
    for m in range(models):
        for c in range(len(patterns.pairs)):
            for g in range(size):
                part = gathered[m, c, g] * slope[m, c, g]
                gradient[m] += part
                gradient[models] += part * z[g]


@compiled()
def _slopes_by_score(joint, right, z, patterns, gradient):  # type: ignore[no-untyped-def]
    """The same from sums of right answers: observed minus expected ones."""
    kinds, models = patterns.counts.shape
    size = len(z)
    gathered = np.zeros((kinds, size))
    gradient[:] = 0.0
    for i in range(len(joint)):
        target = gathered[patterns.asked[i]]
        for g in range(size):
            target[g] += joint[i, g]
            gradient[models] += joint[i, g] * patterns.score[i] * z[g]
    for m in range(models):
        gradient[m] = patterns.right[m]
        for k in range(kinds):
            if patterns.counts[k, m] > 0:
                for g in range(size):
                    part = gathered[k, g] * patterns.counts[k, m] * right[m, g]
                    gradient[m] -= part
                    gradient[models] -= part * z[g]
