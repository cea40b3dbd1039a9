"""Draws from the models of incoherence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.incoherence_data import ROUNDING, Instances, variance_of_mean
from analysis.bayes.incoherence_density import DensityData
from analysis.bayes.incoherence_priors import IncoherencePriors
from analysis.bayes.incoherence_program import density_data, incoherence_program, parameters
from analysis.bayes.sampling import Draws, SamplerSettings, at_least, run_nuts, sampler_draws

Floats = NDArray[np.float64]

#: Fewest tuning draws: these models are sampled in their own coordinates, whose scales have to be learned.
LEAST_TUNE: Final = 500
TARGET_ACCEPT: Final = 0.9


@dataclass(frozen=True, slots=True)
class IncoherenceDraws:
    """Draws of one model's fit.

    Attributes
    ----------
    hyper : mapping of str to ndarray (chains, draws)
    mu : ndarray (chains, draws, n)
        Mean residual of each instance, drawn given the rest.
    variance : ndarray (chains, draws, n)
        Variance over wordings.
    incoherent : ndarray of bool (chains, draws, n)
    log_likelihood : ndarray (chains, draws)
        Given noise and what units share, up to a constant.
    sampler : Draws
        What the gates of the sampler read.
    """

    hyper: Mapping[str, Floats]
    mu: Floats
    variance: Floats
    incoherent: NDArray[np.bool_]
    log_likelihood: Floats
    sampler: Draws


def incoherence_settings(*, cores: int = 2) -> SamplerSettings:
    """Default settings: 4 chains of 1000 draws after 500 of tuning, acceptance .9."""
    return SamplerSettings(tune=LEAST_TUNE, target_accept=TARGET_ACCEPT, cores=cores)


def sample_instances(
    instances: Instances, priors: IncoherencePriors, settings: SamplerSettings, *, linked: bool, seed: int
) -> IncoherenceDraws:
    """Sample SSL (``linked``) or N for one set of instances, and draw the instances' means given the rest.

    Parameters
    ----------
    instances : Instances
    priors : IncoherencePriors
    settings : SamplerSettings
        At least LEAST_TUNE tuning draws are made; acceptance is TARGET_ACCEPT where none is set.
    linked : bool
    seed : int
    """
    settings = complete(settings)
    data = density_data(instances, priors, linked=linked)
    tree = run_nuts(incoherence_program(data), settings, seed=seed)
    return _completed(tree, data, instances, settings, np.random.default_rng([seed, 1]))


def complete(settings: SamplerSettings) -> SamplerSettings:
    """Settings as they are used."""
    return at_least(settings, tune=LEAST_TUNE, target_accept=TARGET_ACCEPT)


def _completed(
    tree: Any, data: DensityData, instances: Instances, settings: SamplerSettings, rng: np.random.Generator
) -> IncoherenceDraws:
    found = parameters(np.asarray(tree["posterior"]["point"].values, float), data)
    hyper = {name: values for name, values in found.items() if name not in ("h", "z")}
    h = found["h"] if data.linked else np.zeros((*hyper["l"].shape, instances.size))
    log_noise = hyper["l"][..., None] + (hyper["omega"][..., None] * h if data.linked else h)
    variance = np.exp(2 * log_noise) + ROUNDING**2
    z = found.get("z")
    if data.units and not data.linked:
        z = unit_effects(hyper, instances, variance, data.units, rng)
    centre, slab = _slab(hyper, z, instances)
    share = expit(hyper["a"][..., None] + hyper["b"][..., None] * h) if data.linked else np.ones_like(variance)
    mu, incoherent, log_likelihood = means_given_rest(instances, centre, slab, variance, share, rng)
    sampler = sampler_draws(tree, np.stack(list(hyper.values()), axis=-1), settings)
    return IncoherenceDraws(hyper, mu, variance, incoherent, log_likelihood, sampler)


def _slab(hyper: Mapping[str, Floats], z: Floats | None, instances: Instances) -> tuple[Floats, Floats]:
    """Mean and variance of the slab of each instance given what its unit shares, (chains, draws, n)."""
    delta, tau = hyper["delta"][..., None], hyper["tau"][..., None]
    shape = (*hyper["delta"].shape, instances.size)
    if z is None:
        return np.broadcast_to(delta, shape), np.broadcast_to(tau**2, shape)
    shared = np.where(instances.paired, hyper["rho"][..., None], 0.0)
    return delta + tau * np.sqrt(shared) * z[..., instances.unit_at], tau**2 * (1 - shared)


def unit_effects(
    hyper: Mapping[str, Floats], instances: Instances, variance: Floats, units: int, rng: np.random.Generator
) -> Floats:
    """Exact draws (chains, draws, units) of what units share in model N, given everything else but the means."""
    tau, rho = hyper["tau"][..., None], hyper["rho"][..., None]
    own = tau**2 * (1 - instances.paired * rho) + variance_of_mean(variance, instances.k)
    weight = instances.paired / own
    place = np.eye(units)[instances.unit_at]
    root = tau * np.sqrt(rho)
    precision = 1 + root**2 * (weight @ place)
    mean = root * ((weight * (instances.mean - hyper["delta"][..., None])) @ place) / precision
    return mean + rng.standard_normal(mean.shape) / np.sqrt(precision)


def means_given_rest(
    instances: Instances,
    centre: Floats,
    slab: Floats,
    variance: Floats,
    share: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Exact draws of the means of all instances given everything else.

    Parameters
    ----------
    instances : Instances
    centre, slab : ndarray (..., n)
        Mean and variance of the slab.
    variance : ndarray (..., n)
        Variance over wordings.
    share : ndarray (..., n)
        Prior probability of being incoherent; 1 for the normal model.
    rng : numpy.random.Generator

    Returns
    -------
    mu, incoherent : ndarray (..., n)
    log_likelihood : ndarray (...)
        Up to a constant.
    """
    k, mean = instances.k, instances.mean
    noise = variance_of_mean(variance, k)
    with np.errstate(divide="ignore"):
        on = np.log(share) - 0.5 * (np.log(slab + noise) + (mean - centre) ** 2 / (slab + noise))
        off = np.log1p(-share) - 0.5 * (np.log(noise) + mean**2 / noise)
    incoherent = rng.random(variance.shape) < expit(on - off)
    weight = slab / (slab + noise)
    slab_mean = centre + weight * (mean - centre)
    mu = slab_mean + np.sqrt(weight * noise) * rng.standard_normal(variance.shape)
    deviations = -0.5 * ((k - 1) * np.log(variance) + instances.ss / variance)
    return np.where(incoherent, mu, 0.0), incoherent, (np.logaddexp(on, off) + deviations).sum(axis=-1)
