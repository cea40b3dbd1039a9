"""Draws from the model of single answers, and what they say of noise and of what breaks coherence."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np
from numba import carray, cfunc
from numpy.typing import NDArray
from nutpie.compile_pymc import CompiledPyMCModel
from scipy.special import expit, logit

from analysis.bayes.density_program import DENSITY, density_program, pointer_at
from analysis.bayes.incoherence_data import ROUNDING
from analysis.bayes.measurement_data import ROLES, MeasurementPriors, SingleAnswers
from analysis.bayes.measurement_density import HYPER, MeasurementData, measurement_density
from analysis.bayes.sampling import Draws, SamplerSettings, at_least, run_nuts, sampler_draws

Floats = NDArray[np.float64]

LEAST_TUNE: Final = 500
TARGET_ACCEPT: Final = 0.9
_PRIORS: Final = 6
_SLOTS: Final = 11


@dataclass(frozen=True, slots=True)
class MeasurementDraws:
    """Draws of one fit.

    Attributes
    ----------
    hyper : mapping of str to ndarray (...)
        ``delta, tau, tau_sum`` and ``noise_target, noise_latent, noise_conditional``.
    mu, nu : ndarray (..., n)
        Violation of total probability, and of normalisation.
    weight, conditional : ndarray (..., M)
        Coherent P(state), and log-odds of P(event | state).
    sampler : Draws or None
        What the gates of the sampler read; None of draws from the priors.
    """

    hyper: Mapping[str, Floats]
    mu: Floats
    nu: Floats
    weight: Floats
    conditional: Floats
    sampler: Draws | None


def sample_answers(
    answers: SingleAnswers, priors: MeasurementPriors, settings: SamplerSettings, *, seed: int
) -> MeasurementDraws:
    """Sample the model for the answers of one language model.

    Parameters
    ----------
    answers : SingleAnswers
    priors : MeasurementPriors
    settings : SamplerSettings
        At least LEAST_TUNE tuning draws are made; acceptance is TARGET_ACCEPT where none is set.
    seed : int
    """
    settings = at_least(settings, tune=LEAST_TUNE, target_accept=TARGET_ACCEPT)
    data = measurement_data(answers, priors)
    tree = run_nuts(measurement_program(data, answers), settings, seed=seed)
    point = np.asarray(tree["posterior"]["point"].values, float)
    return of_points(point, data, answers, sampler_draws(tree, point[..., :HYPER], settings))


def measurement_data(answers: SingleAnswers, priors: MeasurementPriors) -> MeasurementData:
    """Arrays of the density: answers, centres of the priors, and where effects lie roughly."""
    of_last = answers.latent_centre[answers.first[1:] - 1][answers.instance]
    return MeasurementData(
        np.ascontiguousarray(answers.target),
        np.ascontiguousarray(answers.latent),
        np.ascontiguousarray(answers.conditional),
        answers.first,
        (answers.latent_centre - of_last)[~answers.last],
        answers.conditional_centre,
        _places(answers),
        np.array(list(asdict(priors).values()), float),
        answers.limit,
    )


def _mean(values: Floats) -> Floats:
    """Means over wordings; 0 where no wording has an answer."""
    known = ~np.isnan(values)
    found: Floats = np.where(known, values, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return found


def _places(answers: SingleAnswers) -> Floats:
    """Violation and sum of each instance (4, n), each with a rough variance, which locate the sampler's coordinates."""
    latent, conditional = expit(_mean(answers.latent)), _mean(answers.conditional)
    total = np.add.reduceat(latent, answers.first[:-1])
    weight = latent / total[answers.instance]
    implied = np.add.reduceat(weight * expit(conditional), answers.first[:-1])
    gap = _mean(answers.target) - logit(np.clip(implied, 1e-6, 1 - 1e-6))
    excess = logit(latent) - logit(np.clip(weight, 1e-6, 1 - 1e-6))
    states = np.diff(answers.first)
    shift = np.add.reduceat(excess, answers.first[:-1]) / states
    wordings = answers.target.shape[1]
    squares = [_within(part) / wordings for part in (answers.target, answers.latent, answers.conditional)]
    ones = np.ones(answers.size)
    return np.stack([gap, (squares[0] + squares[1] + squares[2]) * ones, shift, squares[1] / states])


def _within(values: Floats) -> float:
    """Mean variance between wordings, at least that of rounding."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    away = np.where(known, values - _mean(values)[:, None], 0.0)
    several = count > 1
    squares = (away**2).sum(axis=1)[several] / (count[several] - 1)
    return max(float(squares.mean()) if several.any() else 0.0, ROUNDING**2)


@cfunc(DENSITY, cache=True, error_model="numpy")
def _density(size, z, gradient, value, packed):  # type: ignore[no-untyped-def]
    """Value and gradient at z; 0 where both are finite, else a number that nutpie counts as a divergence."""
    p = carray(packed, (_SLOTS,), np.int64)
    n, states, wordings = p[8], p[9], p[10]
    data = MeasurementData(
        carray(pointer_at(p[0]), (n, wordings), np.float64),
        carray(pointer_at(p[1]), (states, wordings), np.float64),
        carray(pointer_at(p[2]), (states, wordings), np.float64),
        carray(pointer_at(p[3]), (n + 1,), np.int64),
        carray(pointer_at(p[4]), (states - n,), np.float64),
        carray(pointer_at(p[5]), (states,), np.float64),
        carray(pointer_at(p[6]), (4, n), np.float64),
        carray(pointer_at(p[7]), (_PRIORS + 1,), np.float64)[:_PRIORS],
        carray(pointer_at(p[7]), (_PRIORS + 1,), np.float64)[_PRIORS],
    )
    slope = carray(gradient, (size,))
    found = measurement_density(carray(z, (size,)), data, slope)
    carray(value, (1,))[0] = found
    return 0 if np.isfinite(found) and np.isfinite(slope).all() else 3


def measurement_program(data: MeasurementData, answers: SingleAnswers) -> CompiledPyMCModel:
    """The density as ``nutpie.sample`` takes it; chains start near the answers' means."""
    n, states = answers.size, len(answers.latent)
    log_latent = np.log(expit(_mean(answers.latent)))
    of_last = log_latent[answers.first[1:] - 1][answers.instance]
    noise = [0.5 * np.log(_within(part)) for part in (answers.target, answers.latent, answers.conditional)]
    hyper = [0.0, np.log(0.2), np.log(0.2), *noise]
    centre = np.concatenate([hyper, np.zeros(2 * n), (log_latent - of_last)[~answers.last], _mean(answers.conditional)])
    width = np.concatenate([[0.1, 0.5, 0.5, 0.3, 0.3, 0.3], np.ones(2 * n), np.full(2 * states - n, 0.1)])

    def start(seed: int) -> Floats:
        return centre + width * np.random.default_rng(seed).uniform(-1, 1, len(centre))

    kept = {
        "target": data.target,
        "latent": data.latent,
        "conditional": data.conditional,
        "first": data.first,
        "eta_centre": data.eta_centre,
        "gamma_centre": data.gamma_centre,
        "places": data.places,
        "numbers": np.append(data.prior, data.limit),
    }
    addresses = [part.ctypes.data for part in kept.values()]
    packed = np.array([*addresses, n, states, data.target.shape[1]], np.int64)
    return density_program(_density, size=len(centre), start=start, kept=kept, packed=packed)


def of_points(
    point: Floats, data: MeasurementData, answers: SingleAnswers, sampler: Draws | None = None
) -> MeasurementDraws:
    """What points (..., size) of the density stand for."""
    n, states = answers.size, len(answers.latent)
    hyper = {"delta": point[..., 0], "tau": np.exp(point[..., 1]), "tau_sum": np.exp(point[..., 2])}
    hyper |= {f"noise_{role}": np.exp(point[..., 3 + j]) for j, role in enumerate(ROLES)}
    mu = _effect(point[..., HYPER : HYPER + n], hyper["delta"], hyper["tau"], data.places[:2])
    nu = _effect(
        point[..., HYPER + n : HYPER + 2 * n], np.zeros_like(hyper["delta"]), hyper["tau_sum"], data.places[2:]
    )
    eta = np.zeros((*point.shape[:-1], states))
    eta[..., ~answers.last] = point[..., HYPER + 2 * n : HYPER + n + states]
    return MeasurementDraws(hyper, mu, nu, weights_of(eta, answers), point[..., HYPER + n + states :], sampler)


def weights_of(eta: Floats, answers: SingleAnswers) -> Floats:
    """Coherent P(state) (..., M) from log weights: those of an instance add up to 1."""
    odds = np.exp(eta - np.maximum.reduceat(eta, answers.first[:-1], axis=-1)[..., answers.instance])
    return odds / np.add.reduceat(odds, answers.first[:-1], axis=-1)[..., answers.instance]


def _effect(g: Floats, centre: Floats, scale: Floats, places: Floats) -> Floats:
    middle, sd = centre[..., None], scale[..., None]
    spread = sd**2 + places[1]
    return middle + sd * (sd * (places[0] - middle) / spread + np.sqrt(places[1] / spread) * g)


def measurement_quantities(draws: MeasurementDraws, answers: SingleAnswers) -> dict[str, Floats]:
    """Reported quantities (...) by name.

    Returns
    -------
    dict
        ``violation`` and ``normalisation``, root mean squares of mu and nu of these instances; ``persistent``, the
        root mean square of the residual of the answers without noise and clip, which both make up; ``direction`` of
        it; ``noise``, the root mean variance of the residual that rewording causes, linearised, and
        ``share_<role>``, how much of that variance each kind of question has.
    """
    first, instance = answers.first[:-1], answers.instance
    stated = expit(logit(np.clip(draws.weight, 1e-12, 1 - 1e-12)) + draws.nu[..., instance])
    chance = expit(draws.conditional)
    coherent = logit(np.add.reduceat(draws.weight * chance, first, axis=-1)) + draws.mu
    top = expit(answers.limit)
    implied = np.clip(np.add.reduceat(stated * chance, first, axis=-1), 1 - top, top)
    residual = coherent - logit(implied)
    steep = 1 / (implied * (1 - implied))
    by_latent = np.add.reduceat((stated * (1 - stated) * chance) ** 2, first, axis=-1) * steep**2
    by_conditional = np.add.reduceat((stated * chance * (1 - chance)) ** 2, first, axis=-1) * steep**2
    noise = {role: draws.hyper[f"noise_{role}"] ** 2 + ROUNDING**2 for role in ROLES}
    parts = {
        "target": noise["target"],
        "latent": noise["latent"] * by_latent.mean(axis=-1),
        "conditional": noise["conditional"] * by_conditional.mean(axis=-1),
    }
    total = parts["target"] + parts["latent"] + parts["conditional"]
    return {
        "violation": np.sqrt((draws.mu**2).mean(axis=-1)),
        "normalisation": np.sqrt((draws.nu**2).mean(axis=-1)),
        "persistent": np.sqrt((residual**2).mean(axis=-1)),
        "direction": residual.mean(axis=-1),
        "noise": np.sqrt(total),
        **{f"share_{role}": part / total for role, part in parts.items()},
    }
