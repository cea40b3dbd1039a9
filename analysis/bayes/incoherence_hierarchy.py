"""Draws from the model of incoherence that pools several language models (prototype; no part of reports)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import nutpie
from numpy.typing import NDArray
from nutpie.compile_pymc import CompiledPyMCModel
from scipy.special import expit

from analysis.bayes.incoherence_data import ROUNDING, Instances, observed_arrays
from analysis.bayes.incoherence_sampling import complete, means_given_rest
from analysis.bayes.models.incoherence_hierarchy import POOLED, hierarchy_model
from analysis.bayes.sampling import Draws, SamplerSettings, run_nuts, sampler_draws
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]

_OBSERVED: Final = ("mean", "ss", "k", "log_scale", "log_scale_variance")
_KEYS: Final = ["unit", "identity"]


@dataclass(frozen=True, slots=True)
class HierarchyPriors:
    """Priors in log-odds; for one model alone they are about as wide as ``IncoherencePriors``.

    Attributes
    ----------
    pooled : mapping of str to (float, float, float)
        Centre, its sd, and the half-normal scale of the sd between models, of every name in POOLED.
    lean_scale : float
        Half-normal scale of the sd of delta between models.
    """

    pooled: Mapping[str, tuple[float, float, float]] = MappingProxyType(
        {
            "log_tau": (float(np.log(0.25)), 0.7, 0.5),
            "a": (-2.0, 1.2, 0.9),
            "b": (0.0, 1.2, 0.9),
            "l": (float(np.log(0.2)), 0.8, 0.6),
            "log_omega": (float(np.log(0.6)), 0.7, 0.4),
        }
    )
    lean_scale: float = 0.1


@dataclass(frozen=True, slots=True)
class HierarchyDraws:
    """Draws for M models at n instances.

    Attributes
    ----------
    hyper : mapping of str to ndarray (..., M) or (...)
        ``delta, log_tau, a, b, l, log_omega`` by model; ``phi``, ``c``; mean and sd of the pooled ones.
    mu, variance : ndarray (..., M, n)
    incoherent : ndarray of bool (..., M, n)
    sampler : Draws or None
        None of draws from the priors.
    """

    hyper: Mapping[str, Floats]
    mu: Floats
    variance: Floats
    incoherent: NDArray[np.bool_]
    sampler: Draws | None


def compiled_hierarchy(instances: Sequence[Instances], priors: HierarchyPriors) -> CompiledPyMCModel:
    """The model compiled for sets of instances of this size.

    Raises
    ------
    AnalysisError
        Models that were not asked the same instances.
    """
    return nutpie.compile_pymc_model(hierarchy_model(_observed(instances), priors.pooled, priors.lean_scale))


def sample_hierarchy(
    compiled: CompiledPyMCModel, instances: Sequence[Instances], settings: SamplerSettings, *, seed: int
) -> HierarchyDraws:
    """Sample all models together, and draw the instances' means given the rest.

    Parameters
    ----------
    compiled : CompiledPyMCModel
        Of ``compiled_hierarchy`` for as many models and instances.
    instances : sequence of Instances
        One entry per model, of the same instances.
    settings : SamplerSettings
    seed : int
    """
    settings = complete(settings)
    tree = run_nuts(compiled.with_data(**_observed(instances)), settings, seed=seed)
    found = {str(name): np.asarray(values.values, float) for name, values in tree["posterior"].data_vars.items()}
    names = ("delta", *POOLED, "phi", "c", "delta_sd", *(f"{name}_{end}" for name in POOLED for end in ("mean", "sd")))
    hyper = {name: found[name] for name in names}
    columns = [values if values.ndim == 3 else values[..., None] for values in hyper.values()]
    rng = np.random.default_rng([seed, 1])
    drawn = [_means(at, one, hyper, found["log_noise"], found["d"], rng) for at, one in enumerate(instances)]
    mu, incoherent = (np.stack(part, axis=-2) for part in zip(*drawn, strict=True))
    variance = np.exp(2 * found["log_noise"]) + ROUNDING**2
    return HierarchyDraws(hyper, mu, variance, incoherent, sampler_draws(tree, np.concatenate(columns, -1), settings))


def _observed(instances: Sequence[Instances]) -> dict[str, Floats]:
    first = instances[0].rows[_KEYS]
    if any(not one.rows[_KEYS].equals(first) for one in instances):
        raise AnalysisError("models are pooled over instances that all of them have")
    arrays = [observed_arrays(one, size=one.size) for one in instances]
    return {name: np.stack([one[name] for one in arrays]).astype(float) for name in _OBSERVED}


def _means(
    at: int, one: Instances, hyper: Mapping[str, Floats], log_noise: Floats, d: Floats, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """Exact draws of the means of one model given all else, and whether they differ from 0."""
    own = {name: hyper[name][..., at, None] for name in ("delta", *POOLED)}
    tau, phi = np.exp(own["log_tau"]), hyper["phi"][..., None]
    h = (log_noise[..., at, :] - own["l"]) / np.exp(own["log_omega"])
    slab = np.broadcast_to(tau**2 * (1 - phi), h.shape)
    variance = np.exp(2 * log_noise[..., at, :]) + ROUNDING**2
    centre = own["delta"] + tau * np.sqrt(phi) * d
    mu, incoherent, _ = means_given_rest(one, centre, slab, variance, expit(own["a"] + own["b"] * h), rng)
    return mu, incoherent


def hierarchy_prior_draw(
    priors: HierarchyPriors, rng: np.random.Generator, *, models: int, size: int
) -> HierarchyDraws:
    """One draw of everything but the data from the priors, arrays without leading axes."""
    hyper: dict[str, Floats] = {"phi": np.asarray(rng.random()), "c": np.asarray(rng.random())}
    hyper["delta_sd"] = np.asarray(abs(rng.normal(0, priors.lean_scale)))
    hyper["delta"] = hyper["delta_sd"] * rng.standard_normal(models)
    for name in POOLED:
        centre, centre_sd, scale = priors.pooled[name]
        hyper[f"{name}_mean"] = np.asarray(rng.normal(centre, centre_sd))
        hyper[f"{name}_sd"] = np.asarray(abs(rng.normal(0, scale)))
        hyper[name] = hyper[f"{name}_mean"] + hyper[f"{name}_sd"] * rng.standard_normal(models)
    shape, own = (models, size), {name: hyper[name][:, None] for name in ("delta", *POOLED)}
    h = np.sqrt(hyper["c"]) * rng.standard_normal(size) + np.sqrt(1 - hyper["c"]) * rng.standard_normal(shape)
    d, z = rng.standard_normal(size), rng.standard_normal(shape)
    slab = own["delta"] + np.exp(own["log_tau"]) * (np.sqrt(hyper["phi"]) * d + np.sqrt(1 - hyper["phi"]) * z)
    incoherent = rng.random(shape) < expit(own["a"] + own["b"] * h)
    variance = np.exp(2 * (own["l"] + np.exp(own["log_omega"]) * h)) + ROUNDING**2
    return HierarchyDraws(hyper, np.where(incoherent, slab, 0.0), variance, incoherent, None)
