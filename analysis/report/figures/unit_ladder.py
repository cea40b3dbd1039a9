"""One p-value per choice of the independent unit, on a log scale."""

import functools
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, NullLocator

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_label
from analysis.report.figures.style import BLUE, FAINT, INK, LABEL_SIZE, PAPER, SOFT, VERMILION
from analysis.report.numbers import p_value

#: p-values below this stand at the left edge, whose label then says so.
SMALLEST: Final = 1e-6
_ROW: Final = 0.26
_TICKS: Final = {1e-6: "10⁻⁶", 1e-5: "10⁻⁵", 1e-4: "10⁻⁴", 1e-3: "0.001", 1e-2: "0.01", 1e-1: "0.1", 1.0: "1"}


def unit_ladder_figure(rows: pd.DataFrame, *, name: str, title: str, alpha: float = 0.05) -> Figure:
    """p-values of one change by unit.

    Parameters
    ----------
    rows : DataFrame
        ``unit, test, p_value, n_clusters, resolution``; a missing p-value is drawn as a dash with its reason.
    name, title : str
    alpha : float
        Where the line stands.
    """
    data = rows[["unit", "test", "p_value", "n_clusters", "resolution", "reason"]].reset_index(drop=True)
    known = data.dropna(subset=["p_value"])
    pairs = zip(known["unit"].astype(str), known["p_value"].astype(float), strict=True)
    alt = "; ".join(f"{unit}: {p_value(p, 3)}" for unit, p in pairs)
    caption = (
        "p-values of the same change when rows, or ever larger groups of them, are taken as independent; "
        f"those below {SMALLEST:g} stand at the left edge. Filled: at most {alpha:g}."
    )
    size = (5.6, round(0.75 + _ROW * max(len(data), 1), 2))
    return Figure(
        name=name,
        title=title,
        caption=caption,
        alt=f"Dot plot of p-values by independent unit. {alt}." if alt else "Empty plot: no p-value is defined.",
        data=data,
        size=size,
        draw=functools.partial(_draw, data=data, size=size, alpha=alpha),
    )


def _draw(figure: Canvas, data: pd.DataFrame, size: tuple[float, float], alpha: float) -> None:
    width, height = size
    axes = figure.add_axes((1.75 / width, 0.45 / height, (width - 2.75) / width, (height - 0.6) / height))
    places = np.arange(len(data))[::-1]
    axes.set_xscale("log")
    axes.set_xlim(SMALLEST / 1.6, 1.6)
    axes.xaxis.set_major_locator(FixedLocator(list(_TICKS)))
    edge = "≤ " if (data["p_value"] < SMALLEST).any() else ""
    axes.set_xticklabels([edge * (p == SMALLEST) + label for p, label in _TICKS.items()], fontsize=LABEL_SIZE)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(-0.6, len(data) - 0.4)
    axes.axvline(alpha, color=SOFT, linewidth=0.7, linestyle="--", zorder=1)
    axes.hlines(places, SMALLEST, 1, color=FAINT, linewidth=0.5, zorder=0)
    for place, p in zip(places, data["p_value"].astype(float), strict=True):
        if np.isnan(p):
            axes.text(1.0, place, "not tested", ha="right", va="center", size=LABEL_SIZE, color=SOFT)
            continue
        colour = BLUE if p <= alpha else VERMILION
        face = colour if p <= alpha else PAPER
        axes.plot([max(p, SMALLEST)], [place], "o", color=colour, markerfacecolor=face, markersize=4.5, zorder=3)
        axes.text(2.2, place, p_value(p, 3), va="center", size=LABEL_SIZE, color=INK, clip_on=False)
    units = zip(data["unit"].astype(str), data["n_clusters"].astype(int), strict=True)
    labels = [f"{drawn_label(unit, limit=26)} ({n:,})" for unit, n in units]
    axes.set_yticks(places, labels)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("p (two-sided)")
