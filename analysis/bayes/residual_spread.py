"""The normal residual, in log-odds, that spreads a cell as much as a beta distribution of some concentration does."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]


def equivalent_sd(phi: Floats) -> Floats:
    """Standard deviation, in log-odds, of the normal residual that spreads a cell at one half as a beta does.

    Parameters
    ----------
    phi : ndarray
        Concentration: the beta's variance at one half is 1 / (4 (phi + 1)). From .01 on; below, that of .01.
    """
    return np.exp(np.interp(-np.log(phi), _SPREAD_LOG_ODDS, _LOG_SD))


def _spread_curve() -> tuple[Floats, Floats]:
    """Log sd, and the log-odds of 4 Var(logistic(sd z)), z standard normal, by the trapezoidal rule."""
    sd = np.geomspace(1e-4, 170.0, 400)
    z = np.linspace(-9, 9, 2001)
    density = np.exp(-(z**2) / 2)
    q = expit(sd[:, None] * z)
    inside = 4 * (q * (1 - q)) @ density / density.sum()
    spread = (4 * (q - 0.5) ** 2) @ density / density.sum()
    return np.log(sd), np.log(spread) - np.log(inside)


_LOG_SD, _SPREAD_LOG_ODDS = _spread_curve()
