"""Where labels go so that none lies on another, on a point, or outside the frame.

Each label tries a ring of places around its point, from near to far, and takes the cheapest free one.
Greedy, crowded points first, as in Imhof's rules for maps; no randomness, so a figure is always the same.

References
----------
Christensen, Marks, Shieber (1995), ACM Transactions on Graphics 14:203-232, doi:10.1145/212332.212334.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_NEAR: Final = (5.0, 8.0, 12.0)
_FAR: Final = (17.0, 23.0, 30.0, 38.0, 47.0, 57.0)
_DIRECTIONS: Final = np.deg2rad(np.arange(0, 360, 22.5))
#: Steps at which a leader line is tested against boxes.
_STEPS: Final = np.linspace(0.25, 1.0, 8)
#: Cost of one covered spot, in points of distance.
_COVERED: Final = 1.1
#: Cost of a leader line that runs over another point, points.
_ASTRAY: Final = 12.0
#: Cost of a leader line in each direction: level and upright ones look like intervals.
_UPRIGHT: Final = np.where(np.arange(len(_DIRECTIONS) * len(_NEAR + _FAR)) % 4 == 0, 4.0, 0.0)
#: Air between a label and a stroke, points.
_AIR: Final = np.array([-0.8, -0.8, 0.8, 0.8])
#: A free strip around each label, points.
GAP: Final = 1.2
#: Half the width of the square around a point that no label may touch, points.
MARK: Final = 3.2
#: Passes in which labels that found no place go first.
_ROUNDS: Final = 12
#: Distance from which a line leads from the point to its label.
LEADER_FROM: Final = 11.0


@dataclass(frozen=True, slots=True)
class Placement:
    """Boxes of labels, in points from the frame's lower left corner.

    ``boxes`` has columns left, bottom, right, top and a row of NaN for a label without a free place;
    ``anchors`` is the end of each leader line on its box; ``led`` says which labels need that line.
    """

    boxes: Array
    anchors: Array
    led: NDArray[np.bool_]

    @property
    def complete(self) -> bool:
        """Whether every label has a place."""
        return bool(np.isfinite(self.boxes).all())


def doubtful(placement: Placement, points: Array) -> int:
    """Number of labels that lie no farther from another point than from their own.

    Parameters
    ----------
    placement : Placement
    points : array (n, 2)
        The labelled points, in the order of the boxes.
    """
    left, bottom, right, top = (edge[:, None] for edge in placement.boxes.T)
    x, y = points.T
    aside = np.maximum(np.maximum(left - x, x - right), 0)
    above = np.maximum(np.maximum(bottom - y, y - top), 0)
    distance = np.hypot(aside, above)
    own = distance.diagonal().copy()
    np.fill_diagonal(distance, np.inf)
    return int((distance.min(axis=1, initial=np.inf) <= own).sum())


def place_labels(
    points: Array,
    sizes: Array,
    frame: tuple[float, float],
    *,
    inked: Array | None = None,
    taken: Array | None = None,
    reach: float = np.inf,
) -> Placement:
    """Places for labels of the given sizes beside their points.

    Parameters
    ----------
    points : array (n, 2)
        Points to label.
    sizes : array (n, 2)
        Width and height of each label.
    frame : (float, float)
        Width and height of the frame; labels stay within.
    inked : array (m, 2), optional
        Spots on strokes (intervals, lines of reference) that labels avoid where they can.
    taken : array (t, 4), optional
        Boxes that labels must not touch.
    reach : float
        Farthest that a label may be from its point.
    """
    blocked = np.empty((0, 4)) if taken is None else taken
    spots = np.empty((0, 2)) if inked is None else inked
    places = _places(points, sizes, frame, inked=spots, taken=blocked, reach=reach)
    order = _crowded_first(points)
    placement = _placed(places, order)
    for _ in range(_ROUNDS):
        if placement.complete:
            break
        lost = np.isnan(placement.boxes[order, 0])
        order = np.concatenate([order[lost], order[~lost]])
        again = _placed(places, order)
        if np.isnan(again.boxes).sum() <= np.isnan(placement.boxes).sum():
            placement = again
    return placement


@dataclass(frozen=True, slots=True)
class _Places:
    """Every place of one label: its box, the end and course of its leader line, whether it is free as long as no
    label stands, and its cost; ``region`` is the box around all of them."""

    region: Array
    boxes: Array
    ends: Array
    paths: Array
    free: NDArray[np.bool_]
    cost: Array
    reach: Array


def _places(
    points: Array, sizes: Array, frame: tuple[float, float], *, inked: Array, taken: Array, reach: float
) -> list[_Places]:
    """All places of each label, judged by what stands before any label does."""
    marks = np.hstack([points - MARK, points + MARK])
    found = []
    for index, (point, size) in enumerate(zip(points, sizes, strict=True)):
        boxes, ends, far = _candidates(point, size)
        paths = point + _STEPS[:, None, None] * (ends - point)
        region = np.hstack([np.minimum(boxes[:, :2].min(0), point), np.maximum(boxes[:, 2:].max(0), point)])[None]
        strangers = np.delete(marks, index, axis=0)
        strangers = strangers[_touch(region, strangers)[0]]
        free = _inside(boxes, frame) & (far <= reach) & ~_touch(boxes, np.vstack([taken, strangers])).any(axis=1)
        free &= ~_crossed(paths, taken)
        around = _held(region + _AIR, inked)[0]
        cost = far + _COVERED * _held(boxes + _AIR, inked[around]).sum(axis=1)
        cost += _ASTRAY * _crossed(paths, strangers) + np.where(far >= LEADER_FROM, _UPRIGHT, 0)
        found.append(_Places(region=region, boxes=boxes, ends=ends, paths=paths, free=free, cost=cost, reach=far))
    return found


def _placed(places: list[_Places], order: NDArray[np.intp]) -> Placement:
    """One greedy pass: each label in turn takes its cheapest free place."""
    count = len(places)
    boxes, anchors = np.full((count, 4), np.nan), np.full((count, 2), np.nan)
    led, leaders = np.zeros(count, bool), np.empty((0, 2))
    for index in order:
        choice = places[index]
        # Only what stands where this label could go is compared with each of its places.
        others = boxes[np.isfinite(boxes[:, 0])]
        others = others[_touch(choice.region, others)[0]]
        near = leaders[_held(choice.region, leaders)[0]]
        free = choice.free & ~_touch(choice.boxes, others).any(axis=1)
        free &= ~_held(choice.boxes, near).any(axis=1) & ~_crossed(choice.paths, others)
        if not free.any():
            continue
        best = int(np.argmin(np.where(free, choice.cost, np.inf)))
        boxes[index], anchors[index] = choice.boxes[best], choice.ends[best]
        led[index] = choice.reach[best] >= LEADER_FROM
        if led[index]:
            leaders = np.vstack([leaders, choice.paths[:, best]])
    return Placement(boxes=boxes, anchors=anchors, led=led)


def _candidates(point: Array, size: Array) -> tuple[Array, Array, Array]:
    """Boxes around a point, the spot of each that is nearest to the point, and how far that is."""
    radii = np.array(_NEAR + _FAR)
    towards = np.stack([np.cos(_DIRECTIONS), np.sin(_DIRECTIONS)], axis=1)
    ends = (radii[:, None, None] * towards).reshape(-1, 2)
    # A label to the right hangs by its left edge, one above by its bottom edge, and so on between.
    share = (1 - np.clip(1.6 * np.tile(towards, (len(radii), 1)), -1, 1)) / 2
    low = point + ends - share * size
    return np.hstack([low, low + size]), point + ends, np.repeat(radii, len(towards))


def _crowded_first(points: Array) -> NDArray[np.intp]:
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    return np.argsort(-(1 / (6 + apart)).sum(axis=1), kind="stable")


def _inside(boxes: Array, frame: tuple[float, float]) -> NDArray[np.bool_]:
    return (boxes[:, :2] >= GAP).all(axis=1) & (boxes[:, 2:] <= np.asarray(frame) - GAP).all(axis=1)


def _touch(boxes: Array, others: Array) -> NDArray[np.bool_]:
    a, b = boxes[:, None], others[None]
    apart = (a[..., 0] >= b[..., 2] + GAP) | (b[..., 0] >= a[..., 2] + GAP)
    return ~(apart | (a[..., 1] >= b[..., 3] + GAP) | (b[..., 1] >= a[..., 3] + GAP))


def _held(boxes: Array, spots: Array) -> NDArray[np.bool_]:
    """Which box (row) holds which spot (column)."""
    x, y = spots[:, 0], spots[:, 1]
    left, bottom, right, top = boxes.T[:, :, None]
    return (x >= left) & (x <= right) & (y >= bottom) & (y <= top)


def _crossed(paths: Array, boxes: Array) -> NDArray[np.bool_]:
    steps, count, _ = paths.shape
    return _held(boxes, paths.reshape(-1, 2)).any(axis=0).reshape(steps, count).any(axis=0)
