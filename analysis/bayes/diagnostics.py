"""Convergence of many quantities at once: rank-normalised R-hat, effective sample sizes, Monte-Carlo errors."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import beta, rankdata

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]

#: Quantiles whose effective sample size is that of the tails.
TAILS: Final = (0.05, 0.95)
#: One standard deviation below and above, as probabilities of a normal.
_ONE_SD: Final = (0.1586552539314571, 0.8413447460685429)


@dataclass(frozen=True, slots=True)
class Convergence:
    """R-hat and effective sample sizes of Q quantities, each (Q,); NaN for a quantity that never moves."""

    r_hat: Floats
    ess_bulk: Floats
    ess_tail: Floats


def convergence(draws: ArrayLike) -> Convergence:
    """``r_hat``, ``ess_bulk`` and ``ess_tail`` at once: the ranks are computed one time."""
    halves = split_chains(draws)
    ranks = _rank_normalised(halves)
    folded = _rank_normalised(np.abs(halves - np.median(halves, axis=(0, 1))))
    return Convergence(
        np.fmax(_scale_reduction(ranks), _scale_reduction(folded)), effective_size(ranks), ess_tail(draws)
    )


def r_hat(draws: ArrayLike) -> Floats:
    """Rank-normalised split R-hat, the larger of that of location and of the folded draws (scale).

    Parameters
    ----------
    draws : array_like (chains, draws, Q)

    Returns
    -------
    ndarray (Q,)
        NaN for a quantity that never moves.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), Bayesian Analysis 16:667-718, doi:10.1214/20-BA1221.
    """
    return convergence(draws).r_hat


def ess_bulk(draws: ArrayLike) -> Floats:
    """Effective sample size of the rank-normalised split chains, (Q,); see ``r_hat``."""
    return effective_size(_rank_normalised(split_chains(draws)))


def ess_tail(draws: ArrayLike) -> Floats:
    """The smaller of the effective sample sizes of the 5 % and the 95 % quantile, (Q,); see ``r_hat``."""
    return np.fmin(*(ess_quantile(draws, prob) for prob in TAILS))


def ess_quantile(draws: ArrayLike, prob: float) -> Floats:
    """Effective sample size for a quantile: that of the indicator of lying at or below it, (Q,).

    Where no draw lies above the quantile (many draws at one end), the indicator of lying below it.
    """
    halves = split_chains(draws)
    quantile = np.quantile(halves, prob, axis=(0, 1))
    inside = halves <= quantile
    inside = np.where(inside.all(axis=(0, 1)), halves < quantile, inside)
    return effective_size(inside.astype(float))


def mcse_mean(draws: ArrayLike) -> Floats:
    """Monte-Carlo standard error of a mean; of an indicator, that of a probability, (Q,)."""
    halves = split_chains(draws)
    return halves.std(axis=(0, 1), ddof=1) / np.sqrt(effective_size(halves))


def mcse_quantile(draws: ArrayLike, prob: float) -> Floats:
    """Monte-Carlo standard error of a quantile, (Q,): half the distance between its ``quantile_bounds``."""
    lower, upper = quantile_bounds(draws, prob)
    return (upper - lower) / 2


def quantile_bounds(draws: ArrayLike, prob: float) -> tuple[Floats, Floats]:
    """One-sd bounds of a quantile by its effective sample size, (Q,) each; monotone maps carry them along.

    NaN for a quantity that never moves.
    """
    size = ess_quantile(draws, prob)
    ordered = np.sort(split_chains(draws).reshape(-1, size.size), axis=0)
    total = len(ordered)
    known = np.isfinite(size)
    filled = np.where(known, size, 1.0)
    low, high = (beta.ppf(p, filled * prob + 1, filled * (1 - prob) + 1) for p in _ONE_SD)
    lower = np.clip(np.floor(low * total).astype(int) - 1, 0, total - 1)
    upper = np.clip(np.ceil(high * total).astype(int) - 1, 0, total - 1)
    columns = np.arange(size.size)
    return np.where(known, ordered[lower, columns], np.nan), np.where(known, ordered[upper, columns], np.nan)


def bfmi(energy: ArrayLike) -> Floats:
    """Energy Bayesian fraction of missing information of each chain; low values say that tails are not reached.

    References
    ----------
    Betancourt (2016), arXiv:1604.00695.
    """
    values = np.asarray(energy, float)
    return (np.diff(values, axis=-1) ** 2).mean(axis=-1) / values.var(axis=-1)


def split_chains(draws: ArrayLike) -> Floats:
    """Each chain in two halves: (2 * chains, draws // 2, Q)."""
    array = np.asarray(draws, float)
    if array.ndim != 3 or array.shape[1] < 4:
        raise AnalysisError(f"draws must be (chains, at least 4 draws, quantities), not of shape {array.shape}")
    half = array.shape[1] // 2
    return np.concatenate([array[:, :half], array[:, -half:]])


def effective_size(chains: Floats) -> Floats:
    """Effective sample size of the mean of chains (M, N, Q) by Geyer's initial monotone sequence.

    NaN for a quantity that never moves.
    """
    m, n, q = chains.shape
    covariance = _autocovariance(chains)
    within = covariance[:, 0].mean(axis=0) * n / (n - 1)
    total = within * (n - 1) / n + (chains.mean(axis=1).var(axis=0, ddof=1) if m > 1 else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1 - (within - covariance.mean(axis=0)) / total
    rho[0] = 1.0
    pairs = (n - 1) // 2
    sums = rho[: 2 * pairs].reshape(pairs, 2, q).sum(axis=1)
    positive = np.logical_and.accumulate(sums > 0, axis=0)
    positive[-1] = False
    kept = np.minimum.accumulate(np.where(positive, sums, 0.0), axis=0)
    even = np.maximum(rho[2 * positive.sum(axis=0), np.arange(q)], 0.0)
    tau = np.maximum(-1 + 2 * kept.sum(axis=0) + even, 1 / np.log10(m * n))
    moving = np.isfinite(total) & (total > 0)
    return np.where(moving, m * n / tau, np.nan)


def _autocovariance(chains: Floats) -> Floats:
    n = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    length = next_fast_len(2 * n, real=True)
    spectrum = rfft(centred, length, axis=1)
    return irfft(np.abs(spectrum) ** 2, length, axis=1)[:, :n] / n


def _scale_reduction(chains: Floats) -> Floats:
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = chains.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(between / within + (n - 1) / n)


def _rank_normalised(chains: Floats) -> Floats:
    m, n, q = chains.shape
    ranks = rankdata(chains.reshape(m * n, q), method="average", axis=0)
    return ndtri((ranks - 0.375) / (m * n + 0.25)).reshape(m, n, q)
