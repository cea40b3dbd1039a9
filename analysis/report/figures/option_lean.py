"""Position bias: how far the answers of each model lean to each option, a panel per option."""

import functools
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_label, drawn_labels, short_label
from analysis.report.figures.model_rows import RowLayout, inner_ticks, reference_line, row_axes, row_key, row_layout
from analysis.report.figures.style import BLUE, INK, LABEL_SIZE, TEXT_SIZE, VERMILION
from analysis.report.numbers import counted, level, signed

#: With more options than this, only those to or from which answers lean most are drawn.
MOST_PANELS: Final = 6
_ROW: Final = 13.0
_PANEL: Final = 92.0
_GAP: Final = 12.0
#: Inches below the title of the axes.
_TITLE: Final = 0.18
_AXIS: Final = "share answered − share right"
#: What an interval allows: colour and face of the mark.
_MARKS: Final = {"more": (VERMILION, VERMILION), "less": (BLUE, BLUE), "": (INK, "white")}
_WORDS: Final = {"more": "more often than right", "less": "less often", "": "interval holds 0"}


def option_lean_figure(
    options: pd.DataFrame,
    *,
    name: str,
    title: str,
    ci_level: float,
    labels: Mapping[str, str] | None = None,
) -> Figure:
    """Figure of the lean to each option.

    Parameters
    ----------
    options : DataFrame
        ``model, option, estimate, ci_low, ci_high`` of ``frequentist.option_bias``, options in order.
    name, title : str
        Stem of the files, and title.
    ci_level : float
        Of the intervals.
    labels : mapping, optional
        Printed names by model.
    """
    data = _data(options, labels)
    known = data[data["estimate"].notna()]
    drawn, all_options = _drawn(known), tuple(dict.fromkeys(options["option"]))
    models = known.drop_duplicates("model")
    layout = row_layout(list(models["label"]), row=_ROW, width=max(len(drawn), 3) * (_PANEL + _GAP) - _GAP)
    words = [
        f"Bars: {level(ci_level)} intervals of single options, by unit.",
        "Right of 0 answers name the option more often than it is right, left of it less often; open marks: the "
        "interval holds 0. Models in order of their largest lean.",
    ]
    if len(drawn) < len(all_options):
        words.append(
            f"Drawn are the {len(drawn)} of {len(all_options)} options with the largest leans on average; the data "
            "hold all."
        )
    lost = data.loc[~data["model"].isin(models["model"]), "label"].drop_duplicates()
    words += [f"Not shown: {label} (undefined)." for label in lost]
    return Figure(
        name=name,
        title=title,
        caption=" ".join(words),
        alt=_alt(known, all_options),
        data=data,
        size=layout.size,
        draw=functools.partial(_draw, shown=known, layout=layout, options=drawn),
    )


def _data(options: pd.DataFrame, labels: Mapping[str, str] | None) -> pd.DataFrame:
    """Rows by model and option, models with the largest lean first."""
    kept = options[["model", "option", "estimate", "ci_low", "ci_high"]].reset_index(drop=True)
    largest = kept["estimate"].abs().groupby(kept["model"]).transform("max").fillna(-1.0)
    order = kept.assign(largest=largest).sort_values(["largest", "model"], ascending=[False, True], kind="stable").index
    table = kept.loc[order].reset_index(drop=True)
    models = list(dict.fromkeys(table["model"].astype(str)))
    names = dict(zip(models, drawn_labels(models, labels), strict=True))
    table.insert(1, "label", [names[str(model)] for model in table["model"]])
    return table.assign(lean=[_lean(*ends) for ends in zip(table["ci_low"], table["ci_high"], strict=True)])


def _lean(low: float, high: float) -> str:
    return "more" if low > 0 else "less" if high < 0 else ""


def _drawn(known: pd.DataFrame) -> tuple[str, ...]:
    """Options with a panel, in their order."""
    order = known.drop_duplicates("option")["option"]
    mean = known["estimate"].abs().groupby(known["option"]).mean().sort_values(ascending=False, kind="stable")
    chosen = set(mean.index[:MOST_PANELS])
    return tuple(sorted((str(option) for option in order if option in chosen), key=list(order).index))


def _draw(canvas: Canvas, *, shown: pd.DataFrame, layout: RowLayout, options: Sequence[str]) -> None:
    place = {model: at for at, model in enumerate(dict.fromkeys(shown["model"]))}
    panels = row_axes(canvas, layout, max(len(options), 1), gap=_GAP)
    reach = _reach(shown[shown["option"].isin(options)])
    for axes, option in zip(panels, options, strict=False):
        reference_line(axes, 0.0)
        for row in shown[shown["option"] == option].to_dict("records"):
            y, (ink, face) = place[row["model"]], _MARKS[row["lean"]]
            axes.plot([row["ci_low"], row["ci_high"]], [y, y], color=ink, linewidth=0.9, zorder=2)
            axes.plot([row["estimate"]], [y], "o", color=ink, markerfacecolor=face, markersize=3.0, zorder=3)
        axes.set_xlim(-reach, reach)
        inner_ticks(axes, 4)
        axes.set_title(drawn_label(option), fontsize=LABEL_SIZE, pad=2.0)
    if not options:
        panels[0].text(0.5, 0.5, "No model has answers", transform=panels[0].transAxes, ha="center", va="center")
        panels[0].set_yticks([])
    middle = (panels[0].get_position().x0 + panels[-1].get_position().x1) / 2
    canvas.text(middle, _TITLE / layout.size[1], _AXIS, ha="center", va="bottom", fontsize=TEXT_SIZE)
    used = [lean for lean in _MARKS if (shown["lean"] == lean).any()]
    row_key(
        canvas,
        [
            Line2D(
                [], [], color=_MARKS[k][0], marker="o", markerfacecolor=_MARKS[k][1], markersize=3.0, label=_WORDS[k]
            )
            for k in used
        ],
    )


def _reach(rows: pd.DataFrame) -> float:
    """Largest distance from 0 that is drawn, with a margin; the same in all panels."""
    ends = rows[["estimate", "ci_low", "ci_high"]].abs().to_numpy(float)
    return 1.06 * float(np.nanmax(ends)) if np.isfinite(ends).any() and np.nanmax(ends) > 0 else 1.0


def _alt(known: pd.DataFrame, options: Sequence[str]) -> str:
    if known.empty:
        return "Empty plot: no model has answers."
    at = known["estimate"].to_numpy(float)
    most, least = known.iloc[int(at.argmax())], known.iloc[int(at.argmin())]
    away = known[known["lean"] != ""]["model"].nunique()
    models = counted(known["model"].nunique(), "model")
    return (
        f"Rows of {models} with a panel for each of {counted(len(options), 'option')}: {_AXIS}, with intervals and a "
        f"line at 0. The largest lean is {signed(float(most['estimate']), 2)} to {most['option']} "
        f"({short_label(str(most['model']))}), the smallest {signed(float(least['estimate']), 2)} to {least['option']} "
        f"({short_label(str(least['model']))}). Intervals of single options exclude 0 for {away} of {models}."
    )
