"""A rough fit of the endorsement model, which places the sampler's coordinates; it changes cost and no result."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.belief_bias_design import BeliefDesign

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Variances assumed of an effect of an item and of a coefficient, in squared log-odds.
_EFFECT: Final = 1.5
_COEFFICIENT: Final = 4.0
#: Variance that says that data know nothing.
_NOTHING: Final = 1e6
_LEAST: Final = 1e-4
_STEPS: Final = 20


@dataclass(frozen=True, slots=True)
class RoughFit:
    """Columns by where they belong, and what data say of each quantity: (2, ...) of value and variance.

    ``of_question`` (Q, F) and ``of_effect`` (G, F) split the design's columns; ``unit`` (G,) is the item of each
    effect, ``head`` (G,) whether it is its first, ``size`` (G,) how many there are; ``of_item`` (F, J) the
    least-squares coefficients of items; ``item_basis`` (J, J) has the directions first that coefficients fit, about
    which data say nothing more. ``regression`` (M, F, F) is how far data move each coefficient with those before it:
    the variances of ``about_coefficient`` are what these leave, ``variance`` (M, F) those of each by itself. Arrays
    of effects are empty where the design has none.
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
    variance: Floats
    regression: Floats
    about_item: Floats
    about_effect: Floats


def rough_fit(design: BeliefDesign) -> RoughFit:
    """Mode of every model by itself, with effects around their columns; what data say follows from its curvature."""
    of_question, of_effect, unit = _split(design)
    models, columns, effects = len(design.models), len(design.group), len(of_effect)
    about_coefficient, about_effect = np.zeros((2, models, columns)), np.zeros((2, models, effects))
    variance, regression = np.zeros((models, columns)), np.zeros((models, columns, columns))
    residual, weight = np.zeros((models, effects)), np.zeros((models, effects))
    for m in range(models):
        mode = _mode(design, m, of_question, of_effect)
        about_effect[:, m] = mode.effect
        about_coefficient[:, m], variance[m], regression[m] = _in_turn(mode.coefficient, mode.covariance)
        residual[m] = mode.effect[0] - of_effect @ mode.coefficient
        weight[m] = 1 / (mode.effect[1] + _EFFECT)
    basis, fitted_directions = _basis(of_effect, unit)
    return RoughFit(
        of_question=of_question,
        of_effect=of_effect,
        unit=unit,
        head=~pd.Series(unit).duplicated().to_numpy(),
        size=np.bincount(unit)[unit].astype(float) if effects else np.zeros(0),
        of_item=_of_items_to_columns(of_effect, unit),
        item_basis=basis,
        about_mean=_of_means(about_coefficient[0], variance),
        about_coefficient=about_coefficient,
        variance=variance,
        regression=regression,
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


class _Mode(NamedTuple):
    """Coefficients (F,) of one model, their covariance (F, F), and value and variance of each effect by its answers."""

    coefficient: Floats
    covariance: Floats
    effect: Floats


def _mode(design: BeliefDesign, m: int, of_question: Floats, of_effect: Floats) -> _Mode:
    """Penalised likelihood of one model by Newton steps; effects have the variance _EFFECT around their columns."""
    x = (of_question + design.of_configuration[:, design.side]).reshape(-1, of_question.shape[1])
    n, k = design.answered[m].ravel(), design.yes[m].ravel()
    effects = len(of_effect)
    at = np.tile(design.effect, len(design.of_configuration)) if effects else np.zeros(len(n), np.int64)
    b, e = np.zeros(x.shape[1]), np.zeros(effects)
    covariance, score, told = np.eye(len(b)), e, e
    for _ in range(_STEPS):
        p = expit(x @ b + (e[at] if effects else 0.0))
        w, off = n * p * (1 - p), k - n * p
        by_b, precision = x.T @ off - b / _COEFFICIENT, (x.T * w) @ x + np.eye(len(b)) / _COEFFICIENT
        if effects:
            away = (e - of_effect @ b) / _EFFECT
            score, told = np.bincount(at, off, effects), np.bincount(at, w, effects)
            both = np.stack([np.bincount(at, w * column, effects) for column in x.T]) - of_effect.T / _EFFECT
            own, by_e = told + 1 / _EFFECT, score - away
            by_b = by_b + of_effect.T @ away - (both / own) @ by_e
            precision = precision + of_effect.T @ of_effect / _EFFECT - (both / own) @ both.T
        covariance = np.linalg.inv(precision)
        step = np.clip(covariance @ by_b, -1.0, 1.0)
        b = b + step
        if effects:
            e = e + np.clip((by_e - both.T @ step) / own, -1.0, 1.0)
    variance = 1 / np.maximum(told, 1 / _NOTHING)
    return _Mode(b, covariance, np.stack([e + variance * score, variance]))


def _in_turn(b: Floats, covariance: Floats) -> tuple[Floats, Floats, Floats]:
    """Estimates and what variance those before leave each, variances by themselves, and regressions on those before."""
    root = np.linalg.cholesky(covariance)
    alone = np.diag(root)
    # The covariance is U D U', U of unit diagonal, so that U^-1 b are independent.
    regression = np.eye(len(b)) - np.linalg.inv(root / alone)
    return np.stack([b, np.maximum(alone**2, _LEAST)]), np.maximum(np.diag(covariance), _LEAST), regression


def _of_means(value: Floats, variance: Floats) -> Floats:
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
