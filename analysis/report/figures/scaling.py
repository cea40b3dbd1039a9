"""Accuracy of the cells against model size, one panel per family."""

import functools
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_label
from analysis.report.figures.style import BLUE, LABEL_SIZE, SOFT, VERMILION
from analysis.report.numbers import counted

#: Measure -> (name in the legend, colour, marker, line). Yes is right for the blue ones.
LOOKS: Final[dict[str, tuple[str, str, str, str]]] = {
    "acc_va": ("valid, affirmative", BLUE, "o", "-"),
    "acc_in": ("invalid, negated", BLUE, "s", "--"),
    "acc_vn": ("valid, negated", VERMILION, "o", "--"),
    "acc_ia": ("invalid, affirmative", VERMILION, "s", "-"),
    "acc_yes": ("Yes is right", BLUE, "o", "-"),
    "acc_no": ("No is right", VERMILION, "s", "--"),
}
_PANEL: Final = (2.15, 1.75)
_COLUMNS: Final = 3
#: Inches between rows of panels.
_GAP: Final = 0.08


def scaling_figure(
    rows: pd.DataFrame, *, name: str, measures: Sequence[str], intervals: str, subject: str = ""
) -> Figure:
    """Accuracies with their intervals by size.

    Parameters
    ----------
    rows : DataFrame
        ``model, family, size, measure, estimate, ci_low, ci_high``.
    name : str
    measures : sequence of str
        Keys of ``LOOKS``.
    intervals : str
        What the bars are, for the caption; empty without bars.
    """
    data = rows[rows["measure"].isin(list(measures))].sort_values(["family", "size", "model", "measure"])
    data = data.reset_index(drop=True)
    families = list(dict.fromkeys(data["family"].astype(str)))
    columns = 2 if len(families) == 4 else min(_COLUMNS, max(len(families), 1))
    lines = -(-max(len(families), 1) // columns)
    size = (round(0.55 + columns * (_PANEL[0] + 0.18), 2), round(0.75 + lines * (_PANEL[1] + _GAP), 2))
    looks = {measure: LOOKS[measure] for measure in measures}
    caption = (
        "Accuracy against size in billions of parameters (log scale). Blue: Yes is right; red: No is right. "
        "Dashed grey: chance (.5)." + (f" Bars: {intervals}." if intervals else "")
    )
    return Figure(
        name=name,
        title="Accuracy and model size" + (f": {subject}" if subject else ""),
        caption=caption,
        alt=f"{counted(len(families), 'panel')}, one per family ({', '.join(families)}): accuracy against size.",
        data=data[["family", "model", "size", "measure", "estimate", "ci_low", "ci_high"]],
        size=size,
        draw=functools.partial(_draw, data=data, families=families, columns=columns, size=size, looks=looks),
    )


def _draw(
    figure: Canvas,
    data: pd.DataFrame,
    families: list[str],
    columns: int,
    size: tuple[float, float],
    looks: Mapping[str, tuple[str, str, str, str]],
) -> None:
    width, height = size
    handles: list[Line2D] = []
    for at, family in enumerate(families):
        column, line = at % columns, at // columns
        left = 0.5 + column * (_PANEL[0] + 0.18)
        top = height - 0.2 - line * (_PANEL[1] + _GAP)
        axes = figure.add_axes(
            (left / width, (top - _PANEL[1] + 0.12) / height, (_PANEL[0]) / width, (_PANEL[1] - 0.3) / height)
        )
        handles = _panel(axes, data[data["family"] == family], looks)
        axes.set_title(drawn_label(family), fontsize=LABEL_SIZE + 1, loc="left", pad=3)
        axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"] if column == 0 else ["", "", ""])
        if column == 0:
            axes.set_ylabel("accuracy")
    figure.text(0.5, 0.34 / height, "size (billions of parameters)", ha="center", va="bottom", fontsize=LABEL_SIZE + 1)
    figure.legend(
        handles, [look[0] for look in looks.values()], loc="lower center", ncols=len(looks), fontsize=LABEL_SIZE,
        frameon=False, borderaxespad=0.1, handlelength=2.2, columnspacing=1.4,
    )  # fmt: skip


def _panel(axes: Axes, rows: pd.DataFrame, looks: Mapping[str, tuple[str, str, str, str]]) -> list[Line2D]:
    axes.set_xscale("log")
    axes.axhline(0.5, color=SOFT, linewidth=0.6, linestyle="--", zorder=0)
    handles: list[Line2D] = []
    sizes = np.unique(rows["size"].to_numpy(float))
    for measure, (_, colour, marker, dash) in looks.items():
        own = rows[rows["measure"] == measure].sort_values("size")
        x, y = own["size"].to_numpy(float), own["estimate"].to_numpy(float)
        low, high = own["ci_low"].to_numpy(float), own["ci_high"].to_numpy(float)
        axes.vlines(x, low, high, color=colour, linewidth=0.8, alpha=0.55)
        handles += axes.plot(
            x, y, dash, marker=marker, color=colour, markersize=3.4, linewidth=0.9,
            markerfacecolor=colour if dash == "-" else "white",
        )  # fmt: skip
    axes.set_ylim(-0.03, 1.03)
    if len(sizes):
        axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
        shown = _apart(sizes)
        axes.xaxis.set_major_locator(FixedLocator(list(shown)))
        axes.set_xticklabels([f"{size:g}" for size in shown], fontsize=LABEL_SIZE)
    axes.xaxis.set_minor_locator(NullLocator())
    return handles


def _apart(sizes: np.ndarray) -> list[float]:
    """Sizes whose labels do not touch: each at least a tenth of the panel from the one before."""
    span = np.log(sizes[-1] * 1.5) - np.log(sizes[0] / 1.5)
    kept = [float(sizes[0])]
    for size in sizes[1:]:
        if np.log(size) - np.log(kept[-1]) >= 0.1 * span:
            kept.append(float(size))
    return kept
