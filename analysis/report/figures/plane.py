"""One point per model in the unit square, with its two intervals and a label that covers nothing."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

from analysis.report.figures.placement import MARK, Placement, doubtful, place_labels
from analysis.report.figures.points import INCLUDES_ZERO, UNDEFINED
from analysis.report.figures.strokes import Stroke, bars, covered, inked
from analysis.report.figures.style import (
    BLUE,
    INK,
    LABEL_SIZE,
    PAPER,
    SHADE,
    SOFT,
    VERMILION,
    label_font,
    style_unit_axis,
)

LEFT: Final = 0.58
BOTTOM: Final = 0.48
TOP: Final = 0.34
RIGHT: Final = 0.2
KEY_ROW: Final = 0.142
KEY_WIDTH: Final = 2.05
LOW, HIGH = -0.02, 1.02
_NUMBER_SIZE: Final = 6.5
#: Names farther from their points than this many points, or more of them with leader lines than this share, are
#: harder to follow than numbers with a key.
_NAME_REACH: Final = 30.0
_MOST_LED: Final = 0.25
#: Names that cover more of the frame than this never all find a place within reach of their points.
_MOST_COVERED: Final = 0.1
#: More names than this share that lie as near to another point leave open whose they are.
_MOST_DOUBTFUL: Final = 0.1
_CROSS: Final = {"color": SOFT, "marker": "x"}
_LEAN: Final = {1: (BLUE, "o"), -1: (VERMILION, "s"), 0: (SOFT, "D")}


@dataclass(frozen=True, slots=True)
class Remark:
    """Words inside the frame, at data coordinates; labels keep clear of them.

    ``slides`` are shifts in x, tried in turn until neither a point nor a stroke lies under the words;
    ``ground`` is the colour behind them.
    """

    x: float
    y: float
    text: str
    ha: str = "left"
    va: str = "bottom"
    slides: tuple[float, ...] = ()
    ground: str = PAPER


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line of reference from one point to another; a dashed one is named in the legend."""

    start: tuple[float, float]
    end: tuple[float, float]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Plane:
    """What a figure of models in the unit square shows.

    ``points`` has the columns ``label, number, x, x_low, x_high, y, y_low, y_high`` (interval ends may
    be missing), ``lean`` (1 to Yes, -1 to No, 0 neither) and ``bias_interval`` (what it says of 0).
    ``lines`` are polylines and ``shades`` polygons in data coordinates; ``width`` and ``height`` are
    those of the frame, in inches.
    """

    points: pd.DataFrame
    x_title: str
    y_title: str
    width: float
    height: float
    lines: tuple[Line, ...] = ()
    shades: tuple[tuple[tuple[float, float], ...], ...] = ()
    remarks: tuple[Remark, ...] = ()
    empty: str = "Nothing to show"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where every label of a plane stands; ``numbered`` when names would not fit and a key lists them."""

    texts: tuple[str, ...]
    numbered: bool
    places: Placement
    remarks: tuple[Remark, ...]
    key_rows: int
    key_columns: int
    size: tuple[float, float]


def text_size(text: str, size: float) -> tuple[float, float, float]:
    """Width, height and descent of a text in the figures' font, in points."""
    lines = text.split("\n")
    font = label_font(size)
    wide = max(text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines)
    _, tall, descent = text_to_path.get_text_width_height_descent("lp", font, False)
    _, own, own_descent = text_to_path.get_text_width_height_descent(lines[-1] or "l", font, False)
    height = max(tall, own) + (len(lines) - 1) * 1.2 * size
    return wide, height, max(descent, own_descent)


def plane_layout(plane: Plane) -> Layout:
    """Place the models' names; where they do not all fit, place numbers and leave room for a key."""
    labels = tuple(plane.points["label"])
    remarks = tuple(_clear(plane, remark) for remark in plane.remarks)
    plane = dataclasses.replace(plane, remarks=remarks)
    width, height = round(plane.width + LEFT + RIGHT, 3), round(plane.height + BOTTOM + TOP, 3)
    if _may_fit(plane, labels):
        places = _places(plane, labels, LABEL_SIZE, reach=_NAME_REACH)
        spots = _in_points(plane, plane.points[["x", "y"]].to_numpy(float))
        followed = places.complete and places.led.sum() <= max(2, _MOST_LED * len(labels))
        if followed and doubtful(places, spots) <= max(1, _MOST_DOUBTFUL * len(labels)):
            return Layout(labels, False, places, remarks, 0, 0, (width, height))
    numbers = tuple(str(n) for n in plane.points["number"])
    columns = max(1, int((width - 0.2) / KEY_WIDTH))
    rows = math.ceil(len(labels) / columns)
    places = _places(plane, numbers, _NUMBER_SIZE)
    return Layout(numbers, True, places, remarks, rows, columns, (width, round(height + 0.08 + rows * KEY_ROW, 3)))


def draw_plane(figure: Figure, plane: Plane, layout: Layout) -> None:
    """Draw a plane into an empty figure of the layout's size."""
    width, height = layout.size
    key = height - plane.height - BOTTOM - TOP
    place = (LEFT / width, (BOTTOM + key) / height, plane.width / width, plane.height / height)
    axes = figure.add_axes(place)
    style_unit_axis(axes, x=plane.x_title, y=plane.y_title)
    for corners in plane.shades:
        axes.fill(*zip(*corners, strict=True), color=SHADE, linewidth=0, zorder=0)
    for line in plane.lines:
        xs, ys = zip(line.start, line.end, strict=True)
        axes.plot(xs, ys, "--" if line.name else "-", color=SOFT, linewidth=0.6, zorder=1)
    for remark in layout.remarks:
        words = axes.text(remark.x, remark.y, remark.text, ha=remark.ha, va=remark.va, size=LABEL_SIZE, color=SOFT)
        # Between intervals and marks: a bar that cannot be avoided pauses behind the words.
        words.set(zorder=3, path_effects=[withStroke(linewidth=2.4, foreground=remark.ground)])
    if plane.points.empty:
        axes.text(0.5, 0.3, plane.empty, ha="center", va="center", color=INK)
        return
    _draw_points(axes, plane.points)
    _draw_labels(axes, plane, layout)
    _draw_legend(axes, plane)
    if layout.numbered:
        _draw_key(figure, plane.points, layout)


def _may_fit(plane: Plane, labels: Sequence[str]) -> bool:
    """Whether the names leave enough of the frame free for a search of places to be worth its time."""
    covered = sum(wide * tall for wide, tall, _ in (text_size(label, LABEL_SIZE) for label in labels))
    return covered <= _MOST_COVERED * plane.width * plane.height * 72**2


def _places(plane: Plane, texts: Sequence[str], size: float, *, reach: float = np.inf) -> Placement:
    points = plane.points
    spots = _in_points(plane, points[["x", "y"]].to_numpy(float))
    sizes = np.array([text_size(text, size)[:2] for text in texts]).reshape(-1, 2)
    ends = _in_points(plane, np.array([[line.start, line.end] for line in plane.lines]).reshape(-1, 2, 2))
    spotted = inked(_bars(plane) + [(start, end) for start, end in ends])
    taken = np.array([_remark_box(plane, remark) for remark in plane.remarks]).reshape(-1, 4)
    return place_labels(spots, sizes, (plane.width * 72, plane.height * 72), inked=spotted, taken=taken, reach=reach)


def _bars(plane: Plane) -> list[Stroke]:
    """Intervals, in points from the corner of the frame."""
    kinds = (["x", "y"], ["x_low", "y_low"], ["x_high", "y_high"])
    return bars(*(_in_points(plane, plane.points[names].to_numpy(float)) for names in kinds))


def _in_points(plane: Plane, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return (values - LOW) / (HIGH - LOW) * np.array([plane.width, plane.height]) * 72


def _remark_box(plane: Plane, remark: Remark) -> tuple[float, float, float, float]:
    wide, tall, _ = text_size(remark.text, LABEL_SIZE)
    x, y = _in_points(plane, np.array([[remark.x, remark.y]]))[0]
    left = x - {"left": 0.0, "center": 0.5, "right": 1.0}[remark.ha] * wide
    bottom = y - {"bottom": 0.0, "center": 0.5, "top": 1.0}[remark.va] * tall
    return left, bottom, left + wide, bottom + tall


def _clear(plane: Plane, remark: Remark) -> Remark:
    """The remark where the fewest points lie under it, then the fewest spots of intervals; the first such place."""
    spots = _in_points(plane, plane.points[["x", "y"]].to_numpy(float))
    strokes = inked(_bars(plane))
    moved = [dataclasses.replace(remark, x=remark.x + slide) for slide in (0.0, *remark.slides)]
    boxes = [np.array(_remark_box(plane, words)) + np.array([-MARK, -MARK, MARK, MARK]) for words in moved]
    costs = [(covered(box, spots), covered(box, strokes)) for box in boxes]
    return moved[costs.index(min(costs))]


def _draw_points(axes: Axes, points: pd.DataFrame) -> None:
    for row in points.to_dict("records"):
        colour, marker = _LEAN[int(row["lean"])]
        if row["bias_interval"] == UNDEFINED:
            colour, marker = _CROSS["color"], _CROSS["marker"]
        x, y = float(row["x"]), float(row["y"])
        for xs, ys in (((row["x_low"], row["x_high"]), (y, y)), ((x, x), (row["y_low"], row["y_high"]))):
            if np.isfinite([*xs, *ys]).all():
                axes.plot(
                    xs, ys, color=colour, alpha=0.4, linewidth=0.9, solid_capstyle="butt", zorder=2, clip_on=False
                )
        fill = PAPER if row["bias_interval"] == INCLUDES_ZERO else colour
        axes.plot(
            [x],
            [y],
            marker,
            color=colour,
            markerfacecolor=fill,
            markeredgewidth=0.9,
            markersize=4.2,
            zorder=4,
            clip_on=False,
        )


def _draw_labels(axes: Axes, plane: Plane, layout: Layout) -> None:
    spots = _in_points(plane, plane.points[["x", "y"]].to_numpy(float))
    data = plane.points[["x", "y"]].to_numpy(float)
    size = _NUMBER_SIZE if layout.numbered else LABEL_SIZE
    for index, text in enumerate(layout.texts):
        box = layout.places.boxes[index]
        if not np.isfinite(box).all():
            continue
        shift = box[:2] - spots[index] + (0, text_size(text, size)[2])
        axes.annotate(
            text,
            xy=tuple(data[index]),
            xytext=tuple(shift),
            textcoords="offset points",
            ha="left",
            va="baseline",
            size=size,
            zorder=5,
            gid=f"label-{index}",
        )
        if layout.places.led[index]:
            end = layout.places.anchors[index] / 72 / (plane.width, plane.height) * (HIGH - LOW) + LOW
            axes.plot(*zip(data[index], end, strict=True), color=SOFT, linewidth=0.4, zorder=3)


def _draw_legend(axes: Axes, plane: Plane) -> None:
    words = {1: "leans to Yes", -1: "leans to No", 0: "no lean"}
    kinds = plane.points["bias_interval"]
    looks: list[tuple[str, dict[str, Any]]] = [
        (words[lean], {"color": _LEAN[lean][0], "marker": _LEAN[lean][1]})
        for lean in (1, -1, 0)
        if ((plane.points["lean"] == lean) & (kinds != UNDEFINED)).any()
    ]
    if (kinds == INCLUDES_ZERO).any():
        looks.append(("open: interval of the bias includes 0", {"color": INK, "marker": "o", "markerfacecolor": PAPER}))
    if (kinds == UNDEFINED).any():
        looks.append(("no interval", dict(_CROSS)))
    handles = [Line2D([], [], linestyle="", markersize=4.2, label=name, **look) for name, look in looks]
    handles += [
        Line2D([], [], linestyle="--", color=SOFT, linewidth=0.7, label=line.name) for line in plane.lines if line.name
    ]
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(-0.01, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize=LABEL_SIZE,
        handletextpad=0.4,
        handlelength=1.6,
        columnspacing=1.3,
        borderaxespad=0.2,
    )


def _draw_key(figure: Figure, points: pd.DataFrame, layout: Layout) -> None:
    width, height = layout.size
    step = (width - 0.2) / layout.key_columns
    for index, (number, label) in enumerate(zip(points["number"], points["label"], strict=True)):
        column, row = divmod(index, layout.key_rows)
        x, y = 0.12 + column * step, 0.06 + (layout.key_rows - row - 1) * KEY_ROW
        figure.text((x + 0.16) / width, y / height, str(number), size=_NUMBER_SIZE, ha="right", color=SOFT)
        figure.text((x + 0.22) / width, y / height, label, size=_NUMBER_SIZE, ha="left")
