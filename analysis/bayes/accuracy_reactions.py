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
#: Times as many data sets after a fit that failed.
_CAREFUL: Final = 4
#: Groups of data sets that are left out in turn.
_GROUPS: Final = 10
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
    error : float
        Monte-Carlo error of the simulated likelihood: of the root mean square of sd, as a share of it. Errors that are
        computed from the draws do not hold it.
    """

    sd: Floats
    shift: Floats
    error: float


def drawn_reactions(
    answers: AnswerSet,
    found: Mapping[str, Floats],
    priors: AccuracyPriors,
    rng: np.random.Generator,
    *,
    careful: bool = False,
) -> Reactions:
    """Draws given the parameters of a fit without reactions.

    Parameters
    ----------
    answers : AnswerSet
    found : mapping of str to ndarray (chains, draws[, M])
        ``level, sd, share, log_phi``.
    priors : AccuracyPriors
    rng : numpy.random.Generator
    careful : bool
        Four times the simulated data sets.

    Notes
    -----
    Likelihood of a statistic that is nearly normal after a transformation, with mean and standard deviation from
    simulations at parameters drawn from the fit (Wood 2010). Answers of one item are independent given its probability,
    so that reactions add a covariance to pairs of different items alone: tau^2 sum_j n_j (n_j - 1) / n^2 to a level.

    References
    ----------
    Wood (2010), Nature 466:1102-1104, doi:10.1038/nature09319 (synthetic likelihood).
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 11 (jackknife: its error without groups).
    """
    grid, mass, error = _posterior_sd(answers, found, priors, rng, times=_CAREFUL if careful else 1)
    shape = found["sd"].shape
    cumulative = np.concatenate([[0.0], np.cumsum(mass)])
    sd = np.interp(rng.random(shape), cumulative / cumulative[-1], grid)
    spread = sd[..., None] * np.sqrt(spread_of_level(answers))
    return Reactions(sd, spread * rng.standard_normal((*shape, answers.n.shape[0])), error)


def spread_of_level(answers: AnswerSet) -> Floats:
    """Variance (M,) that reactions of variance 1 add to the level of each model."""
    sizes = _by_unit((answers.n > 0).astype(float), answers)
    return np.asarray((sizes * (sizes - 1)).sum(axis=1) / np.maximum(sizes.sum(axis=1), 1) ** 2)


def residuals_by_item(answers: AnswerSet, right: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Shares of right answers without the mean of their model: means (I,) of items, and (M, I) what is left of each.

    What is left is 0 where a model was not asked.
    """
    asked = answers.n > 0
    score = np.divide(right, answers.n, out=np.zeros(right.shape), where=asked)
    mean = score.sum(axis=1) / np.maximum(asked.sum(axis=1), 1)
    away = np.where(asked, score - mean[:, None], 0.0)
    of_item = away.sum(axis=0) / asked.sum(axis=0)
    return of_item, np.where(asked, away - of_item, 0.0)


def _by_unit(values: Floats, answers: AnswerSet) -> Floats:
    units = int(answers.unit.max()) + 1
    return np.stack([np.bincount(answers.unit, row, units) for row in values])


def _product_and_noise(answers: AnswerSet, right: NDArray[np.int64]) -> tuple[float, float]:
    """Mean product of residuals of two items of one unit and model, and the noise that it would have if squared."""
    _, own = residuals_by_item(answers, right)
    asked = (answers.n > 0).astype(float)
    sizes, squares = _by_unit(asked, answers), _by_unit(own**2, answers)
    pairs = float((sizes * (sizes - 1)).sum())
    products = float((_by_unit(own, answers) ** 2 - squares).sum())
    return products / pairs, float(squares.sum() / np.maximum((sizes**2).sum(), 1.0))


def _posterior_sd(
    answers: AnswerSet, found: Mapping[str, Floats], priors: AccuracyPriors, rng: np.random.Generator, *, times: int = 1
) -> tuple[Floats, Floats, float]:
    """Edges (T + 1,) of steps of the standard deviation, posterior probability (T,) of each, and Monte-Carlo error."""
    scale = priors.reaction_sd
    product, noise = _product_and_noise(answers, answers.right)
    low, high = 0.0, _RANGE * scale
    grid = np.linspace(low, high, _STEPS + 1)
    if noise == 0:  # models differ in no item: nothing is known
        return grid, _probabilities(_log_prior(grid, scale)), 0.0
    observed = float(_nearly_normal(np.array(product), noise))
    flat = {name: found[name].reshape(-1, *found[name].shape[2:]) for name in ("level", "sd", "share", "log_phi")}
    size = times * int(np.clip(_MOST_ANSWERS // answers.n.size, _LEAST_SETS, _SETS))
    for _ in range(_ROUNDS):
        sds = low + (high - low) * (np.arange(size) + rng.random(size)) / size
        at = rng.integers(len(flat["sd"]), size=size)
        products = []
        for s, sd in zip(at, sds, strict=True):
            level, *rest = (flat[name][s] for name in ("level", "sd", "share", "log_phi"))
            own, share, log_phi = map(float, rest)
            right = simulated_right(answers, level, own, share, log_phi, rng, reaction_sd=float(sd))
            products.append(_product_and_noise(answers, right)[0])
        values = _nearly_normal(np.array(products), noise)
        grid = np.linspace(low, high, _STEPS + 1)
        log_prior = _log_prior(grid, scale)
        log_mass = log_prior + _log_likelihood(_middle(grid), sds, values, observed)
        kept = np.flatnonzero(log_mass > log_mass.max() - _NEGLIGIBLE)
        low, high = float(grid[kept[0]]), float(grid[kept[-1] + 1])
    return grid, _probabilities(log_mass), _simulation_error(grid, log_prior, sds, values, observed)


def _middle(grid: Floats) -> Floats:
    return np.asarray((grid[1:] + grid[:-1]) / 2)


def _log_prior(grid: Floats, scale: float) -> Floats:
    return np.asarray(-0.5 * (_middle(grid) / scale) ** 2)


def _probabilities(log_mass: Floats) -> Floats:
    mass = np.exp(log_mass - log_mass.max())
    return np.asarray(mass / mass.sum())


def _simulation_error(grid: Floats, log_prior: Floats, sds: Floats, values: Floats, observed: float) -> float:
    """Error of the root mean square of the posterior from the choice of simulated data sets, relative: a jackknife."""
    middle, group, found = _middle(grid), np.arange(len(sds)) % _GROUPS, np.zeros(_GROUPS)
    for g in range(_GROUPS):
        log_mass = log_prior + _log_likelihood(middle, sds[group != g], values[group != g], observed)
        found[g] = np.sqrt((_probabilities(log_mass) * middle**2).sum())
    return float(np.sqrt((_GROUPS - 1) * found.var()) / found.mean())


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
