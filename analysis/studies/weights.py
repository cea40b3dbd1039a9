"""How a task's counts are weighted and which unit its claim is about, as the study says."""

from typing import Any, Final

import pandas as pd

from analysis.errors import AnalysisError
from analysis.reduction.units import unit_sums
from analysis.schema.task_design import TaskDesign

#: Weights of `study.toml` -> how `unit_sums` weighs rows within a cell. `cell` concerns the overall accuracy alone.
WEIGHTING: Final[dict[str, dict[str, Any]]] = {
    "micro": {},
    "prompt": {"weighting": "item"},
    "template": {"strata": "template"},
    "form": {"strata": "form"},
    "cell": {},
}


def weighted_sums(counts: pd.DataFrame, design: TaskDesign) -> pd.DataFrame:
    """Sums by unit under the study's weights and target.

    Raises
    ------
    AnalysisError
        The weights or the target need a column that the task does not have.
    """
    choice = WEIGHTING[design.weights]
    strata = choice.get("strata")
    if strata is not None and strata not in counts.columns:
        raise AnalysisError(_lacks(design, f"weights = {design.weights!r}", strata, "weights = 'micro'"))
    if design.target == "new_templates":
        if "template" not in counts.columns:
            raise AnalysisError(_lacks(design, "target = 'new_templates'", "template", "target = 'these'"))
        counts = counts.assign(unit=counts["template"])
    return unit_sums(counts, **choice)


def weights_used(design: TaskDesign) -> str:
    """Weights by name: with gold answers alone, micro means that every item weighs the same."""
    return "item" if design.weights == "micro" and design.cells != "validity_polarity" else design.weights


def unit_used(design: TaskDesign) -> str:
    """Name of the independent unit: the template where the claim is about new ones."""
    return "template" if design.target == "new_templates" else design.unit


def overall_accuracy(estimates: pd.DataFrame, design: TaskDesign) -> pd.DataFrame:
    """Estimates in which the overall accuracy is the mean of the cells, where the study weighs by cell."""
    if design.weights != "cell" or design.cells is None:
        return estimates
    others = estimates[estimates["measure"] != "accuracy"]
    mean = estimates[estimates["measure"] == "balanced_accuracy"].assign(measure="accuracy")
    return pd.concat([mean, others], ignore_index=True)


def _lacks(design: TaskDesign, setting: str, column: str, instead: str) -> str:
    task = f"task {design.task!r}" if design.task else "the task"
    return f"study.toml: {setting} needs a column {column!r}, which {task} does not have; use {instead}"
