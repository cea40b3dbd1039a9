"""Differences of two independent fits: draws of the one minus draws of the other, paired at random."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.bayes.diagnostics import convergence, mcse_quantile
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


def posterior_differences(
    before: Floats, after: Floats, *, rng: np.random.Generator, rope: ArrayLike, ci_level: float = 0.95
) -> pd.DataFrame:
    """Summaries of after minus before, one row per quantity.

    Parameters
    ----------
    before, after : ndarray (chains, draws, Q)
        Draws of the same quantities from two fits that share no data; chains and draws may differ in number.
    rng : numpy.random.Generator
        Permutes the draws of either side, all quantities of a side alike.
    rope : float > 0, or ndarray (Q,) of them
        Differences within +- ``rope`` count as none, in the unit of each quantity.
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        ``estimate`` (median), ``ci_low, ci_high`` (equal tails), ``p_after_higher``, ``p_beyond`` (probability of
        a difference larger than the rope in size), ``mcse`` (of the median: those of both sides in quadrature),
        ``mcse_probability`` (the larger of both, from the fewest effective draws of either side).

    Raises
    ------
    AnalysisError
        The sides hold other numbers of quantities, or draws that are not finite.

    Notes
    -----
    Given independent data and no shared parameter the joint posterior is the product of both, of which any pairing
    of their draws is a sample. Of the side with more draws, as many are used, at random, as the other has.
    """
    if before.ndim != 3 or after.ndim != 3 or before.shape[2] != after.shape[2]:
        raise AnalysisError(f"draws before {before.shape} and after {after.shape} are not of the same quantities")
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        raise AnalysisError("draws that are not finite have no difference")
    flat = [side.reshape(-1, side.shape[2]) for side in (before, after)]
    size = min(len(side) for side in flat)
    first, second = (side[rng.permutation(len(side))[:size]] for side in flat)
    change = second - first
    margin, tail = np.asarray(rope, float), (1 - ci_level) / 2
    low, middle, high = np.quantile(change, [tail, 0.5, 1 - tail], axis=0)
    probabilities = np.stack([(change > 0).mean(axis=0), (np.abs(change) > margin).mean(axis=0)])
    effective = np.minimum(*(_least_effective(side, size) for side in (before, after)))
    errors = np.sqrt(probabilities * (1 - probabilities) / effective)
    return pd.DataFrame(
        {
            "estimate": middle,
            "ci_low": low,
            "ci_high": high,
            "ci_level": ci_level,
            "ci_method": "eti",
            "p_after_higher": probabilities[0],
            "p_beyond": probabilities[1],
            "rope_low": -margin,
            "rope_high": margin,
            "mcse": np.hypot(*(np.nan_to_num(mcse_quantile(side, 0.5)) for side in (before, after))),
            "mcse_probability": errors.max(axis=0),
        }
    )


def _least_effective(draws: Floats, size: int) -> Floats:
    """Effective draws (Q,), at least 1 and at most ``size``; ``size`` for what never moves."""
    found = convergence(draws)
    least = np.fmin(found.ess_bulk, found.ess_tail)
    return np.clip(np.where(np.isfinite(least), least, size), 1, size)
