"""Posterior predictive checks: observed statistics of each model against data simulated from the fit."""

import functools
import textwrap
from collections.abc import Mapping
from typing import Final

import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_labels
from analysis.report.figures.model_rows import RowLayout, inner_ticks, row_axes, row_key, row_layout
from analysis.report.figures.style import BLUE, LABEL_SIZE, VERMILION
from analysis.report.numbers import counted

_ROW: Final = 12.0
_WIDTH: Final = 400.0
#: Characters in a line of a panel's title.
_WRAPPED: Final = 18


def predictive_figure(
    checks: pd.DataFrame, *, name: str, title: str, labels: Mapping[str, str] | None = None, remark: str = ""
) -> Figure:
    """One panel per check: the range of the replicates as a bar, the observed value as a mark.

    Parameters
    ----------
    checks : DataFrame
        ``model, check, observed, expected, low, high`` of ``bayes.predictive``.
    name, title : str
    labels : mapping, optional
        Printed names by model.
    remark : str
        Sentence at the end of the caption.
    """
    models = list(dict.fromkeys(checks["model"].astype(str)))
    drawn = dict(zip(models, drawn_labels(models, labels), strict=True))
    data = checks.assign(
        label=[drawn[str(model)] for model in checks["model"]],
        outside=(checks["observed"] < checks["low"]) | (checks["observed"] > checks["high"]),
    )
    layout = row_layout(list(drawn.values()), row=_ROW, width=_WIDTH)
    outside = int(data["outside"].sum())
    return Figure(
        name=name,
        title=title,
        caption=(
            "Bars: 95% of data sets simulated from the fit, with its cells drawn anew. Marks: what was observed; "
            "orange outside the bar. About one mark in twenty lies outside if the model is right. " + remark
        ).strip(),
        alt=(
            f"Observed values of {counted(data['check'].nunique(), 'check')} against simulated ones for "
            f"{counted(len(models), 'model')}: {outside} of {len(data)} lie outside the range of 95% of the replicates."
        ),
        data=data,
        size=layout.size,
        draw=functools.partial(_draw, data=data, layout=layout),
    )


def _draw(canvas: Canvas, *, data: pd.DataFrame, layout: RowLayout) -> None:
    checks = list(dict.fromkeys(data["check"]))
    place = {label: at for at, label in enumerate(layout.labels)}
    for axes, check in zip(row_axes(canvas, layout, max(len(checks), 1)), checks, strict=False):
        for row in data[data["check"] == check].to_dict("records"):
            y = place[row["label"]]
            axes.plot([row["low"], row["high"]], [y, y], color=BLUE, linewidth=2.4, alpha=0.45, zorder=2)
            colour = VERMILION if row["outside"] else BLUE
            axes.plot([row["observed"]], [y], "o", color=colour, markersize=2.8, zorder=3)
        axes.set_xlabel(textwrap.fill(check, _WRAPPED), size=LABEL_SIZE)
        axes.margins(x=0.08)
        inner_ticks(axes, 3)
    handles = [
        Line2D([], [], color=BLUE, alpha=0.45, linewidth=2.4, label="simulated from the fit, 95%"),
        Line2D([], [], color=BLUE, marker="o", linestyle="", markersize=2.8, label="observed"),
        Line2D([], [], color=VERMILION, marker="o", linestyle="", markersize=2.8, label="observed, outside"),
    ]
    row_key(canvas, handles)
