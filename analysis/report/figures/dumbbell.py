"""Two accuracies of each model joined by a line, with their difference in words beside it."""

import functools
from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure as Canvas

from analysis.report.content import Figure
from analysis.report.figures.points import interval_words, measure_columns
from analysis.report.figures.rows import row_axes, row_labels, row_size
from analysis.report.figures.style import BLUE, FAINT, INK, LABEL_SIZE, PAPER, SOFT, VERMILION
from analysis.report.numbers import counted, signed

MEASURES = ("congruent", "incongruent", "belief_bias")


def dumbbell_figure(
    estimates: pd.DataFrame, *, name: str, labels: Mapping[str, str] | None = None, subject: str = ""
) -> Figure:
    """Congruent and incongruent accuracy of each model, sorted by their difference.

    Parameters
    ----------
    estimates : DataFrame
        Tidy estimates with ``congruent``, ``incongruent`` and ``belief_bias``.
    name, labels, subject
        As in ``class_accuracy_figure``.
    """
    table = measure_columns(estimates, MEASURES)
    shown = table.dropna(subset=list(MEASURES)).sort_values("belief_bias", ascending=False, kind="stable")
    shown = shown.reset_index(drop=True)
    shown.insert(1, "label", list(row_labels(list(shown["model"]), labels)))
    missing = table[table["belief_bias"].isna()]
    words = interval_words(estimates, ("belief_bias",))
    caption = (
        "Filled: accuracy where belief and logic agree; open: where they do not. "
        + (f"Beside each row the difference with its {words[:-1]}." if words else "Beside each row the difference.")
        + "".join(f" Not shown: {m} ({why})." for m, why in zip(missing["model"], missing["reason"], strict=True))
    )
    positive = int((shown["belief_bias"] > 0).sum())
    return Figure(
        name=name,
        title="Accuracy where belief and logic agree, and where they do not" + (f": {subject}" if subject else ""),
        caption=caption,
        alt=(
            f"Pairs of accuracies for {counted(len(shown), 'model')}; the accuracy where belief and logic agree is the "
            f"higher one for {positive}."
        ),
        data=shown,
        size=row_size(len(shown)),
        draw=functools.partial(_draw, shown=shown),
    )


def _draw(canvas: Canvas, *, shown: pd.DataFrame) -> None:
    axes = row_axes(canvas, list(shown["label"]) or ["no model"], right=1.35)
    for i, row in enumerate(shown.to_dict("records")):
        colour = VERMILION if row["belief_bias"] > 0 else BLUE
        axes.plot([row["incongruent"], row["congruent"]], [i, i], color=colour, linewidth=1.6, zorder=2)
        axes.plot(row["incongruent"], i, "o", color=colour, markerfacecolor=PAPER, markersize=5, zorder=3)
        axes.plot(row["congruent"], i, "o", color=colour, markersize=5, zorder=3)
        text = signed(row["belief_bias"], 2)
        if pd.notna(row["belief_bias_low"]):
            text += f" [{signed(row['belief_bias_low'], 2)}, {signed(row['belief_bias_high'], 2)}]"
        axes.annotate(
            text,
            (1.0, i),
            xytext=(6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=LABEL_SIZE,
            color=INK,
        )
        axes.axhline(i, color=FAINT, linewidth=0.4, zorder=0)
    axes.axvline(0.5, color=SOFT, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("accuracy")
