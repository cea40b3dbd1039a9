"""One model before and after from its sums by unit alone: paired tests over the units that both sides have."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.frequentist.before_after import before_after
from analysis.frequentist.factor_levels import TreatedLevels
from analysis.frequentist.model_comparison import ROPE
from analysis.frequentist.unit_arrays import TaskSums, accuracy_columns, cell_arrays, tasks_of
from analysis.reduction.levels import LevelArrays
from analysis.reduction.matched_sets import SIDES

_AFTER, _BEFORE = SIDES
#: Why sums by unit allow no paired test.
STRATIFIED: Final = "the report weighs strata, for which there is no paired test"
NO_UNIT: Final = "no unit has scored responses on both sides"


@dataclass(frozen=True, slots=True)
class PairedSums:
    """Rows of ``before_after``, and how many units were left out since one side alone has them."""

    rows: pd.DataFrame
    dropped: int


def before_after_of_sums(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    uncertain: str,
    rng: np.random.Generator,
    flips: int = 20_000,
    ci_level: float = 0.95,
    rope: float = ROPE,
) -> PairedSums:
    """Differences after minus before over the units that both sides have, with the weights of the sums.

    Parameters
    ----------
    before, after : DataFrame
        ``reduction.unit_sums`` of one task and one model each.
    uncertain : {"incorrect", "excluded", "half"}
    rng, flips, ci_level, rope
        As of ``before_after``.

    Raises
    ------
    AnalysisError
        The sums hold strata or other cells, or the sides have no unit in common.

    Notes
    -----
    Sums hold no questions: a question that one side alone was asked within a common unit counts.
    """
    sides = {_BEFORE: _scored(before), _AFTER: _scored(after)}
    if any(table["stratum"].astype(str).nunique() > 1 for table in sides.values()):
        raise AnalysisError(STRATIFIED)
    units = [set(table["unit"].astype(str)) for table in sides.values()]
    shared = units[0] & units[1]
    if not shared:
        raise AnalysisError(NO_UNIT)
    kept = [
        table[table["unit"].astype(str).isin(shared)].assign(model=side, task="", stratum="")
        for side, table in sides.items()
    ]
    (task,) = tasks_of(pd.concat(kept, ignore_index=True).astype({"unit": "str", "cell": "str"}))
    rows = before_after(_levels(task, uncertain), rng=rng, flips=flips, ci_level=ci_level, rope=rope)
    return PairedSums(rows, len((units[0] | units[1]) - shared))


def _scored(sums: pd.DataFrame) -> pd.DataFrame:
    return sums[sums["n_answered"] + sums["n_uncertain"] > 0]


def _levels(task: TaskSums, uncertain: str) -> TreatedLevels:
    """Both sides as one level of all responses."""
    if not task.cells:
        raise AnalysisError("gold answers are not yes and no")
    used = cell_arrays(task, *accuracy_columns(task, uncertain))
    seen = cell_arrays(task, task.columns["w_answered"], task.columns["w_uncertain"])
    right = cell_arrays(task, task.columns["w_correct_answered"], task.columns["w_yes"])
    arrays = LevelArrays(
        factor="",
        models=task.models,
        units=tuple(str(at) for at in range(used.n.shape[1])),
        levels=("",),
        cells=used.cells,
        answered=seen.n[:, :, None],
        uncertain=seen.y[:, :, None],
        correct=right.n[:, :, None],
        yes=right.y[:, :, None],
        without_level=0,
    )
    return TreatedLevels(arrays, used.n[:, :, None], used.y[:, :, None])
