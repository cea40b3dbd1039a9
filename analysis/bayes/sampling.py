"""Draws from a hierarchical model by nutpie's NUTS on the compiled log-density."""

from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, Final

import numpy as np
import nutpie
from numpy.typing import NDArray
from nutpie.compile_pymc import CompiledPyMCModel

from analysis.bayes.callback import compiled_density
from analysis.bayes.density_program import MANY_PARAMETERS
from analysis.bayes.model_arrays import Coordinates, ModelArrays
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]

#: In a thread that another one may stop: the event that ends its sampling.
STOP: Final[ContextVar[Event | None]] = ContextVar("stop", default=None)
#: Seconds between two looks at it.
_LOOK: Final = 0.1
#: Below so many models the sd between them is known so badly that means and coefficients make a funnel with it,
#: which only short steps follow (two models: 12 of 1,000 trajectories diverge at .95, .05 at .99).
FEW_MODELS: Final = 7
#: Acceptance of the one retry after a fit that failed a gate.
RETRY_ACCEPT: Final = 0.99
#: The same where the first attempt had RETRY_ACCEPT already.
RETRY_ACCEPT_OF_FEW: Final = 0.999
#: Most draws of the retry, in those of the first attempt.
MOST_FACTOR: Final = 4


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """How long to sample.

    Attributes
    ----------
    chains, draws, tune : int
        Chains, kept draws and tuning draws per chain.
    target_accept : float, optional
        Wanted mean acceptance of a leapfrog trajectory. Default: .8 with at least MANY_PARAMETERS, .95 with fewer,
        .99 between 2 and FEW_MODELS - 1 models.
    max_depth : int
        Largest depth of a trajectory's tree.
    cores : int
    fast : bool
        A quick look: fewer draws, marked as such wherever results are shown.
    """

    chains: int = 4
    draws: int = 1000
    tune: int = 200
    target_accept: float | None = None
    max_depth: int = 10
    cores: int = 2
    fast: bool = False


def fast_settings(*, cores: int = 2) -> SamplerSettings:
    """Settings of ``--fast``: 4 chains of 250 draws."""
    return SamplerSettings(draws=250, tune=150, cores=cores, fast=True)


def retry_settings(
    settings: SamplerSettings, *, careful: bool, missing: float = 1.0, accept: float = RETRY_ACCEPT
) -> SamplerSettings:
    """Settings of the second attempt: more draws and, if ``careful``, shorter steps, whose acceptance is ``accept``.

    ``missing`` is how many times the draws were asked for (``gates.missing_draws``); the second attempt has
    half as many again, between twice and MOST_FACTOR times the first's.
    """
    factor = int(np.clip(np.ceil(1.5 * missing), 2, MOST_FACTOR))
    longer = replace(settings, tune=2 * settings.tune, draws=factor * settings.draws)
    return replace(longer, target_accept=accept) if careful else longer


def retry_accept(models: int) -> float:
    """Acceptance of the retry of a hierarchical model of so many models."""
    return RETRY_ACCEPT_OF_FEW if _is_few(models) else RETRY_ACCEPT


def target_accept(settings: SamplerSettings, parameters: int, models: int) -> float:
    """Acceptance to aim at, by the size of a model where the settings leave it open."""
    if settings.target_accept is not None:
        return settings.target_accept
    if _is_few(models):
        return 0.99
    # The step that suits many normal directions is short enough for the few others.
    return 0.8 if parameters >= MANY_PARAMETERS else 0.95


def _is_few(models: int) -> bool:
    return 2 <= models < FEW_MODELS


@dataclass(frozen=True, slots=True)
class Draws:
    """Draws in whitened coordinates, with what the sampler says of itself.

    Attributes
    ----------
    z : ndarray (chains, draws, dimension)
    diverging : ndarray (chains, draws) of bool
    depth : ndarray (chains, draws)
        Depth of each trajectory's tree.
    energy : ndarray (chains, draws)
    steps : float
        Mean leapfrog steps per draw.
    max_depth : int
    """

    z: Floats
    diverging: NDArray[np.bool_]
    depth: NDArray[np.int64]
    energy: Floats
    steps: float
    max_depth: int


def sample(arrays: ModelArrays, coordinates: Coordinates, settings: SamplerSettings, *, seed: int) -> Draws:
    """Sample one model.

    Parameters
    ----------
    arrays : ModelArrays
    coordinates : Coordinates
        Of ``whitening``; chains start at standard normal points around its mode.
    settings : SamplerSettings
    seed : int
    """
    accept = target_accept(settings, coordinates.dimension, len(arrays.yes))
    tree = run_nuts(compiled_density(arrays, coordinates), replace(settings, target_accept=accept), seed=seed)
    return sampler_draws(tree, np.asarray(tree["posterior"]["point"].values), settings)


def run_nuts(program: CompiledPyMCModel, settings: SamplerSettings, *, seed: int) -> Any:
    """What nutpie draws from a compiled density, as a DataTree; ``settings`` name the acceptance.

    Raises
    ------
    AnalysisError
        ``STOP`` was set.
    """
    stop = STOP.get()
    sampler = nutpie.sample(
        program,
        draws=settings.draws,
        tune=settings.tune,
        chains=settings.chains,
        cores=settings.cores,
        seed=seed,
        target_accept=settings.target_accept,
        maxdepth=settings.max_depth,
        progress_bar=False,
        save_warmup=False,
        blocking=stop is None,
    )
    return sampler if stop is None else _awaited(sampler, stop)


def _awaited(sampler: Any, stop: Event) -> Any:
    """What a sampler in the background draws, unless it is stopped."""
    while True:
        try:
            return sampler.wait(timeout=_LOOK)
        except TimeoutError:
            if stop.is_set():
                sampler.abort()
                raise AnalysisError("sampling was stopped") from None


def at_least(settings: SamplerSettings, *, tune: int, target_accept: float) -> SamplerSettings:
    """Settings with at least so many tuning draws, and an acceptance where none is set."""
    accept = target_accept if settings.target_accept is None else settings.target_accept
    return replace(settings, tune=max(settings.tune, tune), target_accept=accept)


def sampler_draws(tree: Any, z: Floats, settings: SamplerSettings) -> Draws:
    """Draws with the statistics of the sampler that nutpie's tree holds."""
    stats = tree["sample_stats"]
    return Draws(
        z=z,
        diverging=np.asarray(stats["diverging"].values, bool),
        depth=np.asarray(stats["depth"].values, np.int64),
        energy=np.asarray(stats["energy"].values, float),
        steps=float(stats["n_steps"].mean()),
        max_depth=settings.max_depth,
    )
