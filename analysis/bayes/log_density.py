"""Log-density and gradient of the hierarchical models in whitened coordinates, compiled once.

The models are those that ``models.definition`` writes in PyMC; tests hold the two equal, value and
gradient, at random points.

Coordinates are those of ``hyper_coordinates`` and, model by model, of ``coefficient_coordinates``.
"""

import math

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.beta_binomial import WORK_SIZE, beta_binomial_block, binomial_block, phi_terms
from analysis.bayes.coefficient_coordinates import SCRATCH, coefficients, coefficients_gradient, variance_ratios
from analysis.bayes.compiled import compiled
from analysis.bayes.hyper_coordinates import hyper_gradient, hyper_shift
from analysis.bayes.model_arrays import BETA_BINOMIAL, BINOMIAL, LARGEST_LOG_PHI, Coordinates, ModelArrays

Floats = NDArray[np.float64]


@compiled()
def _prior(hyper: Floats, d: ModelArrays, gradient: Floats) -> float:
    """Log prior density of the hyper-parameters; adds to their gradient."""
    total = 0.0
    for i in range(hyper.size):
        if d.is_log_sd[i]:
            ratio = math.exp(2.0 * (hyper[i] - d.prior_log_sd[i]))
            total += hyper[i] - 0.5 * ratio
            gradient[i] += 1.0 - ratio
            continue
        at = d.prior_sd_at[i]
        log_sd = hyper[at] if at >= 0 else d.prior_log_sd[i]
        precision = math.exp(-2.0 * log_sd)
        off = hyper[i] - d.prior_mean[i]
        total -= 0.5 * off * off * precision + log_sd
        gradient[i] -= off * precision
        if at >= 0:
            gradient[at] += off * off * precision - 1.0
    return total


@compiled()
def _estimates_block(eta: Floats, estimate: Floats, inverse: Floats, df: float, by_eta: Floats) -> float:
    """Log-density of a multivariate t around eta, up to a constant."""
    n = eta.size
    distance = 0.0
    for i in range(n):
        by_eta[i] = 0.0
        for j in range(n):
            by_eta[i] += inverse[i, j] * (estimate[j] - eta[j])
        distance += by_eta[i] * (estimate[i] - eta[i])
    weight = (df + n) / (df + distance)
    for i in range(n):
        by_eta[i] *= weight
    return -0.5 * (df + n) * math.log1p(distance / df)


@compiled()
def likelihood_block(
    m: int, eta: Floats, phi: float, d: ModelArrays, by_eta: Floats, work: Floats
) -> tuple[float, float]:
    """Log-likelihood of model ``m``, and its derivative by log phi; ``by_eta`` receives that by eta."""
    if d.kind == BETA_BINOMIAL:
        return beta_binomial_block(eta, phi, d.yes[m], d.no[m], by_eta, work)
    if d.kind == BINOMIAL:
        return binomial_block(eta, d.yes[m], d.no[m], by_eta), 0.0
    return _estimates_block(eta, d.yes[m], d.inverse[m], d.df[m], by_eta), 0.0


@compiled("contract", "nsz")
def _linear(b: Floats, d: ModelArrays, eta: Floats) -> None:
    for i in range(eta.size):
        x = 0.0
        for k in range(d.column.shape[1]):
            x += d.value[i, k] * b[d.column[i, k]]
        eta[i] = x


@compiled("contract", "nsz")
def _linear_transposed(by_eta: Floats, d: ModelArrays, by_b: Floats) -> None:
    by_b[:] = 0.0
    for i in range(by_eta.size):
        for k in range(d.column.shape[1]):
            by_b[d.column[i, k]] += d.value[i, k] * by_eta[i]


@compiled()
def weighted_gram(column: NDArray[np.int64], value: Floats, weight: Floats, size: int) -> Floats:
    """X' diag(w_m) X for every model, (M, P, P), from the nonzero entries of X."""
    found = np.zeros((weight.shape[0], size, size))
    for m in range(weight.shape[0]):
        for i in range(column.shape[0]):
            for j in range(column.shape[1]):
                scaled = weight[m, i] * value[i, j]
                if scaled != 0.0:
                    for k in range(column.shape[1]):
                        found[m, column[i, j], column[i, k]] += scaled * value[i, k]
    return found


@compiled()
def _one_model(
    m: int,
    z: Floats,
    ratio: Floats,
    mean: Floats,
    precision: Floats,
    phi: float,
    d: ModelArrays,
    at: Coordinates,
    own: Floats,
    by_mean: Floats,
    by_log_sd: Floats,
    scratch: Floats,
    of_cells: Floats,
    work: Floats,
) -> tuple[float, float]:
    """Terms of one model: log-density, derivative by log phi; fills ``own`` and adds to the others.

    ``scratch`` (SCRATCH + 2, P), ``of_cells`` (2, C) and ``work`` (WORK_SIZE,) are overwritten.
    """
    b, by_b, eta, by_eta = scratch[SCRATCH], scratch[SCRATCH + 1], of_cells[0], of_cells[1]
    total = coefficients(m, z, ratio, mean, at, scratch, b)
    _linear(b, d, eta)
    value, by_log_phi = likelihood_block(m, eta, phi, d, by_eta, work)
    total += value
    _linear_transposed(by_eta, d, by_b)
    for j in range(z.size):
        off = b[j] - mean[j]
        slope = off * precision[j]
        total -= 0.5 * off * slope
        by_b[j] -= slope
        by_mean[j] += slope
        by_log_sd[j] += off * slope - 1.0
    coefficients_gradient(m, by_b, z, at, scratch, own, by_mean, by_log_sd)
    return total, by_log_phi


@compiled()
def _add_family(m: int, hyper: Floats, mean: Floats, d: ModelArrays, own_mean: Floats) -> None:
    """Means of the coefficients of model ``m``: those of all models, plus what its family adds."""
    for j in range(mean.size):
        k = d.family_at[m, j]
        own_mean[j] = mean[j] + (hyper[k] if k >= 0 else 0.0)


@compiled()
def _add_family_gradient(m: int, by_own_mean: Floats, d: ModelArrays, by_mean: Floats, by_hyper: Floats) -> None:
    for j in range(by_mean.size):
        k = d.family_at[m, j]
        by_mean[j] += by_own_mean[j]
        if k >= 0:
            by_hyper[k] += by_own_mean[j]


@compiled()
def whitened_log_density(z: Floats, d: ModelArrays, at: Coordinates) -> tuple[float, Floats]:
    """Log-density in whitened coordinates, up to a constant, and its gradient.

    ``z`` holds the hyper-parameters first, then the coefficients model by model.
    """
    size, n_hyper = d.group.size, at.hyper.size
    gradient, by_hyper = np.zeros(z.size), np.zeros(n_hyper)
    shift, inverse = np.empty(n_hyper), np.zeros_like(at.known)
    total = hyper_shift(z[:n_hyper], d, at, shift, inverse)
    hyper = at.hyper + shift
    total += _prior(hyper, d, by_hyper)
    phi, by_log_phi = 0.0, 0.0
    if d.log_phi_at >= 0:
        phi = math.exp(min(hyper[d.log_phi_at], LARGEST_LOG_PHI))
        value, by_log_phi = phi_terms(phi, d.sizes, d.cells)
        total += value
    mean, precision, ratio = np.empty(size), np.empty(size), np.empty(size)
    for j in range(size):
        k, g = d.mean_at[j], d.log_sd_at[d.group[j]]
        mean[j] = hyper[k] if k >= 0 else d.mean[j]
        log_sd = hyper[g] if g >= 0 else d.log_sd[d.group[j]]
        precision[j] = math.exp(-2.0 * log_sd)
        total -= d.yes.shape[0] * log_sd
    variance_ratios(shift, d, at, ratio)
    by_mean, by_log_sd = np.zeros(size), np.zeros(size)
    scratch, of_cells, work = np.empty((SCRATCH + 2, size)), np.empty((2, d.yes.shape[1])), np.empty(WORK_SIZE)
    families = d.family_at.shape[0] > 0
    own_mean, by_own_mean = (mean.copy(), np.zeros(size)) if families else (mean, by_mean)
    for m in range(d.yes.shape[0]):
        start = n_hyper + m * size
        own = gradient[start : start + size]
        if families:
            _add_family(m, hyper, mean, d, own_mean)
            by_own_mean[:] = 0.0
        value, slope = _one_model(
            m,
            z[start : start + size],
            ratio,
            own_mean,
            precision,
            phi,
            d,
            at,
            own,
            by_own_mean,
            by_log_sd,
            scratch,
            of_cells,
            work,
        )
        total += value
        by_log_phi += slope
        if families:
            _add_family_gradient(m, by_own_mean, d, by_mean, by_hyper)
    for j in range(size):
        k, g = d.mean_at[j], d.log_sd_at[d.group[j]]
        if k >= 0:
            by_hyper[k] += by_mean[j]
        if g >= 0:
            by_hyper[g] += by_log_sd[j]
    if d.log_phi_at >= 0:
        by_hyper[d.log_phi_at] += by_log_phi
    hyper_gradient(by_hyper, z[:n_hyper], shift, d, at, inverse, gradient[:n_hyper])
    return total, gradient
