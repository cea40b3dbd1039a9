"""Residuals reduced to the sufficient statistics of each instance: wordings, mean, squares about it."""

from typing import Final

import numpy as np
import pandas as pd

#: What makes an instance of one model.
INSTANCE: Final = ("model", "unit", "identity")
#: Columns averaged within an instance, wordings weighing the same.
_AVERAGED: Final = ("abs_residual", "square", "difference", "abs_difference", "tokens", "truth", "truth_gap")


def by_wording(residuals: pd.DataFrame) -> pd.DataFrame:
    """Residuals averaged over the samples of each wording, so that wordings alone are replicates.

    Parameters
    ----------
    residuals : DataFrame
        As ``measures.identities_residuals`` returns: one row per model × unit × identity × wording × sample.

    Returns
    -------
    DataFrame
        One row per model × unit × identity × wording, sorted so; ``at_clip_left`` and ``at_clip_right`` are true where
        a sample's is; ``abs_residual`` and ``square`` are means over samples.
    """
    rows = residuals.assign(
        abs_residual=residuals["residual"].abs(),
        square=residuals["residual"] ** 2,
        abs_difference=residuals["difference"].abs(),
    )
    errors = [name for name in rows.columns if name.startswith("error_")]
    keys = [*INSTANCE, "wording"]
    if not rows.duplicated(keys).any():
        return rows.sort_values(keys, ignore_index=True)
    how = {name: "mean" for name in ("left", "right", "residual", *_AVERAGED, *errors)}
    how |= {"at_clip_left": "max", "at_clip_right": "max", "item_family": "first", "level": "first"}
    return rows.groupby(keys, sort=True, as_index=False).agg(how)


def instance_moments(residuals: pd.DataFrame, *, task: str = "") -> pd.DataFrame:
    """One row per task × model × unit × identity.

    Parameters
    ----------
    residuals : DataFrame
        As ``by_wording`` returns.
    task : str

    Returns
    -------
    DataFrame
        ``task, model, unit, identity, item_family, level``; ``k`` (wordings), ``mean`` and ``ss`` of the residual over
        wordings (sum of squared deviations, 0 where k = 1), ``clipped`` and ``clipped_both`` (share of the wordings
        with a side, with both sides, at the clip); means over wordings of ``abs_residual``, ``square``,
        ``difference``, ``abs_difference``, ``tokens``, ``truth``, ``truth_gap`` and the errors.
    """
    keys = list(INSTANCE)
    rows = residuals.sort_values([*keys, "wording"], ignore_index=True)
    one_side = rows["at_clip_left"] | rows["at_clip_right"]
    rows = rows.assign(one_side=one_side, both_sides=rows["at_clip_left"] & rows["at_clip_right"])
    errors = [name for name in rows.columns if name.startswith("error_")]
    grouped = rows.groupby(keys, sort=True)
    mean = grouped["residual"].transform("mean")
    rows = rows.assign(squares=(rows["residual"] - mean) ** 2)
    averaged = [name for name in (*_AVERAGED, *errors) if name in rows.columns]
    grouped = rows.groupby(keys, sort=True)
    table = grouped[averaged].mean()
    table["k"] = grouped.size()
    table["mean"] = grouped["residual"].mean()
    table["ss"] = grouped["squares"].sum().where(table["k"] > 1, 0.0)
    table["clipped"] = grouped["one_side"].mean()
    table["clipped_both"] = grouped["both_sides"].mean()
    for name in ("item_family", "level"):
        table[name] = grouped[name].first()
    first = ["task", *keys, "item_family", "level", "k", "mean", "ss", "clipped", "clipped_both"]
    return table.reset_index().assign(task=task)[[*first, *averaged]]


def residual_matrix(residuals: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...], np.ndarray]:
    """Residuals of one model as instances × wordings.

    Returns
    -------
    instances : DataFrame
        ``unit, identity`` in the order of the rows.
    wordings : tuple of str
        In the order of the columns.
    matrix : (n, K)
        NaN where an instance was not asked in a wording.
    """
    wide = residuals.pivot(index=["unit", "identity"], columns="wording", values="residual").sort_index()
    wide = wide.sort_index(axis=1)
    return wide.index.to_frame(index=False), tuple(map(str, wide.columns)), wide.to_numpy(float)


def shared_instances(instances: pd.DataFrame) -> pd.DataFrame:
    """Instances that every model has, so that models are compared on the same questions."""
    models = instances["model"].nunique()
    held = instances.groupby(["unit", "identity"])["model"].transform("nunique")
    return instances[held == models].reset_index(drop=True)
