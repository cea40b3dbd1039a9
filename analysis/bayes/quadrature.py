"""Expectations over normal effects by Gauss-Hermite quadrature."""

from typing import Final

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

NODES, _RAW_WEIGHTS = hermegauss(15)
WEIGHTS: Final = _RAW_WEIGHTS / _RAW_WEIGHTS.sum()


def mean_logistic(eta: Floats, variance: Floats) -> Floats:
    """Mean of logistic(eta + x) over x ~ N(0, variance), with 15 nodes.

    Parameters
    ----------
    eta : ndarray (S, C)
    variance : ndarray (S,)

    Returns
    -------
    ndarray (S, C)
    """
    sd = np.sqrt(variance)[:, None]
    total = np.zeros_like(eta)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        total += weight * expit(eta + node * sd)
    return total
