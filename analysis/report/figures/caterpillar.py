"""Estimates with their intervals in rows, one row per model: points filled where the interval says something."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from analysis.report.figures.style import BLUE, FAINT, LABEL_SIZE, PAPER, SOFT

#: Inches per row.
ROW: Final = 0.24


@dataclass(frozen=True, slots=True)
class Caterpillar:
    """Rows from top to bottom.

    Attributes
    ----------
    labels : sequence of str
    estimate, low, high : (n,)
        NaN where there is none; a missing end is not drawn.
    filled : (n,) of bool
    x_title : str
    zero : bool
        Draw a line at 0 and begin there or below.
    """

    labels: Sequence[str]
    estimate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    filled: NDArray[np.bool_]
    x_title: str
    zero: bool = True


def draw_caterpillar(axes: Axes, rows: Caterpillar, *, names: bool = True) -> None:
    """Draw the rows; ``names`` prints the labels at the left."""
    places = np.arange(len(rows.labels))[::-1]
    for y, x, low, high, filled in zip(places, rows.estimate, rows.low, rows.high, rows.filled, strict=True):
        ends = [end if np.isfinite(end) else x for end in (low, high)]
        if np.isfinite(x):
            axes.plot(ends, [y, y], color=BLUE, linewidth=1.0, solid_capstyle="butt", zorder=2)
            face = BLUE if filled else PAPER
            axes.plot([x], [y], marker="o", markersize=4.6, color=BLUE, markerfacecolor=face, zorder=3)
        else:
            axes.text(0.02, y, "undefined", transform=axes.get_yaxis_transform(), va="center", size=LABEL_SIZE,
                      color=SOFT)  # fmt: skip
    if rows.zero:
        axes.axvline(0, color=SOFT, linewidth=0.6, zorder=1)
    axes.set_ylim(-0.6, len(places) - 0.4)
    axes.set_yticks(places, list(rows.labels) if names else [""] * len(places))
    axes.tick_params(axis="y", length=0, labelsize=LABEL_SIZE)
    axes.grid(axis="x", color=FAINT, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_xlabel(rows.x_title)
    low, high = axes.get_xlim()
    if rows.zero and low > 0:
        axes.set_xlim(-0.02 * high, high)
