"""Sensitivity and criterion on the normal scale, from the accuracies of the two classes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri


def log_linear_rate(accuracy: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """(k + .5) / (n + 1) with k = accuracy * n: strictly inside (0, 1), so that its normal quantile is finite.

    Parameters
    ----------
    accuracy : array_like in [0, 1]
    n : array_like
        Scored responses of the class. Accuracies that are means of two equally weighted cells enter
        as the rate they are. NaN where ``n == 0``.

    References
    ----------
    Hautus (1995), Behavior Research Methods 27:46-51, doi:10.3758/BF03203619.
    """
    trials = np.asarray(n, float)
    rate = (np.asarray(accuracy, float) * trials + 0.5) / (trials + 1)
    return np.where(trials > 0, rate, np.nan)


def corrected_z(accuracy: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Normal quantile of an accuracy with the log-linear correction of ``log_linear_rate``."""
    return ndtri(log_linear_rate(accuracy, n))


def d_prime(acc_yes: ArrayLike, acc_no: ArrayLike, n_yes: ArrayLike, n_no: ArrayLike) -> NDArray[np.float64]:
    """z(H) - z(FA) with H = acc_yes and FA = 1 - acc_no, each with the log-linear correction.

    Parameters
    ----------
    acc_yes, acc_no : array_like, broadcastable
        Accuracy where Yes is right and where No is right.
    n_yes, n_no : array_like
        Scored responses of each class.

    Notes
    -----
    With uncertain answers counted as wrong, 1 - acc_no is the rate of *not saying No* where No is
    right; it exceeds the rate of false alarms by the uncertain rate of that class. With uncertain
    answers excluded, the two are the same.

    References
    ----------
    Macmillan and Creelman (2005), Detection Theory, 2nd ed., chapter 1 (sensitivity) and 2 (criterion).
    """
    return corrected_z(acc_yes, n_yes) + corrected_z(acc_no, n_no)


def criterion_c(acc_yes: ArrayLike, acc_no: ArrayLike, n_yes: ArrayLike, n_no: ArrayLike) -> NDArray[np.float64]:
    """-(z(H) + z(FA)) / 2 with the corrections of ``d_prime``; below 0 leans to Yes."""
    return (corrected_z(acc_no, n_no) - corrected_z(acc_yes, n_yes)) / 2


def z_slope(accuracy: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Derivative of the corrected z(accuracy) by the accuracy, for the delta method."""
    trials = np.asarray(n, float)
    z = corrected_z(accuracy, trials)
    return trials / (trials + 1) * np.sqrt(2 * np.pi) * np.exp(z * z / 2)
