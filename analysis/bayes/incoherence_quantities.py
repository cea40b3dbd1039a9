"""What is reported of incoherence, defined once for draws, replicates and known truth alike."""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

_NODES, _RAW_WEIGHTS = hermegauss(31)
_WEIGHTS: Final = _RAW_WEIGHTS / _RAW_WEIGHTS.sum()


def instance_quantities(mu: Floats, variance: Floats, incoherent: NDArray[np.bool_]) -> dict[str, Floats]:
    """Quantities of the instances at hand.

    Parameters
    ----------
    mu : ndarray (..., n)
        Mean residual over all wordings of each instance, log-odds.
    variance : ndarray (..., n)
        Variance of a residual over wordings.
    incoherent : ndarray of bool (..., n)
        Whether the mean differs from 0.

    Returns
    -------
    dict of str to ndarray (...)
        ``noise`` root mean variance, ``persistent`` root mean square of the means, ``spread`` their standard
        deviation (denominator n), ``direction`` their mean, ``incoherent_share``; persistent squared is
        spread squared plus direction squared.
    """
    direction = mu.mean(axis=-1)
    return {
        "noise": np.sqrt(variance.mean(axis=-1)),
        "persistent": np.sqrt((mu**2).mean(axis=-1)),
        "spread": mu.std(axis=-1),
        "direction": direction,
        "incoherent_share": incoherent.mean(axis=-1),
    }


def population_quantities(hyper: Mapping[str, Floats]) -> dict[str, Floats]:
    """The same of the population of instances that the hyper-parameters describe.

    Parameters
    ----------
    hyper : mapping of str to ndarray, all of one shape
        ``delta`` and ``tau``; with ``a`` and ``b`` a share E[pi] of the instances is incoherent, else all are.

    Returns
    -------
    dict of str to ndarray
        ``persistent`` sqrt(E[pi] (delta^2 + tau^2)), ``spread``, ``direction`` E[pi] delta, and with ``a`` and
        ``b`` ``incoherent_share`` E[pi]. Noise has no entry: the mean of lognormal variances is led by its tail.
    """
    delta, tau = hyper["delta"], hyper["tau"]
    share = mean_share(hyper["a"], hyper["b"]) if "a" in hyper else np.ones_like(delta)
    square, direction = share * (delta**2 + tau**2), share * delta
    found = {
        "persistent": np.sqrt(square),
        "spread": np.sqrt(np.maximum(square - direction**2, 0.0)),
        "direction": direction,
    }
    return found | ({"incoherent_share": share} if "a" in hyper else {})


def mean_share(a: ArrayLike, b: ArrayLike) -> Floats:
    """Mean of logistic(a + b h) over h ~ N(0, 1), by Gauss-Hermite quadrature with 31 nodes."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    total = np.zeros(np.broadcast_shapes(a.shape, b.shape))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        total += weight * expit(a + b * node)
    return total
