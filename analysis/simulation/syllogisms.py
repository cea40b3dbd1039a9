"""Votes on syllogisms: base items in four versions, strategies, temperatures, and responders whose truth is known."""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

from analysis.errors import AnalysisError
from analysis.measures.belief import BELIEF_CELLS, belief_bias
from analysis.simulation.write_logs import SimulatedLogs

Floats = NDArray[np.float64]
TASK: Final = "syllogisms"
VARIANTS: Final = ("N", "X", "O", "OX")
#: Versions whose words mean something, so that their conclusions can be believed or not.
NATURAL: Final = frozenset({"N", "O"})
STRATEGIES: Final = ("zero_shot", "one_shot", "few_shot", "zero_shot_cot")
NO, YES, UNREADABLE, FAILED, NONE = 0, 1, 2, 3, -1
STUDY_TOML: Final = """\
# Written by evenhand simulate; every row of these logs is simulated.
[study]
name = "Syllogisms (simulated)"
unit = "unit"

[factor.strategy]
baseline = "zero_shot"
"""


@dataclass(frozen=True, slots=True)
class Syllogisms:
    """Size of the benchmark, and means and standard deviations of effects in log-odds of saying "valid".

    ``lean``, ``discrimination``, ``belief``, ``belief_discrimination`` are (mean, sd) over models of the tendency
    to say valid, of half the distance between valid and invalid, of half the shift from unbelievable to believable
    conclusions, and of what belief does to discrimination. ``item_sd`` moves all answers to a base item,
    ``model_item_sd`` those of one model, ``version_sd`` those of one model to one version. ``strategy_lean`` and
    ``strategy_discrimination`` are (effects by strategy), ``strategy_sd`` how much models differ in both.
    Above temperature 0 up to ``votes`` votes are cast, and no more than ``unanimous`` if those agree.
    ``unreadable`` and ``failed`` are rates of votes without an answer and of calls that failed. The last
    ``interrupted`` configurations of the last model end halfway.
    """

    models: int = 14
    base_items: int = 40
    strategies: tuple[str, ...] = STRATEGIES
    temperatures: tuple[str, ...] = ("0.0", "0.5", "1.0")
    votes: int = 10
    unanimous: int = 5
    lean: tuple[float, float] = (-0.4, 1.2)
    discrimination: tuple[float, float] = (2.5, 1.5)
    belief: tuple[float, float] = (0.5, 0.5)
    belief_discrimination: tuple[float, float] = (-0.1, 0.2)
    item_sd: float = 1.0
    model_item_sd: float = 1.0
    version_sd: float = 0.6
    strategy_lean: tuple[float, ...] = (0.0, 0.1, 0.1, -0.2)
    strategy_discrimination: tuple[float, ...] = (0.0, 0.0, -0.3, 0.3)
    strategy_sd: float = 0.4
    unreadable: float = 0.0
    failed: float = 0.0
    interrupted: int = 0
    long_share: float = 0.9

    def __post_init__(self) -> None:
        least = {"models": self.models, "votes": self.votes, "unanimous": self.unanimous}
        for name, size in least.items():
            if size < 1:
                raise AnalysisError(f"{name} must be at least 1, not {size}")
        if self.base_items < 4:
            raise AnalysisError(f"base_items must be at least 4, one for each cell, not {self.base_items}")
        sizes = {len(self.strategies), len(self.strategy_lean), len(self.strategy_discrimination)}
        if sizes != {len(self.strategies)} or not self.strategies or not self.temperatures:
            raise AnalysisError("each strategy needs one effect on lean and one on discrimination")
        if not (self.unreadable >= 0 and self.failed >= 0 and self.unreadable + self.failed <= 1):
            raise AnalysisError(
                "unreadable and failed are rates whose sum is at most 1, "
                f"not unreadable = {self.unreadable}, failed = {self.failed}"
            )
        configurations = len(self.strategies) * len(self.temperatures)
        if not 0 <= self.interrupted <= configurations:
            raise AnalysisError(f"interrupted must lie between 0 and {configurations}, not {self.interrupted}")


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of all models, base items × versions; arrays (I,).

    ``unit`` and ``variant`` are positions; ``valid`` is +-1, ``believed`` +-1, or 0 for nonsense; ``labelled`` is
    the believability that a data set notes, which calls nonsense unbelievable.
    """

    unit: NDArray[np.int64]
    variant: NDArray[np.int64]
    valid: NDArray[np.int64]
    believed: NDArray[np.int64]
    labelled: NDArray[np.bool_]

    def names(self) -> list[str]:
        """``SYL_001_N`` and so on."""
        return [f"SYL_{u + 1:03d}_{VARIANTS[v]}" for u, v in zip(self.unit, self.variant, strict=True)]


@dataclass(frozen=True, slots=True)
class ModelVotes:
    """Votes of one model: (S, T, I, votes) of codes, NONE where no vote was cast."""

    name: str
    votes: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class SimulatedSyllogisms:
    """Everything drawn: questions, votes by model, truth by model, settings."""

    questions: Questions
    models: tuple[ModelVotes, ...]
    truth: dict[str, Any]
    settings: Syllogisms


def questions(base_items: int) -> Questions:
    """Base items in turn valid and believable, valid and not, invalid and believable, invalid and not."""
    unit = np.repeat(np.arange(base_items), len(VARIANTS))
    variant = np.tile(np.arange(len(VARIANTS)), base_items)
    natural = np.array([name in NATURAL for name in VARIANTS])[variant]
    valid = np.where(unit % 4 < 2, 1, -1)
    believable = unit % 2 == 0
    return Questions(unit, variant, valid, np.where(natural, np.where(believable, 1, -1), 0), believable & natural)


def simulate_syllogisms(rng: np.random.Generator, settings: Syllogisms) -> SimulatedSyllogisms:
    """Draw responders, their votes, and what is true of them for the items drawn."""
    asked = questions(settings.base_items)
    shared = rng.normal(0, settings.item_sd, settings.base_items)
    drawn, truth = [], {}
    width = max(2, len(str(settings.models)))
    for m in range(settings.models):
        name = f"simulated/model-{m + 1:0{width}d}"
        coefficients = [
            float(rng.normal(*pair))
            for pair in (settings.lean, settings.discrimination, settings.belief, settings.belief_discrimination)
        ]
        p_yes = _p_yes(rng, asked, settings, coefficients, shared)
        votes = _votes(rng, p_yes, settings)
        if m == settings.models - 1 and settings.interrupted:
            _interrupt(votes, settings.interrupted)
        drawn.append(ModelVotes(name, votes))
        truth[name] = _truth(p_yes, asked, settings, coefficients)
    return SimulatedSyllogisms(asked, tuple(drawn), truth, settings)


def as_schema_rows(simulated: SimulatedSyllogisms) -> SimulatedLogs:
    """The votes as rows of the standard schema, without texts."""
    tables = tuple((model.name, _rows(model, simulated)) for model in simulated.models)
    return SimulatedLogs(TASK, tables, simulated.truth, asdict(simulated.settings), STUDY_TOML)


def majority_probabilities(p: Floats, votes: int, unanimous: int) -> tuple[Floats, Floats, Floats]:
    """Chance that yes, that no has the majority, and of a tie, when voting stops after ``unanimous`` equal votes."""
    if unanimous >= votes:
        unanimous = votes
    k = np.arange(votes + 1)
    total = binom.pmf(k, votes, p[..., None])
    q = 1 - p
    rest = votes - unanimous
    early_yes = p[..., None] ** unanimous * np.where(
        k >= unanimous, binom.pmf(np.maximum(k - unanimous, 0), rest, p[..., None]), 0.0
    )
    early_no = q[..., None] ** unanimous * binom.pmf(k, rest, p[..., None])
    mixed = total - early_yes - early_no
    yes = p**unanimous + mixed[..., 2 * k > votes].sum(axis=-1)
    no = q**unanimous + mixed[..., 2 * k < votes].sum(axis=-1)
    return yes, no, np.maximum(1 - yes - no, 0.0)


def _p_yes(
    rng: np.random.Generator, asked: Questions, settings: Syllogisms, coefficients: list[float], shared: Floats
) -> Floats:
    """Chance (S, I) that a vote says valid."""
    lean, discrimination, belief, mixed = coefficients
    strategies = len(settings.strategies)
    own = rng.normal(0, settings.strategy_sd, (2, strategies))
    by_lean = np.array(settings.strategy_lean) + own[0]
    by_discrimination = np.array(settings.strategy_discrimination) + own[1]
    units = shared + rng.normal(0, settings.model_item_sd, settings.base_items)
    version = rng.normal(0, settings.version_sd, len(asked.unit))
    v, u = asked.valid, asked.believed
    fixed = lean + discrimination * v + belief * u + mixed * v * u + units[asked.unit] + version
    return expit(fixed + by_lean[:, None] + by_discrimination[:, None] * v)


def _votes(rng: np.random.Generator, p_yes: Floats, settings: Syllogisms) -> NDArray[np.int8]:
    strategies, items = p_yes.shape
    shape = (strategies, len(settings.temperatures), items, settings.votes)
    said = (rng.random(shape) < p_yes[:, None, :, None]).astype(np.int8)
    lost = rng.random(shape)
    said[lost < settings.unreadable + settings.failed] = UNREADABLE
    said[lost < settings.failed] = FAILED
    first = said[..., : settings.unanimous]
    agreed = (first == first[..., :1]).all(axis=-1) & (first[..., 0] <= YES)
    said[..., settings.unanimous :][agreed] = NONE
    single = np.array([float(t) == 0 for t in settings.temperatures])
    said[:, single, :, 1:] = NONE
    return said


def _interrupt(votes: NDArray[np.int8], configurations: int) -> None:
    """End the last configurations halfway, in place: the array is still being drawn."""
    strategies, temperatures, items = votes.shape[:3]
    for at in range(strategies * temperatures - configurations, strategies * temperatures):
        votes[at // temperatures, at % temperatures, items // 2 :] = NONE


def _truth(p_yes: Floats, asked: Questions, settings: Syllogisms, coefficients: list[float]) -> dict[str, Any]:
    """What is true of one model for the items drawn, of single votes and of majorities (a tie is no answer)."""
    yes, no, tie = np.stack(
        [
            (p_yes, 1 - p_yes, np.zeros_like(p_yes))
            if float(t) == 0
            else majority_probabilities(p_yes, settings.votes, settings.unanimous)
            for t in settings.temperatures
        ],
        axis=1,
    )
    names = ("lean", "discrimination", "belief", "belief_discrimination")
    vote = np.broadcast_to(p_yes, (len(settings.temperatures), *p_yes.shape))
    return {
        "coefficients": dict(zip(names, coefficients, strict=True)),
        "votes": _measures(vote, 1 - vote, asked),
        "majority": _measures(yes, no, asked) | {"ties": float(tie.mean())},
        "strategies": {
            name: _measures(yes[:, s], no[:, s], asked)["accuracy"] for s, name in enumerate(settings.strategies)
        },
    }


def _measures(yes: Floats, no: Floats, asked: Questions) -> dict[str, Any]:
    """Expected measures from the chances (..., I) of saying yes and no."""
    valid = asked.valid == 1
    right = np.where(valid, yes, no)
    cells = [
        right[..., (asked.valid == v) & (asked.believed == u)].mean() for v, u in ((1, 1), (1, -1), (-1, 1), (-1, -1))
    ]
    versions = (len(asked.unit) // len(VARIANTS), len(VARIANTS))
    alike = yes.reshape(*yes.shape[:-1], *versions).prod(-1) + no.reshape(*no.shape[:-1], *versions).prod(-1)
    complete = (yes + no).reshape(*yes.shape[:-1], *versions).prod(-1)
    return {
        "accuracy": float(right.mean()),
        "recall": float(right[..., valid].mean()),
        "specificity": float(right[..., ~valid].mean()),
        "yes_rate": float(yes.mean()),
        "cells": dict(zip(BELIEF_CELLS, map(float, cells), strict=True)),
        "belief_bias": float(belief_bias(np.array(cells))),
        "consistency_all": _consistency(alike.reshape(-1, versions[0]), complete.reshape(-1, versions[0])),
    }


def _consistency(alike: Floats, complete: Floats) -> float:
    """Mean over base items, from chances (C, U) that a set is complete and alike, and that it is complete.

    A base item has a share where at least one of its sets is complete.
    """
    seen = 1 - (1 - complete).prod(axis=0)
    return float(np.average(alike.sum(axis=0) / np.maximum(complete.sum(axis=0), 1e-12), weights=seen))


def _rows(model: ModelVotes, simulated: SimulatedSyllogisms) -> pa.Table:
    asked, settings = simulated.questions, simulated.settings
    s, t, i, k = np.nonzero(model.votes != NONE)
    code = model.votes[s, t, i, k]
    names = np.array(asked.names(), dtype=object)
    believed = np.array(["unbelievable", None, "believable"], dtype=object)[asked.believed + 1]
    columns: dict[str, Any] = {
        "model": [model.name] * len(s),
        "task": [TASK] * len(s),
        "item": names[i],
        "unit": np.array([name.rsplit("_", 1)[0] for name in names], dtype=object)[i],
        "sample": (k + 1).astype(str),
        "answer": np.array(["no", "yes", None, None], dtype=object)[code],
        "gold": np.where(asked.valid == 1, "yes", "no")[i],
        "status": np.array(["answered", "answered", "unparsed", "errored"], dtype=object)[code],
        "validity": np.where(asked.valid == 1, "valid", "invalid")[i],
        "variant": np.array(VARIANTS)[asked.variant][i],
        "believability": believed[i],
        "strategy": np.array(settings.strategies)[s],
        "temperature": np.array(settings.temperatures)[t],
        "meta.gold_believability": np.where(asked.labelled, "believable", "unbelievable")[i],
    }
    return pa.table({name: pa.array(list(values), pa.string()) for name, values in columns.items()})
