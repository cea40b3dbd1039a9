"""What units are to single models: how much that varies, and what it adds to the uncertainty of their levels.

Crossed effects of models and units cannot be integrated on points as those of items are. They come in two steps.
Answers fitted without them leave residuals; products of two of one unit and model over different items hold the
variance of reactions, and its posterior given this statistic rests on data simulated from the fit. A level found
without reactions is that of the units asked: it is spread by what its mean over new units would differ.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from analysis.bayes.accuracy_data import AnswerSet
from analysis.bayes.accuracy_priors import AccuracyPriors
from analysis.bayes.accuracy_simulation import simulated_right

Floats = NDArray[np.float64]

#: Simulated data sets of a round, at most and at least, and most answers in all of them.
_SETS: Final = 300
_LEAST_SETS: Final = 60
_MOST_ANSWERS: Final = 5_000_000
#: Standard deviations that are looked at, in scales of their prior, and steps of the grid.
_RANGE: Final = 4.0
_STEPS: Final = 400
#: Rounds: over the whole range, then where the posterior lies.
_ROUNDS: Final = 2
_NEGLIGIBLE: Final = 12.0
#: Least value of the statistic before its logarithm, in parts of its noise.
_LEAST: Final = 0.05


class Reactions(NamedTuple):
    """Draws of what units are to single models.

    Attributes
    ----------
    sd : ndarray (chains, draws)
        Standard deviation over units and models, log-odds.
    shift : ndarray (chains, draws, M)
        What the level of each model on new units differs from that on the units asked, log-odds.
    """

    sd: Floats
    shift: Floats


def drawn_reactions(
    answers: AnswerSet, found: Mapping[str, Floats], priors: AccuracyPriors, rng: np.random.Generator
) -> Reactions:
    """Draws given the parameters of a fit without reactions.

    Parameters
    ----------
    answers : AnswerSet
    found : mapping of str to ndarray (chains, draws[, M])
        ``level, sd, share, log_phi``.
    priors : AccuracyPriors
    rng : numpy.random.Generator

    Notes
    -----
    Likelihood of a statistic that is nearly normal after a transformation, with mean and standard deviation from
    simulations at parameters drawn from the fit (Wood 2010). Answers of one item are independent given its probability,
    so that reactions add a covariance to pairs of different items alone: tau^2 sum_j n_j (n_j - 1) / n^2 to a level.

    References
    ----------
    Wood (2010), Nature 466:1102-1104, doi:10.1038/nature09319 (synthetic likelihood).
    """
    grid, mass = _posterior_sd(answers, found, priors, rng)
    shape = found["sd"].shape
    cumulative = np.concatenate([[0.0], np.cumsum(mass)])
    sd = np.interp(rng.random(shape), cumulative / cumulative[-1], grid)
    return Reactions(
        sd, sd[..., None] * np.sqrt(spread_of_level(answers)) * rng.standard_normal((*shape, answers.n.shape[0]))
    )


def spread_of_level(answers: AnswerSet) -> Floats:
    """Variance (M,) that reactions of variance 1 add to the level of each model."""
    sizes = _by_unit((answers.n > 0).astype(float), answers)
    return np.asarray((sizes * (sizes - 1)).sum(axis=1) / np.maximum(sizes.sum(axis=1), 1) ** 2)


def own_residuals(answers: AnswerSet, right: NDArray[np.int64]) -> Floats:
    """Share of right answers (M, I) without the mean of its model and of its item; 0 where a model was not asked."""
    asked = answers.n > 0
    score = np.divide(right, answers.n, out=np.zeros(right.shape), where=asked)
    mean = score.sum(axis=1) / np.maximum(asked.sum(axis=1), 1)
    away = np.where(asked, score - mean[:, None], 0.0)
    return np.where(asked, away - away.sum(axis=0) / asked.sum(axis=0), 0.0)


def _by_unit(values: Floats, answers: AnswerSet) -> Floats:
    units = int(answers.unit.max()) + 1
    return np.stack([np.bincount(answers.unit, row, units) for row in values])


def _product_and_noise(answers: AnswerSet, right: NDArray[np.int64]) -> tuple[float, float]:
    """Mean product of residuals of two items of one unit and model, and the noise that it would have if squared."""
    own = own_residuals(answers, right)
    asked = (answers.n > 0).astype(float)
    sizes, squares = _by_unit(asked, answers), _by_unit(own**2, answers)
    pairs = float((sizes * (sizes - 1)).sum())
    products = float((_by_unit(own, answers) ** 2 - squares).sum())
    return products / pairs, float(squares.sum() / np.maximum((sizes**2).sum(), 1.0))


def _posterior_sd(
    answers: AnswerSet, found: Mapping[str, Floats], priors: AccuracyPriors, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Edges (T + 1,) of steps of the standard deviation, and the posterior probability (T,) of each."""
    scale = priors.reaction_sd
    product, noise = _product_and_noise(answers, answers.right)
    low, high = 0.0, _RANGE * scale
    flat = {name: found[name].reshape(-1, *found[name].shape[2:]) for name in ("level", "sd", "share", "log_phi")}
    size = int(np.clip(_MOST_ANSWERS // answers.n.size, _LEAST_SETS, _SETS))
    grid, log_mass = np.linspace(low, high, _STEPS + 1), np.zeros(_STEPS)
    for _ in range(_ROUNDS):
        sds = low + (high - low) * (np.arange(size) + rng.random(size)) / size
        at = rng.integers(len(flat["sd"]), size=size)
        values = []
        for s, sd in zip(at, sds, strict=True):
            level, *rest = (flat[name][s] for name in ("level", "sd", "share", "log_phi"))
            own, share, log_phi = map(float, rest)
            right = simulated_right(answers, level, own, share, log_phi, rng, reaction_sd=float(sd))
            values.append(_product_and_noise(answers, right)[0])
        grid = np.linspace(low, high, _STEPS + 1)
        middle = (grid[1:] + grid[:-1]) / 2
        log_mass = -0.5 * (middle / scale) ** 2
        if noise > 0:
            log_mass = log_mass + _log_likelihood(middle, sds, _nearly_normal(np.array(values), noise),
                                                  float(_nearly_normal(np.array(product), noise)))  # fmt: skip
        kept = np.flatnonzero(log_mass > log_mass.max() - _NEGLIGIBLE)
        low, high = float(grid[kept[0]]), float(grid[kept[-1] + 1])
    mass = np.exp(log_mass - log_mass.max())
    return grid, mass / mass.sum()


def _nearly_normal(product: Floats, noise: float) -> Floats:
    """Logarithm of a mean product with the noise it would have as a mean square: like that of a chi-square."""
    return np.asarray(np.log(np.maximum(product + noise, _LEAST * noise)))


def _log_likelihood(at: Floats, sds: Floats, values: Floats, observed: float) -> Floats:
    """Log normal density of the observed statistic at sds (T,), its mean and spread smoothed over simulated ones."""
    mean = Polynomial.fit(sds, values, 4)
    away = np.maximum((values - mean(sds)) ** 2, 1e-12)
    log_spread = Polynomial.fit(sds, np.log(away), 1)
    level = np.log(np.mean(away / np.exp(log_spread(sds))))
    variance = np.exp(log_spread(at) + level)
    return np.asarray(-0.5 * ((observed - mean(at)) ** 2 / variance + np.log(variance)))
