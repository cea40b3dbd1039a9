"""Do conclusions about incoherence turn on the clip, the scale or sums that miss 1? Rankings under every choice."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from analysis.measures.coherence import at_clip, residual

CLIPS: Final = (0.001, 0.01, 0.05)


def instance_values(residuals: pd.DataFrame, values: np.ndarray) -> pd.Series:
    """Values of instances, by model, unit and identity; wordings of one instance weigh the same."""
    rows = residuals[["model", "unit", "identity"]].assign(value=values)
    return rows.groupby(["model", "unit", "identity"])["value"].mean()


def instance_means(residuals: pd.DataFrame, values: np.ndarray) -> pd.Series:
    """Mean over instances, wordings of one instance weighing the same, by model."""
    return instance_values(residuals, values).groupby("model").mean()


def robustness(
    residuals: pd.DataFrame,
    *,
    clip: float,
    relation: str = "=",
    renormalised: pd.DataFrame | None = None,
    sums: pd.DataFrame | None = None,
    answers: pd.DataFrame | None = None,
    clips: Sequence[float] = CLIPS,
) -> pd.DataFrame:
    """Mean |r| of each model under other clips, on the probability scale, and with rescaled states.

    Parameters
    ----------
    residuals : DataFrame
        One row per instance and wording, with ``left`` and ``right``.
    clip : float
        The one used elsewhere, that ranks are compared with.
    relation : str
        Of the identity.
    renormalised : DataFrame, optional
        The same rows after the states were rescaled to sum to 1.
    sums : DataFrame, optional
        ``model, sum``: sum over states of each set.
    answers : DataFrame, optional
        ``model, probability``: single answers, for their share at the clip.

    Returns
    -------
    DataFrame
        One row per model: ``one_at_clip`` and ``both_at_clip`` (share of residuals with a side, both sides at the
        clip), ``answers_at_clip`` (share of single answers), ``clip_<c>`` for every clip, ``points`` and
        ``median_points`` (|left - right|, over instances), ``renormalised``, ``sum_gap`` (median |sum - 1|); and
        ``rank_<choice>`` for ``base`` and every choice, 1 is the smallest.
    """
    left, right = residuals["left"].to_numpy(float), residuals["right"].to_numpy(float)
    sides = at_clip(left, clip=clip).astype(int) + at_clip(right, clip=clip)
    table = pd.DataFrame(index=pd.Index(sorted(residuals["model"].unique()), name="model"))
    table["one_at_clip"] = instance_means(residuals, (sides == 1).astype(float))
    table["both_at_clip"] = instance_means(residuals, (sides == 2).astype(float))
    if answers is not None:
        extreme = pd.Series(at_clip(answers["probability"], clip=clip), index=answers.index)
        table["answers_at_clip"] = extreme.groupby(answers["model"].astype(str)).mean()
    choices = {"base": residual(left, right, relation=relation, clip=clip)}
    choices |= {f"clip_{c:g}": residual(left, right, relation=relation, clip=c) for c in clips}
    choices["points"] = residual(left, right, relation=relation, scale="probability")
    for name, values in choices.items():
        table[name] = instance_means(residuals, np.abs(values))
    table["median_points"] = instance_values(residuals, np.abs(choices["points"])).groupby("model").median()
    if renormalised is not None:
        sizes = residual(renormalised["left"], renormalised["right"], relation=relation, clip=clip)
        table["renormalised"] = instance_means(renormalised, np.abs(sizes))
    if sums is not None:
        table["sum_gap"] = (sums["sum"] - 1).abs().groupby(sums["model"]).median()
    for name in [*choices, *(["renormalised"] if renormalised is not None else [])]:
        table[f"rank_{name}"] = table[name].rank(method="min").astype("Int64")
    return table.reset_index()


def rank_changes(table: pd.DataFrame, labels: Mapping[str, str]) -> dict[str, list[str]]:
    """Choice -> models whose rank it changes, as ``name 2 to 4``."""
    found: dict[str, list[str]] = {}
    for column in table.columns:
        if not str(column).startswith("rank_") or column == "rank_base":
            continue
        moved = table[table[column] != table["rank_base"]].sort_values(["rank_base", "model"])
        names = [
            f"{labels.get(str(model), str(model))} {base} to {now}"
            for model, base, now in zip(moved["model"], moved["rank_base"], moved[column], strict=True)
        ]
        if names:
            found[str(column).removeprefix("rank_")] = names
    return found
