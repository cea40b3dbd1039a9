"""How sure is the order of models by incoherence? Limits for ranks from units resampled for all models at once."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.incoherence import repeated_only
from analysis.frequentist.rank_intervals import rank_intervals
from analysis.frequentist.unit_bootstrap import resampled_sums

Floats = NDArray[np.float64]


def incoherence_ranks(
    instances: pd.DataFrame, *, rng: np.random.Generator, resamples: int = 10_000, ci_level: float = 0.95
) -> pd.DataFrame:
    """Ranks of models by mean |r|, and by the squared persistent residual T; 1 is the least incoherent.

    Parameters
    ----------
    instances : DataFrame
        As ``reduction.moments.instance_moments`` returns.
    rng : Generator
    resamples : int
    ci_level : float in (0, 1)
        Of each model's own limits.

    Returns
    -------
    DataFrame
        One row per model: ``task, model``; for both measures ``<measure>`` (mean |r| ``mean_abs_residual``, and T
        ``persistent_squared``), ``<measure>_rank``, ``_rank_low``, ``_rank_high``, ``_first`` (share of resamples in
        which the model is the least incoherent) and ``_reason``; ``n_clusters``, ``ci_level, ci_method``. Empty with
        fewer than two models.
    """
    models = sorted(instances["model"].unique())
    if len(models) < 2:
        return pd.DataFrame()
    units = pd.Index(sorted(instances["unit"].unique()))
    parts = {"mean_abs_residual": (instances, "abs_residual"), "persistent_squared": (repeated_only(instances), "q")}
    sums = [_unit_sums(rows, column, models, units) for rows, column in parts.values()]
    drawn = resampled_sums(np.concatenate(sums, axis=1), rng=rng, resamples=resamples)
    table = pd.DataFrame({"model": models}).assign(task=instances["task"].iloc[0], n_clusters=len(units))
    width = 2 * len(models)
    for at, (measure, observed) in enumerate(zip(parts, sums, strict=True)):
        values = _ratios(observed.sum(axis=0))
        # The highest value has rank 1 there.
        found = rank_intervals(-values, -_ratios(drawn[:, at * width : (at + 1) * width]), ci_level=ci_level)
        columns: dict[str, NDArray[np.generic]] = {
            "": values,
            "_rank": found.estimate,
            "_rank_low": found.ci_low,
            "_rank_high": found.ci_high,
        }
        columns |= {"_first": found.p_first, "_reason": found.reason}
        table = table.assign(**{measure + end: column for end, column in columns.items()})
    return table.assign(ci_level=ci_level, ci_method="percentile bootstrap over units")


def _unit_sums(rows: pd.DataFrame, column: str, models: list[str], units: pd.Index) -> Floats:
    """(G, 2 M): by unit the sum of the column for each model, then how many instances it is of."""
    model, unit = pd.Index(models).get_indexer(pd.Index(rows["model"])), units.get_indexer(pd.Index(rows["unit"]))
    flat, size = unit * len(models) + model, len(units) * len(models)
    total = np.bincount(flat, weights=rows[column].to_numpy(float), minlength=size)
    count = np.bincount(flat, minlength=size)
    return np.concatenate([part.reshape(len(units), len(models)) for part in (total, count)], axis=1)


def _ratios(sums: Floats) -> Floats:
    """(..., M) of (..., 2 M); NaN where nothing is there."""
    total, count = np.split(sums, 2, axis=-1)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
