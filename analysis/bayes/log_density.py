"""Log-density and gradient of the hierarchical models in whitened coordinates, compiled once.

The models are those that ``models.definition`` writes in PyMC; tests hold the two equal, value and
gradient, at random points. Coordinates: hyper-parameters h = h0 + scale z_h; each model's coefficients
follow the hyper-parameters, b = b0 + L (L' w(h - h0) + S(h - h0) z_b), with L L' the inverse curvature
at the mode, w how the modes move and S how their spread changes, so that the posterior is nearly
isotropic in z.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from analysis.bayes.beta_binomial import WORK_SIZE, beta_binomial_block, binomial_block, phi_terms

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

BINOMIAL: Final = 0
BETA_BINOMIAL: Final = 1
ESTIMATES: Final = 2
#: exp(30) responses per cell are a binomial for every purpose; beyond, products of the kernel would overflow.
LARGEST_LOG_PHI: Final = 30.0


class ModelArrays(NamedTuple):
    """Data, sparse design and priors; C cells, P coefficients per model, M models, H hyper-parameters.

    Attributes
    ----------
    column, value : (C, W)
        Nonzero entries of each row of the design matrix, padded with value 0.
    yes, no : (M, C)
        Counts of either outcome; both 0 where a model was not asked. Of kind ESTIMATES, ``yes`` are
        the estimated accuracies.
    inverse, df : (M, C, C), (M,)
        Of kind ESTIMATES, inverse covariance of the accuracies and its degrees of freedom; else empty.
    sizes, cells : (U,)
        Distinct counts per cell, and how many cells have each.
    group : (P,)
        Group of each coefficient; groups share a standard deviation.
    mean_at, mean : (P,)
        Index of the coefficient's mean among the hyper-parameters, or -1 and its value.
    log_sd_at, log_sd : (G,)
        The same for the log standard deviation of a group.
    prior_mean, prior_log_sd : (H,)
        Normal prior of each hyper-parameter; where ``is_log_sd``, exp(prior_log_sd) is the scale of a
        half-normal prior of exp(h).
    prior_sd_at : (H,)
        Index of the log standard deviation that replaces ``prior_log_sd``, or -1.
    log_phi_at : int
        Index of the log concentration, -1 without one.
    kind : int
        BINOMIAL, BETA_BINOMIAL or ESTIMATES.
    """

    column: Indices
    value: Floats
    yes: Floats
    no: Floats
    inverse: Floats
    df: Floats
    sizes: Floats
    cells: Floats
    group: Indices
    mean_at: Indices
    mean: Floats
    log_sd_at: Indices
    log_sd: Floats
    prior_mean: Floats
    prior_log_sd: Floats
    prior_sd_at: Indices
    is_log_sd: NDArray[np.bool_]
    log_phi_at: int
    kind: int


class Coordinates(NamedTuple):
    """Where the whitened coordinates lie: z = 0 is the mode.

    Attributes
    ----------
    hyper, scale : (H,), (H, H)
        Mode of the hyper-parameters, and the lower factor of their approximate covariance.
    coefficients, factor : (M, P), (M, P, P)
        Mode of the coefficients given ``hyper``; lower Cholesky factor of the inverse curvature.
    precision, pull : (P,), (M, P)
        1 / sd^2 at the mode, and 2 (b0 - mean) / sd^2: how the modes move with the means and log sds.
    stretch : (M, P)
        Share of the prior in the curvature: how the log spread of a coefficient moves with its log sd.
    """

    hyper: Floats
    scale: Floats
    coefficients: Floats
    factor: Floats
    precision: Floats
    pull: Floats
    stretch: Floats


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _lower_times(factor: Floats, x: Floats, out: Floats) -> None:
    for i in range(x.size):
        total = 0.0
        for j in range(i + 1):
            total += factor[i, j] * x[j]
        out[i] = total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _upper_times(factor: Floats, x: Floats, out: Floats) -> None:
    """Product of the transposed lower factor with a vector."""
    out[:] = 0.0
    for i in range(x.size):
        for j in range(i + 1):
            out[j] += factor[i, j] * x[i]


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def _estimates_block(eta: Floats, estimate: Floats, inverse: Floats, df: float, by_eta: Floats) -> float:
    """Log-density of a multivariate t around logistic(eta), up to a constant."""
    n = eta.size
    off, scaled = np.empty(n), np.empty(n)
    for i in range(n):
        by_eta[i] = 1.0 / (1.0 + math.exp(-eta[i]))
        off[i] = estimate[i] - by_eta[i]
    distance = 0.0
    for i in range(n):
        scaled[i] = 0.0
        for j in range(n):
            scaled[i] += inverse[i, j] * off[j]
        distance += scaled[i] * off[i]
    weight = (df + n) / (df + distance)
    for i in range(n):
        by_eta[i] = by_eta[i] * (1.0 - by_eta[i]) * weight * scaled[i]
    return -0.5 * (df + n) * math.log1p(distance / df)


@njit(cache=True, nogil=True, error_model="numpy")
def likelihood_block(
    m: int, eta: Floats, phi: float, d: ModelArrays, by_eta: Floats, work: Floats
) -> tuple[float, float]:
    """Log-likelihood of model ``m``, and its derivative by log phi; ``by_eta`` receives that by eta."""
    if d.kind == BETA_BINOMIAL:
        return beta_binomial_block(eta, phi, d.yes[m], d.no[m], by_eta, work)
    if d.kind == BINOMIAL:
        return binomial_block(eta, d.yes[m], d.no[m], by_eta), 0.0
    return _estimates_block(eta, d.yes[m], d.inverse[m], d.df[m], by_eta), 0.0


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def _linear(b: Floats, d: ModelArrays, eta: Floats) -> None:
    for i in range(eta.size):
        x = 0.0
        for k in range(d.column.shape[1]):
            x += d.value[i, k] * b[d.column[i, k]]
        eta[i] = x


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def _linear_transposed(by_eta: Floats, d: ModelArrays, by_b: Floats) -> None:
    by_b[:] = 0.0
    for i in range(by_eta.size):
        for k in range(d.column.shape[1]):
            by_b[d.column[i, k]] += d.value[i, k] * by_eta[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _one_model(
    m: int,
    z: Floats,
    shift: Floats,
    mean: Floats,
    log_sd: Floats,
    phi: float,
    d: ModelArrays,
    at: Coordinates,
    own: Floats,
    by_mean: Floats,
    by_log_sd: Floats,
    work: Floats,
) -> tuple[float, float]:
    """Terms of one model: log-density, derivative by log phi; fills ``own`` and adds to the others."""
    size = z.size
    pulled, local, spread, b, by_b = np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    eta, by_eta = np.empty(d.yes.shape[1]), np.empty(d.yes.shape[1])
    total = 0.0
    for j in range(size):
        k, g = d.mean_at[j], d.log_sd_at[d.group[j]]
        by_one = shift[g] if g >= 0 else 0.0
        pulled[j] = at.pull[m, j] * by_one + (shift[k] * at.precision[j] if k >= 0 else 0.0)
        total += at.stretch[m, j] * by_one
        spread[j] = math.exp(at.stretch[m, j] * by_one)
    _upper_times(at.factor[m], pulled, local)
    for j in range(size):
        local[j] += spread[j] * z[j]
    _lower_times(at.factor[m], local, b)
    for j in range(size):
        b[j] += at.coefficients[m, j]
    _linear(b, d, eta)
    value, by_log_phi = likelihood_block(m, eta, phi, d, by_eta, work)
    total += value
    _linear_transposed(by_eta, d, by_b)
    for j in range(size):
        off = b[j] - mean[j]
        slope = off * math.exp(-2.0 * log_sd[j])
        total -= 0.5 * off * slope + log_sd[j]
        by_b[j] -= slope
        by_mean[j] += slope
        by_log_sd[j] += off * slope - 1.0
    _upper_times(at.factor[m], by_b, own)
    _lower_times(at.factor[m], own, local)
    for j in range(size):
        by_mean[j] += local[j] * at.precision[j]
        by_log_sd[j] += local[j] * at.pull[m, j] + at.stretch[m, j] * (1.0 + spread[j] * z[j] * own[j])
        own[j] *= spread[j]
    return total, by_log_phi


@njit(cache=True, nogil=True, error_model="numpy")
def whitened_log_density(z: Floats, d: ModelArrays, at: Coordinates) -> tuple[float, Floats]:
    """Log-density in whitened coordinates, up to a constant, and its gradient.

    ``z`` holds the hyper-parameters first, then the coefficients model by model.
    """
    size, n_hyper = d.group.size, at.hyper.size
    gradient, shift, by_hyper = np.zeros(z.size), np.empty(n_hyper), np.zeros(n_hyper)
    _lower_times(at.scale, z[:n_hyper], shift)
    hyper = at.hyper + shift
    total = _prior(hyper, d, by_hyper)
    phi, by_log_phi = 0.0, 0.0
    if d.log_phi_at >= 0:
        phi = math.exp(min(hyper[d.log_phi_at], LARGEST_LOG_PHI))
        value, by_log_phi = phi_terms(phi, d.sizes, d.cells)
        total += value
    mean, log_sd = np.empty(size), np.empty(size)
    for j in range(size):
        k, g = d.mean_at[j], d.log_sd_at[d.group[j]]
        mean[j] = hyper[k] if k >= 0 else d.mean[j]
        log_sd[j] = hyper[g] if g >= 0 else d.log_sd[d.group[j]]
    by_mean, by_log_sd, work = np.zeros(size), np.zeros(size), np.empty(WORK_SIZE)
    for m in range(d.yes.shape[0]):
        start = n_hyper + m * size
        own = gradient[start : start + size]
        value, slope = _one_model(
            m, z[start : start + size], shift, mean, log_sd, phi, d, at, own, by_mean, by_log_sd, work
        )
        total += value
        by_log_phi += slope
    for j in range(size):
        k, g = d.mean_at[j], d.log_sd_at[d.group[j]]
        if k >= 0:
            by_hyper[k] += by_mean[j]
        if g >= 0:
            by_hyper[g] += by_log_sd[j]
    if d.log_phi_at >= 0:
        by_hyper[d.log_phi_at] += by_log_phi
    _upper_times(at.scale, by_hyper, gradient[:n_hyper])
    return total, gradient
