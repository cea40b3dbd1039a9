"""Reliability curves: how often it is true where a model says p, one panel per model."""

import functools
import math
from collections.abc import Mapping
from typing import Final

import pandas as pd
from matplotlib.figure import Figure as Canvas

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_labels
from analysis.report.figures.style import BLUE, LABEL_SIZE, PAPER, SOFT
from analysis.report.numbers import counted, level

#: Panels in a row, and panels at most.
COLUMNS: Final = 4
MOST: Final = 16


def reliability_figure(
    curve: pd.DataFrame,
    *,
    name: str = "reliability",
    labels: Mapping[str, str] | None = None,
    subject: str = "",
) -> Figure:
    """Figure of mean truth against mean stated probability by bin, with intervals.

    Parameters
    ----------
    curve : DataFrame
        As ``frequentist.calibration.reliability_curve`` returns.
    name : str
    labels : mapping, optional
    subject : str
    """
    models = list(dict.fromkeys(curve["model"]))
    shown = models[:MOST]
    named = dict(zip(models, drawn_labels(models, labels), strict=True))
    data = curve.assign(label=[named[model] for model in curve["model"]])
    levels = " and ".join(level(value) for value in sorted(set(curve["ci_level"])))
    more = f" The first {MOST} of {counted(len(models), 'model')} are drawn." if len(models) > MOST else ""
    few = counted(int(curve["ci_low"].isna().sum()), "point")
    bars = (
        f"Bars: {levels} intervals by unit; {few} rest on too few units for one. On the diagonal answers are as "
        "high as the truth; open points rest on fewer than five units."
        if curve["ci_low"].notna().any()
        else "Values without intervals. On the diagonal answers are as high as the truth."
    )
    away = curve[(curve["ci_low"] > curve["mean_probability"]) | (curve["ci_high"] < curve["mean_probability"])]
    rows = math.ceil(len(shown) / COLUMNS)
    return Figure(
        name=name,
        title="Stated probability and truth" + (f": {subject}" if subject else ""),
        caption=f"Each point: answers within one tenth of the scale, at their mean. {bars}{more}",
        alt=f"Reliability curves of {counted(len(models), 'model')}. The interval misses the stated probability in "
        f"{len(away)} of {counted(int(curve['ci_low'].notna().sum()), 'bin')} with an interval.",
        data=data,
        size=(6.8, 0.55 + 1.75 * rows),
        draw=functools.partial(_draw, data=data, models=shown),
    )


def _draw(canvas: Canvas, *, data: pd.DataFrame, models: list[str]) -> None:
    rows, height = math.ceil(len(models) / COLUMNS), canvas.get_size_inches()[1]
    limited = bool(data["ci_low"].notna().any())
    grid = canvas.add_gridspec(
        rows, COLUMNS, left=0.08, right=0.955, bottom=0.42 / height, top=1 - 0.22 / height, wspace=0.12, hspace=0.3
    )
    for place, model in enumerate(models):
        axes = canvas.add_subplot(grid[place // COLUMNS, place % COLUMNS])
        part = data[data["model"] == model]
        axes.plot([0, 1], [0, 1], color=SOFT, linewidth=0.6, linestyle=(0, (3, 3)), zorder=1)
        drawn = part[["mean_probability", "estimate", "ci_low", "ci_high"]].to_numpy(float)
        for said, true, low, high in drawn:
            axes.plot([said, said], [low, high], color=BLUE, linewidth=0.9, zorder=2)
            face = PAPER if limited and math.isnan(low) else BLUE
            axes.plot([said], [true], marker="o", markersize=3.6, color=BLUE, markerfacecolor=face, zorder=3)
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        ticks = [0, 0.5, 1]
        last = place + COLUMNS >= len(models)
        axes.set_xticks(ticks, ["0", "0.5", "1"] if last else [""] * 3)
        axes.set_yticks(ticks, ["0", "0.5", "1"] if place % COLUMNS == 0 else [""] * 3)
        axes.set_title(part["label"].iloc[0], size=LABEL_SIZE, pad=3)
    canvas.text(0.53, 0.06 / height, "stated probability", ha="center", va="bottom")
    canvas.text(0.012, 0.5, "mean truth", rotation=90, ha="left", va="center")
