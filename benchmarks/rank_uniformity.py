"""Are ranks of simulation-based calibration uniform? A test over all levels at once.

References
----------
Talts, Betancourt, Simpson, Vehtari and Gelman (2018), arXiv:1804.06788.
Saeilynoja, Buerkner and Vehtari (2022), Statistics and Computing 32:32, doi:10.1007/s11222-022-10090-6.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom


def smallest_tail(ranks: NDArray[np.int64], levels: int) -> NDArray[np.float64]:
    """Smallest two-sided binomial tail of the empirical distribution of ranks over all levels.

    Parameters
    ----------
    ranks : ndarray of int (..., N)
        0 to ``levels`` - 1.
    levels : int

    Returns
    -------
    ndarray (...)
        Small where the ranks are not uniform at some level.
    """
    n = ranks.shape[-1]
    flat = ranks.reshape(-1, n)
    counts = np.zeros((len(flat), levels), np.int64)
    np.add.at(counts, (np.repeat(np.arange(len(flat)), n), flat.ravel()), 1)
    below = counts.cumsum(axis=-1)[:, :-1]
    probability = np.arange(1, levels) / levels
    tail = 2 * np.minimum(binom.cdf(below, n, probability), binom.sf(below - 1, n, probability))
    return np.minimum(tail.min(axis=-1), 1.0).reshape(ranks.shape[:-1])


def uniformity_p_values(
    ranks: NDArray[np.int64], levels: int, rng: np.random.Generator, *, simulations: int = 4000
) -> NDArray[np.float64]:
    """Monte-Carlo p-value (b + 1) / (m + 1) of each row of ranks (Q, N) against uniform ranks."""
    null = smallest_tail(rng.integers(0, levels, size=(simulations, ranks.shape[-1])), levels)
    found = smallest_tail(ranks, levels)
    return (1 + (null <= found[:, None] * (1 + 1e-12)).sum(axis=1)) / (simulations + 1)


def rank_of(truth: float, draws: NDArray[np.float64], rng: np.random.Generator) -> int:
    """Number of draws below the truth, ties broken at random."""
    below, equal = int((draws < truth).sum()), int((draws == truth).sum())
    return below + int(rng.integers(0, equal + 1))
