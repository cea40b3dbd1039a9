"""Figures with one row per model: labels at the left, marks and intervals beside them, a key above."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from analysis.report.figures.style import FAINT, LABEL_SIZE, SHADE, label_font

#: Points between labels and axes, at the right (room for a mark of simulated data), below the rows (ticks and
#: title of the axis, of at most two lines), and above them (the key).
_EDGE: Final = 8.0
_RIGHT: Final = 26.0
_BELOW: Final = 44.0
_ABOVE: Final = 24.0
_POINTS: Final = 72.0


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Where the axes of a figure with rows lie, in points.

    Attributes
    ----------
    labels : tuple of str
        From the top.
    row : float
        Height of a row.
    width : float
        Of the axes together.
    left : float
        Room for the labels.
    """

    labels: tuple[str, ...]
    row: float
    width: float
    left: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the figure in inches."""
        height = _BELOW + _ABOVE + self.row * max(len(self.labels), 1)
        return (self.left + self.width + _EDGE + _RIGHT) / _POINTS, height / _POINTS


def row_layout(labels: Sequence[str], *, row: float, width: float) -> RowLayout:
    """Layout with as much room at the left as the longest label needs."""
    return RowLayout(tuple(labels), row, width, max(map(_label_width, labels), default=0.0) + 2 * _EDGE)


@functools.lru_cache(maxsize=4096)
def _label_width(text: str) -> float:
    """Width of a label in points; several figures of a report show the same models."""
    # Not TextPath, which reads two dollar signs in a name as a formula, whatever the style of the figures says.
    vertices, codes = text_to_path.get_text_path(label_font(LABEL_SIZE), text)
    return float(Path(vertices, codes).get_extents().width) * LABEL_SIZE / text_to_path.FONT_SCALE


def row_axes(canvas: Canvas, layout: RowLayout, panels: int = 1, *, gap: float = 20.0) -> list[Axes]:
    """Axes side by side with a row per label, every second one shaded; labels stand at the first axes."""
    width, height = (side * _POINTS for side in layout.size)
    each = (layout.width - gap * (panels - 1)) / panels
    found = []
    for panel in range(panels):
        left = layout.left + _EDGE + panel * (each + gap)
        axes = canvas.add_axes((left / width, _BELOW / height, each / width, (height - _BELOW - _ABOVE) / height))
        axes.set_ylim(max(len(layout.labels), 1) - 0.5, -0.5)
        for at in range(0, len(layout.labels), 2):
            axes.axhspan(at - 0.5, at + 0.5, color=SHADE, linewidth=0, zorder=0)
        names = layout.labels if panel == 0 else [""] * len(layout.labels)
        axes.set_yticks(np.arange(len(layout.labels)), names)
        axes.tick_params(axis="y", length=0, labelsize=LABEL_SIZE)
        axes.tick_params(axis="x", labelsize=LABEL_SIZE)
        axes.spines["left"].set_visible(False)
        found.append(axes)
    return found


def inner_ticks(axes: Axes, most: int) -> None:
    """At most so many ticks on the horizontal axis, none outside what it shows."""
    low, high = axes.get_xlim()
    axes.set_xticks([at for at in MaxNLocator(most).tick_values(low, high) if low <= at <= high])
    axes.set_xlim(low, high)


def reference_line(axes: Axes, value: float) -> None:
    """Thin line across all rows."""
    axes.axvline(value, color=FAINT, linewidth=0.9, zorder=1)


def row_key(canvas: Canvas, handles: Sequence[Line2D]) -> None:
    """Key of the marks in one line above the rows."""
    canvas.legend(
        handles=list(handles),
        loc="upper center",
        ncols=max(len(handles), 1),
        frameon=False,
        fontsize=LABEL_SIZE,
        handletextpad=0.5,
        columnspacing=1.6,
        borderaxespad=0.3,
    )
