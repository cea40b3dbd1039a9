"""How far partial pooling should move an estimate."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def between_variance(estimate: ArrayLike, std_error: ArrayLike) -> float:
    """Variance of true values between models, by moments.

    Parameters
    ----------
    estimate, std_error : array_like, shape (M,)
        Estimates of one measure and their standard errors; missing pairs are left out.

    Returns
    -------
    float
        ``max(0, var(estimate) - mean(std_error**2))``; NaN with fewer than three models.

    References
    ----------
    DerSimonian and Laird (1986), Controlled Clinical Trials 7:177-188, doi:10.1016/0197-2456(86)90046-2
    (the unweighted moment estimator).
    """
    values, errors = np.broadcast_arrays(np.asarray(estimate, float), np.asarray(std_error, float))
    known = np.isfinite(values) & np.isfinite(errors)
    if known.sum() < 3:
        return float("nan")
    return float(max(0.0, np.var(values[known], ddof=1) - np.mean(errors[known] ** 2)))


def expected_shift(estimate: ArrayLike, std_error: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expected move of each estimate under partial pooling, in standard errors, and its reliability.

    Returns
    -------
    shift : ndarray, shape (M,)
        ``(1 - reliability) (mean - estimate) / std_error``; 0 where nothing can be pooled.
    reliability : ndarray, shape (M,)
        ``tau^2 / (tau^2 + std_error^2)``; 1 where nothing can be pooled.
    """
    values, errors = np.asarray(estimate, float), np.asarray(std_error, float)
    tau2 = between_variance(values, errors)
    if np.isnan(tau2):
        return np.zeros(len(values)), np.ones(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        reliability = np.where(errors > 0, tau2 / (tau2 + errors**2), 1.0)
        shift = np.where(errors > 0, (1 - reliability) * (np.nanmean(values) - values) / errors, 0.0)
    return np.nan_to_num(shift), np.nan_to_num(reliability, nan=1.0)
