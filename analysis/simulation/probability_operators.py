"""Logs of a benchmark on probability operators: arguments × surfaces × question forms × polarities."""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import expit

from analysis.errors import AnalysisError
from analysis.measures.yes_no_bias import FOUR_CELLS
from analysis.simulation.operator_settings import settings_text
from analysis.simulation.outcomes import draw_outcomes, outcome_columns
from analysis.simulation.probability_questions import (
    FORMS,
    INVALID,
    NOT_FORMS,
    VALID,
    Argument,
    question,
    surface_factors,
)
from analysis.simulation.responders import CELL_SIGNS, Responder
from analysis.simulation.truth import mean_expit, truth_of_cells, yes_log_odds
from analysis.simulation.write_logs import SimulatedLogs

TASK: Final = "probability-operators"


@dataclass(frozen=True, slots=True)
class ProbabilityOperators:
    """Size of the benchmark and standard deviations of its effects, in log-odds of saying Yes.

    ``template_sd`` and ``form_sd`` hold for each model by itself; ``surface_yes_sd`` moves all answers
    to a surface towards Yes, ``surface_difficulty_sd`` moves them towards the right answer, and
    ``surface_shared`` is the part of both variances that all models have in common.
    ``follow_pull`` and ``not_pull`` are by how much negated questions of the form "follow", and those
    with the word "not", are answered as if affirmative. ``omit_block`` leaves out the negated direct
    questions of the last valid argument. ``activity_sd``, ``nationality_sd`` and ``gender_sd`` move all
    answers of a model to surfaces of one level towards Yes; by default nothing depends on these factors.
    ``sizes`` has the family and size of each responder, or None.
    """

    responders: tuple[Responder, ...]
    surfaces: int = 80
    valid_templates: int = len(VALID)
    invalid_templates: int = len(INVALID)
    forms: tuple[str, ...] = tuple(FORMS)
    not_forms: bool = True
    omit_block: bool = False
    template_sd: float = 0.6
    form_sd: float = 0.3
    surface_yes_sd: float = 0.4
    surface_difficulty_sd: float = 0.3
    surface_shared: float = 0.5
    follow_pull: float = 0.8
    not_pull: float = 1.0
    activity_sd: float = 0.0
    nationality_sd: float = 0.0
    gender_sd: float = 0.0
    sizes: tuple[tuple[str, float] | None, ...] = ()
    answers: bool = False
    prompts: bool = False
    long_share: float = 0.9

    def __post_init__(self) -> None:
        sizes = {
            "surfaces": (self.surfaces, 10**6),
            "valid_templates": (self.valid_templates, len(VALID)),
            "invalid_templates": (self.invalid_templates, len(INVALID)),
            "responders": (len(self.responders), 10**5),
        }
        for name, (size, largest) in sizes.items():
            if not 1 <= size <= largest:
                raise AnalysisError(f"{name} must lie between 1 and {largest}, not {size}")
        unknown = [form for form in self.forms if form not in FORMS]
        if unknown or not self.forms:
            raise AnalysisError(f"forms must be some of {', '.join(FORMS)}, not {', '.join(unknown) or 'none'}")
        if self.sizes and len(self.sizes) != len(self.responders):
            raise AnalysisError(f"sizes must name {len(self.responders)} responders, not {len(self.sizes)}")
        if not 0 <= self.surface_shared <= 1:
            raise AnalysisError(f"surface_shared must lie in [0, 1], not {self.surface_shared}")


@dataclass(frozen=True, slots=True)
class _Cell:
    """One argument in one wording: a block of as many prompts as there are surfaces."""

    template: int
    argument: Argument
    valid: bool
    form: str
    affirmative: bool
    negation: str | None
    wording: str

    @property
    def gold_yes(self) -> bool:
        return self.valid == self.affirmative

    @property
    def name(self) -> str:
        return ("V" if self.valid else "I") + ("A" if self.affirmative else "N")


def simulate_probability_operators(rng: np.random.Generator, settings: ProbabilityOperators) -> SimulatedLogs:
    """Logs of every responder over one set of prompts, with the truth about each.

    Returns
    -------
    SimulatedLogs
        Its truth has, for each model, cells and measures over the population of surfaces
        (``surfaces = population``) and over the surfaces drawn (``these``), for the templates and
        forms drawn, without the "not" questions.
    """
    blocks = _blocks(settings)
    shared = rng.normal(size=(2, settings.surfaces)) * np.sqrt(settings.surface_shared)
    fixed = _item_columns(blocks, settings)
    tables, truths = [], {}
    for m, responder in enumerate(settings.responders):
        centre = _centre(rng, blocks, settings, responder)
        surface = shared + rng.normal(size=shared.shape) * np.sqrt(1 - settings.surface_shared)
        levels = _level_effects(rng, settings)
        p_yes = _p_yes(centre, surface, levels, blocks, settings, responder)
        gold_yes = np.repeat([block.gold_yes for block in blocks], settings.surfaces)
        outcome = draw_outcomes(rng, p_yes.ravel(), gold_yes, responder)
        given = outcome_columns(rng, outcome, answers=settings.answers, long_share=settings.long_share)
        named = _model_columns(responder, settings.sizes[m] if settings.sizes else None, len(outcome))
        tables.append((responder.name, pa.table({**named, **fixed, **given})))
        truths[responder.name] = _truth(centre, p_yes, levels, blocks, settings, responder)
    return SimulatedLogs(
        TASK,
        tuple(tables),
        truths,
        asdict(settings),
        settings_text(tuple(b.argument for b in blocks), not_forms=settings.not_forms),
    )


def _model_columns(responder: Responder, size: tuple[str, float] | None, rows: int) -> dict[str, pa.Array]:
    """Name, family and size of a responder, once per row."""
    index = pa.array(np.zeros(rows, np.int32))
    columns = {"model": pa.array([responder.name]).take(index)}
    if size is not None:
        columns["model_family"] = pa.array([size[0]]).take(index)
        columns["model_size"] = pa.array([size[1]]).take(index)
    return columns


def _blocks(settings: ProbabilityOperators) -> tuple[_Cell, ...]:
    arguments = [(a, True) for a in VALID[: settings.valid_templates]]
    arguments += [(a, False) for a in INVALID[: settings.invalid_templates]]
    blocks = []
    for t, (argument, valid) in enumerate(arguments):
        for form in settings.forms:
            affirmative, negated, kind = FORMS[form]
            blocks.append(_Cell(t, argument, valid, form, True, None, affirmative))
            omitted = settings.omit_block and form == "direct" and t == settings.valid_templates - 1
            if not omitted:
                blocks.append(_Cell(t, argument, valid, form, False, kind, negated))
            if settings.not_forms and form in NOT_FORMS:
                blocks.append(_Cell(t, argument, valid, form, False, "not", NOT_FORMS[form]))
    return tuple(blocks)


def _item_columns(blocks: tuple[_Cell, ...], settings: ProbabilityOperators) -> dict[str, pa.Array]:
    """Columns that are the same for every model."""
    width = len(str(settings.surfaces))
    surfaces = [f"surface-{i + 1:0{width}d}" for i in range(settings.surfaces)]
    stems = [f"{b.argument.name}/{b.form}/{b.negation or 'affirmative'}" for b in blocks]
    per_block: dict[str, list[str | None]] = {
        "gold": ["yes" if b.gold_yes else "no" for b in blocks],
        "validity": ["valid" if b.valid else "invalid" for b in blocks],
        "polarity": ["affirmative" if b.affirmative else "negated" for b in blocks],
        "template": [b.argument.name for b in blocks],
        "form": [b.form for b in blocks],
        "negation": [b.negation for b in blocks],
        "item_family": [b.argument.pattern for b in blocks],
    }
    index = pa.array(np.repeat(np.arange(len(blocks), dtype=np.int32), settings.surfaces))
    columns: dict[str, pa.Array] = {
        "task": pa.array([TASK]).take(pa.array(np.zeros(len(index), np.int32))),
        "item": pa.array([f"{stem}/{i + 1:0{width}d}" for stem in stems for i in range(settings.surfaces)]),
        "unit": pa.array(surfaces * len(blocks)),
    }
    columns |= {name: pa.array(levels, pa.string()).take(index) for name, levels in per_block.items()}
    spoken = [surface_factors(i) for i in range(settings.surfaces)]
    columns |= {f"factor.{name}": pa.array([of[name] for of in spoken] * len(blocks)) for name in spoken[0]}
    if settings.prompts:
        asked = [question(b.argument, b.wording, i) for b in blocks for i in range(settings.surfaces)]
        columns["prompt"] = pa.array(asked)
    return columns


def _centre(
    rng: np.random.Generator, blocks: tuple[_Cell, ...], settings: ProbabilityOperators, responder: Responder
) -> NDArray[np.float64]:
    """Log-odds of Yes for each block at a surface without effect."""
    accuracy = np.array([responder.cells[FOUR_CELLS.index(b.name)] for b in blocks])
    gold_yes = np.array([b.gold_yes for b in blocks])
    n_templates = settings.valid_templates + settings.invalid_templates
    template = rng.normal(0, settings.template_sd, size=(2, n_templates))
    form = rng.normal(0, settings.form_sd, size=(2, len(settings.forms)))
    t, f = np.array([b.template for b in blocks]), np.array([settings.forms.index(b.form) for b in blocks])
    p = np.array([1 if b.affirmative else -1 for b in blocks])
    v = np.array([1 if b.valid else -1 for b in blocks])
    pull = np.array([settings.not_pull * (b.negation == "not") for b in blocks])
    pull += np.array([settings.follow_pull * (b.form == "follow" and not b.affirmative) for b in blocks])
    effects = template[0, t] + template[1, t] * p / 2 + form[0, f] + form[1, f] * p / 2 + pull * v
    return yes_log_odds(accuracy, gold_yes) + responder.spread * effects


def _level_effects(rng: np.random.Generator, settings: ProbabilityOperators) -> NDArray[np.float64]:
    """Log-odds that activity, nationality and gender of each surface add to Yes."""
    total = np.zeros(settings.surfaces)
    sds = {"activity": settings.activity_sd, "nationality": settings.nationality_sd, "gender": settings.gender_sd}
    for name, sd in sds.items():
        if sd > 0:
            levels, code = np.unique([surface_factors(i)[name] for i in range(settings.surfaces)], return_inverse=True)
            total += rng.normal(0, sd, size=len(levels))[code]
    return total


def _p_yes(
    centre: NDArray[np.float64],
    surface: NDArray[np.float64],
    levels: NDArray[np.float64],
    blocks: tuple[_Cell, ...],
    settings: ProbabilityOperators,
    responder: Responder,
) -> NDArray[np.float64]:
    """Probability of Yes, blocks × surfaces."""
    sign = np.array([CELL_SIGNS[b.name][0] * CELL_SIGNS[b.name][1] for b in blocks])[:, None]
    tendency = levels + settings.surface_yes_sd * surface[0] + sign * settings.surface_difficulty_sd * surface[1]
    return expit(centre[:, None] + responder.spread * tendency)


def _truth(
    centre: NDArray[np.float64],
    p_yes: NDArray[np.float64],
    levels: NDArray[np.float64],
    blocks: tuple[_Cell, ...],
    settings: ProbabilityOperators,
    responder: Responder,
) -> dict[str, Any]:
    sd = responder.spread * float(np.hypot(settings.surface_yes_sd, settings.surface_difficulty_sd))
    gold_yes = np.array([b.gold_yes for b in blocks])
    kinds, share = np.unique(responder.spread * levels, return_counts=True)
    population = sum(mean_expit(centre + kind, sd) * n for kind, n in zip(kinds, share, strict=True)) / len(levels)
    yes_rate = {"population": population, "these": p_yes.mean(axis=1)}
    members = [np.array([b.name == cell and b.negation != "not" for b in blocks]) for cell in FOUR_CELLS]
    uncertain = np.array([responder.uncertain_yes if c in ("VA", "IN") else responder.uncertain_no for c in FOUR_CELLS])
    found, parts = {}, {}
    for surfaces, rate in yes_rate.items():
        accuracy = np.where(gold_yes, rate, 1 - rate)
        cells = np.array([accuracy[member].mean() for member in members])
        found[surfaces] = truth_of_cells(FOUR_CELLS, cells, uncertain)
        unread = np.where(gold_yes, responder.uncertain_yes, responder.uncertain_no)
        parts[surfaces] = _true_parts(accuracy * (1 - unread), blocks)
    return {
        "surfaces": found,
        "parts": parts,
        "uncertain_yes": responder.uncertain_yes,
        "uncertain_no": responder.uncertain_no,
    }


def _true_parts(accuracy: NDArray[np.float64], blocks: tuple[_Cell, ...]) -> dict[str, dict[str, float]]:
    """Accuracy by form, by template and by kind of negation where it is asked both ways; uncertain answers wrong."""
    paired = [b.negation != "not" for b in blocks]
    both_ways = {(b.template, b.form) for b in blocks if b.negation == "not"}
    groups: dict[str, dict[str, list[float]]] = {"form": {}, "template": {}, "negation": {}}
    for block, value, usual in zip(blocks, accuracy.tolist(), paired, strict=True):
        if usual:
            groups["form"].setdefault(block.form, []).append(value)
            groups["template"].setdefault(block.argument.name, []).append(value)
        if (block.template, block.form) in both_ways and block.negation in ("prefix", "not"):
            groups["negation"].setdefault(block.negation, []).append(value)
    return {name: {level: float(np.mean(v)) for level, v in found.items()} for name, found in groups.items()}
