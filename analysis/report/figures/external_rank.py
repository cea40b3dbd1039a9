"""Accuracy of each model against a number from elsewhere, with a fitted line and its band."""

import functools
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from analysis.frequentist.fitted_line import fitted_line
from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_labels
from analysis.report.figures.placement import Placement, doubtful, place_labels
from analysis.report.figures.plane import text_size
from analysis.report.figures.strokes import inked
from analysis.report.figures.style import BLUE, FAINT, INK, LABEL_SIZE, SHADE, SOFT
from analysis.report.numbers import counted, fixed, level

_SIZE = (5.6, 4.4)
#: Left, bottom, width and height of the frame as shares of the figure.
_FRAME = (0.11, 0.13, 0.85, 0.83)
#: Names farther from their points than this many points, more of them with leader lines than this share, or more that
#: lie as near to another point, are harder to follow than numbers that the caption explains.
_REACH = 30.0
_MOST_LED = 0.25
_MOST_DOUBTFUL = 0.1
#: Most characters of a name in the caption.
_LONGEST = 60


def external_rank_figure(
    points: pd.DataFrame,
    *,
    value: str,
    name: str,
    lower_is_better: bool = False,
    labels: Mapping[str, str] | None = None,
    ci_level: float = 0.95,
    subject: str = "",
) -> Figure:
    """Scatter plot of accuracy against an external number.

    Parameters
    ----------
    points : DataFrame
        ``model, value, estimate, ci_low, ci_high``.
    value : str
        What the number is.
    lower_is_better : bool
        The axis then runs from high to low numbers, so that better is to the right.
    """
    shown = points.dropna(subset=["value", "estimate"]).sort_values(["value", "model"], ignore_index=True)
    shown.insert(1, "label", list(drawn_labels(list(shown["model"]), labels, limit=22)))
    line = len(shown) > 2 and bool(shown["value"].nunique() > 1)
    texts, places = _labels(shown, turned=lower_is_better, line=line, ci_level=ci_level)
    numbered = texts != tuple(shown["label"])
    named = drawn_labels(list(shown["model"]), labels, limit=_LONGEST)
    return Figure(
        name=name,
        title=f"Accuracy against {value}" + (f": {subject}" if subject else ""),
        caption=(
            f"Bars: {level(ci_level)} intervals of the accuracies. "
            + (f"Line: least squares over models, with the {level(ci_level)} band of its mean. " if line else "")
            + ("Lower numbers are better and stand on the right. " if lower_is_better else "")
            + (f"{', '.join(f'{n} {name}' for n, name in zip(texts, named, strict=True))}." * numbered)
        ).strip(),
        alt=(
            f"Scatter plot of accuracy against {value} for {counted(len(shown), 'model')}"
            + (
                f", from {fixed(float(shown['estimate'].min()), 2)} to {fixed(float(shown['estimate'].max()), 2)}."
                if len(shown)
                else "."
            )
        ),
        data=shown,
        size=_SIZE,
        draw=functools.partial(
            _draw, shown=shown, value=value, line=line, turned=lower_is_better, ci_level=ci_level, texts=texts,
            places=places,
        ),
    )  # fmt: skip


def _labels(shown: pd.DataFrame, *, turned: bool, line: bool, ci_level: float) -> tuple[tuple[str, ...], Placement]:
    """Names and their places; numbers in the order of the rows where the names do not all fit."""
    ends, heights = _ends(shown["value"].to_numpy(float)), _heights(shown)
    frame = (_SIZE[0] * _FRAME[2] * 72, _SIZE[1] * _FRAME[3] * 72)

    def in_points(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        along = (x - ends[0]) / (ends[1] - ends[0])
        up = (y - heights[0]) / (heights[1] - heights[0])
        return np.stack([(1 - along if turned else along) * frame[0], up * frame[1]], axis=-1)

    x, y, low, high = (shown[name].to_numpy(float) for name in ("value", "estimate", "ci_low", "ci_high"))
    strokes = list(zip(in_points(x, low), in_points(x, high), strict=True))
    if line:
        at = np.array(ends)
        strokes.append(tuple(in_points(at, fitted_line(x, y, at, ci_level=ci_level).fit)))
    spots, names = in_points(x, y), tuple(shown["label"])
    numbers = tuple(str(i + 1) for i in range(len(names)))

    def placed(texts: tuple[str, ...], reach: float) -> Placement:
        sizes = np.array([text_size(text, LABEL_SIZE)[:2] for text in texts]).reshape(-1, 2)
        return place_labels(spots, sizes, frame, inked=inked(strokes), reach=reach)

    places = placed(names, _REACH)
    followed = places.complete and places.led.sum() <= max(2, _MOST_LED * len(names))
    if followed and doubtful(places, spots) <= max(1, _MOST_DOUBTFUL * len(names)):
        return names, places
    return numbers, placed(numbers, np.inf)


def _ends(x: np.ndarray) -> tuple[float, float]:
    """Ends of the axis of the external number, with a little air."""
    if not len(x):
        return 0.0, 1.0
    span = float(np.ptp(x)) or 1.0
    return float(x.min()) - 0.08 * span, float(x.max()) + 0.08 * span


def _heights(shown: pd.DataFrame) -> tuple[float, float]:
    """Ends of the axis of accuracies: the tenths around all intervals, with a little air."""
    values = shown[["estimate", "ci_low", "ci_high"]].to_numpy(float)
    values = values[np.isfinite(values)]
    if not len(values):
        return -0.02, 1.05
    low, high = np.floor(values.min() * 10 + 1e-9) / 10, np.ceil(values.max() * 10 - 1e-9) / 10
    return float(low) - 0.02, max(float(high), float(low) + 0.1) + 0.05


def _draw(
    canvas: Canvas,
    *,
    shown: pd.DataFrame,
    value: str,
    line: bool,
    turned: bool,
    ci_level: float,
    texts: tuple[str, ...],
    places: Placement,
) -> None:
    axes = canvas.add_axes(_FRAME)
    x, y = shown["value"].to_numpy(float), shown["estimate"].to_numpy(float)
    ends = _ends(x)
    if line:
        grid = np.linspace(ends[0], ends[1], 100)
        fit = fitted_line(x, y, grid, ci_level=ci_level)
        axes.fill_between(grid, np.clip(fit.low, 0, 1), np.clip(fit.high, 0, 1), color=SHADE, zorder=0)
        axes.plot(grid, np.clip(fit.fit, 0, 1), color=FAINT, linewidth=1.2, zorder=1)
    low, high = shown["ci_low"].to_numpy(float), shown["ci_high"].to_numpy(float)
    axes.vlines(x, low, high, color=BLUE, linewidth=0.8, zorder=2)
    axes.plot(x, y, "o", color=BLUE, markersize=4.5, zorder=3)
    axes.set_xlim(ends[::-1] if turned else ends)
    axes.set_ylim(*_heights(shown))
    if np.equal(np.mod(x, 1), 0).all():
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(value)
    axes.set_ylabel("accuracy")
    frame = np.array([_SIZE[0] * _FRAME[2], _SIZE[1] * _FRAME[3]]) * 72
    for i, text in enumerate(texts):
        box = places.boxes[i]
        if not np.isfinite(box).all():
            continue
        left, bottom = (box[:2] + np.array([0, text_size(text, LABEL_SIZE)[2]])) / frame
        axes.text(left, bottom, text, transform=axes.transAxes, va="baseline", fontsize=LABEL_SIZE, color=INK, zorder=5)
        if places.led[i]:
            axes.annotate(
                "", (x[i], y[i]), xytext=tuple(places.anchors[i] / frame), textcoords="axes fraction",
                arrowprops={"arrowstyle": "-", "color": SOFT, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 0}, zorder=3,
            )  # fmt: skip
