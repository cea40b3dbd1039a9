"""Size of the residuals against the length of the reasoning, one numbered point per model."""

import functools
from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from analysis.report.content import Figure
from analysis.report.figures.labels import drawn_labels
from analysis.report.figures.points import interval_words, measure_columns
from analysis.report.figures.style import BLUE, FAINT, LABEL_SIZE, PAPER
from analysis.report.numbers import counted, fixed

MEASURES = ("mean_abs_residual", "reasoning_tokens")


def tokens_figure(
    estimates: pd.DataFrame,
    *,
    name: str = "tokens",
    labels: Mapping[str, str] | None = None,
    subject: str = "",
) -> Figure | None:
    """Figure of mean |r| against reasoning tokens per answer (log scale); None where no model logs tokens.

    Parameters
    ----------
    estimates : DataFrame
        Tidy estimates with both measures.
    name : str
    labels : mapping, optional
    subject : str
    """
    table = measure_columns(estimates, MEASURES)
    table = table[(table["reasoning_tokens"] > 0) & table["mean_abs_residual"].notna()]
    if table.empty:
        return None
    table = table.sort_values("mean_abs_residual", kind="stable", ignore_index=True)
    table.insert(0, "number", range(1, len(table) + 1))
    table.insert(2, "label", list(drawn_labels(list(table["model"]), labels)))
    words = interval_words(estimates, MEASURES)
    by_length = table.sort_values("reasoning_tokens", kind="stable").to_dict("records")
    shortest, longest = by_length[0], by_length[-1]
    return Figure(
        name=name,
        title="Incoherence and length of reasoning" + (f": {subject}" if subject else ""),
        caption=f"Mean |residual| against reasoning tokens per answer (log scale). Bars: {words}. Numbers follow the "
        "mean |residual|, smallest first. Models differ in much besides their length of reasoning: this is no effect "
        "of it.",
        alt=f"Scatter plot for {counted(len(table), 'model')}. Reasoning is shortest for {shortest['label']} "
        f"({shortest['reasoning_tokens']:,.0f} tokens, mean absolute residual "
        f"{fixed(shortest['mean_abs_residual'], 2)}) and longest for {longest['label']} "
        f"({longest['reasoning_tokens']:,.0f} tokens, {fixed(longest['mean_abs_residual'], 2)}).",
        data=table,
        size=(6.6, max(3.2, 0.7 + 0.17 * len(table))),
        draw=functools.partial(_draw, table=table),
    )


def _draw(canvas: Canvas, *, table: pd.DataFrame) -> None:
    height = canvas.get_size_inches()[1]
    axes = canvas.add_axes((0.09, 0.45 / height, 0.54, 1 - 0.6 / height))
    axes.set_xscale("log")
    drawn = ["mean_abs_residual", "mean_abs_residual_low", "mean_abs_residual_high"]
    long = ["reasoning_tokens", "reasoning_tokens_low", "reasoning_tokens_high"]
    for number, (y, y0, y1), (x, x0, x1) in zip(
        table["number"], table[drawn].to_numpy(float), table[long].to_numpy(float), strict=True
    ):
        axes.plot([x0, x1], [y, y], color=BLUE, linewidth=0.8, zorder=2)
        axes.plot([x, x], [y0, y1], color=BLUE, linewidth=0.8, zorder=2)
        axes.plot([x], [y], marker="o", markersize=9.5, color=BLUE, markerfacecolor=PAPER, zorder=3)
        axes.text(x, y, str(number), ha="center", va="center", size=6.0, zorder=4)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(color=FAINT, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_xlabel("reasoning tokens per answer")
    axes.set_ylabel("mean |residual|, log-odds")
    step = min(0.17 / height, 0.9 / max(len(table), 1))
    for place, (number, label) in enumerate(zip(table["number"], table["label"], strict=True)):
        canvas.text(0.66, 1 - 0.2 / height - place * step, f"{number}  {label}", va="top", size=LABEL_SIZE)
