"""Figures with one row per model: their height, their labels, and room for names on the left."""

from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from analysis.report.figures.labels import drawn_labels
from analysis.report.figures.style import LABEL_SIZE

ROW_HEIGHT: Final = 0.24
WIDTH: Final = 6.3
_CHARACTER: Final = 0.062


def row_size(rows: int, *, above: float = 0.35, below: float = 0.55) -> tuple[float, float]:
    """Width and height in inches of a figure with that many rows."""
    return WIDTH, max(rows, 1) * ROW_HEIGHT + above + below


def row_labels(models: Sequence[str], labels: Mapping[str, str] | None) -> tuple[str, ...]:
    """Labels of the rows, short enough to stand beside them."""
    return drawn_labels(list(models), labels, limit=30)


def row_axes(
    canvas: Canvas, labels: Sequence[str], *, right: float = 0.15, above: float = 0.35, below: float = 0.55
) -> Axes:
    """Axes with a row for each label, the first on top, and the names to the left of them.

    ``right``, ``above`` and ``below`` are inches outside the axes.
    """
    width, height = canvas.get_size_inches()
    left = 0.2 + _CHARACTER * max((len(label) for label in labels), default=1)
    axes = canvas.add_axes((left / width, below / height, 1 - (left + right) / width, 1 - (above + below) / height))
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), list(labels), fontsize=LABEL_SIZE)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return axes
