"""A measure of all models as tidy rows: what is printed where an interval, or a limit of it, does not exist."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.unit_arrays import Floats, TaskSums

METHODS: Final = {
    "rate": "cluster Wilson (t)",
    "difference": "square-and-add of cluster Wilson (t)",
    "floor": "smallest of cluster Wilson (t)",
    "deviate": "square-and-add of cluster Wilson (t), normal scale",
}
NOT_VARIED: Final = "no unit deviates, hence no standard error; the interval counts units as single responses"
CLASS_NOT_VARIED: Final = (
    "no unit of one class deviates, hence no standard error; the interval counts its units as single responses"
)
OPEN: Final = (
    "all answers of a class are right, or all wrong: no limit on that side would keep its level, and there is no "
    "standard error"
)
CENSUS: Final = "the benchmark is the population: no sampling error"


@dataclass(frozen=True, slots=True)
class MeasureColumn:
    """One measure for all models of a portion: arrays (M,); a limit that does not exist is infinite."""

    measure: str
    kind: str
    estimate: Floats
    variance: Floats
    df: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    units: NDArray[np.int64]
    n_eff: Floats
    reasons: list[str]
    tie_bias: Floats


_SCALES: Final = {
    "rate": "probability",
    "floor": "probability",
    "difference": "probability difference",
    "deviate": "standard normal deviate",
    "": "",
}


def measure_rows(task: TaskSums, columns: list[MeasureColumn], target: str) -> pd.DataFrame:
    """One row per model and measure, models first; the target ``census`` has values without inference."""
    parts = [_rows(task, column, target) for column in columns]
    table = pd.concat(parts, ignore_index=True)
    order = np.arange(len(table)).reshape(len(columns), len(task.models)).T.ravel()
    return table.iloc[order].reset_index(drop=True)


def _rows(task: TaskSums, column: MeasureColumn, target: str) -> pd.DataFrame:
    known = ~np.isnan(column.low)
    closed = np.isfinite(column.low) & np.isfinite(column.high)
    moved = column.variance > 0
    inferred = known & (target != "census")
    still = CLASS_NOT_VARIED if column.kind == "deviate" else NOT_VARIED
    plain = np.select([known & ~closed, known & ~moved], [OPEN, still], "").tolist()
    reasons = [CENSUS] * len(known) if target == "census" else plain
    reasons = [own or general for own, general in zip(column.reasons, reasons, strict=True)]
    blank = np.full(len(known), np.nan)
    return pd.DataFrame(
        {
            "task": task.task,
            "model": list(task.models),
            "measure": column.measure,
            "estimate": column.estimate,
            "std_error": np.where(inferred & moved, np.sqrt(np.maximum(column.variance, 0)), blank),
            "df": np.where(inferred, column.df, blank),
            "ci_low": np.where(inferred & np.isfinite(column.low), column.low, blank),
            "ci_high": np.where(inferred & np.isfinite(column.high), column.high, blank),
            "ci_method": np.where(inferred, METHODS.get(column.kind, ""), ""),
            "scale": _SCALES[column.kind],
            "n": column.n,
            "n_clusters": column.units,
            "n_eff": np.where(inferred, column.n_eff, blank),
            "min_bias_if_tied": np.where(inferred, column.tie_bias, blank),
            "reason": reasons,
        }
    )
