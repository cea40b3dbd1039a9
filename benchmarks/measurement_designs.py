"""Simulated single answers of the law of total probability: drawn from the priors, and of responders of known noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from analysis.bayes.measurement import MeasurementDraws, weights_of
from analysis.bayes.measurement_data import ROLES, MeasurementPriors, SingleAnswers, single_answers

#: 57 instances in three wordings, of which every fourth has three states and the others two.
INSTANCES, WORDINGS = 57, 3
STATES = np.where(np.arange(INSTANCES) % 4 == 3, 3, 2)
FIRST = np.concatenate([[0], np.cumsum(STATES)])
INSTANCE = np.repeat(np.arange(INSTANCES), STATES)
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Responder:
    """Standard deviations, log-odds: beliefs, what breaks coherence, noise by kind of question.

    ``fault`` is the kind of answer that is off: ``target``, ``conditional``, or ``states`` (their sums).
    ``scattered`` is the sd of log noise between instances.
    """

    name: str
    belief: float = 1.2
    persistent: float = 0.3
    fault: str = "target"
    noise: tuple[float, float, float] = (0.15, 0.3, 0.3)
    scattered: float = 0.0


#: Beliefs of sd 1.2 put about 1 % of the answers at the clip, of 2.5 about a tenth.
RESPONDERS = (
    Responder("coherent", persistent=0.0),
    Responder("direct answer off"),
    Responder("direct answer off, many answers at the clip", belief=2.5),
    Responder("conditionals off", fault="conditional"),
    Responder("sums of the states off", fault="states"),
    Responder("noise in the direct answer", noise=(0.4, 0.1, 0.1)),
    Responder("direct answer off, noise varies between items", scattered=0.8),
)


def truths(rng: np.random.Generator, spread: float) -> tuple[Floats, Floats]:
    """True P(state) and log-odds of P(event | state), (M,)."""
    weight = rng.gamma(2.0, size=len(INSTANCE))
    weight /= np.add.reduceat(weight, FIRST[:-1])[INSTANCE]
    return weight, spread * rng.standard_normal(len(INSTANCE))


def stated(mean: Floats, noise: Floats, rng: np.random.Generator, digits: int | None) -> Floats:
    """Probabilities (rows, wordings) around log-odds."""
    found = expit(mean[:, None] + noise[:, None] * rng.standard_normal((len(mean), WORDINGS)))
    return found if digits is None else np.round(found, digits)


def prior_answers(
    priors: MeasurementPriors, rng: np.random.Generator, *, clip: float
) -> tuple[MeasurementDraws, SingleAnswers]:
    """One truth drawn from the priors, and answers drawn from it (not rounded; their clip censors)."""
    weight, chance = truths(rng, 1.5)
    empty = np.full((len(INSTANCE), WORDINGS), 0.5)
    place = single_answers(
        np.full((INSTANCES, WORDINGS), 0.5), empty, empty, FIRST, truth_latent=weight, truth_conditional=expit(chance),
        clip=clip,
    )  # fmt: skip
    delta = priors.lean_sd * rng.standard_normal()
    tau, tau_sum = np.abs(rng.standard_normal(2)) * [priors.violation_scale, priors.sum_scale]
    noise = np.exp(priors.noise_log_mean + priors.noise_log_sd * rng.standard_normal(3))
    mu, nu = delta + tau * rng.standard_normal(INSTANCES), tau_sum * rng.standard_normal(INSTANCES)
    # The last state's log weight is 0 and has no prior of its own.
    relative = place.latent_centre - place.latent_centre[FIRST[1:] - 1][INSTANCE]
    eta = np.where(place.last, 0.0, relative + priors.belief_sd * rng.standard_normal(len(INSTANCE)))
    gamma = place.conditional_centre + priors.belief_sd * rng.standard_normal(len(INSTANCE))
    belief = weights_of(eta, place)
    direct = logit(np.add.reduceat(belief * expit(gamma), FIRST[:-1])) + mu
    sd = np.sqrt(noise**2 + 0.01**2)
    answers = single_answers(
        stated(direct, np.full(INSTANCES, sd[0]), rng, None),
        stated(logit(belief) + nu[INSTANCE], np.full(len(INSTANCE), sd[1]), rng, None),
        stated(gamma, np.full(len(INSTANCE), sd[2]), rng, None),
        FIRST,
        truth_latent=weight,
        truth_conditional=expit(chance),
        clip=clip,
    )
    hyper = {"delta": delta, "tau": tau, "tau_sum": tau_sum}
    hyper |= {f"noise_{role}": value for role, value in zip(ROLES, noise, strict=True)}
    named = {name: np.array([value]) for name, value in hyper.items()}
    return MeasurementDraws(named, mu[None], nu[None], belief[None], gamma[None], None), answers


def responder_answers(
    responder: Responder, rng: np.random.Generator, *, clip: float = 0.01
) -> tuple[dict[str, float], SingleAnswers, tuple[Floats, Floats, Floats]]:
    """Answers of a responder to two decimals: what is true of these instances, the answers, and the probabilities.

    The truth has ``persistent``, the root mean square residual without noise, rounding and clip, ``noise``, the root
    mean variance of the residual (linearised), ``share_<role>`` of it, and ``noise_<role>``.
    """
    weight, chance = truths(rng, responder.belief)
    belief = weight * np.exp(0.4 * rng.standard_normal(len(weight)))
    belief /= np.add.reduceat(belief, FIRST[:-1])[INSTANCE]
    gamma = chance + 0.4 * rng.standard_normal(len(chance))
    effect = responder.persistent * rng.standard_normal(INSTANCES)
    held = logit(np.add.reduceat(belief * expit(gamma), FIRST[:-1]))
    direct = held + (effect if responder.fault == "target" else 0.0)
    if responder.fault == "conditional":
        gamma = gamma - effect[INSTANCE]
    latent = logit(belief) + (effect[INSTANCE] if responder.fault == "states" else 0.0)
    scatter = np.exp(responder.scattered * rng.standard_normal(INSTANCES) - responder.scattered**2)
    sd = [value * scatter for value in responder.noise]
    p, c = expit(latent), expit(gamma)
    implied = np.minimum(np.add.reduceat(p * c, FIRST[:-1]), 1 - clip)
    steep = 1 / (implied * (1 - implied))
    parts = {
        "target": sd[0] ** 2,
        "latent": np.add.reduceat((p * (1 - p) * c) ** 2, FIRST[:-1]) * (steep * sd[1]) ** 2,
        "conditional": np.add.reduceat((p * c * (1 - c)) ** 2, FIRST[:-1]) * (steep * sd[2]) ** 2,
    }
    total = sum(part.mean() for part in parts.values())
    truth = {"persistent": float(np.sqrt(((direct - logit(implied)) ** 2).mean())), "noise": float(np.sqrt(total))}
    truth |= {f"share_{role}": float(part.mean() / total) for role, part in parts.items()}
    truth |= {f"noise_{role}": float(np.sqrt((s**2).mean())) for role, s in zip(ROLES, sd, strict=True)}
    answered = (
        stated(direct, sd[0], rng, 2),
        stated(latent, sd[1][INSTANCE], rng, 2),
        stated(gamma, sd[2][INSTANCE], rng, 2),
    )
    read = single_answers(*answered, FIRST, truth_latent=weight, truth_conditional=expit(chance), clip=clip)
    return truth, read, answered
