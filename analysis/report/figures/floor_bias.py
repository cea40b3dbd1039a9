"""The competence floor against the size of the answer bias, one point per model."""

import functools
from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_labels, short_label
from analysis.report.figures.plane import Line, Plane, Remark, draw_plane, plane_layout
from analysis.report.figures.points import (
    absolute_interval,
    cross_words,
    interval_words,
    lean_columns,
    measure_columns,
    missing_words,
    unproven_words,
)
from analysis.report.figures.style import SHADE
from analysis.report.numbers import counted

#: Words at the right edge move to the left where bars or points lie under them.
_SLIDES = (-0.06, -0.12, -0.18, -0.24)
MEASURES = ("competence_floor", "answer_bias")


def floor_bias_figure(
    estimates: pd.DataFrame,
    *,
    name: str = "floor_bias",
    labels: Mapping[str, str] | None = None,
    subject: str = "",
    correlation: str = "",
) -> Figure:
    """Figure of the competence floor against the absolute answer bias.

    A bias of b leaves a floor of at most 1 - abs(b), reached when every question of the better class is
    answered correctly: the corner beyond that line is shaded because no model can be there. On the
    dashed line the balanced accuracy is 0.5: whatever the lean, the answers do not follow the questions.

    Parameters
    ----------
    estimates : DataFrame
        Tidy estimates of one task and one treatment of uncertain answers; rows of other measures are ignored.
    name : str
        Stem of the figure's files.
    labels : mapping, optional
        Printed names by model.
    subject : str
        What the title adds, such as the name of the task.
    correlation : str
        How the two go together over the models, a sentence of the caption.

    Raises
    ------
    AnalysisError
        A model has several rows for one measure.
    """
    data = _data(estimates, labels)
    shown = data[data["number"].notna()].reset_index(drop=True)
    points = pd.DataFrame(
        {
            "label": shown["label"],
            "number": shown["number"].astype(int),
            "x": shown["abs_bias"],
            "x_low": shown["abs_bias_low"],
            "x_high": shown["abs_bias_high"],
            "y": shown["competence_floor"],
            "y_low": shown["competence_floor_low"],
            "y_high": shown["competence_floor_high"],
            "lean": shown["lean"],
            "bias_interval": shown["bias_interval"],
        }
    )
    plane = Plane(
        points=points,
        x_title="size of the answer bias, |Acc(Yes) − Acc(No)|",
        y_title="competence floor, min(Acc(Yes), Acc(No))",
        width=5.9,
        height=4.3,
        lines=(Line((-0.02, 0.5), (1.02, 0.5)), Line((0, 0.5), (1, 0), "balanced accuracy 0.5")),
        shades=(((0, 1), (1, 0), (1, 1)),),
        remarks=(
            Remark(1.0, 0.99, "out of reach:\nfloor ≤ 1 − |bias|", "right", "top", _SLIDES, SHADE),
            Remark(1.01, 0.51, "floor 0.5", "right", "bottom", _SLIDES, SHADE),
        ),
        empty="No model has both estimates",
    )
    layout = plane_layout(plane)
    words = interval_words(estimates, MEASURES)
    return Figure(
        name=name,
        title="Competence floor against answer bias" + (f": {subject}" if subject else ""),
        caption=_caption(words, data, correlation, numbered=layout.numbered),
        alt=_alt(shown),
        data=data,
        size=layout.size,
        draw=functools.partial(draw_plane, plane=plane, layout=layout),
    )


def _data(estimates: pd.DataFrame, labels: Mapping[str, str] | None) -> pd.DataFrame:
    table = lean_columns(measure_columns(estimates, MEASURES))
    table["abs_bias"] = table["answer_bias"].abs()
    table["abs_bias_low"], table["abs_bias_high"] = absolute_interval(
        table["answer_bias_low"], table["answer_bias_high"]
    )
    table = table.sort_values("competence_floor", ascending=False, kind="stable", ignore_index=True)
    defined = table[["competence_floor", "answer_bias"]].notna().all(axis=1)
    table.insert(0, "number", defined.cumsum().where(defined).astype("Int64"))
    table.insert(2, "label", list(drawn_labels(list(table["model"]), labels)))
    return table


def _caption(words: str, data: pd.DataFrame, correlation: str, *, numbered: bool) -> str:
    parts = [
        "The floor is the worse of the accuracies where Yes and where No is right; the bias is their difference.",
        f"Bars: {words}." if words else "Values without intervals.",
        "Above the line at 0.5 a model beats always giving one answer, and guessing, on both kinds of question.",
        "On the dashed line the balanced accuracy is 0.5.",
    ]
    if numbered:
        parts.append("Numbers follow the floor, highest first.")
    if correlation:
        parts.append(correlation)
    return " ".join([*parts, *cross_words(data[data["number"].notna()]), *missing_words(data)])


def _alt(shown: pd.DataFrame) -> str:
    if shown.empty:
        return "Empty plot: no model has both a competence floor and an answer bias."
    low, high = shown["competence_floor_low"], shown["competence_floor_high"]
    held = low.notna() & high.notna()
    above, below = int((low > 0.5).sum()), int((high < 0.5).sum())
    best, worst = shown.iloc[0], shown.iloc[-1]
    leaning = shown.iloc[int(np.argmax(shown["abs_bias"]))]
    count = len(shown)
    parts = [
        f"Scatter plot of the competence floor against the size of the answer bias for {counted(count, 'model')}.",
        f"Floors run from {worst.competence_floor:.2f} ({short_label(worst.model)}) to "
        f"{best.competence_floor:.2f} ({short_label(best.model)})."
        if count > 1
        else f"{short_label(best.model)}: floor {best.competence_floor:.2f}, bias {best.answer_bias:+.2f}.",
        f"Intervals of the floor above 0.5: {above} of {int(held.sum())}; below: {below}; "
        f"including it: {int(held.sum()) - above - below}.",
        f"Leaning to Yes: {int((shown['lean'] > 0).sum())}; to No: {int((shown['lean'] < 0).sum())}.",
        *unproven_words(shown),
    ]
    if count > 1:
        parts.append(f"The largest bias is {leaning.answer_bias:+.2f} ({short_label(leaning.model)}).")
    return " ".join(parts)
