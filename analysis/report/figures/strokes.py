"""Strokes as spots, to see what a text would cover."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

#: Distance between the spots of a stroke that texts try not to cover, points.
INK_STEP: Final = 5.0
#: The start and the end of a straight line.
Stroke = tuple[Sequence[float], Sequence[float]]
Array = NDArray[np.float64]


def bars(spots: Array, low: Array, high: Array) -> list[Stroke]:
    """Intervals in x, then intervals in y, of points (n, 2) with ends ``low`` and ``high`` (n, 2)."""
    level = [((x0, y), (x1, y)) for (_, y), (x0, _), (x1, _) in zip(spots, low, high, strict=True)]
    return level + [((x, y0), (x, y1)) for (x, _), (_, y0), (_, y1) in zip(spots, low, high, strict=True)]


def inked(strokes: Sequence[Stroke]) -> Array:
    """Spots (m, 2) every few points along strokes; none on a stroke one of whose ends is missing."""
    return np.vstack([np.empty((0, 2)), *(_along(start, end) for start, end in strokes)])


def covered(box: Array, spots: Array) -> int:
    """How many spots lie inside a box (left, bottom, right, top)."""
    return int(((spots > box[:2]) & (spots < box[2:])).all(axis=1).sum())


def _along(start: Sequence[float], end: Sequence[float]) -> Array:
    first, last = np.asarray(start, float), np.asarray(end, float)
    length = np.hypot(*(last - first))
    if not np.isfinite(length):
        return np.empty((0, 2))
    return first + np.linspace(0, 1, int(length / INK_STEP) + 2)[:, None] * (last - first)
