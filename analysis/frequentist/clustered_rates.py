"""Rates, differences of rates and smallest rates of clustered responses, with intervals: arrays in, arrays out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.frequentist.clustered import ClusteredContrasts, Floats, contrasts_from_moments, group_moments
from analysis.frequentist.differences import correlations, mover_limits, widened_to_t, widened_to_unseen
from analysis.frequentist.floor import floor_interval, floor_upper_level
from analysis.frequentist.proportion import effective_n, score_limits
from analysis.frequentist.unit_values import deviating_units, few_deviate, unit_counts


@dataclass(frozen=True, slots=True)
class ClusteredRates:
    """Q contrasts of group rates, of which some are rates and some differences; leading axes are models.

    Attributes
    ----------
    contrasts : ClusteredContrasts
        Estimates, covariance, degrees of freedom.
    n_eff : (..., Q)
        Effective number of responses; meaningful for rates.
    units : (..., Q) of int
        Independent units behind each contrast.
    few_deviate : (..., Q) of bool
        Whether its variance rests on a handful of units.
    """

    contrasts: ClusteredContrasts
    n_eff: Floats
    units: NDArray[np.int64]
    few_deviate: NDArray[np.bool_]


def clustered_rates(n: ArrayLike, y: ArrayLike, weights: ArrayLike, *, rows: ArrayLike | None = None) -> ClusteredRates:
    """Contrasts of group rates with their effective numbers of responses.

    Parameters
    ----------
    n, y, weights : array_like
        As in ``clustered.clustered_contrasts``.
    rows : array_like (..., Q), optional
        Scored responses behind each contrast, where ``n`` holds weights of another kind.
    """
    ell = np.asarray(weights, float)
    moments = group_moments(n, y)
    contrasts = contrasts_from_moments(moments, ell)
    units = np.broadcast_to(unit_counts(n, ell), contrasts.estimate.shape)
    few = few_deviate(deviating_units(n, y, ell, moments), units)
    if rows is None:
        rows = np.asarray(n, float).sum(axis=-2) @ (ell != 0).T
    n_eff = effective_n(
        np.clip(contrasts.estimate, 0, 1),
        contrasts.variance,
        rows=rows,
        design_units=contrasts.design_units,
        few_deviate=few,
    )
    return ClusteredRates(contrasts, n_eff, units, few)


def rate_limits(rates: ClusteredRates, *, ci_level: float = 0.95) -> tuple[Floats, Floats]:
    """Wilson limits (..., Q) with the effective number of responses and t quantiles."""
    found = rates.contrasts
    quantile = student.ppf(0.5 + check_level(ci_level) / 2, found.df)
    return score_limits(np.clip(found.estimate, 0, 1), rates.n_eff, quantile)


def difference_limits(
    rates: ClusteredRates, difference: int, cells: tuple[int, ...], weights: ArrayLike, *, ci_level: float = 0.95
) -> tuple[Floats, Floats]:
    """Limits (...,) of one contrast that is a difference between cells.

    Parameters
    ----------
    rates : ClusteredRates
    difference : int
        Its position on the contrast axis.
    cells : tuple of int
        Positions of the cells' rates.
    weights : array_like
        Weights of the cells in the difference.

    Notes
    -----
    Square-and-add from the Wilson limits of the cells with their cluster correlations, at the t
    quantile of the difference. With few effective units it reaches at least as far as the cluster t
    interval (``differences.widened_to_t``), as far as the weights allow. Where few units deviate from
    the most frequent difference it is at least as wide as what an unseen kind of unit allows, and so
    never of zero width.
    """
    ell = np.asarray(weights, float)
    index = np.flatnonzero(ell)
    ell, index = ell[index], np.asarray(cells)[index]
    found = rates.contrasts
    estimate = found.estimate[..., index]
    quantile = student.ppf(0.5 + check_level(ci_level) / 2, found.df[..., difference])
    low, high = score_limits(np.clip(estimate, 0, 1), rates.n_eff[..., index], quantile[..., None])
    r = correlations(found.covariance[..., index[:, None], index])
    units = found.design_units[..., difference]
    limits = widened_to_t(
        *mover_limits(estimate, low, high, ell, r),
        found.estimate[..., difference],
        found.variance[..., difference],
        units=units,
        quantile=quantile,
    )
    limits = np.maximum(limits[0], ell[ell < 0].sum()), np.minimum(limits[1], ell[ell > 0].sum())
    wide = widened_to_unseen(
        *limits,
        found.estimate[..., difference],
        units=units,
        quantile=quantile,
        step=float(np.abs(ell).max()),
    )
    few = rates.few_deviate[..., difference]
    return np.where(few, wide[0], limits[0]), np.where(few, wide[1], limits[1])


def floor_limits(rates: ClusteredRates, members: tuple[int, ...], *, ci_level: float = 0.95) -> tuple[Floats, Floats]:
    """Limits (...,) of the smallest of the rates at positions ``members``."""
    index = list(members)
    low, _ = rate_limits(rates, ci_level=ci_level)
    _, high = rate_limits(rates, ci_level=floor_upper_level(ci_level, len(index)))
    return floor_interval(low[..., index], high[..., index])
