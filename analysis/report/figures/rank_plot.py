"""Rank plot: do the chains of a sampler visit the same values equally often?"""

import functools
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.stats import binom, rankdata

from analysis.report.content import Figure
from analysis.report.figures.style import BLUE, INK, LABEL_SIZE, SHADE, SOFT, VERMILION
from analysis.report.numbers import counted

_BINS: Final = 20
_COLOURS: Final = (BLUE, VERMILION, INK, SOFT)
_DASHES: Final = ("-", "--", ":", "-.")


def rank_figure(draws: NDArray[np.float64], *, name: str, title: str, quantity: str, r_hat: float) -> Figure:
    """Histogram of the ranks of each chain's draws among all draws.

    Parameters
    ----------
    draws : ndarray (chains, draws)
        Of one quantity.
    name, title : str
    quantity : str
        What the draws are, for the caption.
    r_hat : float

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), Bayesian Analysis 16:667-718, doi:10.1214/20-BA1221.
    """
    chains, length = draws.shape
    ranks = rankdata(draws, method="average", axis=None).reshape(chains, length)
    counts = np.stack([np.histogram(own, bins=_BINS, range=(0.5, chains * length + 0.5))[0] for own in ranks])
    low, high = binom.ppf([0.005, 0.995], length, 1 / _BINS)
    table = pd.DataFrame(
        [
            {"chain": chain + 1, "rank_bin": at + 1, "draws": int(counts[chain, at]), "expected": length / _BINS}
            for chain in range(chains)
            for at in range(_BINS)
        ]
    )
    outside = int(((counts < low) | (counts > high)).sum())
    return Figure(
        name=name,
        title=title,
        caption=(
            f"{quantity}: the reported quantity with the largest R-hat ({r_hat:.4f}). Each line is one chain; if "
            "chains agree, all stay near the expected number of draws. The band holds 99% of the counts of independent "
            "draws; draws of a chain are correlated, so that a few counts outside it are no alarm."
        ),
        alt=(
            f"Rank plot of {counted(chains, 'chain')} with {length:,} draws each in {_BINS} bins: counts run from "
            f"{counts.min()} to {counts.max()}, {length / _BINS:g} being expected; {outside} of {counts.size} lie "
            "outside the band of independent draws."
        ),
        data=table,
        size=(5.6, 2.5),
        draw=functools.partial(_draw, counts=counts, band=(float(low), float(high)), expected=length / _BINS),
    )


def _draw(canvas: Canvas, *, counts: NDArray[np.int64], band: tuple[float, float], expected: float) -> None:
    axes = canvas.add_axes((0.1, 0.2, 0.68, 0.74))
    axes.axhspan(*band, color=SHADE, linewidth=0)
    axes.axhline(expected, color=SOFT, linewidth=0.6)
    edges = np.arange(_BINS + 1) / _BINS
    for chain, own in enumerate(counts):
        axes.stairs(
            own,
            edges,
            baseline=None,
            linewidth=1.1,
            label=f"chain {chain + 1}",
            color=_COLOURS[chain % 4],
            linestyle=_DASHES[chain % 4],
        )
    axes.set_xlim(0, 1)
    top = 1.25 * max(float(counts.max()), band[1])
    axes.set_yticks([at for at in MaxNLocator(5).tick_values(0, top) if 0 <= at <= top])
    axes.set_ylim(0, top)
    axes.set_xlabel("rank of the draw among all draws, as a share")
    axes.set_ylabel("draws")
    canvas.legend(loc="center left", bbox_to_anchor=(0.79, 0.57), frameon=False, fontsize=LABEL_SIZE)
