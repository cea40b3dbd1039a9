"""Two shares of each model as bars to the left and to the right of one axis."""

import functools
from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.patheffects import withStroke

from analysis.report.content import Figure
from analysis.report.figures.rows import row_axes, row_labels, row_size
from analysis.report.figures.style import BLUE, INK, LABEL_SIZE, PAPER, SOFT, VERMILION
from analysis.report.numbers import counted, fixed


def butterfly_figure(
    shares: pd.DataFrame,
    *,
    name: str,
    labels: Mapping[str, str] | None = None,
    subject: str = "",
    sides: tuple[str, str] = ("accuracy against validity", "agreement with believability"),
) -> Figure:
    """Bars of two shares, sorted by the one on the left.

    Parameters
    ----------
    shares : DataFrame
        ``model``, ``left`` and ``right``, shares in [0, 1]; missing where undefined.
    sides : (str, str)
        What the bars show.
    """
    shown = shares.dropna(subset=["left", "right"]).sort_values("left", ascending=False, kind="stable")
    shown = shown.reset_index(drop=True)
    shown.insert(1, "label", list(row_labels(list(shown["model"]), labels)))
    lost = len(shares) - len(shown)
    higher = int((shown["left"] > shown["right"]).sum())
    return Figure(
        name=name,
        title=f"{sides[0].capitalize()} and {sides[1]}" + (f": {subject}" if subject else ""),
        caption=(
            f"Left: {sides[0]}; right: {sides[1]}, the share of answers that are Yes where the label says so and No "
            "where it does not. Dashed: one half. Values without intervals; those of the left side stand in the tables."
            + (f" Not shown: {counted(lost, 'model')} without one of the two." if lost else "")
        ),
        alt=f"Bars of two shares for {counted(len(shown), 'model')}; {sides[0]} is the larger one for {higher}.",
        data=shown,
        size=row_size(len(shown), above=0.5),
        draw=functools.partial(_draw, shown=shown, sides=sides),
    )


def _draw(canvas: Canvas, *, shown: pd.DataFrame, sides: tuple[str, str]) -> None:
    axes = row_axes(canvas, list(shown["label"]) or ["no model"], above=0.5)
    for side, sign, colour in (("left", -1, BLUE), ("right", 1, VERMILION)):
        values = shown[side].to_numpy(float)
        axes.barh(range(len(values)), sign * values, color=colour, height=0.66, zorder=2)
        for i, value in enumerate(values):
            axes.annotate(
                fixed(value, 2),
                (sign * value, i),
                xytext=(3 * sign, 0),
                textcoords="offset points",
                ha="left" if sign > 0 else "right",
                va="center",
                fontsize=LABEL_SIZE,
                color=INK,
                # The dashed line pauses behind the number.
                path_effects=[withStroke(linewidth=2.4, foreground=PAPER)],
                zorder=5,
            )
        axes.axvline(sign * 0.5, color=SOFT, linewidth=0.6, linestyle=(0, (4, 3)), zorder=3)
        axes.text(sign * 0.56, -0.75, sides[0 if sign < 0 else 1], ha="center", va="bottom", fontsize=LABEL_SIZE)
    axes.axvline(0, color=INK, linewidth=0.8, zorder=4)
    axes.set_xlim(-1.16, 1.16)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], ["1", "0.5", "0", "0.5", "1"])
    axes.set_xlabel("share")
