"""A rough fit of the endorsement model, which places the sampler's coordinates; it changes cost and no result."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from analysis.bayes.belief_bias_design import BeliefDesign

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Variances assumed of an effect of an item and of a coefficient, in squared log-odds.
_EFFECT: Final = 1.5
_COEFFICIENT: Final = 4.0
#: Variance that says that data know nothing.
_NOTHING: Final = 1e6
_LEAST: Final = 1e-4
_STEPS: Final = 5


@dataclass(frozen=True, slots=True)
class RoughFit:
    """Columns by where they belong, and what data say of each quantity: (2, ...) of value and variance.

    ``of_question`` (Q, F) and ``of_effect`` (G, F) split the design's columns; ``unit`` (G,) is the item of each
    effect, ``head`` (G,) whether it is its first, ``size`` (G,) how many there are; ``of_item`` (F, J) the
    least-squares coefficients of items; ``item_basis`` (J, J) has the directions first that coefficients fit, about
    which data say nothing more. Arrays of effects are empty where the design has none.
    """

    of_question: Floats
    of_effect: Floats
    unit: Indices
    head: NDArray[np.bool_]
    size: Floats
    of_item: Floats
    item_basis: Floats
    about_mean: Floats
    about_coefficient: Floats
    about_item: Floats
    about_effect: Floats


def rough_fit(design: BeliefDesign) -> RoughFit:
    """Log-odds by effect, least squares over them for the columns that they carry, and scoring for the others."""
    of_question, of_effect, unit = _split(design)
    models, columns, effects = len(design.models), len(design.group), len(of_effect)
    about_coefficient = np.zeros((2, models, columns))
    about_effect = np.zeros((2, models, effects))
    residual, weight = np.zeros((models, effects)), np.zeros((models, effects))
    carried = (of_effect != 0).any(axis=0) if effects else np.zeros(columns, bool)
    for m in range(models):
        base = np.zeros(len(of_question))
        if effects:
            x, v = _log_odds(design, m, effects)
            about_effect[:, m] = x, v
            b, about_coefficient[1, m, carried] = _least_squares(of_effect[:, carried], x, v + _EFFECT)
            about_coefficient[0, m, carried] = b
            fitted = of_effect[:, carried] @ b
            residual[m], weight[m] = x - fitted, 1 / (v + _EFFECT)
            base = (fitted + _EFFECT / (v + _EFFECT) * residual[m])[design.effect]
        found = _scored(design, m, of_question, base, ~carried)
        about_coefficient[:, m, ~carried] = found
    basis, fitted_directions = _basis(of_effect, unit)
    return RoughFit(
        of_question=of_question,
        of_effect=of_effect,
        unit=unit,
        head=~pd.Series(unit).duplicated().to_numpy(),
        size=np.bincount(unit)[unit].astype(float) if effects else np.zeros(0),
        of_item=_of_items_to_columns(of_effect, unit),
        item_basis=basis,
        about_mean=_of_means(about_coefficient),
        about_coefficient=about_coefficient,
        about_item=_of_items(residual, weight, unit, basis, fitted_directions),
        about_effect=_rotated(about_effect, unit),
    )


def _split(design: BeliefDesign) -> tuple[Floats, Floats, Indices]:
    """Columns of questions that vary within an effect, those of effects, and the item of each effect."""
    if not design.has_units:
        return design.of_question, np.zeros((0, len(design.group))), np.zeros(0, np.int64)
    effect = design.effect
    first = np.unique(effect, return_index=True)[1]
    own = design.of_question[first]
    constant = np.isclose(design.of_question, own[effect]).all(axis=0)
    return (
        np.where(constant, 0.0, design.of_question),
        np.where(constant, own, 0.0),
        design.unit[first].astype(np.int64),
    )


def _of_items_to_columns(of_effect: Floats, unit: Indices) -> Floats:
    """Coefficients (F, J) that fit the effects of each item by itself."""
    items = int(unit.max()) + 1 if len(unit) else 0
    if not items:
        return np.zeros((of_effect.shape[1], 0))
    return np.asarray(np.linalg.pinv(of_effect) @ (unit[:, None] == np.arange(items)), float)


def rotation(unit: Indices) -> Floats:
    """Matrix (G, G) of ``density_terms.rotate``: symmetric and its own inverse."""
    found = np.eye(len(unit))
    for item in range(int(unit.max(initial=-1)) + 1):
        at = np.flatnonzero(unit == item)
        if len(at) > 1:
            w = np.full(len(at), 1 / np.sqrt(len(at)))
            w[0] -= 1
            found[np.ix_(at, at)] -= 2 * np.outer(w, w) / (w @ w)
    return found


def _rotated(about_effect: Floats, unit: Indices) -> Floats:
    turn = rotation(unit)
    return np.ascontiguousarray(np.stack([about_effect[0] @ turn, about_effect[1] @ turn**2]))


def _log_odds(design: BeliefDesign, m: int, effects: int) -> tuple[Floats, Floats]:
    """Log-odds of each effect's answers and their variance; no information where there is no answer."""
    n = np.bincount(design.effect, design.answered[m].sum(axis=0), minlength=effects)
    k = np.bincount(design.effect, design.yes[m].sum(axis=0), minlength=effects)
    p = (k + 0.5) / (n + 1)
    return np.where(n > 0, logit(p), 0.0), np.where(n > 0, 1 / np.maximum(n * p * (1 - p), 1e-9), _NOTHING)


def _least_squares(x: Floats, y: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Coefficients with a weak ridge, and their variances."""
    precision = (x.T / variance) @ x + np.eye(x.shape[1]) / _COEFFICIENT
    covariance = np.linalg.inv(precision)
    return covariance @ (x.T @ (y / variance)), np.maximum(np.diag(covariance), _LEAST)


def _scored(
    design: BeliefDesign, m: int, of_question: Floats, base: Floats, own: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Coefficients of the columns ``own`` by Fisher scoring at the log-odds ``base`` of questions, and variances."""
    x = of_question[None, :, own] + design.of_configuration[:, design.side][:, :, own]
    x = x.reshape(x.shape[0] * x.shape[1], x.shape[2])
    n, k = design.answered[m].ravel(), design.yes[m].ravel()
    offset = np.tile(base, len(design.of_configuration))
    b = np.zeros(x.shape[1])
    ridge = np.eye(len(b)) / _COEFFICIENT
    covariance = ridge
    for _ in range(_STEPS):
        p = expit(offset + x @ b)
        covariance = np.linalg.inv((x.T * (n * p * (1 - p))) @ x + ridge)
        b = b + np.clip(covariance @ (x.T @ (k - n * p) - ridge @ b), -1.0, 1.0)
    return b, np.maximum(np.diag(covariance), _LEAST)


def _of_means(about_coefficient: Floats) -> Floats:
    value, variance = about_coefficient
    models = len(value)
    spread = value.var(axis=0, ddof=1) if models > 1 else np.full(value.shape[1], _COEFFICIENT)
    return np.stack([value.mean(axis=0), np.maximum((variance.mean(axis=0) + spread) / models, _LEAST)])


def _basis(of_effect: Floats, unit: Indices) -> tuple[Floats, int]:
    """Orthonormal directions (J, J) of items, those that the columns span first, and how many these are."""
    items = int(unit.max()) + 1 if len(unit) else 0
    if not items:
        return np.zeros((0, 0)), 0
    place = unit[:, None] == np.arange(items)
    by_item = (place.T @ of_effect) / place.sum(axis=0)[:, None]
    vectors, values, _ = np.linalg.svd(by_item, full_matrices=True)
    return vectors, int((values > 1e-8 * max(values.max(initial=0.0), 1.0)).sum())


def _of_items(residual: Floats, weight: Floats, unit: Indices, basis: Floats, fitted: int) -> Floats:
    """What data say of the coordinates of items: weighted mean deviations of their effects, models' own in them."""
    items = len(basis)
    total = np.bincount(unit, weight.sum(axis=0), minlength=items)
    value = np.bincount(unit, (residual * weight).sum(axis=0), minlength=items) / np.maximum(total, 1e-12)
    value, variance = basis.T @ value, np.full(items, 1 / max(float(np.mean(total)) if items else 1.0, 1e-6))
    value[:fitted], variance[:fitted] = 0.0, _NOTHING
    return np.stack([value, np.maximum(variance, _LEAST)])
