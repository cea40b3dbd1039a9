"""The same responses for both schools: counts by facet and covariances by unit, with the frequentist weights."""

import numpy as np
import pandas as pd

from analysis.bayes.models.surface_layer import ClusterEstimates
from analysis.errors import AnalysisError
from analysis.frequentist.cell_covariance import CellCovariances
from analysis.measures.yes_no_bias import answer_bias
from analysis.reduction.cells import COUNTS
from analysis.reduction.units import Weighting, default_weighting

#: Factors of an item that the hierarchical model knows.
FACETS = ("template", "form")


def weighted_facets(
    counts: pd.DataFrame,
    *,
    weighting: Weighting | None = None,
    strata: str | None = None,
    units: bool = False,
) -> pd.DataFrame:
    """Counts by model, cell, template and form, with the weight of each facet's accuracy within its cell.

    Parameters
    ----------
    counts : DataFrame
        As ``reduction.item_counts`` returns; rows without a cell are left out.
    weighting, strata
        As in ``reduction.unit_sums``: the weights are those of the frequentist estimates.
    units : bool
        Count by unit too.

    Returns
    -------
    DataFrame
        ``task, model, cell``, those of ``template, form`` that the counts have, ``unit`` if wanted; the counts;
        ``weight``: scored responses (weighting ``row``) or items with a scored response (``item``), divided by
        their sum over the cell and stratum where there are strata.
    """
    if strata is not None and strata not in counts.columns:
        raise AnalysisError(f"strata must be a column of the counts, not {strata!r}")
    weighting = default_weighting(counts) if weighting is None else weighting
    rows = counts[counts["cell"].astype("str") != ""]
    scored = rows["n_answered"] + rows["n_uncertain"]
    rows = rows.assign(weight=scored.astype(float))
    keys = ["task", "model", "cell", *(name for name in FACETS if name in rows.columns), *(["unit"] if units else [])]
    keys += [strata] if strata is not None and strata not in keys else []
    if weighting == "item":
        rows = rows.groupby([*keys, "item"], observed=True, sort=True)[[*COUNTS, "weight"]].sum().reset_index()
        rows["weight"] = (rows["weight"] > 0).astype(float)
    table = rows.groupby(keys, observed=True, sort=True)[[*COUNTS, "weight"]].sum().reset_index()
    if strata is not None:
        total = table.groupby(["model", "cell", strata], observed=True)["weight"].transform("sum")
        table["weight"] = table["weight"] / total.where(total > 0, 1.0)
    return table.astype({name: "str" for name in keys})


def cluster_estimates(clusters: CellCovariances) -> ClusterEstimates:
    """The covariances by unit as the layer of units of the hierarchical model takes them."""
    return ClusterEstimates(
        models=clusters.models,
        names=clusters.cells,
        estimate=clusters.estimate,
        covariance=clusters.covariance,
        df=clusters.df,
        units=clusters.units,
        rows=clusters.rows,
        uncertain=clusters.uncertain,
    )


def comparison_facts(clusters: CellCovariances) -> pd.DataFrame:
    """What a comparison has to know of each model: the ``facts`` of ``schools.Columns``."""
    estimate = clusters.estimate
    asked = np.isfinite(estimate).any(axis=1)
    filled = np.where(asked[:, None], estimate, 0.5)
    bias_error = np.sqrt(clusters.bias_variance)
    bias = answer_bias(estimate)
    with np.errstate(divide="ignore", invalid="ignore"):
        deff = clusters.bias_variance / clusters.binomial_variance
        bias_z = bias / bias_error
    return pd.DataFrame(
        {
            "model": list(clusters.models),
            "min_cell": np.nanmin(filled, axis=1),
            "max_cell": np.nanmax(filled, axis=1),
            "n_eff": clusters.class_n_eff,
            "deff": np.where(np.isfinite(deff), deff, 1.0),
            "tail": clusters.few_deviate,
            "lost": np.nan_to_num(clusters.lost),
            "bias_z": np.where(np.isfinite(bias_z), bias_z, np.nan),
        }
    )
