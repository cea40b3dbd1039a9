"""Draws from the endorsement model."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.belief_bias_arrays import Endorsement
from analysis.bayes.belief_bias_program import Parameters, endorsement_program, parameters
from analysis.bayes.density_program import MANY_PARAMETERS
from analysis.bayes.sampling import Draws, SamplerSettings, at_least, run_nuts, sampler_draws

Floats = NDArray[np.float64]

#: Fewest tuning draws: scales of coordinates have to be learned.
LEAST_TUNE: Final = 400
#: Acceptance with fewer than MANY_PARAMETERS, and from there on: longer steps of exact trajectories tell more apart.
TARGET_ACCEPT: Final = 0.9
TARGET_ACCEPT_OF_MANY: Final = 0.8
#: Draws per chain of a quick look.
_FAST_DRAWS: Final = 400


@dataclass(frozen=True, slots=True)
class EndorsementDraws:
    """Draws of the endorsement model.

    Attributes
    ----------
    model : Endorsement
    sampler : Draws
        Its ``z`` are the sampled points (chains, draws, size).
    """

    model: Endorsement
    sampler: Draws

    @property
    def shape(self) -> tuple[int, int]:
        """Chains and draws per chain."""
        return self.sampler.z.shape[0], self.sampler.z.shape[1]

    def parameters(self, *, most: int | None = None) -> Parameters:
        """Parameters of all draws (S, ...), or of at most so many in equal distances within chains."""
        points = self.sampler.z
        if most is not None and points.shape[0] * points.shape[1] > most:
            step = -(-points.shape[0] * points.shape[1] // most)
            points = points[:, ::step]
        return parameters(points.reshape(-1, points.shape[2]), self.model)


def belief_settings(*, cores: int = 2, fast: bool = False) -> SamplerSettings:
    """Default settings: 4 chains of 1000 draws after 400 of tuning; a quick look has 400 draws."""
    settings = SamplerSettings(tune=LEAST_TUNE, cores=cores)
    return replace(settings, draws=_FAST_DRAWS, fast=True) if fast else settings


def complete(settings: SamplerSettings) -> SamplerSettings:
    """Settings as they are used, but for the acceptance, which may depend on the size of the model."""
    return replace(settings, tune=max(settings.tune, LEAST_TUNE))


def sample_endorsements(model: Endorsement, settings: SamplerSettings, *, seed: int) -> EndorsementDraws:
    """Sample the endorsement model; without an acceptance in the settings, that of a model of its size."""
    accept = TARGET_ACCEPT_OF_MANY if model.starts[-1] >= MANY_PARAMETERS else TARGET_ACCEPT
    settings = at_least(settings, tune=LEAST_TUNE, target_accept=accept)
    tree = run_nuts(endorsement_program(model), settings, seed=seed)
    points = np.asarray(tree["posterior"]["point"].values, float)
    return EndorsementDraws(model, sampler_draws(tree, points, settings))
