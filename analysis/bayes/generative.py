"""Data drawn from the models' own priors, with the truth behind them: what calibration by simulation needs."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.design_matrix import CountDesign
from analysis.bayes.model_arrays import ModelArrays, coefficient_means, picked
from analysis.bayes.models.answer_bias import dense, stage_columns
from analysis.measures.rates import share

Floats = NDArray[np.float64]
_NODES, _WEIGHTS = hermegauss(41)
#: Smallest shape of a beta distribution that is drawn: below, all mass lies at 0 and 1 anyway.
_LEAST_SHAPE: Final = 1e-12


@dataclass(frozen=True, slots=True)
class StageTruth:
    """One stage drawn from its priors.

    Attributes
    ----------
    hyper : ndarray (H,)
        In the order of the arrays.
    coefficients : ndarray (M, P)
    log_odds, probability : ndarray (M, C)
        From the columns alone, and of each cell with its own deviation.
    """

    hyper: Floats
    coefficients: Floats
    log_odds: Floats
    probability: Floats


def draw_stage(arrays: ModelArrays, rng: np.random.Generator) -> StageTruth:
    """Hyper-parameters, coefficients and cells from the priors of the arrays; their counts are not read."""
    d, matrix = arrays, dense(arrays)
    hyper = _draw_hyper(d, rng)
    log_sd = picked(hyper, d.log_sd_at, d.log_sd)[d.group]
    b = coefficient_means(hyper, d) + np.exp(log_sd) * rng.normal(size=(len(d.yes), len(log_sd)))
    eta = b @ matrix.T
    if d.log_phi_at < 0:
        return StageTruth(hyper, b, eta, expit(eta))
    phi = np.exp(hyper[d.log_phi_at])
    shapes = (np.maximum(phi * expit(sign * eta), _LEAST_SHAPE) for sign in (1, -1))
    upper, lower = (rng.standard_gamma(shape) for shape in shapes)
    total = upper + lower
    coin = (rng.random(eta.shape) < expit(eta)).astype(float)
    return StageTruth(hyper, b, eta, np.divide(upper, total, out=coin, where=total > 0))


def _draw_hyper(d: ModelArrays, rng: np.random.Generator) -> Floats:
    scale = np.exp(d.prior_log_sd)
    half_normal = np.abs(rng.normal(size=len(scale))) * scale
    # 0 is no half-normal draw but its logarithm must stay finite.
    hyper = np.where(d.is_log_sd, np.log(np.maximum(half_normal, np.finfo(float).tiny)), 0.0)
    sd = np.where(d.prior_sd_at >= 0, np.exp(picked(hyper, d.prior_sd_at, 0.0)), scale)
    return np.where(d.is_log_sd, hyper, d.prior_mean + sd * rng.normal(size=len(scale)))


def draw_counts(
    design: CountDesign, answered: StageTruth, yes: StageTruth, rng: np.random.Generator, *, n: int
) -> CountDesign:
    """The design with n responses in every cell, answered and right as the truth has it."""
    given = rng.binomial(n, answered.probability)
    affirmed = rng.binomial(given, yes.probability)
    correct = np.where(design.gold > 0, affirmed, given - affirmed).astype(float)
    return replace(
        design,
        answered=given.astype(float),
        uncertain=(n - given).astype(float),
        correct=correct,
        weight=np.full(given.shape, float(n)),
    )


def true_accuracies(design: CountDesign, answered: StageTruth, yes: StageTruth, treatment: str) -> Floats:
    """Accuracies (M, names) of the cells drawn, responses weighted as in the design."""
    right = np.where(design.gold > 0, yes.probability, 1 - yes.probability)
    return _treated(answered.probability, right, design, design.weight, treatment)


def true_new_template_accuracies(
    design: CountDesign, stages: dict[str, tuple[ModelArrays, StageTruth]], treatment: str
) -> Floats:
    """Accuracies (M, names) over fresh templates: log-odds without templates, a normal deviation integrated out."""
    found = {name: _without_templates(design, name, *stage) for name, stage in stages.items()}
    right = np.where(design.gold > 0, found["yes"], 1 - found["yes"])
    return _treated(found["answered"], right, design, design.weight, treatment)


def _without_templates(design: CountDesign, stage: str, d: ModelArrays, truth: StageTruth) -> Floats:
    columns = stage_columns(design, stage)
    of_template = np.array([design.groups[g].startswith("template_") for g in design.group[columns]])
    eta = truth.coefficients[:, ~of_template] @ dense(d)[:, ~of_template].T
    log_sd = picked(truth.hyper, d.log_sd_at, d.log_sd)
    variance = 0.0
    for g in np.unique(d.group[of_template]):
        tau = d.prior_sd_at[d.mean_at[d.group == g][0]]
        variance += np.exp(2 * log_sd[g]) + np.exp(2 * truth.hyper[tau])
    nodes = eta[..., None] + np.sqrt(variance) * _NODES
    return expit(nodes) @ (_WEIGHTS / _WEIGHTS.sum())


def _treated(given: Floats, right: Floats, design: CountDesign, weight: Floats, treatment: str) -> Floats:
    place = (design.cell_of[:, None] == np.arange(len(design.names))).astype(float)
    total = weight @ place
    correct, answered = share((weight * given * right) @ place, total), share((weight * given) @ place, total)
    if treatment == "excluded":
        return share(correct, answered)
    return correct + (1 - answered) / 2 if treatment == "half" else correct
