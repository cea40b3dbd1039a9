"""Log-density of the model of single answers with its gradient, compiled once.

The model is the one that ``models.measurement`` writes in PyMC, in the same unconstrained coordinates; tests hold the
two equal, value and gradient. A point holds

    delta, log tau, log tau_sum, log sigma (3), [g (n), g_sum (n), eta (M - n), gamma (M)]
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.compiled import compiled
from analysis.bayes.incoherence_data import ROUNDING

Floats = NDArray[np.float64]

HYPER = 6
#: Below this the normal distribution function is replaced by its asymptotic series.
_FAR = -30.0
_ROOT = math.sqrt(2.0)
_NORMAL = 0.5 * math.log(2.0 * math.pi)


class MeasurementData(NamedTuple):
    """What the density reads.

    Attributes
    ----------
    target : ndarray (n, K)
    latent, conditional : ndarray (M, K)
    first : ndarray of int (n + 1,)
    eta_centre : ndarray (M - n,)
        Log of the true weights of all states but the last, less that of the last.
    gamma_centre : ndarray (M,)
    places : ndarray (4, n)
        Where violation and sum of each instance lie, roughly, and the variance of that: they locate coordinates.
    prior : ndarray (6,)
        Fields of ``MeasurementPriors`` in order.
    limit : float
    """

    target: Floats
    latent: Floats
    conditional: Floats
    first: NDArray[np.int64]
    eta_centre: Floats
    gamma_centre: Floats
    places: Floats
    prior: Floats
    limit: float


@compiled()
def measurement_density(z: Floats, d: MeasurementData, gradient: Floats) -> float:
    """Log density at the point z up to a constant; ``gradient`` is overwritten with its slope."""
    n, states, prior = len(d.target), len(d.latent), d.prior
    gradient[:] = 0.0
    delta, tau, tau_sum = z[0], math.exp(z[1]), math.exp(z[2])
    value = z[1] + z[2] - 0.5 * ((delta / prior[0]) ** 2 + (tau / prior[1]) ** 2 + (tau_sum / prior[2]) ** 2)
    gradient[0] = -delta / prior[0] ** 2
    by_tau, by_tau_sum = -tau / prior[1] ** 2, -tau_sum / prior[2] ** 2
    free, by_variance = np.empty(3), np.zeros(3)
    for j in range(3):
        free[j] = math.exp(2.0 * z[3 + j])
        away = (z[3 + j] - prior[3]) / prior[4]
        value -= 0.5 * away**2
        gradient[3 + j] = -away / prior[4]
    variance = free + ROUNDING**2
    eta_at, gamma_at = HYPER + 2 * n, HYPER + n + states
    weight, chance = np.empty(states), np.empty(states)
    for i in range(n):
        low, high = d.first[i], d.first[i + 1]
        mu, by_mu, mu_by_tau, mu_by_delta, of_mu = _placed(z[HYPER + i], delta, tau, d.places[0, i], d.places[1, i])
        nu, by_nu, nu_by_tau, _, of_nu = _placed(z[HYPER + n + i], 0.0, tau_sum, d.places[2, i], d.places[3, i])
        value += of_mu[0] + of_nu[0]
        by_tau += of_mu[1]
        by_tau_sum += of_nu[1]
        gradient[0] += of_mu[2]
        gradient[HYPER + i] += of_mu[3]
        gradient[HYPER + n + i] += of_nu[3]
        top = 0.0
        for s in range(low, high - 1):
            top = max(top, z[eta_at + s - i])
        total = 0.0
        for s in range(low, high):
            weight[s] = math.exp((z[eta_at + s - i] if s < high - 1 else 0.0) - top)
            total += weight[s]
        implied = against = 0.0
        for s in range(low, high):
            weight[s] /= total
            chance[s] = 1.0 / (1.0 + math.exp(-z[gamma_at + s]))
            implied += weight[s] * chance[s]
            against += weight[s] / (1.0 + math.exp(z[gamma_at + s]))
        found, slope, of_variance = _answers(
            d.target[i], math.log(implied) - math.log(against) + mu, variance[0], d.limit
        )
        value += found
        by_variance[0] += of_variance
        violation, shift = slope, 0.0
        steep = slope / (implied * against)
        for s in range(low, high):
            w, c = weight[s], chance[s]
            found, slope, of_variance = _answers(d.conditional[s], z[gamma_at + s], variance[2], d.limit)
            away = (z[gamma_at + s] - d.gamma_centre[s]) / prior[5]
            value += found - 0.5 * away**2
            by_variance[2] += of_variance
            gradient[gamma_at + s] += slope - away / prior[5] + steep * w * c * (1.0 - c)
            rest = 0.0
            for other in range(low, high):
                if other != s:
                    rest += weight[other]
            found, slope, of_variance = _answers(d.latent[s], math.log(w) - math.log(rest) + nu, variance[1], d.limit)
            value += found
            by_variance[1] += of_variance
            shift += slope
            for t in range(low, high - 1):
                gradient[eta_at + t - i] += slope * ((1.0 if t == s else 0.0) - weight[t]) / rest
        for t in range(low, high - 1):
            away = (z[eta_at + t - i] - d.eta_centre[t - i]) / prior[5]
            value -= 0.5 * away**2
            gradient[eta_at + t - i] += steep * weight[t] * (chance[t] - implied) - away / prior[5]
        gradient[HYPER + i] += violation * by_mu
        gradient[HYPER + n + i] += shift * by_nu
        gradient[0] += violation * mu_by_delta
        by_tau += violation * mu_by_tau
        by_tau_sum += shift * nu_by_tau
    gradient[1] = tau * by_tau + 1.0
    gradient[2] = tau_sum * by_tau_sum + 1.0
    for j in range(3):
        gradient[3 + j] += 2.0 * free[j] * by_variance[j]
    return value


@compiled()
def _placed(g, centre, scale, x, v):  # type: ignore[no-untyped-def]
    """An effect ~ N(centre, scale^2) from its coordinate g; (effect, by g, by scale, by centre, terms of its density).

    The terms are the log density of the effect in g, and its slopes by scale, centre and g.
    """
    spread = scale**2 + v
    root = math.sqrt(v / spread)
    h = scale * (x - centre) / spread + root * g
    h_by_scale = (x - centre) * (v - scale**2) / spread**2 - g * root * scale / spread
    terms = (
        -0.5 * (h**2 + math.log(spread)),
        -h * h_by_scale - scale / spread,
        h * scale / spread,
        -h * root,
    )
    return centre + scale * h, scale * root, h + scale * h_by_scale, 1.0 - scale**2 / spread, terms


@compiled()
def _answers(y, mean, variance, limit):  # type: ignore[no-untyped-def]
    """Log-likelihood of a query's answers over wordings, censored at the limit; slopes by mean and variance."""
    value = by_mean = by_variance = 0.0
    sd = math.sqrt(variance)
    for k in range(len(y)):
        if math.isnan(y[k]):
            continue
        if abs(y[k]) < limit:
            away = (y[k] - mean) / variance
            value -= 0.5 * (math.log(variance) + away * (y[k] - mean)) + _NORMAL
            by_mean += away
            by_variance += 0.5 * (away**2 - 1.0 / variance)
        else:
            side = 1.0 if y[k] > 0 else -1.0
            at = side * (mean - side * limit) / sd
            log_mass, hazard = _log_cdf(at)
            value += log_mass
            by_mean += hazard * side / sd
            by_variance -= 0.5 * hazard * at / variance
    return value, by_mean, by_variance


@compiled()
def _log_cdf(x):  # type: ignore[no-untyped-def]
    """Log of the standard normal distribution function, and its slope."""
    if x > _FAR:
        mass = 0.5 * math.erfc(-x / _ROOT)
        return math.log(mass), math.exp(-0.5 * x**2 - _NORMAL) / mass
    series = 1.0 - 1.0 / x**2 + 3.0 / x**4
    return -0.5 * x**2 - _NORMAL - math.log(-x) + math.log(series), -x / series
