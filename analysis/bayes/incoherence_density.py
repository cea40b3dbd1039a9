"""Log-densities of both models of incoherence with their gradients, compiled once.

The models are those that ``models.incoherence`` writes in PyMC, in the same unconstrained coordinates; tests hold the
two equal, value and gradient. A point holds

    delta, log tau, l, [a, b, log omega,] [logit rho,] [g (n), z (units)]

where a, b, omega, g and z belong to SSL, rho and z to designs in which units share a part of the slab.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.compiled import compiled
from analysis.bayes.incoherence_data import ROUNDING, SHARED_ROUNDING

Floats = NDArray[np.float64]


class DensityData(NamedTuple):
    """What both densities read.

    Attributes
    ----------
    rows : ndarray (6, n)
        mean, ss, k, paired, log_scale, log_scale_variance of each instance.
    unit_at : ndarray of int (n,)
    prior : ndarray (9,)
    units : int
        Units that share a part of the slab; with 0 there is no rho.
    linked : int
        1: SSL; 0: N.
    """

    rows: Floats
    unit_at: NDArray[np.int64]
    prior: Floats
    units: int
    linked: int


@compiled()
def incoherence_density(z: Floats, d: DensityData, gradient: Floats) -> float:
    """Log density at the point z up to a constant; ``gradient`` is overwritten with its slope."""
    gradient[:] = 0.0
    value = _linked_density(z, d, gradient) if d.linked else _normal_density(z, d, gradient)
    tau, prior = math.exp(z[1]), d.prior
    away = (z[2] - prior[5]) / prior[6]
    value += z[1] - 0.5 * ((z[0] / prior[0]) ** 2 + (tau / prior[1]) ** 2 + away**2)
    gradient[0] -= z[0] / prior[0] ** 2
    gradient[1] = tau * (gradient[1] - tau / prior[1] ** 2) + 1.0
    gradient[2] -= away / prior[6]
    if d.units:
        at = 6 if d.linked else 3
        rho = _expit(z[at])
        value -= prior[8] * (_softplus(z[at]) + _softplus(-z[at]))
        gradient[at] = gradient[at] * rho * (1.0 - rho) + prior[8] * (1.0 - 2.0 * rho)
    return value


@compiled()
def _linked_density(z: Floats, d: DensityData, gradient: Floats) -> float:
    """SSL without the priors of what N has too; slopes by tau and rho themselves."""
    n, prior = d.rows.shape[1], d.prior
    delta, tau, level, a, b, omega = z[0], math.exp(z[1]), z[2], z[3], z[4], math.exp(z[5])
    first = 7 if d.units else 6
    rho = _expit(z[6]) if d.units else 0.0
    of_a = (a - prior[2]) / prior[3]
    value = z[5] - 0.5 * (of_a**2 + (b / prior[4]) ** 2 + (omega / prior[7]) ** 2)
    by_omega = -omega / prior[7] ** 2
    gradient[3], gradient[4] = -of_a / prior[3], -b / prior[4] ** 2
    for j in range(first + n, z.size):
        value -= 0.5 * z[j] ** 2
        gradient[j] = -z[j]
    root_rho = math.sqrt(rho)
    last_v = spread = root = log_spread = np.nan
    for i in range(n):
        mean, ss, k, paired = d.rows[0, i], d.rows[1, i], d.rows[2, i], d.rows[3, i]
        x, v = d.rows[4, i], d.rows[5, i]
        unit, g = first + n + d.unit_at[i], z[first + i]
        if v != last_v:  # it depends on k, which most instances share
            spread, last_v = omega**2 + v, v
            root, log_spread = math.sqrt(v / spread), math.log(spread)
        h = omega * (x - level) / spread + root * g
        free = math.exp(2.0 * (level + omega * h))
        variance = free + ROUNDING**2
        noise = variance / k + SHARED_ROUNDING**2
        shared = paired * z[unit] if d.units else 0.0
        slab = tau**2 * (1.0 - paired * rho)
        away = mean - delta - tau * root_rho * shared
        total = slab + noise
        eta = a + b * h
        small = math.exp(-abs(eta))
        log_odds = math.log1p(small)
        on = -0.5 * (math.log(total) + away**2 / total) - (max(-eta, 0.0) + log_odds)
        off = -0.5 * (math.log(noise) + mean**2 / noise) - (max(eta, 0.0) + log_odds)
        less = math.exp(-abs(on - off))
        q = (1.0 if on >= off else less) / (1.0 + less)
        value += max(on, off) + math.log1p(less)
        value -= 0.5 * ((k - 1.0) * math.log(variance) + ss / variance + h**2 + log_spread)
        by_slab = -0.5 * q * (1.0 - away**2 / total) / total
        by_centre = q * away / total
        by_noise = by_slab - 0.5 * (1.0 - q) * (1.0 - mean**2 / noise) / noise
        by_variance = by_noise / k - 0.5 * ((k - 1.0) - ss / variance) / variance
        by_log_noise = 2.0 * free * by_variance
        by_eta = q - (1.0 if eta >= 0 else small) / (1.0 + small)
        by_h = -h + b * by_eta + omega * by_log_noise
        gradient[0] += by_centre
        gradient[1] += 2.0 * tau * (1.0 - paired * rho) * by_slab + root_rho * shared * by_centre
        gradient[2] += by_log_noise - by_h * omega / spread
        gradient[3] += by_eta
        gradient[4] += h * by_eta
        h_by_omega = (x - level) * (v - omega**2) / spread**2 - g * root * omega / spread
        by_omega += h * by_log_noise + by_h * h_by_omega - omega / spread
        gradient[first + i] = by_h * root
        if d.units:
            gradient[6] += -paired * tau**2 * by_slab + 0.5 * tau * shared / root_rho * by_centre
            gradient[unit] += paired * tau * root_rho * by_centre
    gradient[5] = omega * by_omega + 1.0
    return value


@compiled()
def _normal_density(z: Floats, d: DensityData, gradient: Floats) -> float:
    """N without its priors, what units share integrated out; slopes by tau and rho themselves."""
    n = d.rows.shape[1]
    delta, tau, free = z[0], math.exp(z[1]), math.exp(2.0 * z[2])
    rho = _expit(z[3]) if d.units else 0.0
    variance, common, rounded = free + ROUNDING**2, tau**2 * rho, SHARED_ROUNDING**2
    weights, sums = np.zeros(d.units), np.zeros(d.units)
    for i in range(n if d.units else 0):
        mean, k, paired = d.rows[0, i], d.rows[2, i], d.rows[3, i]
        weight = paired / (tau**2 * (1.0 - paired * rho) + variance / k + rounded)
        weights[d.unit_at[i]] += weight
        sums[d.unit_at[i]] += weight * (mean - delta)
    value = by_common = 0.0
    for j in range(d.units):
        inflated = 1.0 + common * weights[j]
        value += 0.5 * (common * sums[j] ** 2 / inflated - math.log(inflated))
        by_common += 0.5 * (sums[j] ** 2 / inflated**2 - weights[j] / inflated)
    for i in range(n):
        mean, ss, k, paired = d.rows[0, i], d.rows[1, i], d.rows[2, i], d.rows[3, i]
        own, away = tau**2 * (1.0 - paired * rho) + variance / k + rounded, mean - delta
        value -= 0.5 * (math.log(own) + away**2 / own + (k - 1.0) * math.log(variance) + ss / variance)
        by_own, by_away = -0.5 * (1.0 - away**2 / own) / own, -away / own
        if paired > 0.0:
            total, weight = sums[d.unit_at[i]], weights[d.unit_at[i]]
            inflated = 1.0 + common * weight
            by_sum = common * total / inflated
            by_weight = -0.5 * (common**2 * total**2 / inflated + common) / inflated
            by_own -= (by_weight + by_sum * away) / own**2
            by_away += by_sum / own
        gradient[0] -= by_away
        gradient[1] += 2.0 * tau * (1.0 - paired * rho) * by_own
        gradient[2] += 2.0 * free * (by_own / k - 0.5 * ((k - 1.0) - ss / variance) / variance)
        if d.units:
            gradient[3] -= paired * tau**2 * by_own
    if d.units:
        gradient[1] += 2.0 * tau * rho * by_common
        gradient[3] += tau**2 * by_common
    return value


@compiled()
def _expit(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


@compiled()
def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
