"""Intervals for sensitivity and criterion, from the intervals of the two accuracies."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.frequentist.clustered import Floats
from analysis.frequentist.clustered_rates import ClusteredRates
from analysis.frequentist.differences import correlations, mover_limits, widened_to_t
from analysis.frequentist.proportion import score_limits
from analysis.measures.signal_detection import corrected_z, criterion_c, d_prime, z_slope

#: Limits of an accuracy nearer than this to 0 or 1 are there.
_AT_END: Final = 1e-12


def z_difference_limits(
    rates: ClusteredRates,
    classes: tuple[int, int],
    difference: int,
    weight: ArrayLike,
    *,
    criterion: bool,
    ci_level: float = 0.95,
) -> tuple[Floats, Floats, Floats, Floats]:
    """d' or c with variance and limits; leading axes are models or replicates.

    Parameters
    ----------
    rates : ClusteredRates
    classes : tuple of int
        Positions of acc_yes and acc_no on the contrast axis.
    difference : int
        Position of their difference, whose degrees of freedom are used.
    weight : array_like (..., 2)
        Scored responses of the class where Yes is right and of that where No is right, for the
        log-linear correction.
    criterion : bool
        c instead of d'.
    ci_level : float in (0, 1)

    Returns
    -------
    estimate, variance, low, high : ndarray (...,)
        Variance by the delta method. A limit is infinite where all answers of a class are right, or all wrong: its
        accuracy may then be as near to 1, or 0, as one likes, and no finite limit would keep its level.

    Notes
    -----
    Limits are square-and-add from the Wilson limits of the two accuracies on the normal scale. The limits are not
    corrected as the estimate is: with n responses the correction keeps every z below z((n + .5) / (n + 1)), so that
    corrected limits could not reach a d' that few responses cannot show. The delta interval is symmetric: near a
    ceiling it covers too rarely, and it has zero width where all units agree. With few effective units the wider of
    both limits counts (``differences.widened_to_t``).

    References
    ----------
    Zou and Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095.
    """
    at = np.asarray(classes)
    found, trials = rates.contrasts, np.asarray(weight, float)
    accuracy = np.clip(found.estimate[..., at], 0, 1)
    ell = np.array([-0.5, 0.5]) if criterion else np.array([1.0, 1.0])
    quantile = student.ppf(0.5 + check_level(ci_level) / 2, found.df[..., difference])
    low, high = score_limits(accuracy, rates.n_eff[..., at], quantile[..., None])
    covariance = found.covariance[..., at[:, None], at]
    gradient = ell * z_slope(accuracy, trials)
    variance = ((gradient[..., None, :] @ covariance)[..., 0, :] * gradient).sum(axis=-1)
    joined = _joined(corrected_z(accuracy, trials), low, high, ell, correlations(covariance))
    measure = criterion_c if criterion else d_prime
    estimate = measure(accuracy[..., 0], accuracy[..., 1], trials[..., 0], trials[..., 1])
    units = found.design_units[..., difference]
    limits = widened_to_t(*joined, estimate, variance, units=units, quantile=quantile)
    return estimate, np.maximum(variance, 0), *limits


def _joined(z: Floats, low: Floats, high: Floats, ell: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    """Square-and-add from limits of accuracies, infinite on the side where one of them is at 0 or 1."""
    no_lower, no_upper = low < _AT_END, high > 1 - _AT_END
    # The estimate is drawn towards .5, and may leave the limits of an accuracy near 0 or 1.
    below = np.minimum(ndtri(np.where(no_lower, 0.5, low)), z)
    above = np.maximum(ndtri(np.where(no_upper, 0.5, high)), z)
    joined = mover_limits(z, np.where(no_lower, z, below), np.where(no_upper, z, above), ell, correlation)
    down, up = (np.where(ell > 0, *ends).any(axis=-1) for ends in ((no_lower, no_upper), (no_upper, no_lower)))
    return np.where(down, -np.inf, joined[0]), np.where(up, np.inf, joined[1])
