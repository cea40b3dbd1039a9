"""Logs of a plain yes/no benchmark: questions with a gold answer and nothing else."""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from scipy.special import expit

from analysis.errors import AnalysisError
from analysis.measures.yes_no_bias import TWO_CLASSES, class_accuracies
from analysis.simulation.outcomes import draw_outcomes, outcome_columns
from analysis.simulation.responders import Responder
from analysis.simulation.truth import mean_expit, truth_of_cells, yes_log_odds
from analysis.simulation.write_logs import SimulatedLogs

TASK: Final = "yes-no"
STUDY_TOML: Final = """\
# Written by evenhand simulate; every row of these logs is simulated.
[study]
name = "Yes/no questions (simulated)"
kind = "judgement"
"""


@dataclass(frozen=True, slots=True)
class YesNo:
    """Size of the benchmark and standard deviations of its items, in log-odds of saying Yes.

    Half of the items (the larger half of an odd number) have the gold answer yes. A responder's
    accuracies are the means of its two cells where Yes, and where No, is right.
    """

    responders: tuple[Responder, ...]
    items: int = 400
    samples: int = 1
    item_yes_sd: float = 0.4
    item_difficulty_sd: float = 0.8
    answers: bool = False
    long_share: float = 0.9

    def __post_init__(self) -> None:
        for name, size, least in (("items", self.items, 2), ("samples", self.samples, 1)):
            if size < least:
                raise AnalysisError(f"{name} must be at least {least}, not {size}")
        if not self.responders:
            raise AnalysisError("at least one responder is needed")


def simulate_yes_no(rng: np.random.Generator, settings: YesNo) -> SimulatedLogs:
    """Logs of every responder over one set of items; the truth is over the population of items."""
    width = len(str(settings.items))
    items = np.repeat(np.arange(settings.items), settings.samples)
    gold_yes = items % 2 == 0
    names = pa.array([f"question-{i + 1:0{width}d}" for i in range(settings.items)])
    fixed = {
        "task": pa.array([TASK] * len(items)),
        "item": names.take(pa.array(items)),
        "gold": pa.array(np.where(gold_yes, "yes", "no").astype(object), pa.string()),
    }
    if settings.samples > 1:
        fixed["sample"] = pa.array([str(s) for s in range(settings.samples)] * settings.items)
    lean, ease = rng.normal(size=(2, settings.items)) * [[settings.item_yes_sd], [settings.item_difficulty_sd]]
    tendency = lean[items] + np.where(gold_yes, 1, -1) * ease[items]
    tables, truths = [], {}
    for responder in settings.responders:
        accuracy = class_accuracies(np.array(responder.cells))
        centre = yes_log_odds(np.where(gold_yes, *accuracy), gold_yes)
        p_yes = expit(centre + responder.spread * tendency)
        outcome = draw_outcomes(rng, p_yes, gold_yes, responder)
        given = outcome_columns(rng, outcome, answers=settings.answers, long_share=settings.long_share)
        tables.append((responder.name, pa.table({"model": pa.array([responder.name] * len(items)), **fixed, **given})))
        truths[responder.name] = _truth(settings, responder)
    return SimulatedLogs(TASK, tuple(tables), truths, asdict(settings), STUDY_TOML)


def _truth(settings: YesNo, responder: Responder) -> dict[str, Any]:
    gold_yes = np.array([True, False])
    sd = responder.spread * float(np.hypot(settings.item_yes_sd, settings.item_difficulty_sd))
    rate = mean_expit(yes_log_odds(class_accuracies(np.array(responder.cells)), gold_yes), sd)
    uncertain = np.array([responder.uncertain_yes, responder.uncertain_no])
    found = {"population": truth_of_cells(TWO_CLASSES, np.where(gold_yes, rate, 1 - rate), uncertain)}
    return {"items": found, "uncertain_yes": responder.uncertain_yes, "uncertain_no": responder.uncertain_no}
