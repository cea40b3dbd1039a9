"""Standard errors that a design will have, from what is assumed of its units."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def design_effect(rows_per_unit: ArrayLike, rho: ArrayLike) -> Floats:
    """1 + (m - 1) rho: how many times the variance of a mean grows where m responses share a unit.

    Parameters
    ----------
    rows_per_unit : array_like >= 1
        m.
    rho : array_like in [0, 1]
        Correlation of two responses of one unit.

    References
    ----------
    Kish (1965), Survey Sampling, section 5.4.
    """
    return np.asarray(1 + (np.asarray(rows_per_unit, float) - 1) * np.asarray(rho, float))


def intraclass_correlation(between: ArrayLike, within: ArrayLike) -> Floats:
    """rho of responses whose units differ with variance ``between`` and which vary by ``within`` inside one."""
    b, w = np.asarray(between, float), np.asarray(within, float)
    return np.asarray(b / (b + w))


def rate_std_error(rate: ArrayLike, n: ArrayLike, *, deff: ArrayLike = 1.0) -> Floats:
    """Standard error of a rate over ``n`` responses: sqrt(p (1 - p) deff / n)."""
    p = np.asarray(rate, float)
    return np.asarray(np.sqrt(p * (1 - p) * np.asarray(deff, float) / np.asarray(n, float)))


def score_std_error(sd: ArrayLike, n: ArrayLike, *, deff: ArrayLike = 1.0) -> Floats:
    """Standard error of a mean of ``n`` graded scores with standard deviation ``sd``: sd sqrt(deff / n)."""
    return np.asarray(np.asarray(sd, float) * np.sqrt(np.asarray(deff, float) / np.asarray(n, float)))


def class_std_error(cells: ArrayLike, n: ArrayLike, *, deff: ArrayLike = 1.0) -> Floats:
    """Standard error of the mean of a class's cells, which weigh the same.

    Parameters
    ----------
    cells : array_like (..., C)
        Accuracies of the cells; with two, SE = sqrt((p1 q1 / n1 + p2 q2 / n2) deff) / 2.
    n : array_like (..., C)
        Responses of each.
    """
    p = np.asarray(cells, float)
    variance = (p * (1 - p) / np.asarray(n, float)).sum(axis=-1) / p.shape[-1] ** 2
    return np.asarray(np.sqrt(variance * np.asarray(deff, float)))


def contrast_std_error(
    first: ArrayLike, second: ArrayLike, *, weights: tuple[float, float], correlation: ArrayLike = 0.0
) -> Floats:
    """Standard error of a weighted sum of two correlated estimates from the standard error of each.

    Weights (1, -1) give answer bias from those of both classes, (1/2, 1/2) balanced accuracy, and (1, -1) with a
    correlation r a paired difference: sqrt(2 (1 - r)) times one of two equal errors.
    """
    a, b = weights[0] * np.asarray(first, float), weights[1] * np.asarray(second, float)
    return np.asarray(np.sqrt(np.maximum(a**2 + b**2 + 2 * np.asarray(correlation, float) * a * b, 0)))


def template_std_error(template_sd: float, valid: ArrayLike, invalid: ArrayLike) -> tuple[Floats, Floats]:
    """Standard error of a class accuracy over new templates, and its degrees of freedom.

    Parameters
    ----------
    template_sd : float > 0
        Standard deviation of accuracy between templates of one validity.
    valid, invalid : array_like >= 2
        Templates of each validity: a class takes half of its answers from either.

    Returns
    -------
    std_error, df : ndarray
        sd sqrt(1/G_v + 1/G_i) / 2, with Satterthwaite's degrees of freedom.

    References
    ----------
    Satterthwaite (1946), Biometrics Bulletin 2:110-114, doi:10.2307/3002019.
    """
    parts = np.stack(np.broadcast_arrays(1 / np.asarray(valid, float), 1 / np.asarray(invalid, float)))
    counts = 1 / parts
    return template_sd / 2 * np.sqrt(parts.sum(axis=0)), parts.sum(axis=0) ** 2 / (parts**2 / (counts - 1)).sum(axis=0)
