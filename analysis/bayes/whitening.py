"""Whitened coordinates of a hierarchical model, from its mode and the marginals of its standard deviations.

Nothing here changes the model; a poor approximation costs time, not correctness.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from analysis.bayes.mode import (
    State,
    log_likelihood,
    log_sds,
    mode,
    next_hyper,
    phi_slope,
    prior_sds,
    scored,
    start_of,
)
from analysis.bayes.model_arrays import Coordinates, ModelArrays, coefficient_means, mean_count
from analysis.bayes.models.answer_bias import dense
from analysis.bayes.sd_marginals import Marginal, log_sd_marginal, matched

Floats = NDArray[np.float64]

#: Rounds in which means and coefficients follow the sds to their medians.
_RECENTRING: Final = 5
#: Log concentrations at which its marginal is evaluated, in conditional sds from the conditional mode.
_PHI_POINTS: Final = np.linspace(-8.0, 4.0, 13)


@dataclass(frozen=True, slots=True)
class Approximation:
    """Mode and curvature.

    Attributes
    ----------
    coordinates : Coordinates
    converged : bool
        The last round changed every sd and the concentration by less than 1 %.
    rounds : int
    """

    coordinates: Coordinates
    converged: bool
    rounds: int


def whitened_coordinates(arrays: ModelArrays) -> Approximation:
    """Coordinates around the mode: Fisher scoring for the coefficients, EM for means and sds.

    Notes
    -----
    ``Approximation.converged`` is False where the rounds run out, a matrix is singular or a number is not
    finite; the rule is then to use ``non_centred_coordinates``.
    """
    matrix = dense(arrays)
    try:
        with np.errstate(all="ignore"):
            state, converged, rounds = mode(arrays, matrix)
            coordinates = _coordinates(arrays, matrix, state)
    except np.linalg.LinAlgError:
        return Approximation(non_centred_coordinates(arrays), False, 0)
    finite = all(np.isfinite(array).all() for array in coordinates)
    return Approximation(coordinates, bool(converged and finite), rounds)


def non_centred_coordinates(arrays: ModelArrays) -> Coordinates:
    """Coordinates that know nothing of the data: b = mean + sd z, hyper-parameters as their prior has them."""
    hyper, scale, bend, taper = _centred(start_of(arrays), _marginals_of_priors(arrays))
    means = mean_count(arrays)
    of_prior = prior_sds(arrays, hyper)[:means] ** -2.0
    variance = np.exp(2 * log_sds(arrays, hyper))[arrays.group]
    shape = models, size = len(arrays.yes), len(arrays.group)
    return Coordinates(
        hyper=hyper,
        scale=scale,
        bend=bend,
        taper=taper,
        known=np.zeros((means, means)),
        linear=arrays.prior_mean[:means] * of_prior,
        order=np.arange(size),
        regressions=np.zeros((models, size, size)),
        spread=np.tile(variance, (models, 1)),
        told=np.zeros(shape),
        data=np.zeros(shape),
        known_of_model=np.zeros((models, size, size)),
    )


def _coordinates(d: ModelArrays, matrix: Floats, state: State) -> Coordinates:
    state, scale, bend, taper = _recentred(d, matrix, state)
    precision = np.exp(-2 * log_sds(d, state.hyper)[d.group])
    known = _known_of_means(d, state)
    of_prior = prior_sds(d, state.hyper)[: len(known)] ** -2.0
    order = _least_told_first(d, state, precision)
    covariance = state.covariance[:, order[:, None], order]
    factor = np.linalg.cholesky((covariance + np.swapaxes(covariance, 1, 2)) / 2)
    root = np.diagonal(factor, axis1=1, axis2=2)
    curvature = np.linalg.inv(state.covariance)
    slope = np.einsum("mij,mj->mi", curvature, state.coefficients) - precision * coefficient_means(state.hyper, d)
    known_of_model = curvature - np.diag(precision)
    return Coordinates(
        hyper=state.hyper,
        scale=scale,
        bend=bend,
        taper=taper,
        known=known,
        linear=known @ state.hyper[: len(known)] + of_prior * state.hyper[: len(known)],
        order=order,
        regressions=np.ascontiguousarray(np.eye(len(order)) - np.linalg.inv(factor / root[:, None, :])),
        spread=root**2,
        told=np.clip(1 - root**2 * precision[order], 0.0, 1.0),
        data=np.ascontiguousarray(slope[:, order]),
        known_of_model=np.ascontiguousarray(known_of_model[:, order[:, None], order]),
    )


def _least_told_first(d: ModelArrays, state: State, precision: Floats) -> NDArray[np.int64]:
    """Order of the coefficients: by group, the share of data in their curvature increasing."""
    told = 1 - np.diagonal(state.covariance, axis1=1, axis2=2).mean(axis=0) * precision
    by_group = np.array([told[d.group == g].mean() for g in range(len(d.log_sd_at))])
    rank = by_group.argsort(kind="stable").argsort()
    return rank[d.group].argsort(kind="stable")


def _known_of_means(d: ModelArrays, state: State) -> Floats:
    """Curvature (means, means) that data give to the means, coefficients integrated out; positive semidefinite."""
    free = np.flatnonzero(d.mean_at >= 0)
    precision = np.exp(-2 * log_sds(d, state.hyper)[d.group])
    if len(d.family_at):
        known = _known_with_families(d, state, precision)
    else:
        of_all = len(d.yes) * np.diag(precision) - precision[:, None] * state.covariance.sum(axis=0) * precision
        known = of_all[np.ix_(free, free)]
    values, vectors = np.linalg.eigh(known)
    positive = np.ascontiguousarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
    if len(d.family_at):
        # Rounding fills what is exactly 0 between families, and the factor would be dense.
        positive[known == 0.0] = 0.0
    return positive


def _known_with_families(d: ModelArrays, state: State, precision: Floats) -> Floats:
    """The same where the means of a model are a sum of hyper-parameters: of all models and of its family."""
    found, columns = np.zeros((mean_count(d), mean_count(d))), np.arange(len(d.group))
    for family_at, covariance in zip(d.family_at, state.covariance, strict=True):
        parts = np.zeros((len(columns), len(found)))
        for at in (d.mean_at, family_at):
            parts[columns[at >= 0], at[at >= 0]] = 1.0
        found += parts.T @ (np.diag(precision) - precision[:, None] * covariance * precision) @ parts
    return found


def _recentred(d: ModelArrays, matrix: Floats, state: State) -> tuple[State, Floats, Floats, Floats]:
    """The state with sds and concentration at the median of their marginals; scale, bend and taper (H,) there."""
    hyper, scale, bend, taper = _centred(state.hyper, _marginals(d, matrix, state))
    moving = d.is_log_sd | (np.arange(len(hyper)) == d.log_phi_at)
    for _ in range(_RECENTRING):
        b, covariance = scored(d, matrix, state.coefficients, hyper, steps=2)
        hyper = np.where(moving, hyper, next_hyper(d, b, covariance, hyper, b @ matrix.T))
        state = State(hyper, b, covariance)
    return state, scale, bend, taper


def _centred(hyper: Floats, marginals: dict[int, Marginal]) -> tuple[Floats, Floats, Floats, Floats]:
    """Hyper-parameters at the centres of their marginals, and scale, bend and taper (H,); 0 for means."""
    centre, (scale, bend, taper) = hyper.copy(), np.zeros((3, len(hyper)))
    for place, marginal in marginals.items():
        centre[place], scale[place] = marginal.centre, marginal.scale
        bend[place], taper[place] = marginal.bend, marginal.taper
    return centre, scale, bend, taper


def _marginals_of_priors(d: ModelArrays) -> dict[int, Marginal]:
    none = np.empty(0)
    found = {int(i): log_sd_marginal(none, none, 0.0, d.prior_log_sd[i]) for i in np.flatnonzero(d.is_log_sd)}
    if d.log_phi_at >= 0:
        prior = d.prior_mean[d.log_phi_at], np.exp(d.prior_log_sd[d.log_phi_at])
        found[d.log_phi_at] = Marginal(float(prior[0]), float(prior[1]), 0.0, 0.0)
    return found


def _marginals(d: ModelArrays, matrix: Floats, state: State) -> dict[int, Marginal]:
    """Marginal of each log sd and of the log concentration, by its index."""
    found = {}
    if d.log_phi_at >= 0:
        found[d.log_phi_at] = _log_phi_marginal(d, matrix, state)
    offset = state.coefficients - coefficient_means(state.hyper, d)
    variance = np.diagonal(state.covariance, axis1=1, axis2=2)
    for g, place in enumerate(d.log_sd_at):
        if place >= 0:
            own = d.group == g
            effects = offset[:, own].ravel(), variance[:, own].ravel()
            found[int(place)] = log_sd_marginal(*effects, state.hyper[place], d.prior_log_sd[place])
    known = _known_of_means(d, state)
    of_prior = prior_sds(d, state.hyper)[: len(known)] ** -2.0
    of_means = np.diagonal(np.linalg.inv(known + np.diag(of_prior)))
    for place in np.unique(d.prior_sd_at[d.prior_sd_at >= 0]):
        own = np.flatnonzero(d.prior_sd_at == place)
        found[int(place)] = log_sd_marginal(state.hyper[own], of_means[own], state.hyper[place], d.prior_log_sd[place])
    return found


def _log_phi_marginal(d: ModelArrays, matrix: Floats, state: State) -> Marginal:
    """Marginal of the log concentration, coefficients integrated out by Laplace's method."""
    here = state.hyper[d.log_phi_at]
    points = here + _PHI_POINTS * phi_slope(d, state.coefficients @ matrix.T, state.hyper)[1] ** -0.5
    prior_sd = np.exp(d.prior_log_sd[d.log_phi_at])
    mean, precision = coefficient_means(state.hyper, d), np.exp(-2 * log_sds(d, state.hyper))[d.group]
    values = np.empty(len(points))
    for i, log_phi in enumerate(points):
        hyper = np.where(np.arange(len(state.hyper)) == d.log_phi_at, log_phi, state.hyper)
        b, covariance = scored(d, matrix, state.coefficients, hyper, steps=1)
        penalty = ((b - mean) ** 2 * precision).sum() + ((log_phi - d.prior_mean[d.log_phi_at]) / prior_sd) ** 2
        volume = np.linalg.slogdet(covariance)[1].sum()
        values[i] = log_likelihood(d, b @ matrix.T, log_phi) + 0.5 * (volume - penalty)
    fine = np.linspace(points[0], points[-1], 601)
    return matched(fine, CubicSpline(points, values)(fine))
