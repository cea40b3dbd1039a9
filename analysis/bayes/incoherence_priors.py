"""Priors of the models of persistent incoherence, and what they imply before any data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.incoherence_data import ROUNDING
from analysis.bayes.incoherence_quantities import instance_quantities, population_quantities
from analysis.bayes.prior_values import check_values

Floats = NDArray[np.float64]

#: Persistent incoherence above which it counts as present, in log-odds: 2.5 points near one half.
PRESENT: Final = 0.10
QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class IncoherencePriors:
    """Priors of both models, in log-odds; ``MEANINGS`` says what each is.

    Scales are positive; ``share_mean`` and ``noise_log_mean`` may have any sign.
    """

    lean_sd: float = 0.1
    slab_scale: float = 0.375
    share_mean: float = -2.0
    share_sd: float = 1.5
    link_sd: float = 1.5
    noise_log_mean: float = float(np.log(0.2))
    noise_log_sd: float = 1.0
    noise_spread_scale: float = 1.0
    shared_shape: float = 2.0

    def __post_init__(self) -> None:
        check_values(self, {"share_mean", "noise_log_mean"})


#: Prior -> what it is, and its meaning on the scale people read.
MEANINGS: Final[Mapping[str, str]] = {
    "lean_sd": "sd of the mean of incoherent instances (delta); .1: a common lean of up to .2, 5 points near one half",
    "slab_scale": "half-normal scale of the sd of incoherent instances (tau); .375: an instance is off by up to .7",
    "share_mean": "mean log-odds that an instance is incoherent (a); -2: 12 % of the instances",
    "share_sd": "sd of that; 1.5: from 1 to 72 % of the instances",
    "link_sd": "sd of the change of those log-odds per sd of log noise (b); 1.5: noise may decide it either way",
    "noise_log_mean": "mean log of the noise of a typical instance (l); log .2: 5 points near one half",
    "noise_log_sd": "sd of that; 1: from .03 to 1.4",
    "noise_spread_scale": "half-normal scale of the sd of log noise between instances (omega); 1: up to fifty-fold",
    "shared_shape": "both shapes of the beta prior of the share of the slab's variance common to a unit (rho)",
}


def prior_vector(priors: IncoherencePriors) -> Floats:
    """The priors as the data vector of the models, in the order of their fields."""
    return np.array(list(asdict(priors).values()), float)


def log_prior(hyper: Mapping[str, Floats], priors: IncoherencePriors) -> Floats:
    """Log density of the priors at hyper-parameters of any one shape, up to a constant."""
    p = priors
    total = -0.5 * ((hyper["delta"] / p.lean_sd) ** 2 + (hyper["tau"] / p.slab_scale) ** 2)
    total = total - 0.5 * ((hyper["l"] - p.noise_log_mean) / p.noise_log_sd) ** 2
    if "omega" in hyper:
        total = total - 0.5 * ((hyper["a"] - p.share_mean) / p.share_sd) ** 2 - 0.5 * (hyper["b"] / p.link_sd) ** 2
        total = total - 0.5 * (hyper["omega"] / p.noise_spread_scale) ** 2
    if "rho" in hyper:
        total = total + (p.shared_shape - 1) * (np.log(hyper["rho"]) + np.log1p(-hyper["rho"]))
    return total


def sensitivity_priors(priors: IncoherencePriors) -> dict[str, IncoherencePriors]:
    """Priors of the refits by name: a wider slab, a sceptic of incoherence, more spread of the noise."""
    return {
        "slab scale x 2": replace(priors, slab_scale=2 * priors.slab_scale),
        "sceptic: share one prior sd lower": replace(priors, share_mean=priors.share_mean - priors.share_sd),
        "noise spread x 2": replace(priors, noise_spread_scale=2 * priors.noise_spread_scale),
    }


@dataclass(frozen=True, slots=True)
class PriorDraws:
    """Draws from the priors: hyper-parameters (S,), and instances (S, n)."""

    hyper: Mapping[str, Floats]
    mu: Floats
    variance: Floats
    incoherent: NDArray[np.bool_]


def prior_draws(
    priors: IncoherencePriors,
    rng: np.random.Generator,
    *,
    unit_at: NDArray[np.int64],
    paired: NDArray[np.bool_],
    draws: int,
    linked: bool = True,
) -> PriorDraws:
    """Simulate ``draws`` models from the priors.

    Parameters
    ----------
    priors : IncoherencePriors
    rng : numpy.random.Generator
    unit_at : ndarray of int (n,)
        Unit of each instance; read where ``paired``.
    paired : ndarray of bool (n,)
        Whether an instance shares a part of its slab effect with its unit.
    draws : int
    linked : bool
        The slab linked to the noise (SSL); else the normal model.
    """
    p, shape = priors, (draws, 1)
    hyper = {
        "delta": p.lean_sd * rng.normal(size=shape),
        "tau": p.slab_scale * np.abs(rng.normal(size=shape)),
        "l": p.noise_log_mean + p.noise_log_sd * rng.normal(size=shape),
        "rho": rng.beta(p.shared_shape, p.shared_shape, size=shape),
    }
    if linked:
        hyper["a"] = p.share_mean + p.share_sd * rng.normal(size=shape)
        hyper["b"] = p.link_sd * rng.normal(size=shape)
        hyper["omega"] = p.noise_spread_scale * np.abs(rng.normal(size=shape))
    return fresh_instances(hyper, rng, unit_at=unit_at, paired=paired)


def fresh_instances(
    hyper: Mapping[str, Floats],
    rng: np.random.Generator,
    *,
    unit_at: NDArray[np.int64],
    paired: NDArray[np.bool_],
) -> PriorDraws:
    """New instances for each set of hyper-parameters (S, 1); with ``omega``, ``a`` and ``b`` those of SSL."""
    draws, n = len(hyper["delta"]), len(paired)
    shared = np.where(paired, hyper.get("rho", 0.0), 0.0)
    units = rng.normal(size=(draws, int(unit_at.max(initial=0)) + 1))
    z = np.sqrt(shared) * units[:, unit_at] + np.sqrt(1 - shared) * rng.normal(size=(draws, n))
    mu = hyper["delta"] + hyper["tau"] * z
    log_noise, incoherent = np.broadcast_to(hyper["l"], (draws, n)), np.ones((draws, n), bool)
    if "omega" in hyper:
        h = rng.normal(size=(draws, n))
        log_noise = log_noise + hyper["omega"] * h
        incoherent = rng.random((draws, n)) < expit(hyper["a"] + hyper["b"] * h)
    variance = np.exp(2 * log_noise) + ROUNDING**2
    flat = {name: value[:, 0] for name, value in hyper.items()}
    return PriorDraws(flat, np.where(incoherent, mu, 0.0), variance, incoherent)


@dataclass(frozen=True, slots=True)
class PriorPredictive:
    """What the priors say about persistent incoherence before any data.

    Attributes
    ----------
    these, population : tuple of float
        QUANTILES of the persistent incoherence of the instances asked, and of the population, in log-odds.
    p_present, p_present_population : float
        Prior probability that it exceeds PRESENT.
    """

    these: tuple[float, ...]
    population: tuple[float, ...]
    p_present: float
    p_present_population: float

    @property
    def sentence(self) -> str:
        """The quantiles for a reader."""
        levels = ", ".join(f"{level:.0%}" for level in QUANTILES)
        these, population = (", ".join(f"{x:.2f}" for x in row) for row in (self.these, self.population))
        return (
            f"Before any data the priors put persistent incoherence of these instances at {these} and of the "
            f"population at {population} ({levels} quantiles, log-odds); the prior probability that it exceeds "
            f"{PRESENT:.2f} is {self.p_present:.2f} (population {self.p_present_population:.2f})."
        )


def prior_predictive(
    priors: IncoherencePriors,
    rng: np.random.Generator,
    *,
    unit_at: NDArray[np.int64],
    paired: NDArray[np.bool_],
    draws: int = 20_000,
    linked: bool = True,
) -> PriorPredictive:
    """Quantiles of persistent incoherence under the priors, for instances in the units given."""
    found = prior_draws(priors, rng, unit_at=unit_at, paired=paired, draws=draws, linked=linked)
    these = instance_quantities(found.mu, found.variance, found.incoherent)["persistent"]
    population = population_quantities(found.hyper)["persistent"]
    of_these, of_all = (tuple(map(float, np.quantile(x, QUANTILES))) for x in (these, population))
    return PriorPredictive(of_these, of_all, float((these > PRESENT).mean()), float((population > PRESENT).mean()))
