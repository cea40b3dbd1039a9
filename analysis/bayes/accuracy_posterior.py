"""The marginal posterior density of the accuracy model: levels of models, and at most four further numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from analysis.bayes.accuracy_data import AnswerSet
from analysis.bayes.accuracy_density import log_likelihood, log_likelihoods
from analysis.bayes.accuracy_patterns import Patterns, patterns_of
from analysis.bayes.accuracy_points import Sizes, points_for, sizes_of
from analysis.bayes.accuracy_priors import AccuracyPriors, log_level_prior

Floats = NDArray[np.float64]

#: Coordinates behind the levels: sd of items, angle of the share of units, log concentration, log sd between models.
NAMES: Final = ("sd", "share_angle", "log_phi", "log_sd_level")
#: Step of numerical derivatives, of the order of the cube root of the precision of the density.
_STEP = 1e-4


@dataclass(frozen=True, slots=True)
class Posterior:
    """Log density at points (S, D): levels, and those of NAMES that are free.

    Densities are those of the coordinates: with the Jacobians. The sd of items may have either sign and counts by its
    size, and the share of units is the square of the sine of an angle: neither has a long tail near its bounds. Every
    density is integrated over points that suit its own sd of items and share of units.
    """

    answers: AnswerSet
    patterns: Patterns
    priors: AccuracyPriors
    sizes: Sizes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates behind the levels."""
        a = self.answers
        free = (a.has_item, a.has_unit, a.has_residual, len(a.models) > 1)
        return tuple(name for name, is_free in zip(NAMES, free, strict=True) if is_free)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.answers.models) + len(self.names)

    @property
    def inner(self) -> int:
        """Number of coordinates but the log sd between models, which is the last one where it is free."""
        return self.size - int(len(self.answers.models) > 1)

    def start(self) -> Floats:
        """A point near the mode: levels from shares of right answers, the rest at their priors."""
        n, right = self.answers.n.sum(axis=1), self.answers.right.sum(axis=1)
        share = (right + 0.5) / (n + 1)
        known = {"sd": 1.0, "share_angle": np.pi / 4, "log_phi": self.priors.concentration_mean}
        known["log_sd_level"] = 0.0
        widened = 1.2 if self.answers.has_item else 1.0
        return np.concatenate([widened * np.log(share / (1 - share)), [known[name] for name in self.names]])

    def named(self, points: Floats) -> Mapping[str, Floats]:
        """Parameters (S,) by name from points (S, D); those that are not free are 0, and log phi infinite."""
        found = {name: np.zeros(len(points)) for name in ("sd", "log_sd_level")}
        found |= {"share_angle": np.zeros(len(points)), "log_phi": np.full(len(points), np.inf)}
        models = len(self.answers.models)
        found |= {name: points[:, models + k] for k, name in enumerate(self.names)}
        share = np.sin(found["share_angle"]) ** 2
        return found | {"sd": np.abs(found["sd"]), "share": share}

    def log_prior(self, points: Floats) -> Floats:
        """Log prior density (S,)."""
        p, models = self.priors, len(self.answers.models)
        found = self.named(points)
        total = log_level_prior(points[:, :models], found["log_sd_level"], p)
        if self.answers.has_item:
            sd = found["sd"]
            total = total + 0.5 * np.log(2 / np.pi) - np.log(p.item_sd) - 0.5 * (sd / p.item_sd) ** 2
        if self.answers.has_unit:
            at = found["share_angle"]
            inside = (at > 0) & (at < np.pi / 2)
            both = np.log(np.where(inside, np.sin(2 * at) / 2, 1.0))
            own = (2 * p.unit_shape - 1) * both + np.log(2) - betaln(p.unit_shape, p.unit_shape)
            total = np.where(inside, total + own, -np.inf)
        if self.answers.has_residual:
            total = total - 0.5 * ((found["log_phi"] - p.concentration_mean) / p.concentration_sd) ** 2
        return total

    def log_density(self, points: Floats, *, finer: float = 1.0) -> Floats:
        """Log posterior density (S,) up to a constant; ``finer`` divides the spacing of integration."""
        prior = self.log_prior(points)
        found, inside = np.full(len(points), -np.inf), np.isfinite(prior)
        found[inside] = prior[inside] + self.log_likelihood(points[inside], finer=finer)
        return found

    def log_likelihood(self, points: Floats, *, finer: float = 1.0) -> Floats:
        """Log likelihood (S,) up to a constant; see ``log_density``."""
        found, models = self.named(points), len(self.answers.models)
        level = np.ascontiguousarray(points[:, :models])
        sd, share, log_phi = (found[name] for name in ("sd", "share", "log_phi"))
        return np.asarray(log_likelihoods(level, sd, share, log_phi, self.patterns, self.sizes, finer))

    def gradient(self, point: Floats) -> Floats:
        """Gradient (inner,) of the log density but for the prior of levels at one point (D,)."""
        models, found = len(self.answers.models), self.named(point[None])
        slope = np.zeros(models + 1)
        level = np.ascontiguousarray(point[:models])
        sd, share, log_phi = (found[name][0] for name in ("sd", "share", "log_phi"))
        log_likelihood(level, sd, share, log_phi, self.patterns, points_for(self.sizes, sd, share, 1.0), slope)
        gradient = np.zeros(self.inner)
        gradient[:models] = slope[:models]
        for at in range(models, self.inner):
            step = _STEP * (np.arange(self.size) == at)
            both = np.stack([point + step, point - step])
            ends = self.log_prior(both)
            if self.names[at - models] == "sd":
                gradient[at] = np.sign(point[at]) * slope[models]
            else:
                ends = ends + self.log_likelihood(both)
            gradient[at] += (ends[0] - ends[1]) / (2 * _STEP)
        return gradient


def posterior_of(answers: AnswerSet, priors: AccuracyPriors) -> Posterior:
    """The posterior of a set of answers."""
    return Posterior(answers, patterns_of(answers), priors, sizes_of(answers))
