"""Accuracy by model and level of a condition as a grid of shaded cells with their numbers."""

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Canvas

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_label
from analysis.report.figures.rows import row_axes, row_labels, row_size
from analysis.report.figures.style import BLUE, FAINT, INK, LABEL_SIZE, PAPER, SHADE
from analysis.report.numbers import counted, fixed

#: From paper to blue, so that a print in grey keeps the order.
_SHADES = LinearSegmentedColormap.from_list("accuracy", [PAPER, "#9CC5DF", BLUE])
#: Above this white is read better than ink on the shade, below it ink; here the contrast is 4 to 1 either way.
_DARK = 0.87


def condition_heat_map(
    accuracies: pd.DataFrame,
    *,
    factor: str,
    name: str,
    labels: Mapping[str, str] | None = None,
    levels: Sequence[str] = (),
    subject: str = "",
    measure: str = "accuracy",
) -> Figure:
    """Grid of accuracies, models by their mean over levels, highest first.

    Parameters
    ----------
    accuracies : DataFrame
        ``model, level, estimate``; a missing estimate leaves its cell empty.
    factor : str
        Name of the condition.
    levels : sequence of str, optional
        Order of the columns.
    measure : str
        What the estimates are called.
    """
    wide = accuracies.pivot(index="model", columns="level", values="estimate")
    order = [level for level in levels if level in wide.columns] or sorted(wide.columns)
    wide = wide[order]
    ranked = wide.mean(axis=1).sort_values(ascending=False, kind="stable").index
    wide = wide.loc[ranked]
    data = wide.reset_index()
    data.insert(1, "label", list(row_labels(list(wide.index), labels)))
    empty = int(wide.isna().to_numpy().sum())
    return Figure(
        name=name,
        title=f"{measure.capitalize()} by {factor}" + (f": {subject}" if subject else ""),
        caption=(
            f"{measure.capitalize()} of each model under each {factor}, other conditions averaged; intervals stand in "
            "the table. Darker is higher, on a scale from 0 to 1."
            + (f" Empty: {counted(empty, 'cell')} that was not asked." if empty else "")
        ),
        alt=(
            f"Grid of {measure} for {counted(len(wide), 'model')} under {counted(len(order), 'level')} of {factor}, "
            f"from {fixed(float(wide.min().min()), 2)} to {fixed(float(wide.max().max()), 2)}."
        ),
        data=data,
        size=row_size(len(wide), above=0.55, below=0.15),
        draw=functools.partial(_draw, values=wide.to_numpy(float), labels=list(data["label"]), levels=order),
    )


def _draw(canvas: Canvas, *, values: np.ndarray, labels: list[str], levels: list[str]) -> None:
    axes = row_axes(canvas, labels, above=0.55, below=0.15)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            known = np.isfinite(value)
            axes.fill_between(
                [j - 0.5, j + 0.5],
                i - 0.5,
                i + 0.5,
                facecolor=_SHADES(value) if known else SHADE,
                edgecolor=PAPER if known else FAINT,
                linewidth=1.0,
            )
            if known:
                axes.text(
                    j,
                    i,
                    fixed(value, 2),
                    ha="center",
                    va="center",
                    fontsize=LABEL_SIZE,
                    color=PAPER if value > _DARK else INK,
                )
    axes.set_xlim(-0.5, len(levels) - 0.5)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(levels)), [drawn_label(level, limit=18) for level in levels], fontsize=LABEL_SIZE)
    axes.tick_params(axis="x", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
