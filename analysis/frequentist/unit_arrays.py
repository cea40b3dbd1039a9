"""Sums by unit as arrays (models, units, groups), with the weights that make groups into cells."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.measures.rates import treated_counts
from analysis.measures.yes_no_bias import FOUR_CELLS, TWO_CLASSES, YES_CELLS

Floats = NDArray[np.float64]
#: Columns that ``reduction.unit_sums`` gives and estimates read.
REQUIRED: Final = (
    *("task", "model", "cell", "stratum", "unit"),
    *("n_planned", "n_answered", "n_uncertain", "n_set_aside", "n_yes", "n_correct"),
    *("w_scored", "w_correct", "w_uncertain", "w_answered", "w_correct_answered", "w_yes"),
)
#: Models are taken in portions of about this many numbers, so that memory does not grow with their number.
_PORTION: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class UnitArrays:
    """One quantity of one task, ready for ``clustered_rates``.

    Attributes
    ----------
    n, y : (M, G, K)
        Weight of responses and of events by model, unit and group.
    cells : tuple of str
        Cells that the groups make up, C of them.
    weights : (C, K)
        Rate of a cell = weights @ rates of its groups: strata of a cell weigh the same.
    strata : tuple of str
        Stratum of each group; ``""`` without strata.
    """

    n: Floats
    y: Floats
    cells: tuple[str, ...]
    weights: Floats
    strata: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskSums:
    """Rows of ``unit_sums`` of one task with integer codes.

    Attributes
    ----------
    task : str
    models, strata : tuple of str
        Names behind the codes, sorted.
    cells : tuple of str
        FOUR_CELLS, TWO_CLASSES or, where gold answers are not yes and no, empty.
    units : int
        Number of distinct units.
    columns : dict of str
        Number columns of the table.
    model, cell, stratum, unit : ndarray of int
        Codes by row; ``cell`` is -1 outside ``cells``.
    layout : DataFrame
        Distinct ``cell, stratum, unit`` codes of the whole task, which portions share.
    """

    task: str
    models: tuple[str, ...]
    strata: tuple[str, ...]
    cells: tuple[str, ...]
    units: int
    columns: dict[str, NDArray[np.float64]]
    model: NDArray[np.int64]
    cell: NDArray[np.int64]
    stratum: NDArray[np.int64]
    unit: NDArray[np.int64]
    layout: pd.DataFrame

    @property
    def known(self) -> NDArray[np.bool_]:
        """Rows in one of the cells."""
        return self.cell >= 0


def tasks_of(sums: pd.DataFrame) -> Iterator[TaskSums]:
    """Tasks of a table of unit sums in order of name.

    Raises
    ------
    AnalysisError
        A column is missing, or a task mixes four cells with two classes.
    """
    missing = [name for name in REQUIRED if name not in sums.columns]
    if missing:
        raise AnalysisError(
            f"unit sums lack {', '.join(missing)}; make them with reduction.unit_sums", offenders=missing
        )
    code, names = _coded(sums["task"])
    for position, task in enumerate(names):
        yield _one_task(task, sums if len(names) == 1 else sums[code == position])


def portions(task: TaskSums) -> Iterator[TaskSums]:
    """The task with its models in portions that fit memory comfortably; order kept."""
    groups = len(task.layout[["cell", "stratum"]].drop_duplicates())
    size = max(1, _PORTION // max(task.units * groups, 1))
    if size >= len(task.models):
        yield task
        return
    for start in range(0, len(task.models), size):
        inside = (task.model >= start) & (task.model < start + size)
        yield replace(
            task,
            models=task.models[start : start + size],
            columns={name: values[inside] for name, values in task.columns.items()},
            model=task.model[inside] - start,
            cell=task.cell[inside],
            stratum=task.stratum[inside],
            unit=task.unit[inside],
        )


def accuracy_columns(task: TaskSums, uncertain: str) -> tuple[Floats, Floats]:
    """Trials and right answers of each row under a treatment of uncertain answers."""
    names = ("w_scored", "w_correct", "w_uncertain", "w_answered", "w_correct_answered")
    return treated_counts(*(task.columns[name] for name in names), uncertain=uncertain)


def yes_columns(task: TaskSums, uncertain: str) -> tuple[Floats, Floats]:
    """Trials and Yes answers of each row, under the treatment that the accuracies have."""
    n, right = accuracy_columns(task, uncertain)
    if uncertain == "excluded":
        yes_is_right = np.array([*(name in YES_CELLS for name in task.cells), False])
        return n, np.where(yes_is_right[task.cell], right, n - right)
    credit = 0.5 if uncertain == "half" else 0.0
    return n, task.columns["w_yes"] + credit * task.columns["w_uncertain"]


def cell_arrays(task: TaskSums, n: Floats, y: Floats) -> UnitArrays:
    """Groups = cell × stratum, of the rows in known cells; ``n`` and ``y`` have one number a row."""
    return _arrays(task, n, y, task.cell, task.cells, task.known, task.layout[task.layout["cell"] >= 0])


def pooled_arrays(task: TaskSums, n: Floats, y: Floats, *, known_only: bool = False) -> UnitArrays:
    """Groups = strata, over all rows or those in known cells."""
    use = task.known if known_only else np.ones(len(task.model), dtype=bool)
    layout = task.layout[task.layout["cell"] >= 0] if known_only else task.layout
    return _arrays(task, n, y, np.zeros_like(task.cell), ("all",), use, layout.assign(cell=0))


def summed(task: TaskSums, column: str, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Sum of an integer column by model, over the chosen rows."""
    values = np.bincount(task.model[rows], task.columns[column][rows], minlength=len(task.models))
    return values.astype(np.int64)


def weight_by_cell(task: TaskSums, n: Floats) -> Floats:
    """Weight of the responses where Yes is right and where No is, (M, 2)."""
    yes = np.array([*(name in YES_CELLS for name in task.cells), False])[task.cell]
    classes = (task.known & yes, task.known & ~yes)
    return np.stack([np.bincount(task.model[use], n[use], minlength=len(task.models)) for use in classes], axis=-1)


def _one_task(task: str, rows: pd.DataFrame) -> TaskSums:
    cell, names = _coded(rows["cell"])
    cells = _cells_of(task, set(names))
    place = {name: i for i, name in enumerate(cells)}
    codes = np.array([place.get(name, -1) for name in names], dtype=np.int64)[cell]
    model, models = _coded(rows["model"])
    stratum, strata = _coded(rows["stratum"])
    unit, units = _coded(rows["unit"])
    layout = pd.DataFrame({"cell": codes, "stratum": stratum, "unit": unit}).drop_duplicates()
    columns = {name: rows[name].to_numpy(float) for name in REQUIRED if name[:2] in ("n_", "w_")}
    return TaskSums(task, models, strata, cells, len(units), columns, model, codes, stratum, unit, layout)


def _coded(column: pd.Series) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Codes and the sorted names behind them; categories without a row get none."""
    texts = column if isinstance(column.dtype, pd.CategoricalDtype) else column.astype("category")
    texts = texts.cat.remove_unused_categories()
    names = texts.cat.categories.astype(str)
    order = np.argsort(names.to_numpy(object), kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[texts.cat.codes.to_numpy()], tuple(names[order])


def _cells_of(task: str, found: set[str]) -> tuple[str, ...]:
    four, two = found & set(FOUR_CELLS), found & set(TWO_CLASSES)
    if four and two:
        raise AnalysisError(
            f"task {task!r} has items with validity and polarity ({', '.join(sorted(four))}) beside items with a gold "
            f"answer alone ({', '.join(sorted(two))}); give both to all items or split the task"
        )
    return FOUR_CELLS if four else TWO_CLASSES if two else ()


def _arrays(
    task: TaskSums,
    n: Floats,
    y: Floats,
    cell: NDArray[np.int64],
    cells: tuple[str, ...],
    use: NDArray[np.bool_],
    layout: pd.DataFrame,
) -> UnitArrays:
    served = layout.drop_duplicates().groupby(["cell", "stratum"], sort=True).size()
    place = np.full((max(len(cells), 1), max(len(task.strata), 1)), -1)
    of_cell = served.index.get_level_values("cell").to_numpy()
    of_stratum = served.index.get_level_values("stratum").to_numpy()
    k = len(served)
    place[of_cell, of_stratum] = np.arange(k)
    shape = (len(task.models), task.units, k)
    index = (task.model[use] * task.units + task.unit[use]) * k + place[cell[use], task.stratum[use]]
    size = int(np.prod(shape))
    counts = np.bincount(index, n[use], minlength=size).reshape(shape)
    events = np.bincount(index, y[use], minlength=size).reshape(shape)
    blocks = [
        _cell_block(counts, events, np.flatnonzero(of_cell == i), np.asarray(served, dtype=np.int64))
        for i in range(len(cells))
    ]
    weights = np.zeros((len(cells), sum(block[0].shape[-1] for block in blocks)))
    strata: list[str] = []
    for i, (part, _, names) in enumerate(blocks):
        weights[i, len(strata) : len(strata) + part.shape[-1]] = 1 / max(part.shape[-1], 1)
        strata += [task.strata[of_stratum[j]] if j >= 0 else "" for j in names]
    return UnitArrays(
        np.concatenate([block[0] for block in blocks], axis=-1),
        np.concatenate([block[1] for block in blocks], axis=-1),
        cells,
        weights,
        tuple(strata),
    )


def _cell_block(
    n: Floats, y: Floats, groups: NDArray[np.int64], units: NDArray[np.int64]
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Groups of one cell; strata that lie in one unit each give way to the means of their units."""
    counts, events = n[..., groups], y[..., groups]
    if len(groups) < 2 or (units[groups] > 1).any():
        if not len(groups):
            return np.zeros((*n.shape[:-1], 1)), np.zeros((*n.shape[:-1], 1)), np.array([-1])
        return counts, events, groups
    asked = counts > 0
    rate = np.divide(events, counts, out=np.zeros_like(events), where=asked)
    # A model that lacks a stratum answers another question: it gets no rate rather than other weights.
    complete = asked.any(axis=-2).all(axis=-1)[..., None, None]
    return (
        np.where(complete, asked.sum(axis=-1, keepdims=True), 0.0),
        np.where(complete, rate.sum(axis=-1, keepdims=True), 0.0),
        np.array([-1]),
    )
