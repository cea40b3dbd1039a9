"""Cell accuracies of every model with their covariance over units: what a model of estimates needs to know."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.frequentist.cell_rates import CellRates, Design, cell_rates, design_of
from analysis.frequentist.unit_arrays import Floats, TaskSums, accuracy_columns, portions, summed, tasks_of
from analysis.measures.rates import check_treatment, share

_CLASSES = ("acc_yes", "acc_no")


@dataclass(frozen=True, slots=True)
class CellCovariances:
    """Accuracies of M models in C cells; every number is NaN where a model leaves it undefined.

    Attributes
    ----------
    task : str
    models : tuple of str
        Sorted.
    cells : tuple of str
        FOUR_CELLS or TWO_CLASSES.
    estimate : ndarray (M, C)
    covariance : ndarray (M, C, C)
        Cluster-robust (CR2).
    df : ndarray (M,)
        Satterthwaite degrees of freedom of the answer bias, which uses every cell.
    n_eff : ndarray (M, C)
        Effective number of responses of each accuracy, as its interval uses it.
    class_n_eff : ndarray (M,)
        The smaller effective number of the accuracies where Yes and where No is right.
    units, rows : ndarray (M, C)
        Units and scored responses behind each accuracy.
    bias_variance, binomial_variance : ndarray (M,)
        Variance of the answer bias by unit, and as if every response were a unit of its own.
    few_deviate : ndarray (M,) of bool
        Whether the variance of the bias rests on a handful of units.
    lost : ndarray (M,)
        Share of the planned responses without a readable answer, those set aside included.
    uncertain : str
        Treatment of uncertain answers.
    """

    task: str
    models: tuple[str, ...]
    cells: tuple[str, ...]
    estimate: Floats
    covariance: Floats
    df: Floats
    n_eff: Floats
    class_n_eff: Floats
    units: Floats
    rows: Floats
    bias_variance: Floats
    binomial_variance: Floats
    few_deviate: NDArray[np.bool_]
    lost: Floats
    uncertain: str


def cell_covariances(sums: pd.DataFrame, *, uncertain: str = "incorrect") -> CellCovariances:
    """Cell accuracies of one task with their covariance over units.

    Parameters
    ----------
    sums : DataFrame
        As ``reduction.unit_sums`` returns, of one task whose gold answers are yes and no.
    uncertain : {"incorrect", "excluded", "half"}

    Raises
    ------
    AnalysisError
        Several tasks, or gold answers that are not known as yes and no.
    """
    check_treatment(uncertain)
    tasks = list(tasks_of(sums))
    if len(tasks) != 1:
        raise AnalysisError(f"covariances are those of one task; the sums hold {len(tasks)}")
    design = design_of(tasks[0])
    if design is None:
        raise AnalysisError(f"task {tasks[0].task!r}: gold answers are not known as yes and no")
    return _joined([_of_portion(part, design, uncertain) for part in portions(tasks[0])])


def _of_portion(task: TaskSums, design: Design, uncertain: str) -> CellCovariances:
    counted = ("n_answered",) if uncertain == "excluded" else ("n_answered", "n_uncertain")
    found = cell_rates(task, design, *accuracy_columns(task, uncertain), counted)
    contrasts, cells = found.rates.contrasts, slice(0, len(design.cells))
    bias = design.at("answer_bias")
    classes = [design.at(name) for name in _CLASSES]
    planned = summed(task, "n_planned", task.known)
    return CellCovariances(
        task=task.task,
        models=task.models,
        cells=design.cells,
        estimate=contrasts.estimate[:, cells],
        covariance=contrasts.covariance[:, cells, cells],
        df=contrasts.df[:, bias],
        n_eff=found.rates.n_eff[:, cells],
        class_n_eff=found.rates.n_eff[:, classes].min(axis=1),
        units=found.units[:, cells].astype(float),
        rows=found.rows[:, cells].astype(float),
        bias_variance=contrasts.variance[:, bias],
        binomial_variance=_binomial_variance(found, design.weights[bias]),
        few_deviate=found.rates.few_deviate[:, bias],
        lost=1 - share(summed(task, "n_answered", task.known), planned),
        uncertain=uncertain,
    )


def _binomial_variance(found: CellRates, weights: Floats) -> Floats:
    """Variance (M,) of a contrast of the cells if responses were independent."""
    cells = len(weights)
    rate = found.rates.contrasts.estimate[:, :cells]
    return share(weights**2 * rate * (1 - rate), found.rows[:, :cells]).sum(axis=1)


def _joined(parts: list[CellCovariances]) -> CellCovariances:
    if len(parts) == 1:
        return parts[0]

    def stacked(name: str) -> Floats:
        return np.concatenate([getattr(part, name) for part in parts])

    first = parts[0]
    return CellCovariances(
        task=first.task,
        models=tuple(model for part in parts for model in part.models),
        cells=first.cells,
        estimate=stacked("estimate"),
        covariance=stacked("covariance"),
        df=stacked("df"),
        n_eff=stacked("n_eff"),
        class_n_eff=stacked("class_n_eff"),
        units=stacked("units"),
        rows=stacked("rows"),
        bias_variance=stacked("bias_variance"),
        binomial_variance=stacked("binomial_variance"),
        few_deviate=stacked("few_deviate").astype(bool),
        lost=stacked("lost"),
        uncertain=first.uncertain,
    )
