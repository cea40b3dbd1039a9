"""Accuracy of each model against a number from elsewhere, with a fitted line and its band."""

import functools
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from analysis.frequentist.fitted_line import fitted_line
from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_labels
from analysis.report.figures.style import BLUE, FAINT, INK, LABEL_SIZE, SHADE
from analysis.report.numbers import counted, fixed, level

_SIZE = (5.6, 4.4)


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
    line = len(shown) > 2 and shown["value"].nunique() > 1
    return Figure(
        name=name,
        title=f"Accuracy against {value}" + (f": {subject}" if subject else ""),
        caption=(
            f"Bars: {level(ci_level)} intervals of the accuracies. "
            + (f"Line: least squares over models, with the {level(ci_level)} band of its mean. " if line else "")
            + ("Lower numbers are better and stand on the right." if lower_is_better else "")
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
            _draw, shown=shown, value=value, line=bool(line), turned=lower_is_better, ci_level=ci_level
        ),
    )


def _draw(canvas: Canvas, *, shown: pd.DataFrame, value: str, line: bool, turned: bool, ci_level: float) -> None:
    axes = canvas.add_axes((0.11, 0.13, 0.85, 0.83))
    x, y = shown["value"].to_numpy(float), shown["estimate"].to_numpy(float)
    span = float(np.ptp(x)) if len(x) and np.ptp(x) > 0 else 1.0
    ends = (float(x.min()) - 0.08 * span, float(x.max()) + 0.08 * span) if len(x) else (0.0, 1.0)
    if line:
        grid = np.linspace(ends[0], ends[1], 100)
        fit = fitted_line(x, y, grid, ci_level=ci_level)
        axes.fill_between(grid, np.clip(fit.low, 0, 1), np.clip(fit.high, 0, 1), color=SHADE, zorder=0)
        axes.plot(grid, np.clip(fit.fit, 0, 1), color=FAINT, linewidth=1.2, zorder=1)
    low, high = shown["ci_low"].to_numpy(float), shown["ci_high"].to_numpy(float)
    axes.vlines(x, low, high, color=BLUE, linewidth=0.8, zorder=2)
    axes.plot(x, y, "o", color=BLUE, markersize=4.5, zorder=3)
    for label, at, height in zip(shown["label"], x, y, strict=True):
        axes.annotate(label, (at, height), xytext=(5, 3), textcoords="offset points", fontsize=LABEL_SIZE, color=INK)
    axes.set_xlim(ends[::-1] if turned else ends)
    axes.set_ylim(-0.02, 1.05)
    axes.set_xlabel(value)
    axes.set_ylabel("accuracy")
