"""Forest: the estimates of several columns beside each other, one row per model."""

import functools
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_labels, short_label
from analysis.report.figures.model_rows import RowLayout, inner_ticks, reference_line, row_axes, row_key, row_layout
from analysis.report.figures.style import BLUE, INK, SOFT, TEXT_SIZE, VERMILION
from analysis.report.numbers import counted, fixed, level

#: Prefix of a column's numbers -> name, colour, marker, size, in the order drawn from the top of a row.
COLUMNS: Final = {
    "": ("frequentist", INK, "o", 3.0),
    "unpooled_": ("Bayes, no pooling", SOFT, "s", 2.6),
    "pooled_": ("Bayes, hierarchical", BLUE, "D", 2.8),
}
_ROW: Final = 18.0
_WIDTH: Final = 330.0
_STEP: Final = 0.26


def forest_figure(
    comparison: pd.DataFrame,
    *,
    name: str,
    title: str,
    axis: str,
    reference: float | None,
    ci_level: float,
    labels: Mapping[str, str] | None = None,
    remark: str = "",
) -> Figure:
    """Figure of one measure in the columns of a comparison.

    Parameters
    ----------
    comparison : DataFrame
        Rows of one measure of ``comparison.schools.compare_schools``.
    name, title, axis : str
        Stem of the files, title, and what the axis shows.
    reference : float, optional
        Value that decisions refer to, drawn as a line; None where nothing is decided.
    ci_level : float
        Of all intervals.
    labels : mapping, optional
        Printed names by model.
    remark : str
        Sentence at the end of the caption.
    """
    data = _data(comparison, labels)
    shown = data[data[[f"{prefix}estimate" for prefix in COLUMNS]].notna().any(axis=1)].reset_index(drop=True)
    layout = row_layout(list(shown["label"]), row=_ROW, width=_WIDTH)
    words = f"Bars: {level(ci_level)} intervals, equal-tailed for the Bayesian columns."
    order = "Models in order of the frequentist estimate."
    missing = data[~data["model"].isin(shown["model"])]
    left_out = [f"Not shown: {label} (undefined in every column)." for label in missing["label"]]
    return Figure(
        name=name,
        title=title,
        caption=" ".join(
            part
            for part in (
                words,
                order,
                "Orange: the two schools decide differently." if reference is not None else "",
                *left_out,
                remark,
            )
            if part
        ),
        alt=_alt(shown, axis, reference),
        data=data,
        size=layout.size,
        draw=functools.partial(_draw, shown=shown, layout=layout, axis=axis, reference=reference),
    )


def _data(comparison: pd.DataFrame, labels: Mapping[str, str] | None) -> pd.DataFrame:
    numbers = [f"{prefix}{part}" for prefix in COLUMNS for part in ("estimate", "ci_low", "ci_high")]
    kept = ["model", "measure", *numbers, "decision", "pooled_decision", "verdict"]
    table = comparison[kept].sort_values("estimate", ascending=False, kind="stable", ignore_index=True)
    table.insert(1, "label", list(drawn_labels(list(table["model"].astype(str)), labels)))
    return table


def _apart(row: Mapping[Any, Any]) -> bool:
    decisions = (row["decision"], row["pooled_decision"])
    same = decisions[0] == decisions[1] or decisions == ("undecided", "equivalent")
    return not same and "not tested" not in decisions and "" not in decisions


def _draw(canvas: Canvas, *, shown: pd.DataFrame, layout: RowLayout, axis: str, reference: float | None) -> None:
    [axes] = row_axes(canvas, layout)
    if reference is not None:
        reference_line(axes, reference)
    for at, row in enumerate(shown.to_dict("records")):
        for place, (prefix, (_, colour, marker, size)) in enumerate(COLUMNS.items()):
            if not np.isfinite(row[f"{prefix}estimate"]):
                continue
            y = at + (place - 1) * _STEP
            ink = VERMILION if prefix == "pooled_" and _apart(row) else colour
            axes.plot([row[f"{prefix}ci_low"], row[f"{prefix}ci_high"]], [y, y], color=ink, linewidth=1.0, zorder=2)
            axes.plot([row[f"{prefix}estimate"]], [y], marker, color=ink, markersize=size, zorder=3)
    axes.margins(x=0.04)
    if shown.empty:
        axes.text(0.5, 0.5, "No model has an estimate", transform=axes.transAxes, ha="center", va="center")
        axes.set_xlim(0, 1)
        axes.set_yticks([])
    inner_ticks(axes, 7)
    axes.set_xlabel(axis, size=TEXT_SIZE)
    drawn = [prefix for prefix in COLUMNS if shown[f"{prefix}estimate"].notna().any()]
    row_key(
        canvas,
        [
            Line2D([], [], color=COLUMNS[p][1], marker=COLUMNS[p][2], markersize=COLUMNS[p][3], label=COLUMNS[p][0])
            for p in drawn
        ],
    )


def _alt(shown: pd.DataFrame, axis: str, reference: float | None) -> str:
    if shown.empty:
        return "Empty plot: no model has an estimate."
    both = shown[shown["pooled_estimate"].notna() & shown["estimate"].notna()]
    first, last = shown.iloc[0], shown.iloc[-1]
    line = "" if reference is None else f", with a line at {fixed(reference, 1)}"
    said = [f"Forest plot of {axis} for {counted(len(shown), 'model')} in {_columns_shown(shown)}{line}."]
    if np.isfinite(first["estimate"]) and np.isfinite(last["estimate"]):
        said.append(
            f"Frequentist estimates run from {fixed(last['estimate'], 2)} ({short_label(str(last['model']))}) to "
            f"{fixed(first['estimate'], 2)} ({short_label(str(first['model']))})."
        )
    if len(both):
        furthest = (both["pooled_estimate"] - both["estimate"]).abs()
        model = short_label(str(both["model"].iloc[int(furthest.to_numpy().argmax())]))
        apart = sum(_apart(row) for row in both.to_dict("records"))
        said.append(f"The hierarchical estimate is furthest away by {fixed(float(furthest.max()), 3)} ({model}).")
        if reference is not None:
            said.append(f"The two schools decide differently for {counted(apart, 'model')}.")
    return " ".join(said)


def _columns_shown(shown: pd.DataFrame) -> str:
    drawn = sum(shown[f"{prefix}estimate"].notna().any() for prefix in COLUMNS)
    return counted(int(drawn), "column")
