"""The mixture from which draws of the accuracy model are proposed, and how it learns from its own draws."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import gammaln, logsumexp

from analysis.bayes.accuracy_frame import Frame, frame_of
from analysis.bayes.accuracy_posterior import Posterior

Floats = NDArray[np.float64]

#: Share of proposals from the t distribution, whose tails are heavier than those of any posterior here, and its
#: degrees of freedom; the others are normal, wider than the posterior, a little less so in more than FEW coordinates.
HEAVY: Final = 0.25
DF: Final = 5.0
WIDER: Final = (1.2, 1.05)
FEW: Final = 10
#: Draws of a round in which the proposal learns, most rounds, and the share of effective draws that ends them.
LEARNING: Final = 1000
ROUNDS: Final = 4
GOOD: Final = 0.7
#: A round with fewer effective draws per coordinate than this teaches nothing about the covariance.
_LEAST_PER_COORDINATE: Final = 8


@dataclass(frozen=True, slots=True)
class Proposal:
    """Mixture of a normal and a t distribution in the coordinates of a frame, folded at 0 in one coordinate.

    Attributes
    ----------
    frame : Frame
    centre, factor : ndarray (d,), (d, d)
        Centre and Cholesky factor of the covariance in standardised coordinates.
    folded : int
        Coordinate of which only the size counts; -1 for none.
    """

    frame: Frame
    centre: Floats
    factor: Floats
    folded: int

    @property
    def wider(self) -> float:
        """Standard deviation of the normal proposals in those of the posterior."""
        return WIDER[0] if len(self.centre) <= FEW else WIDER[1]

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Independent points (size, D)."""
        z = rng.standard_normal((size, len(self.centre)))
        heavy = rng.random(size) < HEAVY
        scale = np.where(heavy, np.sqrt(DF / rng.chisquare(DF, size)), self.wider)
        log_sd = self.frame.drawn_log_sd(rng, size)
        found = self.frame.placed(self.centre + (z * scale[:, None]) @ self.factor.T, log_sd)
        if self.folded >= 0:
            found[:, self.folded] = np.abs(found[:, self.folded])
        return np.column_stack([found, log_sd]) if self.frame.models > 1 else found

    def log_density(self, points: Floats) -> Floats:
        """Log density (S,) at points (S, D), of which the folded coordinate is not negative."""
        inner = len(self.centre)
        x, log_sd = points[:, :inner], points[:, inner] if self.frame.models > 1 else np.zeros(len(points))
        found = self._given_sd(x, log_sd)
        if self.folded >= 0:
            mirrored = x.copy()
            mirrored[:, self.folded] *= -1
            found = np.logaddexp(found, self._given_sd(mirrored, log_sd))
        return found + self.frame.log_density_sd(log_sd)

    def standardised(self, points: Floats) -> Floats:
        """Points (S, D) in the coordinates of the frame (S, d)."""
        inner = len(self.centre)
        log_sd = points[:, inner] if self.frame.models > 1 else np.zeros(len(points))
        return self.frame.standardised(points[:, :inner], log_sd)[0]

    def _given_sd(self, x: Floats, log_sd: Floats) -> Floats:
        size = len(self.centre)
        placed, log_det = self.frame.standardised(x, log_sd)
        z = solve_triangular(self.factor, (placed - self.centre).T, lower=True)
        square = (z**2).sum(axis=0)
        log_det = log_det - np.log(np.diag(self.factor)).sum()
        normal = -0.5 * (size * np.log(2 * np.pi * self.wider**2) + square / self.wider**2)
        t = gammaln((DF + size) / 2) - gammaln(DF / 2) - 0.5 * size * np.log(np.pi * DF)
        t = t - 0.5 * (DF + size) * np.log1p(square / DF)
        return np.asarray(logsumexp([normal + np.log(1 - HEAVY), t + np.log(HEAVY)], axis=0) + log_det)


def fitted_proposal(
    posterior: Posterior, rng: np.random.Generator, *, learning: int = LEARNING, always: bool = False
) -> tuple[Proposal, float]:
    """A proposal, and the share of effective draws from it.

    ``learning`` draws are made in a round; ``always``: at least one round, however good the proposal.

    Notes
    -----
    The proposal starts with the curvature at the mode, and takes over mean and covariance of its own weighted draws for
    as long as that raises the share of effective draws (adaptive importance sampling, Cappé et al. 2008, Statistics and
    Computing 18:447-459, doi:10.1007/s11222-008-9059-x).
    """
    frame, _ = frame_of(posterior, posterior.start())
    inner = posterior.inner
    folded = len(posterior.answers.models) if posterior.answers.has_item else -1
    best = Proposal(frame, np.zeros(inner), np.eye(inner), folded)
    draws, weight, share = _weighted(posterior, best, rng, learning)
    for k in range(ROUNDS):
        good = share >= GOOD and not (always and k == 0)
        if good or share * learning < _LEAST_PER_COORDINATE * inner:
            break
        learned = _moments(best, draws, weight)
        if learned is None:
            break
        own = _weighted(posterior, learned, rng, learning)
        if own[2] <= share:
            break
        best, (draws, weight, share) = learned, own
    return best, share


def _weighted(
    posterior: Posterior, proposal: Proposal, rng: np.random.Generator, size: int
) -> tuple[Floats, Floats, float]:
    draws = proposal.draw(rng, size)
    log_weight = posterior.log_density(draws) - proposal.log_density(draws)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    return draws, weight, float(1 / (weight**2).sum() / size)


def _moments(proposal: Proposal, draws: Floats, weight: Floats) -> Proposal | None:
    """The proposal with mean and covariance of weighted draws; None where the covariance is singular."""
    z = proposal.standardised(draws)
    centre = weight @ z
    away = z - centre
    covariance = (away * weight[:, None]).T @ away
    values = np.linalg.eigvalsh(covariance)
    if values[0] <= 1e-10 * values[-1]:
        return None
    return replace(proposal, centre=centre, factor=np.linalg.cholesky(covariance))
