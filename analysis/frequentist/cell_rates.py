"""The rates and differences that a task's cells allow, for all its models at once, and what leaves one undefined."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.frequentist.clustered_rates import (
    ClusteredRates,
    clustered_rates,
    difference_limits,
    floor_limits,
    rate_limits,
)
from analysis.frequentist.unit_arrays import Floats, TaskSums, UnitArrays, cell_arrays, pooled_arrays, summed
from analysis.measures.yes_no_bias import CONTRASTS, FOUR_CELLS, PAIR_WEIGHTS, TWO_CLASSES

NO_GOLD: Final = "gold answers are not known as yes and no"
NO_FACTORS: Final = "needs validity and polarity of the items; the logs have gold answers alone"
#: Helper contrast behind the affirmative floor; not a reported measure.
_AFFIRMATIVE_GAP: Final = "va_minus_ia"


@dataclass(frozen=True, slots=True)
class Design:
    """What a set of cells identifies.

    Attributes
    ----------
    cells : tuple of str
    names : tuple of str
        Contrasts in order; the cells' own rates come first.
    weights : (Q, C)
        Contrast = weights @ cell rates.
    differences : tuple of str
        Those of ``names`` that are differences; the others are rates.
    floors : dict of str
        Floor -> (rates of which it is the smallest, difference of them or "").
    """

    cells: tuple[str, ...]
    names: tuple[str, ...]
    weights: Floats
    differences: tuple[str, ...]
    floors: dict[str, tuple[tuple[str, ...], str]]

    def at(self, name: str) -> int:
        """Position of a contrast."""
        return self.names.index(name)


_CELL_RATES: Final = ("acc_va", "acc_vn", "acc_ia", "acc_in")
FOUR_CELL_DESIGN: Final = Design(
    cells=FOUR_CELLS,
    names=(
        *_CELL_RATES,
        *("acc_yes", "acc_no", "balanced_accuracy"),
        *("answer_bias", "polarity_sensitivity", "validity_contrast", _AFFIRMATIVE_GAP),
    ),
    weights=np.vstack([np.eye(4), PAIR_WEIGHTS["yes_no"], CONTRASTS, [[1, 0, -1, 0]]]),
    differences=("answer_bias", "polarity_sensitivity", "validity_contrast"),
    floors={
        "competence_floor": (("acc_yes", "acc_no"), "answer_bias"),
        "affirmative_floor": (("acc_va", "acc_ia"), _AFFIRMATIVE_GAP),
        "cell_floor": (_CELL_RATES, ""),
    },
)
TWO_CLASS_DESIGN: Final = Design(
    cells=TWO_CLASSES,
    names=("acc_yes", "acc_no", "balanced_accuracy", "answer_bias"),
    weights=np.array([[1, 0], [0, 1], [0.5, 0.5], [1, -1]]),
    differences=("answer_bias",),
    floors={"competence_floor": (("acc_yes", "acc_no"), "answer_bias")},
)
POOLED_DESIGN: Final = Design(("all",), ("rate",), np.ones((1, 1)), (), {})


@dataclass(frozen=True, slots=True)
class CellRates:
    """Estimates of one design for the models of a task; leading axis M.

    Attributes
    ----------
    design : Design
    rates : ClusteredRates
        Contrasts in the order of ``design.names``.
    rows : (M, Q) of int
        Responses behind each contrast.
    arrays : UnitArrays
    """

    design: Design
    rates: ClusteredRates
    rows: NDArray[np.int64]
    arrays: UnitArrays

    @property
    def units(self) -> NDArray[np.int64]:
        """Independent units (M, Q) behind each contrast."""
        return self.rates.units

    def estimate(self, name: str) -> Floats:
        """Estimates (M,) of one contrast."""
        return self.rates.contrasts.estimate[:, self.design.at(name)]

    def limits(self, name: str, *, ci_level: float) -> tuple[Floats, Floats]:
        """Interval (M,) of one rate, difference or floor."""
        design = self.design
        if name in design.floors:
            return floor_limits(self.rates, tuple(map(design.at, design.floors[name][0])), ci_level=ci_level)
        at = design.at(name)
        if name in design.differences:
            cells = tuple(range(len(design.cells)))
            return difference_limits(self.rates, at, cells, design.weights[at], ci_level=ci_level)
        low, high = rate_limits(self.rates, ci_level=ci_level)
        return low[:, at], high[:, at]

    def reasons(self, name: str, *, asked: str = "scored") -> list[str]:
        """Why a contrast or its interval is undefined, for each model; empty where it is not."""
        design, found = self.design, self.rates.contrasts
        members = design.floors[name][0] if name in design.floors else (name,)
        used = (design.weights[[design.at(member) for member in members]] != 0).any(axis=0)
        groups = self.arrays.weights[used].any(axis=0)
        at = [design.at(member) for member in members]
        doubtful = (found.empty | found.single)[:, at].any(axis=1)
        served = np.count_nonzero(self.arrays.n > 0, axis=1) if doubtful.any() else None
        if served is None:
            return [""] * len(doubtful)
        return [self._reason(served[m], groups, asked) if doubtful[m] else "" for m in range(len(doubtful))]

    def _reason(self, served: NDArray[np.int64], groups: NDArray[np.bool_], asked: str) -> str:
        empty, single = np.flatnonzero(groups & (served == 0)), np.flatnonzero(groups & (served == 1))
        if len(empty):
            return f"no {asked} response {self._places(empty)}".rstrip()
        return f"only one unit {self._places(single)}".rstrip() + ": the variance between units is unknown"

    def _places(self, groups: NDArray[np.int64], shown: int = 3) -> str:
        names = [self._place(group) for group in groups[:shown]]
        more = f" and {len(groups) - shown} more" if len(groups) > shown else ""
        return " or ".join(names) + more

    def _place(self, group: int) -> str:
        cell = self.arrays.cells[int(self.arrays.weights[:, group].argmax())]
        where = {"gold_yes": "with gold yes", "gold_no": "with gold no", "all": ""}.get(cell, f"in cell {cell}")
        stratum = self.arrays.strata[group]
        return f"{where}, stratum {stratum!r}".lstrip(", ") if stratum else where


def design_of(task: TaskSums) -> Design | None:
    """Design of a task's cells; None where gold answers are not yes and no."""
    return {FOUR_CELLS: FOUR_CELL_DESIGN, TWO_CLASSES: TWO_CLASS_DESIGN}.get(task.cells)


def cell_rates(task: TaskSums, design: Design, n: Floats, y: Floats, counted: tuple[str, ...]) -> CellRates:
    """Rates by cell and their contrasts.

    Parameters
    ----------
    task : TaskSums
    design : Design
        Of the task.
    n, y : ndarray
        Trials and events by row of the task.
    counted : tuple of str
        Integer columns that add up to the number of responses.
    """
    by_cell = np.stack(
        [sum(summed(task, column, task.cell == i) for column in counted) for i in range(len(design.cells))], axis=-1
    )
    return _cell_rates(cell_arrays(task, n, y), design, by_cell)


def pooled_rate(
    task: TaskSums, n: Floats, y: Floats, counted: tuple[str, ...], *, known_only: bool = False
) -> CellRates:
    """One rate over all rows, or over those in known cells; parameters as in ``cell_rates``."""
    use = task.known if known_only else np.ones(len(task.model), dtype=bool)
    rows = np.stack([sum(summed(task, column, use) for column in counted)], axis=-1)
    return _cell_rates(pooled_arrays(task, n, y, known_only=known_only), POOLED_DESIGN, rows)


def _cell_rates(arrays: UnitArrays, design: Design, by_cell: NDArray[np.int64]) -> CellRates:
    rows = by_cell @ (design.weights != 0).T
    weights = design.weights @ arrays.weights
    rates = clustered_rates(arrays.n, arrays.y, weights, rows=rows)
    return CellRates(design, rates, rows, arrays)
