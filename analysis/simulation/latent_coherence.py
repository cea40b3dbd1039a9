"""Logs of a benchmark on the law of total probability, from responders whose incoherence is known."""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import expit, logit

from analysis.errors import AnalysisError
from analysis.schema.status import Status
from analysis.simulation.latent_items import CAUSAL, LatentItem, draw_items
from analysis.simulation.latent_responders import RESPONDERS, CoherenceResponder
from analysis.simulation.write_logs import SimulatedLogs

Floats = NDArray[np.float64]
TASK: Final = "latent-coherence"
#: Part of the noise variance that lies in the direct answer, which all identities of an item share.
_SHARED_NOISE: Final = 0.6
#: Part of the variance of the persistent residual that the identities of an item share.
_SHARED_MEAN: Final = 0.5
STUDY_TOML: Final = """\
# Written by evenhand simulate; every row of these logs is simulated.
[study]
name = "Latent coherence (simulated)"
kind = "probability"
"""


@dataclass(frozen=True, slots=True)
class LatentCoherence:
    """Size of the benchmark: ``units`` items with latent variables and ``causal`` ones.

    ``reworded`` of the former are asked in all ``wordings``, the rest in one. ``identities`` (1 or 2) is the largest
    number of latent variables per item, ``states`` the largest number of states. ``observational`` asks causal items
    for P(y | x) too.
    """

    responders: tuple[CoherenceResponder, ...] = RESPONDERS
    units: int = 90
    causal: int = 5
    reworded: int = 57
    wordings: int = 3
    identities: int = 2
    states: int = 3
    observational: bool = True

    def __post_init__(self) -> None:
        if not self.responders or self.units < 1 or self.causal < 0:
            raise AnalysisError("at least one responder and one item are needed")
        if not 0 <= self.reworded <= self.units or self.wordings < 1:
            raise AnalysisError(f"reworded must lie between 0 and {self.units}, wordings be at least 1")
        if self.identities not in (1, 2) or not 2 <= self.states <= 20:
            raise AnalysisError("identities must be 1 or 2, states between 2 and 20")


def full_size(responders: tuple[CoherenceResponder, ...] = RESPONDERS) -> LatentCoherence:
    """3,198 items, each in three wordings, five queries per wording: 335,790 rows of seven models."""
    return LatentCoherence(responders, units=3198, causal=0, reworded=3198, identities=1, states=2, observational=False)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Queries in order of the log: columns, and where the answers of each instance stand.

    ``instance`` rows are (item, decomposition, wording); ``target_row`` and ``state_rows`` (n, S; -1 beyond the last
    state; latent then conditional, (2, n, S)) are rows of the log.
    """

    columns: dict[str, list[Any]]
    instance: NDArray[np.int64]
    target_row: NDArray[np.int64]
    state_rows: NDArray[np.int64]
    observational_row: dict[int, list[int]]


def simulate_latent_coherence(rng: np.random.Generator, settings: LatentCoherence) -> SimulatedLogs:
    """Logs of every responder over one set of items.

    Returns
    -------
    SimulatedLogs
        Its truth has, for each model, the persistent residual, its direction and spread, and the noise, of these
        instances asked in all wordings, and of the population that they are drawn from (log-odds).
    """
    items = draw_items(
        rng, units=settings.units, causal=settings.causal, identities=settings.identities, states=settings.states
    )
    layout = _layout(items, settings)
    fixed = {name: pa.array(values) for name, values in layout.columns.items()}
    tables, truths = [], {}
    for responder in settings.responders:
        answers, truth = _answers(rng, items, layout, settings, responder)
        given = _logged(rng, answers, responder)
        name = pa.array([responder.name]).take(pa.array(np.zeros(len(answers), np.int32)))
        tables.append((responder.name, pa.table({"model": name, **fixed, **given})))
        truths[responder.name] = truth
    return SimulatedLogs(TASK, tuple(tables), truths, asdict(settings), STUDY_TOML)


def _layout(items: list[LatentItem], settings: LatentCoherence) -> _Layout:
    names = ("item", "unit", "identity", "role", "state", "wording", "item_family", "level", "truth")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    instance, targets, state_rows = [], [], []
    observational: dict[int, list[int]] = {}

    def ask(item: LatentItem, wording: str, identity: str, role: str, state: str, truth: float) -> int:
        parts = [part for part in (role, identity, state) if part]
        values = (f"{item.unit}/{wording}/{'-'.join(parts)}", item.unit, identity, role, state, wording, item.family,
                  item.level, truth)  # fmt: skip
        for name, value in zip(names, values, strict=True):
            columns[name].append(value)
        return len(columns["item"]) - 1

    for number, item in enumerate(items):
        for k in range(settings.wordings if number < settings.reworded else 1):
            wording = f"w{k + 1}"
            direct = "do" if item.family == CAUSAL else "target"
            target = ask(item, wording, "", direct, "", item.target)
            for j, part in enumerate(item.decompositions):
                rows = np.full((2, settings.states), -1)
                for s, state in enumerate(part.states):
                    rows[0, s] = ask(item, wording, part.name, "latent", state, part.prior[s])
                    rows[1, s] = ask(item, wording, part.name, "conditional", state, part.conditional[s])
                instance.append((number, j, k))
                targets.append(target)
                state_rows.append(rows)
            if item.observational is not None and settings.observational:
                row = ask(item, wording, "", "observational", "", item.observational)
                observational.setdefault(number, []).append(row)
    stacked = np.stack(state_rows, axis=1)
    return _Layout(columns, np.array(instance), np.array(targets), stacked, observational)


def _answers(
    rng: np.random.Generator,
    items: list[LatentItem],
    layout: _Layout,
    settings: LatentCoherence,
    responder: CoherenceResponder,
) -> tuple[Floats, dict[str, Any]]:
    """Probabilities by row of the log before rounding, and the truth about the responder."""
    number, part, wording = layout.instance.T
    error = responder.belief_error * np.array([2.0 if item.level == "qualitative" else 1.0 for item in items])
    belief = logit(np.array([item.target for item in items])) + error * rng.normal(size=len(items))
    scale = _noise_scale(rng, len(items), responder)
    mean = _persistent(rng, len(items), scale, responder)
    latent, condition = _component_beliefs(rng, items, layout, error, scale, responder)
    direct = scale[:, None] * np.sqrt(_SHARED_NOISE) * _noise(rng, (len(items), settings.wordings), responder)
    own = scale[number] * np.sqrt(1 - _SHARED_NOISE) * _noise(rng, (len(number),), responder)
    wanted = belief[number] - mean[number, part] - own
    answers = np.full(len(layout.columns["item"]), np.nan)
    answers[layout.target_row] = expit(belief[number] + direct[number, wording])
    real = layout.state_rows[0] >= 0
    shift = _shift(latent, condition, real, expit(wanted))
    answers[layout.state_rows[0][real]] = latent[real]
    answers[layout.state_rows[1][real]] = expit(condition + shift[:, None])[real]
    for item, rows in layout.observational_row.items():
        truth = items[item].observational
        answers[rows] = expit(logit(truth) + error[item] * rng.normal())
    return answers, _truth(items, settings, mean, scale, responder)


def _noise_scale(rng: np.random.Generator, n: int, responder: CoherenceResponder) -> Floats:
    """Standard deviation of the noise of each item, with the responder's root mean square."""
    if responder.noise_kind == "lognormal":
        # E[exp(2 sd z)] = exp(2 sd^2): the root mean square is the responder's noise.
        return responder.noise * np.exp(0.6 * rng.normal(size=n) - 0.36)
    if responder.noise_kind == "mostly_zero":
        quiet = 0.01
        loud = np.sqrt(max(responder.noise**2 - 0.7 * quiet**2, 0.0) / 0.3)
        return np.where(rng.random(n) < 0.7, quiet, loud)
    return np.full(n, responder.noise)


def _noise(rng: np.random.Generator, shape: tuple[int, ...], responder: CoherenceResponder) -> Floats:
    """Noise of variance 1."""
    if responder.noise_kind == "t3":
        return rng.standard_t(3, size=shape) / np.sqrt(3)
    return rng.normal(size=shape)


def _persistent(rng: np.random.Generator, n: int, scale: Floats, responder: CoherenceResponder) -> Floats:
    """Persistent residual (items, 2) of both identities of each item."""
    shared, own = rng.normal(size=(n, 1)), rng.normal(size=(n, 2))
    z = np.sqrt(_SHARED_MEAN) * shared + np.sqrt(1 - _SHARED_MEAN) * own
    on = np.ones(n, dtype=bool)
    if responder.active < 1:
        order = np.argsort(-scale, kind="stable") if responder.linked else rng.permutation(n)
        on[order[max(1, round(responder.active * n)) :]] = False
    return np.where(on[:, None], (responder.lean + responder.spread * z) / np.sqrt(responder.active), 0.0)


def _component_beliefs(
    rng: np.random.Generator,
    items: list[LatentItem],
    layout: _Layout,
    error: Floats,
    scale: Floats,
    responder: CoherenceResponder,
) -> tuple[Floats, Floats]:
    """P(state) and log-odds of P(event | state) by instance row and state; one belief, in every wording with noise."""
    number, part, _ = layout.instance.T
    states = layout.state_rows.shape[2]
    latent, condition = np.zeros((len(items), 2, states)), np.zeros((len(items), 2, states))
    for i, item in enumerate(items):
        for j, found in enumerate(item.decompositions):
            k = len(found.states)
            weight = found.prior * np.exp(error[i] * rng.normal(size=k))
            latent[i, j, :k] = weight / weight.sum() * (1 + responder.sum_error * rng.normal())
            condition[i, j, :k] = logit(np.clip(found.conditional, 1e-4, 1 - 1e-4)) + error[i] * rng.normal(size=k)
    # States are reworded too; the decomposition is what the shift of the conditionals makes it.
    moved = latent[number, part] * np.exp(0.5 * scale[number, None] * rng.normal(size=(len(number), states)))
    total = latent[number, part].sum(axis=1, keepdims=True)
    moved *= total / moved.sum(axis=1, keepdims=True)
    return np.clip(moved, 0, 1), condition[number, part]


def _shift(latent: Floats, condition: Floats, real: NDArray[np.bool_], wanted: Floats) -> Floats:
    """Common shift of the log-odds of P(event | state) such that sum P(state) P(event | state) is ``wanted``."""
    weight = np.where(real, latent, 0.0)
    low, high = np.full(len(wanted), -30.0), np.full(len(wanted), 30.0)
    for _ in range(60):
        middle = (low + high) / 2
        below = (weight * expit(condition + middle[:, None])).sum(axis=1) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def _truth(
    items: list[LatentItem], settings: LatentCoherence, mean: Floats, scale: Floats, responder: CoherenceResponder
) -> dict[str, Any]:
    reworded = settings.reworded if settings.wordings > 1 else settings.units
    pairs = [(i, j) for i in range(reworded) for j in range(len(items[i].decompositions))]
    mu = np.array([mean[i, j] for i, j in pairs])
    noise = np.array([scale[i] for i, _ in pairs])
    these = {
        "persistent": float(np.sqrt((mu**2).mean())) if len(mu) else 0.0,
        "direction": float(mu.mean()) if len(mu) else 0.0,
        "spread": float(mu.std()) if len(mu) else 0.0,
        "noise": float(np.sqrt((noise**2).mean())) if len(mu) else 0.0,
        "instances": len(pairs),
    }
    # Only a share of items is active there, each with effects 1 / sqrt(share) as large.
    square, centre = responder.lean**2 + responder.spread**2, responder.lean * np.sqrt(responder.active)
    population = {
        "persistent": float(np.sqrt(square)),
        "direction": float(centre),
        "spread": float(np.sqrt(square - centre**2)),
        "noise": responder.noise,
    }
    return {"instances": {"these": these, "population": population}}


def _logged(rng: np.random.Generator, answers: Floats, responder: CoherenceResponder) -> dict[str, pa.Array]:
    """Columns of the answers: rounded probabilities, gaps, tokens."""
    draw = rng.random(len(answers))
    gone, unread = draw < responder.missing, draw >= 1 - responder.unparsed
    rounded = np.round(np.clip(answers, 0, 1), responder.digits)
    status = np.full(len(answers), str(Status.ANSWERED), dtype=object)
    status[gone], status[unread] = str(Status.MISSING), str(Status.UNPARSED)
    thought = np.round(responder.tokens * np.exp(0.7 * rng.normal(size=len(answers)))).astype(np.int64)
    there = ~gone
    return {
        "probability": pa.array(rounded, mask=gone | unread),
        "status": pa.array(status, pa.string()),
        "tokens_in": pa.array(np.full(len(answers), 220, np.int64), mask=~there),
        "tokens_out": pa.array(thought + 20, mask=~there),
        "tokens_reasoning": pa.array(thought, mask=~there),
        "latency": pa.array(np.round(1 + thought / 90, 2), mask=~there),
    }
