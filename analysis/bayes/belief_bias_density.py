"""Log-density of the endorsement model with its gradient, compiled once.

The model is the one that ``models.belief_bias`` writes in PyMC, w_mj integrated out; a test holds the two equal. A
point holds, in this order,

    coordinates of log sds (H), means (F), coefficients (M, F), items (J), effects (M, G)

where means and items belong to designs of several models, and effects are those of questions (or of base items)
with the columns that are constant within them: theta = x b_m + item_j + w_mj + e_mi.

Log sds are transformed normal variables (``sd_marginals``), as their lower tails are long where data allow an sd of
0. The others lie in the coordinates of ``density_terms.placed``. Means and coefficients are sampled with what the
items at hand add to them, ``of_item`` @ items, which data tell better than either alone: a shear with Jacobian 1. Items
are sampled in the directions of ``item_basis``, as data tell those apart that coefficients do not fit, and the effects
of the versions of an item ``rotate``d: independent given their sds, so that w_mj is integrated out.
"""

import math

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.belief_bias_arrays import EndorsementData
from analysis.bayes.compiled import compiled
from analysis.bayes.density_terms import (
    add_times_transposed,
    binomial_terms,
    by_log_sd,
    placed,
    placed_all,
    rotate,
    sum_of_logs,
    times,
    transformed,
)
from analysis.bayes.elementary_functions import FARTHEST, exponentials

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@compiled()
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
    log_sd, steep, by_jacobian = np.empty(at_mean), np.empty(at_mean), np.empty(at_mean)
    for h in range(at_mean):
        shift, steep[h], by_jacobian[h] = transformed(z[h], d.marginal[1, h], d.marginal[2, h], d.marginal[3, h])
        log_sd[h] = d.marginal[0, h] + shift
        ratio = math.exp(2.0 * (log_sd[h] - d.log_scale[h]))
        value += log_sd[h] - 0.5 * ratio + math.log(steep[h])
        gradient[h] += 1.0 - ratio
    mean, item = np.empty(columns), np.empty(items)
    mean_r, mean_scale = np.empty(columns), np.empty(columns)
    item_r, item_scale = np.empty(items), np.empty(items)
    by_mean, by_item = np.zeros(columns), np.zeros(items)
    own, by_own = np.zeros(columns), np.zeros(columns)
    for f in range(columns):
        mean[f] = d.mean_prior[0, f]
        if d.pooled:
            spread = log_sd[d.mean_sd_at[f]] if d.mean_sd_at[f] >= 0 else d.mean_prior[1, f]
            mean[f], mean_r[f], mean_scale[f] = placed(
                z[at_mean + f], d.mean_prior[0, f], spread, d.about_mean[0, f], d.about_mean[1, f]
            )
    for j in range(items):
        item[j], item_r[j], item_scale[j] = placed(
            z[at_item + j], 0.0, log_sd[d.item_sd_at], d.about_item[0, j], d.about_item[1, j]
        )
    deviation = item  # in the directions of ``item_basis``
    item = np.zeros(items)
    times(d.item_basis, deviation, item)
    times(d.of_item, item, own)
    precision, of_item = np.empty(effects), np.zeros(effects)
    log_sds = _spreads(log_sd, d, precision, of_item)
    for m in range(models):
        value -= log_sds
        begin, end = at_coefficient + m * columns, at_effect + m * effects
        value += _one_model(
            m,
            log_sd,
            z[begin : begin + columns],
            z[end : end + effects],
            mean,
            item,
            own,
            precision,
            of_item,
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
        spread = log_sd[at] if at >= 0 else d.mean_prior[1, f]
        off = mean[f] - own[f] - prior
        away = off * math.exp(-2.0 * spread)
        by_own[f] += away
        value += math.log(mean_scale[f]) - spread - 0.5 * off * away
        slope = by_mean[f] - away
        gradient[at_mean + f] = slope * mean_scale[f]
        if at >= 0:
            turn = by_log_sd(z[at_mean + f], prior, mean_r[f], mean_scale[f], d.about_mean[0, f])
            gradient[at] += slope * turn + (1.0 - mean_r[f]) - 1.0 + off * away
    add_times_transposed(d.of_item, by_own, by_item)
    by_deviation = np.zeros(items)
    add_times_transposed(d.item_basis, by_item, by_deviation)
    for k in range(items):
        spread = log_sd[d.item_sd_at]
        away = deviation[k] * math.exp(-2.0 * spread)
        value += math.log(item_scale[k]) - spread - 0.5 * deviation[k] * away
        slope = by_deviation[k] - away
        gradient[at_item + k] = slope * item_scale[k]
        turn = by_log_sd(z[at_item + k], 0.0, item_r[k], item_scale[k], d.about_item[0, k])
        gradient[d.item_sd_at] += slope * turn - item_r[k] + deviation[k] * away
    for h in range(at_mean):
        gradient[h] = gradient[h] * steep[h] + by_jacobian[h]
    return value


@compiled()
def _spreads(log_sd: Floats, d: EndorsementData, precision: Floats, of_item: Floats) -> float:
    """Sum of the log sds of a model's rotated effects; fills their precisions and the items' shares of variances.

    The head of an item of k effects has the variance version + k common, the others that of a version.
    """
    if not d.unit.size:
        return 0.0
    common = math.exp(2.0 * log_sd[d.model_item_sd_at])
    version = math.exp(2.0 * log_sd[d.version_sd_at]) if d.version_sd_at >= 0 else 0.0
    total = 0.0
    for g in range(d.unit.size):
        own = d.size[g] * common if d.head[g] else 0.0
        variance = version + own
        precision[g] = 1.0 / variance
        of_item[g] = own * precision[g]
        total += 0.5 * math.log(variance)
    return total


@compiled()
def _one_model(
    m: int,
    log_sd: Floats,
    of_coefficient: Floats,
    of_effect: Floats,
    mean: Floats,
    item: Floats,
    own: Floats,
    precision: Floats,
    of_item: Floats,
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
    of_data = d.about_coefficient[0, m].copy()
    value = 0.0
    for f in range(columns):
        spread = log_sd[d.sd_at[f]] if d.sd_at[f] >= 0 else d.mean_prior[1, f]
        for k in range(f):
            of_data[f] += d.regression[m, f, k] * (b[k] - d.about_coefficient[0, m, k])
        b[f], r[f], scale[f] = placed(of_coefficient[f], mean[f], spread, of_data[f], d.about_coefficient[1, m, f])
        away = (b[f] - mean[f]) * math.exp(-2.0 * spread)
        value += math.log(scale[f]) - spread - 0.5 * (b[f] - mean[f]) * away
        by_b[f] -= away
        by_mean[f] += away
    theta, centre, share, width = np.empty(effects), np.empty(effects), np.empty(effects), np.empty(effects)
    for g in range(effects):
        centre[g] = item[d.unit[g]] if item.size else 0.0
    add_times_transposed(d.of_effect, b - own, centre)
    rotate(centre, d.unit, d.head, d.size)
    told, variance = d.about_effect[0, m], d.about_effect[1, m]
    placed_all(of_effect, centre, precision, told, variance, theta, share, width)
    value += sum_of_logs(width)
    rotated = theta.copy()
    rotate(theta, d.unit, d.head, d.size)
    base, by_base = np.zeros(questions), np.zeros(questions)
    if effects:
        for i in range(questions):
            base[i] = theta[d.effect[i]]
    add_times_transposed(d.of_question, b, base)
    value += _likelihood(m, base, b, d, by_base, by_b)
    by_columns = np.empty(columns)
    times(d.of_question, by_base, by_columns)
    by_b += by_columns
    if effects:
        by_theta = np.zeros(effects)
        for i in range(questions):
            by_theta[d.effect[i]] += by_base[i]
        rotate(by_theta, d.unit, d.head, d.size)
        by_centre = np.empty(effects)
        value += _effects(
            of_effect,
            rotated,
            centre,
            precision,
            of_item,
            share,
            width,
            told,
            d,
            gradient,
            by_theta,
            by_effect,
            by_centre,
        )
        rotate(by_centre, d.unit, d.head, d.size)
        if item.size:
            for g in range(effects):
                by_item[d.unit[g]] += by_centre[g]
        times(d.of_effect, by_centre, by_columns)
        by_b += by_columns
        by_own -= by_columns
    for f in range(columns - 1, -1, -1):
        for k in range(f):
            by_b[k] += by_b[f] * r[f] * d.regression[m, f, k]
        spread = log_sd[d.sd_at[f]] if d.sd_at[f] >= 0 else d.mean_prior[1, f]
        away = b[f] - mean[f]
        by_coefficient[f] = by_b[f] * scale[f]
        by_mean[f] += by_b[f] * (1.0 - r[f])
        if d.sd_at[f] >= 0:
            turn = by_log_sd(of_coefficient[f], mean[f], r[f], scale[f], of_data[f])
            gradient[d.sd_at[f]] += by_b[f] * turn - r[f] + away * away * math.exp(-2.0 * spread)
    return value


@compiled()
def _likelihood(m: int, base: Floats, b: Floats, d: EndorsementData, by_base: Floats, by_b: Floats) -> float:
    """Log-likelihood of one model; adds its derivatives by the log-odds of questions and by the coefficients."""
    value = 0.0
    odds, work, logs = np.empty(base.size), np.empty(base.size), np.empty(base.size)
    exponentials(base, FARTHEST, odds, work)
    of_configuration = d.of_configuration.reshape(-1, b.size)
    shift, by_shift = np.empty(len(of_configuration)), np.zeros(len(of_configuration))
    times(of_configuration, b, shift)
    for c in range(d.yes.shape[1]):
        for side in range(2):
            begin, end = (0, d.valid) if side == 0 else (d.valid, base.size)
            if begin == end:
                continue
            own = shift[2 * c + side]
            found, by_shift[2 * c + side] = binomial_terms(
                base[begin:end],
                own,
                odds[begin:end],
                math.exp(min(max(own, -FARTHEST), FARTHEST)),
                d.yes[m, c, begin:end],
                d.answered[m, c, begin:end],
                by_base[begin:end],
                work[begin:end],
                logs[begin:end],
            )
            value += found
    add_times_transposed(of_configuration, by_shift, by_b)
    return value


@compiled("contract", "reassoc", "nsz")
def _effects(
    of_effect: Floats,
    rotated: Floats,
    centre: Floats,
    precision: Floats,
    of_item: Floats,
    share: Floats,
    width: Floats,
    told: Floats,
    d: EndorsementData,
    gradient: Floats,
    by_rotated: Floats,
    by_effect: Floats,
    by_centre: Floats,
) -> float:
    """Log prior of the effects of one model but for their log sds: rotated, those of an item are independent."""
    value, by_common, by_version = 0.0, 0.0, 0.0
    for g in range(rotated.size):
        off = rotated[g] - centre[g]
        away = off * precision[g]
        value -= 0.5 * off * away
        slope = by_rotated[g] - away
        by_effect[g] = slope * width[g]
        by_centre[g] = slope * (1.0 - share[g]) + away
        turn = by_log_sd(of_effect[g], centre[g], share[g], width[g], told[g])
        by_spread = slope * turn - share[g] + off * away
        by_common += by_spread * of_item[g]
        by_version += by_spread * (1.0 - of_item[g])
    gradient[d.model_item_sd_at] += by_common
    if d.version_sd_at >= 0:
        gradient[d.version_sd_at] += by_version
    return value
