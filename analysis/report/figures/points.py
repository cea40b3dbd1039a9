"""Two measures of every model side by side: the table behind a figure that plots one against the other."""

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.report.numbers import counted

EXCLUDES_ZERO, INCLUDES_ZERO, UNDEFINED = "excludes 0", "includes 0", "undefined"
_KEPT = ("estimate", "ci_low", "ci_high")


def measure_columns(estimates: pd.DataFrame, measures: tuple[str, ...]) -> pd.DataFrame:
    """One row per model with the estimate and interval of each measure.

    Parameters
    ----------
    estimates : DataFrame
        Tidy estimates of one task and one treatment of uncertain answers: one row per model and measure.
    measures : tuple of str
        Names of ``vocabulary.MEASURES``.

    Returns
    -------
    DataFrame
        ``model``, then per measure ``<measure>``, ``<measure>_low``, ``<measure>_high`` (missing where
        undefined), then ``reason``: why something is missing, empty otherwise. Models in order of
        first appearance.

    Raises
    ------
    AnalysisError
        A model has two rows for one measure: the rows of two tasks or treatments were not separated.
    """
    rows = estimates[estimates["measure"].isin(measures)]
    twice = rows[rows.duplicated(["model", "measure"])]
    if len(twice):
        offenders = tuple(dict.fromkeys(twice["model"]))
        raise AnalysisError(
            f"a figure shows one estimate per model and measure; {len(offenders)} models have several "
            f"(first: {offenders[0]!r}); select one task and one treatment of uncertain answers",
            offenders=offenders,
        )
    models = list(dict.fromkeys(rows["model"]))
    table = pd.DataFrame({"model": pd.Series(models, dtype=object)})
    for measure in measures:
        one = rows[rows["measure"] == measure].set_index("model").reindex(models)
        for column, suffix in zip(_KEPT, ("", "_low", "_high"), strict=True):
            table[measure + suffix] = pd.to_numeric(one[column]).to_numpy(dtype=float)
    table["reason"] = _reasons(rows, models, measures)
    return table


def absolute_interval(low: pd.Series, high: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Values that ``abs(x)`` takes while x runs through [low, high]; 0 is the lower end where the interval holds it."""
    ends = np.abs(np.stack([low, high]))
    holds_zero = (low <= 0) & (high >= 0)
    return (
        pd.Series(np.where(holds_zero, 0.0, ends.min(axis=0)), low.index),
        pd.Series(ends.max(axis=0), low.index),
    )


def lean_columns(table: pd.DataFrame) -> pd.DataFrame:
    """The table with ``lean`` (1 to Yes, -1 to No, 0 neither) and ``bias_interval`` (what it says of 0).

    Where the bias is missing, the two accuracies decide the lean.
    """
    bias = table["answer_bias"]
    if {"acc_yes", "acc_no"} <= set(table.columns):
        bias = bias.fillna(table["acc_yes"] - table["acc_no"])
    low, high = table["answer_bias_low"], table["answer_bias_high"]
    kinds = np.where((low <= 0) & (high >= 0), INCLUDES_ZERO, EXCLUDES_ZERO)
    kinds = np.where(low.isna() | high.isna(), UNDEFINED, kinds)
    return table.assign(lean=np.sign(bias).fillna(0).astype(int), bias_interval=kinds)


def unproven_words(shown: pd.DataFrame) -> list[str]:
    """Sentences for the alternative text: how many of the points drawn show no lean, and why."""
    kinds = shown["bias_interval"]
    includes, undefined = int((kinds == INCLUDES_ZERO).sum()), int((kinds == UNDEFINED).sum())
    said = [f"The interval of the bias includes 0 for {counted(includes, 'model')}."] if includes else []
    return said + ([f"It is undefined for {counted(undefined, 'model')}, drawn as crosses."] if undefined else [])


def cross_words(shown: pd.DataFrame) -> list[str]:
    """Sentence for the caption: what a cross means, where one is drawn."""
    drawn = (shown["bias_interval"] == UNDEFINED).any()
    return ["Crosses: the bias has no interval, so that neither a lean nor its absence is shown."] if drawn else []


def interval_words(estimates: pd.DataFrame, measures: tuple[str, ...]) -> str:
    """Level of the intervals in words, from the columns: "95% intervals"; empty where there are none."""
    rows = estimates[estimates["measure"].isin(measures) & estimates["ci_low"].notna()]
    levels = sorted({float(level) for level in rows["ci_level"].dropna()})
    if not levels:
        return ""
    return " and ".join(f"{100 * level:.4g}%" for level in levels) + " intervals"


def _reasons(rows: pd.DataFrame, models: list[str], measures: tuple[str, ...]) -> list[str]:
    given = {m: list(dict.fromkeys(r for r in g["reason"].dropna() if r)) for m, g in rows.groupby("model", sort=False)}
    present = {m: set(g["measure"]) for m, g in rows.groupby("model", sort=False)}
    absent = {m: [name for name in measures if name not in present[m]] for m in models}
    return ["; ".join([*given[m], *(f"{name} was not estimated" for name in absent[m])]) for m in models]


def missing_words(data: pd.DataFrame) -> list[str]:
    """One sentence per model that has no number in the figure, with the reason."""
    rows = data[data["number"].isna()].to_dict("records")
    return [f"Not shown: {row['label']} ({row['reason'] or 'undefined'})." for row in rows]
