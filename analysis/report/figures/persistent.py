"""Size of the residuals and their persistent part, side by side, one row per model."""

import functools
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from analysis.report.content import Figure
from analysis.report.figures.caterpillar import ROW, Caterpillar, draw_caterpillar
from analysis.report.figures.labels import drawn_labels
from analysis.report.figures.points import interval_words, measure_columns
from analysis.report.numbers import counted, fixed

MEASURES = ("mean_abs_residual", "persistent")
_TITLES = ("(a) mean |residual|, log-odds", "(b) persistent residual, log-odds")


def persistent_figure(
    estimates: pd.DataFrame,
    *,
    name: str = "persistent",
    labels: Mapping[str, str] | None = None,
    subject: str = "",
) -> Figure:
    """Figure of mean |r| and of the persistent residual with intervals, most coherent model first.

    Parameters
    ----------
    estimates : DataFrame
        Tidy estimates with the two measures.
    name : str
    labels : mapping, optional
    subject : str
        What the title adds.
    """
    table = measure_columns(estimates, MEASURES).sort_values("mean_abs_residual", kind="stable", ignore_index=True)
    table.insert(1, "label", list(drawn_labels(list(table["model"]), labels)))
    table["detected"] = table["persistent_low"] > 0
    words = interval_words(estimates, MEASURES)
    shown, found = int(table["persistent"].notna().sum()), int(table["detected"].sum())
    missing = [
        f"No persistent residual: {r.label} ({r.reason})." for r in table[table["persistent"].isna()].itertuples()
    ]
    caption = [
        f"Bars: {words}." if words else "Values without intervals.",
        "Filled: the interval excludes 0. The mean |residual| mixes rewording noise with incoherence and is never 0; "
        "the persistent residual is what remains over rewordings, shown as 0 where its square is estimated below 0.",
        *missing,
    ]
    ends = table.dropna(subset=["mean_abs_residual"])
    alt = f"Two panels of intervals for {counted(len(table), 'model')}. "
    if len(ends):
        low, high = ends.iloc[0], ends.iloc[-1]
        alt += (
            f"Mean absolute residuals run from {fixed(low['mean_abs_residual'], 2)} ({low['label']}) to "
            f"{fixed(high['mean_abs_residual'], 2)} ({high['label']}). "
        )
    alt += f"The interval of the persistent residual excludes 0 for {found} of {shown}."
    return Figure(
        name=name,
        title="Incoherence and its persistent part" + (f": {subject}" if subject else ""),
        caption=" ".join(caption),
        alt=alt,
        data=table,
        size=(6.6, 0.95 + ROW * max(len(table), 1)),
        draw=functools.partial(_draw, table=table),
    )


def _draw(canvas: Canvas, *, table: pd.DataFrame) -> None:
    # Room for the longest name, in shares of the width.
    widest = max((len(str(label)) for label in table["label"]), default=1)
    left = float(np.clip(0.02 + 0.0095 * widest, 0.1, 0.36))
    height = canvas.get_size_inches()[1]
    grid = canvas.add_gridspec(1, 2, left=left, right=0.97, bottom=0.5 / height, top=1 - 0.12 / height, wspace=0.12)
    for at, (measure, title) in enumerate(zip(MEASURES, _TITLES, strict=True)):
        low = table[f"{measure}_low"].to_numpy(float)
        rows = Caterpillar(
            labels=list(table["label"]),
            estimate=table[measure].to_numpy(float),
            low=low,
            high=table[f"{measure}_high"].to_numpy(float),
            filled=low > 0,
            x_title=title,
        )
        draw_caterpillar(canvas.add_subplot(grid[0, at]), rows, names=at == 0)
