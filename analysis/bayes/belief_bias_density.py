"""Log-density of the endorsement model with its gradient, compiled once.

The model is the one that ``models.belief_bias`` writes in PyMC, w_mj integrated out; a test holds the two equal. A
point holds, in this order,

    log sds (H), means (F), coefficients (M, F), items (J), effects (M, G)

where means and items belong to designs of several models, and effects are those of questions (or of base items)
with the columns that are constant within them: theta = x b_m + item_j + w_mj + e_mi.

Every quantity lies in the coordinates of ``density_terms.placed``. Means and coefficients are sampled with what the
items at hand add to them, ``of_item`` @ items, which data tell better than either alone: a shear with Jacobian 1. Items
are sampled in the directions of ``item_basis``, as data tell those apart that coefficients do not fit.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from analysis.bayes.belief_bias_arrays import EndorsementData
from analysis.bayes.density_terms import binomial_terms, by_log_sd, placed

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@njit(cache=True, nogil=True, error_model="numpy")
def endorsement_density(z: Floats, d: EndorsementData, gradient: Floats) -> float:
    """Log density at the point z up to a constant; ``gradient`` is overwritten with its slope."""
    models, columns, effects = d.yes.shape[0], d.sd_at.size, d.unit.size
    items = d.about_item.shape[1]
    at_mean = d.log_scale.size
    at_coefficient = at_mean + (columns if d.pooled else 0)
    at_item = at_coefficient + models * columns
    at_effect = at_item + items
    gradient[:] = 0.0
    value = 0.0
    for h in range(at_mean):
        ratio = math.exp(2.0 * (z[h] - d.log_scale[h]))
        value += z[h] - 0.5 * ratio
        gradient[h] += 1.0 - ratio
    mean, item = np.empty(columns), np.empty(items)
    mean_r, mean_scale = np.empty(columns), np.empty(columns)
    item_r, item_scale = np.empty(items), np.empty(items)
    by_mean, by_item = np.zeros(columns), np.zeros(items)
    own, by_own = np.zeros(columns), np.zeros(columns)
    for f in range(columns):
        mean[f] = d.mean_prior[0, f]
        if d.pooled:
            log_sd = z[d.mean_sd_at[f]] if d.mean_sd_at[f] >= 0 else d.mean_prior[1, f]
            mean[f], mean_r[f], mean_scale[f] = placed(
                z[at_mean + f], d.mean_prior[0, f], log_sd, d.about_mean[0, f], d.about_mean[1, f]
            )
    for j in range(items):
        item[j], item_r[j], item_scale[j] = placed(
            z[at_item + j], 0.0, z[d.item_sd_at], d.about_item[0, j], d.about_item[1, j]
        )
    deviation = item  # in the directions of ``item_basis``
    item = np.zeros(items)
    for j in range(items):
        for k in range(items):
            item[j] += d.item_basis[j, k] * deviation[k]
        for f in range(columns):
            own[f] += d.of_item[f, j] * item[j]
    for m in range(models):
        begin, end = at_coefficient + m * columns, at_effect + m * effects
        value += _one_model(
            m,
            z,
            z[begin : begin + columns],
            z[end : end + effects],
            mean,
            item,
            own,
            d,
            gradient,
            gradient[begin : begin + columns],
            gradient[end : end + effects],
            by_mean,
            by_item,
            by_own,
        )
    for f in range(columns if d.pooled else 0):
        at, prior = d.mean_sd_at[f], d.mean_prior[0, f]
        log_sd = z[at] if at >= 0 else d.mean_prior[1, f]
        off = mean[f] - own[f] - prior
        away = off * math.exp(-2.0 * log_sd)
        by_own[f] += away
        value += math.log(mean_scale[f]) - log_sd - 0.5 * off * away
        slope = by_mean[f] - away
        gradient[at_mean + f] = slope * mean_scale[f]
        if at >= 0:
            turn = by_log_sd(z[at_mean + f], prior, mean_r[f], mean_scale[f], d.about_mean[0, f])
            gradient[at] += slope * turn + (1.0 - mean_r[f]) - 1.0 + off * away
    for j in range(items):
        for f in range(columns):
            by_item[j] += d.of_item[f, j] * by_own[f]
    for k in range(items):
        log_sd = z[d.item_sd_at]
        away = deviation[k] * math.exp(-2.0 * log_sd)
        value += math.log(item_scale[k]) - log_sd - 0.5 * deviation[k] * away
        slope = -away
        for j in range(items):
            slope += d.item_basis[j, k] * by_item[j]
        gradient[at_item + k] = slope * item_scale[k]
        turn = by_log_sd(z[at_item + k], 0.0, item_r[k], item_scale[k], d.about_item[0, k])
        gradient[d.item_sd_at] += slope * turn - item_r[k] + deviation[k] * away
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _one_model(
    m: int,
    z: Floats,
    of_coefficient: Floats,
    of_effect: Floats,
    mean: Floats,
    item: Floats,
    own: Floats,
    d: EndorsementData,
    gradient: Floats,
    by_coefficient: Floats,
    by_effect: Floats,
    by_mean: Floats,
    by_item: Floats,
    by_own: Floats,
) -> float:
    """Terms of one model; fills its parts of the gradient and adds to the others."""
    columns, effects, questions = mean.size, of_effect.size, d.yes.shape[2]
    b, r, scale, by_b = np.empty(columns), np.empty(columns), np.empty(columns), np.zeros(columns)
    value = 0.0
    for f in range(columns):
        log_sd = z[d.sd_at[f]] if d.sd_at[f] >= 0 else d.mean_prior[1, f]
        b[f], r[f], scale[f] = placed(
            of_coefficient[f], mean[f], log_sd, d.about_coefficient[0, m, f], d.about_coefficient[1, m, f]
        )
        away = (b[f] - mean[f]) * math.exp(-2.0 * log_sd)
        value += math.log(scale[f]) - log_sd - 0.5 * (b[f] - mean[f]) * away
        by_b[f] -= away
        by_mean[f] += away
    theta, centre, share, width = np.empty(effects), np.empty(effects), np.empty(effects), np.empty(effects)
    version, common = 0.0, 0.0
    if effects:
        common = math.exp(2.0 * z[d.model_item_sd_at])
        version = math.exp(2.0 * z[d.version_sd_at]) if d.version_sd_at >= 0 else 0.0
    total = 0.5 * math.log(version + common) if effects else 0.0
    for g in range(effects):
        centre[g] = item[d.unit[g]] if item.size else 0.0
        for f in range(columns):
            centre[g] += d.of_effect[g, f] * (b[f] - own[f])
        theta[g], share[g], width[g] = placed(
            of_effect[g], centre[g], total, d.about_effect[0, m, g], d.about_effect[1, m, g]
        )
        value += math.log(width[g])
    base, by_base = np.empty(questions), np.zeros(questions)
    for i in range(questions):
        base[i] = theta[d.effect[i]] if effects else 0.0
        for f in range(columns):
            base[i] += d.of_question[i, f] * b[f]
    value += _likelihood(m, base, b, d, by_base, by_b)
    by_theta = np.zeros(effects)
    for i in range(questions):
        for f in range(columns):
            by_b[f] += d.of_question[i, f] * by_base[i]
        if effects:
            by_theta[d.effect[i]] += by_base[i]
    if effects:
        value += _effects(
            z,
            of_effect,
            theta,
            centre,
            share,
            width,
            version,
            common,
            m,
            d,
            gradient,
            by_theta,
            by_effect,
            by_b,
            by_item,
            by_own,
        )
    for f in range(columns):
        log_sd = z[d.sd_at[f]] if d.sd_at[f] >= 0 else d.mean_prior[1, f]
        away = b[f] - mean[f]
        by_coefficient[f] = by_b[f] * scale[f]
        by_mean[f] += by_b[f] * (1.0 - r[f])
        if d.sd_at[f] >= 0:
            turn = by_log_sd(of_coefficient[f], mean[f], r[f], scale[f], d.about_coefficient[0, m, f])
            gradient[d.sd_at[f]] += by_b[f] * turn - r[f] + away * away * math.exp(-2.0 * log_sd)
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _likelihood(m: int, base: Floats, b: Floats, d: EndorsementData, by_base: Floats, by_b: Floats) -> float:
    """Log-likelihood of one model; adds its derivatives by the log-odds of questions and by the coefficients."""
    value = 0.0
    for c in range(d.yes.shape[1]):
        for side in range(2):
            begin, end = (0, d.valid) if side == 0 else (d.valid, base.size)
            if begin == end:
                continue
            shift = 0.0
            for f in range(b.size):
                shift += d.of_configuration[c, side, f] * b[f]
            found, by_shift = binomial_terms(
                base[begin:end], shift, d.yes[m, c, begin:end], d.answered[m, c, begin:end], by_base[begin:end]
            )
            value += found
            for f in range(b.size):
                by_b[f] += d.of_configuration[c, side, f] * by_shift
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _effects(
    z: Floats,
    of_effect: Floats,
    theta: Floats,
    centre: Floats,
    share: Floats,
    width: Floats,
    version: float,
    common: float,
    m: int,
    d: EndorsementData,
    gradient: Floats,
    by_theta: Floats,
    by_effect: Floats,
    by_b: Floats,
    by_item: Floats,
    by_own: Floats,
) -> float:
    """Log prior of the effects of one model, those of an item correlated by what the item does to the model.

    Within an item of k effects with deviations away_g: variances ``version`` around the item's own deviation, whose
    variance is ``common``.
    """
    units = 1
    for g in range(theta.size):
        units = max(units, d.unit[g] + 1)
    size, sums, squares = np.zeros(units), np.zeros(units), np.zeros(units)
    for g in range(theta.size):
        away = theta[g] - centre[g]
        size[d.unit[g]] += 1.0
        sums[d.unit[g]] += away
        squares[d.unit[g]] += away * away
    value, by_version, by_common, by_total = 0.0, 0.0, 0.0, 0.0
    for j in range(units):
        k = size[j]
        if k == 0.0:
            continue
        spread, middle = version + k * common, sums[j] * sums[j] / k
        value -= 0.5 * (math.log(spread) + middle / spread)
        by_common -= k * common / spread * (1.0 - middle / spread)
        if version > 0.0:
            within = max(squares[j] - middle, 0.0)
            value -= 0.5 * ((k - 1.0) * math.log(version) + within / version)
            by_version -= (k - 1.0) + version / spread - within / version - version * middle / spread**2
    for g in range(theta.size):
        j = d.unit[g]
        mean = sums[j] / size[j]
        by_away = -mean / (version + size[j] * common)
        if version > 0.0:
            by_away -= (theta[g] - centre[g] - mean) / version
        slope = by_theta[g] + by_away
        by_effect[g] = slope * width[g]
        by_centre = slope * (1.0 - share[g]) - by_away
        turn = by_log_sd(of_effect[g], centre[g], share[g], width[g], d.about_effect[0, m, g])
        by_total += slope * turn + (1.0 - share[g])
        if by_item.size:
            by_item[j] += by_centre
        for f in range(by_b.size):
            by_b[f] += d.of_effect[g, f] * by_centre
            by_own[f] -= d.of_effect[g, f] * by_centre
    gradient[d.model_item_sd_at] += by_common + by_total * common / (version + common)
    if d.version_sd_at >= 0:
        gradient[d.version_sd_at] += by_version + by_total * version / (version + common)
    return value
