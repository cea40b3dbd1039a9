"""Coordinates in which the posterior of the accuracy model is nearly a standard normal one, whatever the sd of levels.

Given the sd between models the answers' log-likelihood is nearly quadratic and the prior of levels normal, so that
their product has a closed form at every sd. Levels that are drawn together with their sd make a funnel; drawn given it,
around what is likely at that very sd, they do not.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from analysis.bayes.accuracy_posterior import Posterior
from analysis.bayes.accuracy_priors import AccuracyPriors, level_precision, log_level_prior, log_sd_prior

Floats = NDArray[np.float64]

#: Sds between models, in scales of their prior, at which the likelihood is approximated for the sds nearest to it.
_NODES: Final = (0.03, 0.15, 0.4, 0.8, 1.6, 3.0)
#: Log evidence below the largest from which on an approximation is not made.
_NEGLIGIBLE: Final = 12.0
#: Range of the sd in scales of its prior, and steps of its logarithm. Less than 1e-4 of the prior lies outside.
_RANGE: Final = (1e-4, 5.0)
_STEPS: Final = 300
#: Part of proposed sds that comes from their prior.
_DEFENSIVE: Final = 0.1
_STEP: Final = 1e-3
_LEAST_CURVATURE: Final = 0.02
_SETS: Final = 1000


@dataclass(frozen=True, slots=True)
class Frame:
    """Where points lie given the sd between models.

    Attributes
    ----------
    curvature, pull : ndarray (K, d, d), (K, d)
        Quadratic approximations exp(pull x - x curvature x / 2) of everything but the prior of levels.
    edges : ndarray (K - 1,)
        Log sds between which each holds.
    log_sd : ndarray (T + 1,)
        Edges of the steps of the log sd; empty with one model.
    log_mass : ndarray (T,)
        Log probability of each step in proposals.
    priors : AccuracyPriors
    models : int
    """

    curvature: Floats
    pull: Floats
    edges: Floats
    log_sd: Floats
    log_mass: Floats
    priors: AccuracyPriors
    models: int

    def drawn_log_sd(self, rng: np.random.Generator, size: int) -> Floats:
        """Log sds (size,) between models; 0 with one model."""
        if not len(self.log_mass):
            return np.zeros(size)
        at = rng.choice(len(self.log_mass), size=size, p=np.exp(self.log_mass))
        return np.asarray(self.log_sd[at] + rng.random(size) * np.diff(self.log_sd)[at])

    def log_density_sd(self, log_sd: Floats) -> Floats:
        """Log density of ``drawn_log_sd``."""
        if not len(self.log_mass):
            return np.zeros(len(log_sd))
        at = np.clip(np.searchsorted(self.log_sd, log_sd, side="right") - 1, 0, len(self.log_mass) - 1)
        return np.asarray(self.log_mass[at] - np.log(np.diff(self.log_sd)[at]))

    def affine(self, log_sd: Floats) -> tuple[Floats, Floats]:
        """Centre (S, d) and Cholesky factor (S, d, d) of the precision at each log sd (S,)."""
        at = np.searchsorted(self.edges, log_sd)
        precision, pull = self.curvature[at], self.pull[at]
        own, toward = level_precision(np.exp(log_sd), self.models, self.priors)
        m = self.models
        precision[:, :m, :m] += own
        pull[:, :m] += toward
        return np.linalg.solve(precision, pull[..., None])[..., 0], np.linalg.cholesky(precision)

    def placed(self, z: Floats, log_sd: Floats) -> Floats:
        """Points (S, d) of standardised ones (S, d)."""
        found = np.empty_like(z)
        for part in _parts(len(z)):
            centre, factor = self.affine(log_sd[part])
            found[part] = centre + np.linalg.solve(np.swapaxes(factor, 1, 2), z[part][..., None])[..., 0]
        return found

    def standardised(self, x: Floats, log_sd: Floats) -> tuple[Floats, Floats]:
        """The inverse of ``placed``, and the log determinant (S,) of its derivative."""
        z, log_det = np.empty_like(x), np.empty(len(x))
        for part in _parts(len(x)):
            centre, factor = self.affine(log_sd[part])
            z[part] = (np.swapaxes(factor, 1, 2) @ (x[part] - centre)[..., None])[..., 0]
            log_det[part] = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        return z, log_det


def _parts(size: int) -> list[slice]:
    return [slice(start, start + _SETS) for start in range(0, size, _SETS)]


def frame_of(posterior: Posterior, start: Floats) -> tuple[Frame, Floats]:
    """The frame of a posterior, and its likeliest point among those that it rests on (D,)."""
    models, priors = len(posterior.answers.models), posterior.priors
    if models == 1:
        mode, _ = _mode(posterior, start, 0.0)
        curvature, pull = _quadratic(posterior, mode)
        none = np.zeros(0)
        return Frame(curvature[None], pull[None], none, none, none, priors, models), mode
    nodes, point = np.log(np.array(_NODES) * priors.level_sd), start
    modes, heights = [], []
    for log_sd in nodes[::-1]:
        point, height = _mode(posterior, point, log_sd)
        modes.append(point)
        heights.append(height)
    # A height falls short of the evidence by at most the widths of levels.
    kept = [k for k in range(len(nodes))[::-1] if heights[k] > max(heights) - _NEGLIGIBLE - models]
    quadratics = [_quadratic(posterior, modes[k]) for k in kept]
    curvature, pull = (np.stack(parts) for parts in zip(*quadratics, strict=True))
    places = nodes[::-1][kept]
    plain = Frame(curvature, pull, (places[1:] + places[:-1]) / 2, np.zeros(0), np.zeros(0), priors, models)
    offset = np.array([_offset(posterior, modes[k], *one) for k, one in zip(kept, quadratics, strict=True)])
    return _with_masses(plain, offset), modes[int(np.argmax(heights))]


def _with_masses(plain: Frame, offset: Floats) -> Frame:
    """The frame with the probabilities of sds between models: approximate evidence times prior, and some prior."""
    priors = plain.priors
    least, most = np.log(np.array(_RANGE) * priors.level_sd)
    log_sd = np.linspace(least, most, _STEPS + 1)
    middle = (log_sd[1:] + log_sd[:-1]) / 2
    prior = log_sd_prior(middle, priors)
    mass = prior + _evidence(plain, middle, offset)
    parts = [mass - logsumexp(mass) + np.log(1 - _DEFENSIVE), prior - logsumexp(prior) + np.log(_DEFENSIVE)]
    return replace(plain, log_sd=log_sd, log_mass=np.logaddexp(*parts))


def _offset(posterior: Posterior, mode: Floats, curvature: Floats, pull: Floats) -> float:
    """What a quadratic approximation lacks of the log density at the point around which it holds."""
    models, x = len(posterior.answers.models), mode[: posterior.inner]
    level, log_sd = mode[None, :models], posterior.named(mode[None])["log_sd_level"]
    height = posterior.log_density(mode[None]) - log_level_prior(level, log_sd, posterior.priors)
    return float(height[0] - (pull @ x - 0.5 * x @ curvature @ x))


def _evidence(frame: Frame, log_sd: Floats, offset: Floats) -> Floats:
    """Log integral of approximation times prior of levels at each log sd, up to a constant."""
    m, p = frame.models, frame.priors
    centre, factor = frame.affine(log_sd)
    own, toward = level_precision(np.exp(log_sd), m, p)
    at = np.searchsorted(frame.edges, log_sd)
    pull = frame.pull[at]
    pull[:, :m] += toward
    log_det = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    prior_det = np.linalg.slogdet(own)[1]
    constant = toward.sum(axis=1) * p.level_mean
    return np.asarray(offset[at] + 0.5 * ((centre * pull).sum(axis=1) + prior_det - log_det - constant))


def _mode(posterior: Posterior, start: Floats, log_sd: float) -> tuple[Floats, float]:
    """Likeliest point given the sd between models, and the log density there."""
    models, inner = len(posterior.answers.models), posterior.inner
    matrix, toward = level_precision(np.exp([log_sd]), models, posterior.priors)

    def completed(x: Floats) -> Floats:
        return np.concatenate([x, [log_sd]]) if inner < posterior.size else x

    def negative(x: Floats) -> tuple[float, Floats]:
        point = completed(x)
        value = float(posterior.log_density(point[None])[0])
        if not np.isfinite(value):
            return np.inf, np.zeros(inner)
        gradient = posterior.gradient(point)
        gradient[:models] += toward[0] - matrix[0] @ x[:models]
        return -value, -gradient

    found = minimize(negative, start[:inner], jac=True, method="BFGS", options={"gtol": 1e-2, "maxiter": 200})
    return completed(np.asarray(found.x, float)), -float(found.fun)


def _quadratic(posterior: Posterior, point: Floats) -> tuple[Floats, Floats]:
    """Curvature (d, d) and pull (d,) of everything but the prior of levels around a point."""
    inner = posterior.inner
    steps = _STEP * np.eye(inner, posterior.size)
    rows = np.array(
        [(posterior.gradient(point - step) - posterior.gradient(point + step)) / (2 * _STEP) for step in steps]
    )
    values, vectors = np.linalg.eigh((rows + rows.T) / 2)
    curvature = (vectors * np.maximum(values, _LEAST_CURVATURE)) @ vectors.T
    return curvature, posterior.gradient(point) + curvature @ point[:inner]
