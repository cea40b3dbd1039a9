"""Fit of a model of uncertain answers, and how well it predicts units that were left out.

Coefficients are normal around means common to all models; means and sds are estimated (empirical Bayes, EM with the
posterior of the coefficients normal around its mode). Each fold of units is left out by a new fit, never by importance
weights, so that there is no Pareto k to watch.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.models.uncertain_answers import UncertainModel

Floats = NDArray[np.float64]

_LEAST_PROBABILITY: Final = 1e-12
_SCORING_ROUNDS: Final = 40
_SETTLED: Final = 1e-6
#: Rounds of EM from scratch, and from the fit to all units; the weight of the prior sd 1 in models.
_ROUNDS: Final = 60
_ROUNDS_AGAIN: Final = 6
_PRIOR_MODELS: Final = 1.0
_DRAWS: Final = 200


@dataclass(frozen=True, slots=True)
class UncertainFit:
    """Mode and curvature of the coefficients (M, P), their means and sds (P,).

    ``settled``: the last step of every model was smaller than _SETTLED.
    """

    coefficients: Floats
    precision: Floats
    mean: Floats
    sd: Floats
    settled: bool


@dataclass(frozen=True, slots=True)
class Predicted:
    """Log predictive density (U,) of every unit by fits without its fold, over all models, and its Monte-Carlo error.

    ``error`` is the standard error of the sum over units. ``problem`` says why the numbers are not to be used.
    """

    by_unit: Floats
    error: float
    problem: str


def fit_uncertain(
    model: UncertainModel, counts: Floats, columns: Floats, *, start: UncertainFit | None = None
) -> UncertainFit:
    """Empirical Bayes fit.

    Parameters
    ----------
    model : UncertainModel
    counts : ndarray (M, C, 3)
        Responses by outcome.
    columns : ndarray (C, K)
        Predictor of Yes; with ``by_cell`` also of uncertain answers.
    start : UncertainFit, optional
        Where to start: a fit to nearly the same counts.
    """
    size = columns.shape[1] * 2 if model.by_cell else columns.shape[1] + 1
    models = len(counts)
    at = start or UncertainFit(np.zeros((models, size)), np.eye(size), np.zeros(size), np.full(size, 1.5), False)
    for _ in range(_ROUNDS if start is None else _ROUNDS_AGAIN):
        coefficients, precision, settled = _mode(model, counts, columns, at)
        variance = np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2)
        mean = coefficients.mean(axis=0)
        total = ((coefficients - mean) ** 2 + variance).sum(axis=0)
        sd = np.sqrt((total + _PRIOR_MODELS) / (models + _PRIOR_MODELS))
        still = float(np.abs(np.log(sd / at.sd)).max()) < 1e-3
        at = UncertainFit(coefficients, precision, mean, sd, settled)
        if still and settled:
            break
    return at


def left_out(
    model: UncertainModel, counts: Floats, columns: Floats, fold: NDArray[np.int64], rng: np.random.Generator
) -> Predicted:
    """Log predictive density of units that the fit has not seen.

    Parameters
    ----------
    model : UncertainModel
    counts : ndarray (U, M, C, 3)
    columns : ndarray (C, K)
    fold : ndarray (U,) of int
        Units of one fold are left out together.
    rng : numpy.random.Generator
        For draws of the coefficients.

    References
    ----------
    Vehtari, Gelman and Gabry (2017), Statistics and Computing 27:1413-1432, doi:10.1007/s11222-016-9696-4.
    """
    everything = counts.sum(axis=0)
    whole = fit_uncertain(model, everything, columns)
    by_unit, errors = np.zeros(len(counts)), np.zeros(len(counts))
    settled = whole.settled
    for f in np.unique(fold):
        out = np.flatnonzero(fold == f)
        fit = fit_uncertain(model, everything - counts[out].sum(axis=0), columns, start=whole)
        settled &= fit.settled
        by_unit[out], errors[out] = _log_predictive(model, fit, counts[out], columns, rng)
    return Predicted(by_unit, float(np.sqrt((errors**2).sum())), "" if settled else "a fit did not settle")


def predictors(model: UncertainModel, coefficients: Floats, columns: Floats) -> tuple[Floats, Floats]:
    """eta and alpha (..., C) of coefficients (..., P)."""
    k = columns.shape[1]
    eta = coefficients[..., :k] @ columns.T
    alpha = coefficients[..., k:] @ (columns.T if model.by_cell else np.ones((1, len(columns))))
    return eta, alpha


def _design(model: UncertainModel, columns: Floats) -> Floats:
    """Derivatives (C, 2, P) of eta and alpha by the coefficients."""
    c, k = columns.shape
    place = np.zeros((c, 2, 2 * k if model.by_cell else k + 1))
    place[:, 0, :k] = columns
    place[:, 1, k:] = columns if model.by_cell else 1.0
    return place


def _mode(model: UncertainModel, counts: Floats, columns: Floats, at: UncertainFit) -> tuple[Floats, Floats, bool]:
    """Mode (M, P) and precision (M, P, P) of the coefficients given their means and sds, by Fisher scoring."""
    design, shrink = _design(model, columns), 1 / at.sd**2
    n = counts.sum(axis=-1)
    b = at.coefficients.copy()

    def objective(values: Floats) -> Floats:
        p = np.maximum(model.probabilities(*predictors(model, values, columns))[0], _LEAST_PROBABILITY)
        return (counts * np.log(p)).sum(axis=(1, 2)) - 0.5 * ((values - at.mean) ** 2 * shrink).sum(axis=1)

    value, step = objective(b), np.full_like(b, np.inf)
    precision = np.zeros((len(b), b.shape[1], b.shape[1]))
    for _ in range(_SCORING_ROUNDS):
        p, slopes = model.probabilities(*predictors(model, b, columns))
        p = np.maximum(p, _LEAST_PROBABILITY)
        score = np.einsum("mck,mckd,cdp->mp", counts / p, slopes, design, optimize=True) - (b - at.mean) * shrink
        inner = np.einsum("mc,mck,mckd,mcke->mcde", n, 1 / p, slopes, slopes, optimize=True)
        precision = np.einsum("cdp,mcde,ceq->mpq", design, inner, design, optimize=True) + np.diag(shrink)
        step = np.linalg.solve(precision, score[..., None])[..., 0]
        if np.abs(step).max() < _SETTLED:
            break
        factor = np.ones(len(b))
        for _ in range(12):
            trial = objective(b + factor[:, None] * step)
            worse = ~(trial >= value - 1e-9)
            if not worse.any():
                break
            factor = np.where(worse, factor / 2, factor)
        b = b + factor[:, None] * step
        value = objective(b)
    return b, precision, bool(np.abs(step).max() < 100 * _SETTLED)


def _log_predictive(
    model: UncertainModel, fit: UncertainFit, counts: Floats, columns: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Log predictive density (U,) of units (U, M, C, 3), models independent given the fit, and its standard error."""
    models, size = fit.coefficients.shape
    half = rng.normal(size=(_DRAWS // 2, models, size))
    z = np.concatenate([half, -half])
    factor = np.linalg.cholesky(np.linalg.inv(fit.precision))
    drawn = fit.coefficients + np.einsum("mpq,smq->smp", factor, z)
    p = np.maximum(model.probabilities(*predictors(model, drawn, columns))[0], _LEAST_PROBABILITY)
    log_density = np.einsum("umck,smck->sum", counts, np.log(p), optimize=True)
    top = log_density.max(axis=0)
    density = np.exp(log_density - top)
    pairs = (density[: _DRAWS // 2] + density[_DRAWS // 2 :]) / 2
    mean = pairs.mean(axis=0)
    relative = pairs.std(axis=0, ddof=1) / mean / np.sqrt(len(pairs))
    return (np.log(mean) + top).sum(axis=1), np.sqrt((relative**2).sum(axis=1))
