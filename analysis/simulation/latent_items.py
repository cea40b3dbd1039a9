"""Base items of a benchmark on the law of total probability, with exact truths by enumeration of a joint table."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FAMILIES: Final = ("source", "diagnostic", "claim")
CAUSAL: Final = "causal"
LEVELS: Final = ("full", "qualitative")


@dataclass(frozen=True, slots=True)
class Decomposition:
    """One latent variable of an item: what it is called, its states, P(state) and P(event | state)."""

    name: str
    states: tuple[str, ...]
    prior: Floats
    conditional: Floats


@dataclass(frozen=True, slots=True)
class LatentItem:
    """One base item.

    ``target`` is the probability of the event, or of the event under an intervention in a causal item, whose
    ``observational`` value is the probability given the observation (None in other items).
    """

    unit: str
    family: str
    level: str
    target: float
    decompositions: tuple[Decomposition, ...]
    observational: float | None = None


def joint_decompositions(
    joint: Floats, names: tuple[str, str], states: tuple[tuple[str, ...], tuple[str, ...]]
) -> tuple[float, tuple[Decomposition, Decomposition]]:
    """P(event) and both decompositions from a joint table over (first latent, second latent, event no/yes).

    Parameters
    ----------
    joint : (K1, K2, 2)
        Weights, not necessarily summing to 1; every state has some.
    """
    p = joint / joint.sum()
    found = []
    for axis, (name, labels) in enumerate(zip(names, states, strict=True)):
        table = p.sum(axis=1 - axis)
        prior = table.sum(axis=1)
        found.append(Decomposition(name, labels, prior, table[:, 1] / prior))
    return float(p[..., 1].sum()), (found[0], found[1])


def source_joint(prior: float, reliability: Floats, record: tuple[int, int], base: float, hard: Floats) -> Floats:
    """Is what a source says true? Its care and the difficulty of the topic are latent; its record is known.

    Parameters
    ----------
    prior : float
        P(careful) before the record.
    reliability : (2,)
        How often a careful and a careless source is right on easy topics.
    record : (right, wrong)
        What is known of it, on easy topics.
    base : float
        P(such a statement is true) before it was made.
    hard : (2,)
        P(easy topic), and the share of the advantage over a coin that is left on a hard one.
    """
    right, wrong = record
    care = np.array([prior, 1 - prior]) * reliability**right * (1 - reliability) ** wrong
    accuracy = np.stack([reliability, 0.5 + (reliability - 0.5) * hard[1]], axis=1)
    weight = care[:, None] * np.array([hard[0], 1 - hard[0]])
    return np.stack([weight * (1 - base) * (1 - accuracy), weight * base * accuracy], axis=-1)


def diagnostic_joint(prior: Floats, findings: Floats, seen: NDArray[np.bool_], test: Floats, group: Floats) -> Floats:
    """Will the next test be positive? The disorder is latent (naive Bayes on the findings), and so is a subgroup.

    Parameters
    ----------
    prior : (K,)
    findings : (F, K)
        P(finding | disorder).
    seen : (F,) of bool
        Which findings are there.
    test : (K, 2)
        P(positive | disorder, subgroup).
    group : (K, 2)
        P(subgroup | disorder).
    """
    likelihood = np.where(seen[:, None], findings, 1 - findings).prod(axis=0)
    weight = (prior * likelihood)[:, None] * group
    return np.stack([weight * (1 - test), weight * test], axis=-1)


def causal_values(counts: NDArray[np.int64], at: int) -> tuple[float, float, Floats, Floats]:
    """P(y | do(x)), P(y | x), P(z) and P(y | x, z) from a table of counts (z, x, y no/yes)."""
    prior = counts.sum(axis=(1, 2)) / counts.sum()
    conditional = counts[:, at, 1] / counts[:, at].sum(axis=1)
    observed = counts[:, at, 1].sum() / counts[:, at].sum()
    return float(prior @ conditional), float(observed), prior, conditional


def draw_items(rng: np.random.Generator, *, units: int, causal: int, identities: int, states: int) -> list[LatentItem]:
    """Items in the families in turn, both levels, then causal ones.

    ``identities`` 1 or 2 is how many latent variables of an item are asked about (of every second one where 2);
    ``states`` is the largest number of states.
    """
    width = len(str(units + causal))
    items = []
    for number in range(units):
        family, level = FAMILIES[number % 3], LEVELS[number // 3 % 2]
        joint, names, labels = _DRAWN[family](rng, states)
        target, decompositions = joint_decompositions(joint, names, labels)
        kept = decompositions[: 2 if identities > 1 and number // 6 % 2 == 0 else 1]
        items.append(LatentItem(f"{family}-{number + 1:0{width}d}", family, level, target, kept))
    for number in range(units, units + causal):
        counts = _confounded(rng, min(states, 2 + number % 2))
        do, observed, prior, conditional = causal_values(counts, number % 2)
        labels_z = tuple(f"z{i + 1}" for i in range(len(prior)))
        found = Decomposition("adjustment", labels_z, prior, conditional)
        items.append(LatentItem(f"{CAUSAL}-{number + 1:0{width}d}", CAUSAL, LEVELS[0], do, (found,), observed))
    return items


def _confounded(rng: np.random.Generator, states: int) -> NDArray[np.int64]:
    """Counts (z, x, y) in which z moves x and y, so that observing x is not setting it."""
    x, y = np.linspace(0.2, 0.8, states), np.linspace(0.15, 0.75, states)
    share = rng.dirichlet(np.full(states, 4))
    effect = rng.uniform(-0.15, 0.2)
    p_x = np.stack([1 - x, x], axis=1)
    p_y = np.clip(y[:, None] + np.array([0.0, effect]), 0.03, 0.97)
    expected = 600 * share[:, None, None] * p_x[..., None] * np.stack([1 - p_y, p_y], axis=2)
    return rng.poisson(expected) + 1


_Drawn = tuple[Floats, tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]]


def _source(rng: np.random.Generator, states: int) -> _Drawn:
    reliability = np.array([rng.uniform(0.8, 0.95), rng.uniform(0.4, 0.7)])
    right = int(rng.integers(0, 11))
    hard = np.array([rng.uniform(0.3, 0.8), rng.uniform(0.2, 0.8)])
    joint = source_joint(rng.uniform(0.2, 0.8), reliability, (right, 10 - right), rng.uniform(0.2, 0.6), hard)
    return joint, ("care", "topic"), (("careful", "careless"), ("easy", "hard"))


def _diagnostic(rng: np.random.Generator, states: int) -> _Drawn:
    k = max(states, 2)
    findings, test = rng.uniform(0.15, 0.85, size=(3, k)), rng.beta(0.8, 0.8, size=(k, 2))
    group = rng.dirichlet([4, 4], size=k)
    joint = diagnostic_joint(rng.dirichlet(np.full(k, 3)), findings, rng.random(3) < 0.5, test, group)
    return joint, ("disorder", "subgroup"), (tuple(f"d{i + 1}" for i in range(k)), ("younger", "older"))


def _claim(rng: np.random.Generator, states: int) -> _Drawn:
    k = int(rng.integers(2, max(states, 2) + 1))
    weight = (rng.dirichlet(np.full(2 * k, 0.3)) + 1e-6).reshape(k, 2)
    event = rng.beta(0.25, 0.25, size=(k, 2))
    joint = np.stack([weight * (1 - event), weight * event], axis=-1)
    return joint, ("premise", "context"), (tuple(f"p{i + 1}" for i in range(k)), ("c1", "c2"))


_DRAWN: Final = {"source": _source, "diagnostic": _diagnostic, "claim": _claim}
