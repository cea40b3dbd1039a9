"""Power by effect for several numbers of units, and what each number of units detects."""

import functools
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, NullLocator

from analysis.report.content import Figure
from analysis.report.figures.style import BLUE, FAINT, LABEL_SIZE, PAPER, SOFT, VERMILION
from analysis.report.numbers import count, counted, fixed

_SIZE: Final = (6.4, 2.6)
#: Lines of designs other than the one at hand, from fewer to more units.
_DASHES: Final = ((0, (1, 1.2)), (0, (3, 1.5)), (0, (6, 1.5)), (0, (6, 1.5, 1, 1.5)))


def power_curve_figure(
    curves: pd.DataFrame,
    sizes: pd.DataFrame,
    *,
    name: str,
    subject: str,
    effect: float,
    power: float,
    unit: str = "unit",
    scale: str = "probability difference",
) -> Figure:
    """Figure of ``planning.answers.curves`` beside ``planning.answers.by_units``.

    Parameters
    ----------
    curves : DataFrame
        ``n_clusters, effect, power_at_effect, this_design``.
    sizes : DataFrame
        ``n_clusters, detectable_effect, this_design``.
    name : str
        Stem of the files.
    subject : str
        What is asked, for the title.
    effect, power : float
        Effect asked for and target power, drawn as lines.
    unit, scale : str
    """
    known = sizes[sizes["detectable_effect"].notna()]
    here = known[known["this_design"]]
    own = (
        f"With {counted(int(here['n_clusters'].iloc[0]), unit)} an effect of "
        f"{fixed(float(here['detectable_effect'].iloc[0]), 3)} is detectable."
        if len(here)
        else "The design itself detects no possible effect."
    )
    data = pd.concat(
        [
            curves.assign(panel="power", detectable_effect=np.nan),
            known[["n_clusters", "detectable_effect", "this_design"]].assign(panel="detectable"),
        ],
        ignore_index=True,
    )[["panel", "n_clusters", "effect", "power_at_effect", "detectable_effect", "this_design"]]
    return Figure(
        name=name,
        title=f"Power: {subject}",
        caption=f"Left: probability that an effect ({scale}) is shown, by number of {unit}s; solid: this design. "
        f"Right: effect shown with a probability of {fixed(power, 2)}, by number of {unit}s. Dashed grey: that "
        f"probability, and the effect asked for ({fixed(effect, 3)}).",
        alt=f"Power against effect for {counted(curves['n_clusters'].nunique(), 'number')} of {unit}s, and detectable "
        f"effect against {unit}s. {own}",
        data=data,
        size=_SIZE,
        draw=functools.partial(_draw, curves=curves, sizes=known, effect=effect, power=power, unit=unit, scale=scale),
    )


def _draw(
    canvas: Canvas, *, curves: pd.DataFrame, sizes: pd.DataFrame, effect: float, power: float, unit: str, scale: str
) -> None:
    left = canvas.add_axes((0.075, 0.19, 0.385, 0.75))
    right = canvas.add_axes((0.575, 0.19, 0.385, 0.75))
    _power_panel(left, curves, effect, power, unit)
    left.set_xlabel(f"effect ({scale})")
    left.set_ylabel("power")
    _units_panel(right, sizes, effect)
    right.set_xlabel(f"{unit}s")
    right.set_ylabel("detectable effect")


def _power_panel(axes: Axes, curves: pd.DataFrame, effect: float, power: float, unit: str) -> None:
    axes.axhline(power, color=FAINT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=0)
    axes.axvline(effect, color=FAINT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=0)
    dashes = iter(_DASHES)
    for n, rows in curves.groupby("n_clusters", sort=True):
        own = bool(rows["this_design"].iloc[0])
        axes.plot(
            rows["effect"].to_numpy(float),
            rows["power_at_effect"].to_numpy(float),
            color=BLUE if own else SOFT,
            linewidth=1.6 if own else 0.9,
            linestyle="-" if own else next(dashes),
            label=count(float(str(n))),
            zorder=3 if own else 2,
        )
    axes.set_xlim(0, float(curves["effect"].max()) if len(curves) else 1)
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
    if len(curves):
        axes.legend(
            title=f"{unit}s", loc="lower right", fontsize=LABEL_SIZE, title_fontsize=LABEL_SIZE, frameon=True,
            framealpha=0.9, facecolor=PAPER, edgecolor=PAPER, borderpad=0.2, handlelength=2.6, labelspacing=0.25,
        )  # fmt: skip


def _units_panel(axes: Axes, sizes: pd.DataFrame, effect: float) -> None:
    n, found = sizes["n_clusters"].to_numpy(float), sizes["detectable_effect"].to_numpy(float)
    axes.axhline(effect, color=FAINT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=0)
    axes.plot(n, found, color=SOFT, linewidth=0.9, zorder=1)
    own = sizes["this_design"].to_numpy(bool)
    axes.plot(n[~own], found[~own], "o", color=SOFT, markersize=3.4, markerfacecolor=PAPER, zorder=2)
    axes.plot(n[own], found[own], "o", color=VERMILION, markersize=4.6, zorder=3)
    axes.set_xscale("log")
    axes.set_ylim(0, 1.08 * max([effect, *found.tolist()]))
    axes.xaxis.set_major_locator(FixedLocator(n.tolist()))
    axes.set_xticklabels([count(value) for value in n], fontsize=LABEL_SIZE)
    axes.xaxis.set_minor_locator(NullLocator())
