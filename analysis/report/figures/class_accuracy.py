"""Accuracy where Yes is right against accuracy where No is right, one point per model."""

import functools
from collections.abc import Mapping

import pandas as pd

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_labels, short_label
from analysis.report.figures.plane import Line, Plane, Remark, draw_plane, plane_layout
from analysis.report.figures.points import (
    cross_words,
    interval_words,
    lean_columns,
    measure_columns,
    missing_words,
    unproven_words,
)
from analysis.report.figures.style import SHADE
from analysis.report.numbers import counted

_SLIDES = (-0.06, 0.06, -0.1, 0.1)
MEASURES = ("acc_yes", "acc_no")


def class_accuracy_figure(
    estimates: pd.DataFrame,
    *,
    name: str = "class_accuracy",
    labels: Mapping[str, str] | None = None,
    subject: str = "",
) -> Figure:
    """Figure of Acc(Yes) against Acc(No).

    On the diagonal both answers are given their due; above it a model leans to Yes, below it to No. In
    the upper right quarter both accuracies, and with them the floor, exceed 0.5.

    Parameters
    ----------
    estimates : DataFrame
        Tidy estimates of one task and one treatment of uncertain answers; ``answer_bias`` rows, where
        present, decide which points are filled, open or crosses.
    name : str
        Stem of the figure's files.
    labels : mapping, optional
        Printed names by model.
    subject : str
        What the title adds, such as the name of the task.

    Raises
    ------
    AnalysisError
        A model has several rows for one measure.
    """
    data = _data(estimates, labels)
    shown = data[data["number"].notna()].reset_index(drop=True)
    axes = {"x": "acc_no", "y": "acc_yes"}
    points = shown[["label", "lean", "bias_interval"]].assign(number=shown["number"].astype(int))
    for axis, measure in axes.items():
        for suffix in ("", "_low", "_high"):
            points[axis + suffix] = shown[measure + suffix]
    plane = Plane(
        points=points,
        x_title="accuracy where No is right, Acc(No)",
        y_title="accuracy where Yes is right, Acc(Yes)",
        width=5.3,
        height=5.3,
        lines=(
            Line((0, 0), (1, 1), "no bias"),
            Line((-0.02, 0.5), (1.02, 0.5)),
            Line((0.5, -0.02), (0.5, 1.02)),
        ),
        shades=(((0.5, 0.5), (1.02, 0.5), (1.02, 1.02), (0.5, 1.02)),),
        remarks=(
            Remark(0.25, 1.01, "mostly says Yes", "center", "top", _SLIDES),
            Remark(0.75, -0.01, "mostly says No", "center", "bottom", _SLIDES),
            Remark(0.75, 1.01, "floor above 0.5", "center", "top", _SLIDES, SHADE),
            Remark(0.25, -0.01, "both below 0.5", "center", "bottom", _SLIDES),
        ),
        empty="No model has both accuracies",
    )
    layout = plane_layout(plane)
    words = interval_words(estimates, MEASURES)
    return Figure(
        name=name,
        title="Accuracy where Yes and where No is right" + (f": {subject}" if subject else ""),
        caption=_caption(words, data, numbered=layout.numbered),
        alt=_alt(shown),
        data=data,
        size=layout.size,
        draw=functools.partial(draw_plane, plane=plane, layout=layout),
    )


def _data(estimates: pd.DataFrame, labels: Mapping[str, str] | None) -> pd.DataFrame:
    table = measure_columns(estimates, MEASURES)
    bias = measure_columns(estimates, ("answer_bias",)).drop(columns="reason")
    table = lean_columns(table.merge(bias, on="model", how="left", validate="one_to_one"))
    worse = table[["acc_yes", "acc_no"]].min(axis=1)
    order = worse.sort_values(ascending=False, kind="stable").index
    table = table.loc[order].reset_index(drop=True)
    defined = table[["acc_yes", "acc_no"]].notna().all(axis=1)
    table.insert(0, "number", defined.cumsum().where(defined).astype("Int64"))
    table.insert(2, "label", list(drawn_labels(list(table["model"]), labels)))
    return table


def _caption(words: str, data: pd.DataFrame, *, numbered: bool) -> str:
    parts = [
        f"Bars: {words}." if words else "Values without intervals.",
        "On the dashed diagonal a model does equally well where Yes and where No is right; above it the model "
        "leans to Yes, below it to No.",
        "In the shaded quarter both accuracies exceed 0.5.",
    ]
    if numbered:
        parts.append("Numbers follow the worse of the two accuracies, highest first.")
    return " ".join([*parts, *cross_words(data[data["number"].notna()]), *missing_words(data)])


def _alt(shown: pd.DataFrame) -> str:
    if shown.empty:
        return "Empty plot: no model has accuracies for both kinds of question."
    count = len(shown)
    both = int((shown[["acc_yes", "acc_no"]] > 0.5).all(axis=1).sum())
    above, below = int((shown["lean"] > 0).sum()), int((shown["lean"] < 0).sum())
    parts = [
        "Scatter plot of the accuracy where Yes is right against the accuracy where No is right for "
        f"{counted(count, 'model')}.",
        f"Above the diagonal, leaning to Yes: {above}; below it, leaning to No: {below}; "
        f"on it: {count - above - below}.",
        f"Both accuracies above 0.5: {both}.",
        *unproven_words(shown),
    ]
    ends = [shown.iloc[0]] if count == 1 else [shown.iloc[0], shown.iloc[-1]]
    heads = ("Only model",) if count == 1 else ("Best of the worse accuracies", "Lowest of the worse accuracies")
    parts += [
        f"{head}: {short_label(row.model)}, Yes {row.acc_yes:.2f}, No {row.acc_no:.2f}."
        for head, row in zip(heads, ends, strict=True)
    ]
    return " ".join(parts)
