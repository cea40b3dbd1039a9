"""Accuracy and consistency of single answers where questions have several votes: the shares of the votes, by unit."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.frequentist.consistency import NO_SETS
from analysis.frequentist.model_measures import ModelMeasure, model_units, rate_measure, tidy
from analysis.measures.classification import credited

NO_ANSWER = "no readable answer"


def vote_share_estimates(
    answers: pd.DataFrame,
    *,
    conditions: Sequence[str],
    ci_level: float = 0.95,
    target: str = "these",
    unit: str = "unit",
    task: str = "",
) -> pd.DataFrame:
    """Accuracy of a readable vote, and chance that one vote on each version of an item are all the same.

    Parameters
    ----------
    answers : DataFrame
        As ``reduction.votes.nested_answers`` gives them; with ``variant`` where items have versions.
    conditions : sequence of str
        Columns whose combinations are the configurations.
    ci_level, target, unit, task
        As elsewhere.

    Returns
    -------
    DataFrame
        Rows by model of ``accuracy`` and, with versions, ``consistency_all``: the mean over configurations × units of
        the product over versions of the shares of yes plus that of the shares of no, unbiased as votes on different
        versions are separate draws. Only units in all versions with a readable vote each count.
    """
    known = model_units(answers)
    right = credited(answers["right"], answers["unclear"], uncertain="excluded")
    trials = known.sums(np.where(np.isnan(right), np.nan, 1.0))[..., 0]
    found = [
        rate_measure("accuracy", trials, known.sums(right)[..., 0], ci_level=ci_level, nothing=NO_ANSWER),
        *_consistency(answers, conditions, ci_level),
    ]
    shared = {"ci_level": ci_level, "unit": unit, "task": task, "uncertain": "excluded", "weights": "row"}
    return tidy(known.models, found, target=target, **shared)


def _consistency(answers: pd.DataFrame, conditions: Sequence[str], ci_level: float) -> list[ModelMeasure]:
    if "variant" not in answers or answers["variant"].astype(str).nunique() < 2:
        return []
    keys = ["model", *conditions, "unit"]
    table = answers[keys].astype("str")
    table = table.assign(
        variant=answers["variant"].astype(str).to_numpy(),
        share=credited(answers["endorsed"], answers["unclear"], uncertain="excluded"),
    )
    wide = table.pivot_table(index=keys, columns="variant", values="share", aggfunc="mean", dropna=False)
    shares = wide.to_numpy(float)
    alike = shares.prod(axis=1) + (1 - shares).prod(axis=1)
    alike = np.where(np.isnan(shares).any(axis=1), np.nan, alike)
    sets = wide.index.to_frame(index=False)
    everyone = model_units(answers)
    at = {name: i for i, name in enumerate(everyone.units)}
    of_model = {name: i for i, name in enumerate(everyone.models)}
    n, y = (np.zeros((len(everyone.models), len(everyone.units))) for _ in range(2))
    place = (sets["model"].map(of_model).to_numpy(), sets["unit"].map(at).to_numpy())
    np.add.at(n, place, np.isfinite(alike).astype(float))
    np.add.at(y, place, np.nan_to_num(alike))
    return [rate_measure("consistency_all", n, y, ci_level=ci_level, nothing=NO_SETS)]
