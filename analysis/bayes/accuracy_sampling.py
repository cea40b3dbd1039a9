"""Draws from the accuracy model: independence Metropolis chains from a proposal that resembles the posterior."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from arviz_stats.base import array_stats
from numpy.typing import NDArray

from analysis.bayes.accuracy_data import AnswerSet
from analysis.bayes.accuracy_posterior import Posterior, posterior_of
from analysis.bayes.accuracy_priors import AccuracyPriors, mean_accuracy
from analysis.bayes.accuracy_proposal import LEARNING, fitted_proposal
from analysis.bayes.accuracy_reactions import Reactions, drawn_reactions
from analysis.bayes.gates import MOST_MCSE_END, Gate
from analysis.bayes.sampling import SamplerSettings

Floats = NDArray[np.float64]

#: Proposals per kept draw, and of a quick look.
THIN: Final = 2
#: Limits of the sampler's own gates.
LEAST_ACCEPTANCE: Final = 0.2
MOST_PARETO_K: Final = 0.7
MOST_INTEGRATION_ERROR: Final = 0.02
#: Draws whose integration is checked: in equal distances, and those with the largest sd of items and share of units.
_CHECKED: Final = 30
_LARGEST: Final = 10
_FINER: Final = 2.0
_BLOCK: Final = 250


@dataclass(frozen=True, slots=True)
class AccuracyDraws:
    """Draws of the accuracy model.

    Attributes
    ----------
    posterior : Posterior
    points : ndarray (chains, draws, D)
    acceptance : float
        Share of proposals that were accepted.
    pareto_k : float
        Shape of the upper tail of the ratios of posterior to proposal.
    integration_error : float
        Largest change of a log density, beyond what all have in common, at half the spacing of integration.
    reactions : Reactions, optional
        What units are to single models, where the design tells.
    """

    posterior: Posterior
    points: Floats
    acceptance: float
    pareto_k: float
    integration_error: float
    reactions: Reactions | None = None

    def parameters(self) -> Mapping[str, Floats]:
        """Parameters (chains, draws) by name; ``level`` and ``accuracy`` on new items have (chains, draws, M)."""
        shape, models = self.points.shape[:2], len(self.posterior.answers.models)
        named = self.posterior.named(self.points.reshape(-1, self.points.shape[2]))
        found = {name: values.reshape(shape) for name, values in named.items()}
        level = self.points[..., :models]
        known = self.reactions
        found |= {"level": level, "reaction_sd": np.zeros(shape) if known is None else known.sd}
        fresh = level if known is None else level + known.shift
        return found | {"accuracy": mean_accuracy(fresh, found["sd"][..., None])}

    def new_model(self, rng: np.random.Generator) -> Floats | None:
        """Accuracy (chains, draws) of a model drawn from the distribution of the models; None with a single one."""
        models, priors = len(self.posterior.answers.models), self.posterior.priors
        if models == 1:
            return None
        found = self.parameters()
        sd = np.exp(found["log_sd_level"])
        # The mean of all models, integrated in the density, is normal given their levels and sd.
        precision = models / sd**2 + 1 / priors.level_mean_sd**2
        centre = (found["level"].sum(axis=-1) / sd**2 + priors.level_mean / priors.level_mean_sd**2) / precision
        level = centre + np.sqrt(1 / precision + sd**2) * rng.standard_normal(sd.shape)
        return mean_accuracy(level, found["sd"])


def accuracy_settings(*, cores: int = 2, fast: bool = False) -> SamplerSettings:
    """Default settings: 4 chains of 1000 draws after 50 that are left out; a quick look has 400."""
    return SamplerSettings(draws=400 if fast else 1000, tune=50, cores=cores, fast=fast)


def sample_accuracy(
    answers: AnswerSet, priors: AccuracyPriors, settings: SamplerSettings, *, seed: int, careful: bool = False
) -> AccuracyDraws:
    """Sample the accuracy model.

    Parameters
    ----------
    answers : AnswerSet
    priors : AccuracyPriors
    settings : SamplerSettings
        Acceptance and depth of trees are not read: there are no trajectories.
    seed : int
    careful : bool
        The proposal learns from eight times the draws, and at least once; reactions from four times the data sets.

    Notes
    -----
    Every proposal is independent of the last draw and accepted with probability min(1, w'/w), w the ratio of posterior
    to proposal density. Tails of the proposal are heavier than those of the posterior, so that the ratio is bounded.

    References
    ----------
    Tierney (1994), Annals of Statistics 22:1701-1728, doi:10.1214/aos/1176325750.
    """
    rng = np.random.default_rng([seed, 5])
    learning = (8 if careful else 1) * LEARNING
    posterior = posterior_of(answers, priors)
    proposal, _ = fitted_proposal(posterior, rng, learning=learning, always=careful)
    thin = 1 if settings.fast else THIN
    length = settings.tune + thin * settings.draws
    proposed = proposal.draw(rng, settings.chains * length)
    log_density = _evaluated(posterior, proposed, settings.cores)
    log_weight = (log_density - proposal.log_density(proposed)).reshape(settings.chains, length)
    at, accepted = _chains(log_weight, rng)
    kept = at[:, settings.tune :: thin]
    points = proposed.reshape(settings.chains, length, -1)[np.arange(settings.chains)[:, None], kept]
    draws = AccuracyDraws(posterior, points, accepted, _shape(log_weight), integration_error(posterior, points))
    if not answers.has_reaction:
        return draws
    own = drawn_reactions(answers, draws.parameters(), priors, np.random.default_rng([seed, 6]), careful=careful)
    return replace(draws, reactions=own)


def sampler_gates(draws: AccuracyDraws) -> tuple[Gate, ...]:
    """Gates of the sampler itself."""
    k, error, accepted = draws.pareto_k, draws.integration_error, draws.acceptance
    stage = "accuracy model"
    gates = (
        Gate("acceptance", accepted, LEAST_ACCEPTANCE, accepted >= LEAST_ACCEPTANCE, stage),
        Gate("Pareto k", k, MOST_PARETO_K, k <= MOST_PARETO_K, stage),
        Gate("integration error", error, MOST_INTEGRATION_ERROR, error <= MOST_INTEGRATION_ERROR, stage),
    )
    if draws.reactions is None:
        return gates
    # An interval that had no other spread than reactions would be longer or shorter by this at either end.
    end = draws.reactions.error / 2
    return (*gates, Gate("simulated reactions, MCSE / width", end, MOST_MCSE_END, end <= MOST_MCSE_END, stage))


def _evaluated(posterior: Posterior, points: Floats, cores: int) -> Floats:
    parts = [points[start : start + _BLOCK] for start in range(0, len(points), _BLOCK)]
    with ThreadPoolExecutor(cores) as pool:
        return np.concatenate(list(pool.map(posterior.log_density, parts)))


def _chains(log_weight: Floats, rng: np.random.Generator) -> tuple[NDArray[np.int64], float]:
    """Which proposal each state of each chain is, and the share of accepted proposals."""
    chains, length = log_weight.shape
    at = np.zeros((chains, length), np.int64)
    level = np.log(rng.random((chains, length)))
    moves = 0
    for c in range(chains):
        # A chain may not begin where the posterior is 0.
        here = int(np.argmax(np.isfinite(log_weight[c])))
        for t in range(length):
            if level[c, t] < log_weight[c, t] - log_weight[c, here]:
                here = t
                moves += 1
            at[c, t] = here
    return at, moves / (chains * length)


def _shape(log_weight: Floats) -> float:
    known = log_weight[np.isfinite(log_weight)]
    if np.ptp(known) < 1e-9:
        return -np.inf
    # psislw takes log-likelihoods to be left out, the negative of log ratios.
    k = float(array_stats.psislw(-known)[1])
    return k if np.isfinite(k) else np.inf


def integration_error(posterior: Posterior, points: Floats) -> float:
    """Largest change of a log density at half the spacing, beyond the median one, over some of the draws."""
    flat = points.reshape(-1, points.shape[2])
    found = posterior.named(flat)
    chosen = [np.arange(0, len(flat), max(len(flat) // _CHECKED, 1))]
    chosen += [np.argsort(found[name], kind="stable")[-_LARGEST:] for name in ("sd", "share")]
    some = flat[np.unique(np.concatenate(chosen))]
    change = posterior.log_density(some, finer=_FINER) - posterior.log_density(some)
    return float(np.abs(change - np.median(change)).max())
