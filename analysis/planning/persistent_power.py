"""Power to detect persistent incoherence: does a residual stay when a question is worded anew?"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]
#: By how much the skewness of products of residuals raises what can be detected, found by simulation.
SKEWNESS: Final = 0.07
#: Instances below which a few of them may carry the whole effect: no claim about items like these.
FEW_INSTANCES: Final = 60


def noise_terms(noise: ArrayLike, wordings: ArrayLike) -> tuple[Floats, Floats]:
    """Variance of an instance's mean product of residuals: constant, and factor of mu^2.

    Parameters
    ----------
    noise : array_like > 0
        Standard deviation of a residual over wordings, log-odds.
    wordings : array_like >= 2
        k.

    Returns
    -------
    flat, slope : ndarray
        2 sigma^4 / (k (k - 1)) and 4 sigma^2 / k.
    """
    s2, k = np.asarray(noise, float) ** 2, np.asarray(wordings, float)
    return 2 * s2**2 / (k * (k - 1)), 4 * s2 / k


def observed_noise_terms(variance: ArrayLike, wordings: ArrayLike) -> tuple[float, float]:
    """The same two numbers from logs, as means over instances with noise of their own.

    Parameters
    ----------
    variance : array_like (n,)
        Sample variance s_i^2 of the residuals of each instance over its wordings.
    wordings : array_like of int (n,), >= 2

    Notes
    -----
    s^4 (k - 1) / (k + 1) is unbiased for sigma^4 of normal noise. Where noise differs between instances its mean
    fourth power exceeds the square of its mean square, and so does what can be detected.
    """
    s2, k = np.asarray(variance, float), np.asarray(wordings, float)
    fourth = s2**2 * (k - 1) / (k + 1)
    return float((2 * fourth / (k * (k - 1))).mean()), float((4 * s2 / k).mean())


def persistent_power(
    persistent: ArrayLike,
    instances: ArrayLike,
    *,
    flat: float,
    slope: float,
    level: float = 0.025,
    skewness: float = SKEWNESS,
) -> Floats:
    """Probability that the mean product of residuals exceeds what noise alone gives.

    Parameters
    ----------
    persistent : array_like >= 0
        Root mean square mu of what residuals keep over wordings, log-odds, normal over instances.
    instances : array_like > 0
    flat, slope : float
        As ``noise_terms`` gives.
    level : float in (0, 1)
        Of the one-sided test; .025 is that of a report.
    skewness : float >= 0
        The effect counts as smaller by this share.

    Notes
    -----
    The estimator of mu^2 has standard deviation sd0 = sqrt(flat / n) without incoherence and
    sd1 = sqrt((2 mu^4 + slope mu^2 + flat) / n) with it; what is detected with power 1 - beta solves
    mu^2 = z_level sd0 + z_beta sd1. If few instances carry the effect the power is lower than said.
    """
    mu2 = (np.asarray(persistent, float) / (1 + skewness)) ** 2
    n = np.asarray(instances, float)
    without, with_effect = np.sqrt(flat / n), np.sqrt((2 * mu2**2 + slope * mu2 + flat) / n)
    return np.asarray(ndtr((mu2 - ndtri(1 - level) * without) / with_effect))


def persistent_lower_bound(noise: float, wordings: int, instances: int, *, level: float, power: float) -> float:
    """sqrt((z_level + z_power) sd0): the variance without incoherence alone, too small by a fifth; for comparison."""
    flat, _ = noise_terms(noise, wordings)
    return float(np.sqrt((ndtri(1 - level) + ndtri(power)) * np.sqrt(flat / instances)))
