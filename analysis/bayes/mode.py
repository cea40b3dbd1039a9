"""Mode of a hierarchical model: Fisher scoring for the coefficients, EM for means and standard deviations."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln

from analysis.bayes.beta_binomial import WORK_SIZE, beta_binomial_block, phi_terms
from analysis.bayes.log_density import likelihood_block, weighted_gram
from analysis.bayes.model_arrays import BETA_BINOMIAL, ESTIMATES, ModelArrays, coefficient_means, picked

Floats = NDArray[np.float64]

_ROUNDS: Final = 60
#: Largest change of a log sd or of the log concentration in the last round.
_TOLERANCE: Final = 0.01
_LARGEST_STEP: Final = 1.0
_SMALLEST_VARIANCE: Final = 1e-3
_GRID: Final = np.linspace(-15, 15, 121)
#: Most outcomes per cell over which the expected information is summed; above, the sum takes every so many.
_OUTCOMES: Final = 400


@dataclass(frozen=True, slots=True)
class State:
    """Hyper-parameters (H,), coefficients (M, P) and their covariance (M, P, P) given the hyper-parameters."""

    hyper: Floats
    coefficients: Floats
    covariance: Floats


def start_of(d: ModelArrays) -> Floats:
    """Hyper-parameters (H,) where the search begins."""
    return np.where(d.is_log_sd, d.prior_log_sd + np.log(0.5), d.prior_mean)


def log_sds(d: ModelArrays, hyper: Floats) -> Floats:
    """Log sd of each group."""
    return picked(hyper, d.log_sd_at, d.log_sd)


def prior_sds(d: ModelArrays, hyper: Floats) -> Floats:
    """Prior sd of each hyper-parameter that has a normal prior."""
    return np.exp(picked(hyper, d.prior_sd_at, d.prior_log_sd))


def log_likelihood(d: ModelArrays, eta: Floats, log_phi: float) -> float:
    """Log-likelihood of all cells at log-odds ``eta`` (M, C)."""
    by_eta, work, total = np.empty(eta.shape[1]), np.empty(WORK_SIZE), 0.0
    for m in range(len(eta)):
        total += likelihood_block(m, eta[m], float(np.exp(log_phi)), d, by_eta, work)[0]
    return total + (phi_terms(float(np.exp(log_phi)), d.sizes, d.cells)[0] if d.log_phi_at >= 0 else 0.0)


def _scores(d: ModelArrays, eta: Floats, log_phi: float) -> tuple[Floats, float]:
    """Derivative of the log-likelihood by eta (M, C), and by log phi without the terms in phi alone."""
    by_eta, work, by_log_phi = np.empty_like(eta), np.empty(WORK_SIZE), 0.0
    for m in range(len(eta)):
        _, slope = likelihood_block(m, eta[m], float(np.exp(log_phi)), d, by_eta[m], work)
        by_log_phi += slope
    return by_eta, by_log_phi


def _information(d: ModelArrays, eta: Floats, log_phi: float) -> Floats:
    """Expected information about eta, (M, C)."""
    if d.kind != BETA_BINOMIAL:
        return (d.yes + d.no) * expit(eta) * expit(-eta)
    n, found = d.yes + d.no, np.zeros_like(eta)
    for size in d.sizes:
        at = n == size
        found[at] = np.interp(eta[at], _GRID, _beta_binomial_information(size, np.exp(log_phi)))
    return found


def _beta_binomial_information(n: float, phi: float) -> Floats:
    """Expected squared score on the grid of log-odds, as a sum over outcomes."""
    step = max(1, int(np.ceil(n / _OUTCOMES)))
    k = np.arange(0, n + 1, step)
    a, b = phi * expit(_GRID)[:, None], phi * expit(-_GRID)[:, None]
    rising = gammaln(k + a) - gammaln(a)
    # The grid is symmetric, so that outcomes without gaps have the falling part mirrored.
    falling = rising[::-1, ::-1] if step == 1 else gammaln(n - k + b) - gammaln(b)
    log_p = rising + falling - gammaln(k + 1) - gammaln(n - k + 1)
    log_p += gammaln(n + 1) + gammaln(phi) - gammaln(n + phi)
    score = np.empty_like(log_p)
    eta, yes = (np.broadcast_to(x, log_p.shape).ravel() for x in (_GRID[:, None], k))
    beta_binomial_block(eta, phi, yes, n - yes, score.ravel(), np.empty(WORK_SIZE))
    weight = np.exp(log_p)
    return (weight * score**2).sum(axis=1) / weight.sum(axis=1)


def _curvature(d: ModelArrays, matrix: Floats, eta: Floats, log_phi: float, precision: Floats) -> Floats:
    """Negative expected Hessian (M, P, P) of the coefficients given the hyper-parameters."""
    if d.kind == ESTIMATES:
        share = ((d.df + matrix.shape[0]) / (d.df + matrix.shape[0] + 2))[:, None, None]
        found = share * (matrix.T @ d.inverse @ matrix)
    else:
        found = weighted_gram(d.column, d.value, _information(d, eta, log_phi), len(precision))
    found[:, np.arange(len(precision)), np.arange(len(precision))] += precision
    return found


def mode(d: ModelArrays, matrix: Floats) -> tuple[State, bool, int]:
    """The state after the last round, whether the rounds settled, and how many there were."""
    hyper = start_of(d)
    b = np.array(np.broadcast_to(coefficient_means(hyper, d), (len(d.yes), len(d.group))))
    moving = d.is_log_sd | (np.arange(len(hyper)) == d.log_phi_at)
    for rounds in range(1, _ROUNDS + 1):
        b, covariance = scored(d, matrix, b, hyper, steps=6 if rounds == 1 else 1)
        new = next_hyper(d, b, covariance, hyper, b @ matrix.T)
        change = np.abs(new - hyper)[moving].max(initial=0.0)
        hyper = new
        settled = rounds > 1 and change < _TOLERANCE
        if settled or not np.isfinite(hyper).all():
            break
    b, covariance = scored(d, matrix, b, hyper, steps=2)
    return State(hyper, b, covariance), bool(settled), rounds


def scored(d: ModelArrays, matrix: Floats, b: Floats, hyper: Floats, *, steps: int) -> tuple[Floats, Floats]:
    """Coefficients after some steps of Fisher scoring, and their covariance (M, P, P) there."""
    mean, precision = coefficient_means(hyper, d), np.exp(-2 * log_sds(d, hyper))[d.group]
    log_phi = _log_phi(d, hyper)
    for _ in range(steps):
        eta = b @ matrix.T
        slope = _scores(d, eta, log_phi)[0] @ matrix - (b - mean) * precision
        step = np.linalg.solve(_curvature(d, matrix, eta, log_phi, precision), slope[..., None])[..., 0]
        b = b + np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)
    return b, np.linalg.inv(_curvature(d, matrix, b @ matrix.T, log_phi, precision))


def _log_phi(d: ModelArrays, hyper: Floats) -> float:
    return float(hyper[d.log_phi_at]) if d.log_phi_at >= 0 else 0.0


def next_hyper(d: ModelArrays, b: Floats, covariance: Floats, hyper: Floats, eta: Floats) -> Floats:
    """One EM step for means and sds, one Newton step for the concentration."""
    new, models = hyper.copy(), len(b)
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    sd2 = np.exp(2 * log_sds(d, hyper))[d.group]
    free = d.mean_at >= 0
    at = d.mean_at[free]
    prior_precision = prior_sds(d, hyper)[at] ** -2
    weight = models / sd2[free]
    new[at] = (weight * b[:, free].mean(axis=0) + prior_precision * d.prior_mean[at]) / (weight + prior_precision)
    families = _family_step(d, b, new, sd2, prior_sds(d, hyper)) if len(d.family_at) else {}
    spread = ((b - coefficient_means(new, d)) ** 2 + variance).sum(axis=0)
    for g, place in enumerate(d.log_sd_at):
        if place >= 0:
            own = d.group == g
            new[place] = _log_sd_step(spread[own].sum(), models * own.sum(), d.prior_log_sd[place])
    mean_variance = 1 / (weight + prior_precision)
    for place in np.unique(d.prior_sd_at[d.prior_sd_at >= 0]):
        own = d.prior_sd_at[at] == place
        if own.any():
            new[place] = _log_sd_step((new[at] ** 2 + mean_variance)[own].sum(), own.sum(), d.prior_log_sd[place])
    for place, (total, count) in families.items():
        new[place] = _log_sd_step(total, count, d.prior_log_sd[place])
    if d.log_phi_at >= 0:
        slope, curvature = phi_slope(d, eta, hyper)
        new[d.log_phi_at] += np.clip(slope / curvature, -0.5, 0.5)
    return new


def _family_step(d: ModelArrays, b: Floats, new: Floats, sd2: Floats, prior_sd: Floats) -> dict[int, tuple[float, int]]:
    """Means that families share, and what families add to them, filled into ``new``.

    Returns the expected sum of squares of what families add and its number of terms by the place of its log sd.
    """
    sums: dict[int, tuple[float, int]] = {}
    for j in np.flatnonzero((d.family_at >= 0).any(axis=0)):
        places, family, sizes = np.unique(d.family_at[:, j], return_inverse=True, return_counts=True)
        at, tau, own = int(d.mean_at[j]), int(d.prior_sd_at[places[0]]), 1 / prior_sd[places] ** 2
        average = np.bincount(family, weights=b[:, j]) / sizes
        told = sizes / sd2[j]
        weight = 1 / (1 / told + 1 / own)
        prior = prior_sd[at] ** -2
        precision = weight.sum() + prior
        new[at] = (weight @ average + prior * d.prior_mean[at]) / precision
        share = told / (told + own)
        new[places] = share * (average - new[at])
        square = float((new[places] ** 2 + 1 / (told + own) + share**2 / precision).sum())
        total, count = sums.get(tau, (0.0, 0))
        sums[tau] = total + square, count + len(places)
    return sums


def _log_sd_step(total: float, count: float, prior_log_scale: float) -> float:
    """Maximum over the log sd of count observations with sum of squares ``total`` and a half-normal prior."""
    scale2 = np.exp(2 * prior_log_scale)
    # The root of count - 1 - total / v + v / scale2 = 0 in v = sd^2 (the -1 is the Jacobian of the log).
    lead = (count - 1) * scale2
    v = (-lead + np.sqrt(lead**2 + 4 * total * scale2)) / 2
    return 0.5 * float(np.log(max(v, _SMALLEST_VARIANCE)))


def phi_slope(d: ModelArrays, eta: Floats, hyper: Floats) -> tuple[float, float]:
    """Derivative of the log posterior by log phi, and minus its second derivative (at least 1)."""
    prior_sd = np.exp(d.prior_log_sd[d.log_phi_at])

    def slope(log_phi: float) -> float:
        alone = phi_terms(float(np.exp(log_phi)), d.sizes, d.cells)[1]
        return _scores(d, eta, log_phi)[1] + alone - (log_phi - d.prior_mean[d.log_phi_at]) / prior_sd**2

    here = _log_phi(d, hyper)
    value = slope(here)
    return value, max((value - slope(here + 0.02)) / 0.02, 1.0)
