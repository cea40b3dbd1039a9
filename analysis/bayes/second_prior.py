"""The posterior under a second prior, twice as wide, of one standard deviation: by importance weights."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from arviz_stats.base import array_stats
from numpy.typing import NDArray
from scipy.special import logsumexp

Floats = NDArray[np.float64]

#: How much wider the second prior is.
FACTOR: Final = 2.0
#: Pareto shape above which importance weights are not relied on; with few draws the limit is lower.
MOST_PARETO_K: Final = 0.7
#: Least effective number of draws after weighting.
LEAST_EFFECTIVE: Final = 100.0
#: Points of the grid of a standard deviation, from its smallest to its largest plausible value.
_POINTS: Final = 150
_LARGEST: Final = 6.0


@dataclass(frozen=True, slots=True)
class SecondPosterior:
    """Weighted draws under the second prior.

    Attributes
    ----------
    log_weight : ndarray (S,)
        Smoothed, normalised to sum 1.
    sd : ndarray (S,)
        Standard deviation of each draw under the second prior.
    pareto_k : float
        Shape of the tail of the raw weights; -inf where all are equal, inf where one draw carries them.
    effective : float
        Effective number of draws.
    reason : str
        Why the weights are not relied on; empty otherwise.
    """

    log_weight: Floats
    sd: Floats
    pareto_k: float
    effective: float
    reason: str


def second_posterior(
    sd: Floats, *, scale: float, means: Floats | None, rng: np.random.Generator, factor: float = FACTOR
) -> SecondPosterior:
    """Posterior where the half-normal prior of one standard deviation is ``factor`` times as wide.

    Parameters
    ----------
    sd : ndarray (S,)
        Draws under the first prior.
    scale : float
        Half-normal scale of the first prior.
    means : ndarray (S, K) or None
        Draws of the coefficients Normal(0, sd), where they are known.
    rng : numpy.random.Generator
        For the standard deviations given the coefficients.

    Notes
    -----
    Given its coefficients a standard deviation does not depend on the data. Where they are known, weights are therefore
    ratios of their densities with the standard deviation integrated out, which vary less than ratios of its priors, and
    it is drawn anew given them. Weights are Pareto-smoothed. They are not relied on where the shape exceeds
    min(1 - 1 / log10(S), .7) or where fewer than LEAST_EFFECTIVE draws carry them.

    References
    ----------
    Vehtari, Simpson, Gelman, Yao and Gabry (2024), J. Mach. Learn. Res. 25:72.
    """
    if means is None:
        ratio, drawn = -0.5 * (sd / scale) ** 2 * (1 / factor**2 - 1), sd
    else:
        ratio, drawn = _given_coefficients(means, scale, factor, rng)
    if np.ptp(ratio) < 1e-12:
        return SecondPosterior(np.full(len(sd), -np.log(len(sd))), drawn, -np.inf, float(len(sd)), "")
    # psislw takes log-likelihoods to be left out, the negative of log ratios.
    smoothed, k = array_stats.psislw(-ratio)
    smoothed = np.asarray(smoothed) - logsumexp(smoothed)
    effective = float(1 / np.exp(2 * smoothed).sum())
    limit = min(1 - 1 / np.log10(len(sd)), MOST_PARETO_K)
    shape = float(k) if np.isfinite(k) else np.inf
    reason = ""
    if limit < shape < np.inf:
        reason = f"weights of the wider prior are not reliable: Pareto k {shape:.2f}, limit {limit:.2f}"
    elif effective < LEAST_EFFECTIVE:
        reason = f"weights of the wider prior rest on {effective:.0f} draws, fewer than {LEAST_EFFECTIVE:.0f}"
    return SecondPosterior(smoothed, drawn, shape, effective, reason)


def weighted_quantiles(values: Floats, log_weight: Floats, probabilities: Floats) -> Floats:
    """Quantiles of weighted draws: the value at which the cumulative weight, each draw at its middle, is reached."""
    order = np.argsort(values, kind="stable")
    weight = np.exp(log_weight[order])
    return np.interp(probabilities, (np.cumsum(weight) - weight / 2) / weight.sum(), values[order])


def sd_given_coefficients(means: Floats, *, scale: float, rng: np.random.Generator) -> Floats:
    """One draw (S,) of the standard deviation given each draw of its coefficients (S, K), half-normal prior.

    Notes
    -----
    Coefficients often mix better than the logarithm of their standard deviation, on which the data say nothing
    beyond them; drawn anew given them, it has their Monte-Carlo error alone.
    """
    tau, likelihood = _grid(means, scale)
    return _drawn(tau, likelihood - 0.5 * (tau / scale) ** 2, rng)


def _given_coefficients(means: Floats, scale: float, factor: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Log ratio (S,) of the densities of the coefficients, and standard deviations given them, second prior."""
    tau, likelihood = _grid(means, factor * scale)
    first, second = (likelihood - 0.5 * (tau / s) ** 2 for s in (scale, factor * scale))
    return logsumexp(second, axis=1) - logsumexp(first, axis=1), _drawn(tau, second, rng)


def _grid(means: Floats, scale: float) -> tuple[Floats, Floats]:
    """Standard deviations, equally spaced in logarithm, and the log density (S, points) of the coefficients there."""
    size, square = means.shape[1], (means**2).sum(axis=1)
    least = min(1e-3 * scale, 0.1 * float(np.sqrt(square.min() / size)))
    log_sd = np.linspace(np.log(max(least, 1e-12)), np.log(_LARGEST * scale), _POINTS)
    # Of log sd, up to constants: its Jacobian takes one power off.
    return np.exp(log_sd), (1 - size) * log_sd - 0.5 * square[:, None] / np.exp(2 * log_sd)


def _drawn(values: Floats, log_density: Floats, rng: np.random.Generator) -> Floats:
    """One value per row of log densities over equally spaced logarithms, linear within a step."""
    cumulative = np.cumsum(np.exp(log_density - log_density.max(axis=1, keepdims=True)), axis=1)
    wanted = rng.random(len(cumulative)) * cumulative[:, -1]
    at = np.minimum((cumulative < wanted[:, None]).sum(axis=1), _POINTS - 1)
    rows = np.arange(len(cumulative))
    high, low = cumulative[rows, at], np.where(at > 0, cumulative[rows, np.maximum(at - 1, 0)], 0.0)
    within = (wanted - low) / np.where(high > low, high - low, 1.0)
    return values[at] * (values[1] / values[0]) ** (within - 0.5)
