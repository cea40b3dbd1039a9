"""Measures of every model as arrays, and as rows of a result table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.clustered_rates import ClusteredRates, clustered_rates, rate_limits
from analysis.frequentist.measure_columns import CENSUS

Floats = NDArray[np.float64]
RATE: Final = "cluster Wilson (t)"
DIFFERENCE: Final = "square-and-add of cluster Wilson (t)"
BOOTSTRAP: Final = "percentile bootstrap over units"


@dataclass(frozen=True, slots=True)
class ModelMeasure:
    """One measure of M models; arrays (M,), missing where undefined.

    ``std_error``, ``df``, ``low``, ``high`` may be missing where ``estimate`` is not; ``reason`` then says why.
    """

    measure: str
    scale: str
    ci_method: str
    estimate: Floats
    std_error: Floats
    df: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    n_clusters: NDArray[np.int64]
    reason: Sequence[str]


@dataclass(frozen=True, slots=True)
class ModelUnits:
    """Models and units of a table of answers as codes, so that sums by model and unit are arrays.

    Attributes
    ----------
    models, units : tuple of str
        Sorted names.
    model, unit : ndarray of int
        Codes by row.
    """

    models: tuple[str, ...]
    units: tuple[str, ...]
    model: NDArray[np.int64]
    unit: NDArray[np.int64]

    def sums(self, values: Floats, group: NDArray[np.int64] | None = None, groups: int = 1) -> Floats:
        """Sums (M, G, K) of a value by model, unit and group; rows with a missing value or group -1 count for nothing.

        ``group`` holds codes in [-1, groups).
        """
        code = np.zeros(len(values), np.int64) if group is None else group
        use = ~np.isnan(values) & (code >= 0)
        shape = (len(self.models), len(self.units), groups)
        index = (self.model[use] * shape[1] + self.unit[use]) * groups + code[use]
        return np.bincount(index, values[use], minlength=int(np.prod(shape))).reshape(shape)


def model_units(answers: pd.DataFrame) -> ModelUnits:
    """Codes of the models and units of a table of answers."""
    models, model = _coded(answers["model"])
    units, unit = _coded(answers["unit"])
    return ModelUnits(models, units, model, unit)


def rate_measure(measure: str, n: Floats, y: Floats, *, ci_level: float, nothing: str) -> ModelMeasure:
    """A share sum(y) / sum(n) of each model with its interval by unit.

    Parameters
    ----------
    measure : str
    n, y : (M, G)
        Weight of trials and of events by unit.
    ci_level : float
    nothing : str
        Reason where a model has no trial.
    """
    rates = clustered_rates(n[..., None], y[..., None], np.ones((1, 1)))
    low, high = rate_limits(rates, ci_level=ci_level)
    return from_rates(measure, rates, 0, low[:, 0], high[:, 0], n=n.sum(axis=1), nothing=nothing)


def from_rates(
    measure: str,
    rates: ClusteredRates,
    at: int,
    low: Floats,
    high: Floats,
    *,
    n: Floats,
    nothing: str | Sequence[str],
    difference: bool = False,
) -> ModelMeasure:
    """One contrast of clustered rates as a measure.

    ``nothing`` is the reason where a group is empty: one for all models, or one each.
    """
    found = rates.contrasts
    variance = found.variance[:, at]
    empty, single = found.empty[:, at], found.single[:, at]
    still = ~empty & ~single & ~(variance > 0)
    return ModelMeasure(
        measure=measure,
        scale="probability difference" if difference else "probability",
        ci_method=DIFFERENCE if difference else RATE,
        estimate=found.estimate[:, at],
        std_error=np.where(variance > 0, np.sqrt(np.maximum(variance, 0)), np.nan),
        df=found.df[:, at],
        low=low,
        high=high,
        n=np.rint(n).astype(np.int64),
        n_clusters=rates.units[:, at],
        reason=list(np.select([empty, single, still], [np.array(nothing, object), ONE_UNIT, NOT_VARIED], "")),
    )


ONE_UNIT: Final = "only one unit: the variance between units is unknown"
NOT_VARIED: Final = "no unit deviates, hence no standard error; the interval counts units as single responses"


def tidy(models: Sequence[str], measures: Sequence[ModelMeasure], *, target: str, **shared: Any) -> pd.DataFrame:
    """Rows by model and measure, in that order; ``shared`` columns are the same in all rows.

    With ``target="census"`` intervals are blanked, as there is no sampling error.
    """
    census = target == "census"
    parts = []
    for found in measures:
        inferred = np.isfinite(found.low) & (not census)
        parts.append(
            pd.DataFrame(
                {
                    "model": list(models),
                    "measure": found.measure,
                    "estimate": found.estimate,
                    "std_error": np.where(inferred, found.std_error, np.nan),
                    "df": np.where(inferred, found.df, np.nan),
                    "ci_low": np.where(inferred, found.low, np.nan),
                    "ci_high": np.where(inferred, found.high, np.nan),
                    "ci_method": np.where(inferred, found.ci_method, ""),
                    "scale": found.scale,
                    "n": found.n,
                    "n_clusters": found.n_clusters,
                    "reason": [own or (CENSUS if census else "") for own in found.reason],
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    order = np.arange(len(table)).reshape(len(measures), len(models)).T.ravel()
    return table.iloc[order].reset_index(drop=True).assign(target=target, **shared)


def undefined(measure: str, scale: str, reason: str, models: int) -> ModelMeasure:
    """A measure that no model has, with the reason."""
    nothing, none = np.full(models, np.nan), np.zeros(models, np.int64)
    return ModelMeasure(measure, scale, "", nothing, nothing, nothing, nothing, nothing, none, none, [reason] * models)


def _coded(column: pd.Series) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    names, codes = np.unique(column.to_numpy(object).astype(str), return_inverse=True)
    return tuple(map(str, names)), codes.astype(np.int64)
