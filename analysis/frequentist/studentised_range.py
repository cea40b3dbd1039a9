"""How far the largest of k independent normal values lies above the smallest, by chance alone."""

from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from analysis.errors import AnalysisError

#: Beyond these standard deviations nothing is left of a normal distribution in double precision.
_REACH: Final = 9.0
_NODES: Final = 400


def range_probability(width: ArrayLike, k: int) -> NDArray[np.float64]:
    """Probability that the range of k standard normal values is at most ``width``."""
    _check(k)
    w = np.asarray(width, float)
    nodes, weights = _gauss()
    z = _REACH * nodes
    density = _REACH * weights * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    inside = np.clip(ndtr(z + w[..., None]) - ndtr(z), 0, 1)
    return np.clip(k * (density * inside ** (k - 1)).sum(axis=-1), 0, 1)


@lru_cache(maxsize=256)
def expected_range(k: int, *, largest_of: int = 1) -> float:
    """Expected range d_k of k standard normal values, or the expected largest of several such ranges.

    Parameters
    ----------
    k : int >= 2
        Levels.
    largest_of : int >= 1
        Independent ranges (models, say) of which the largest is picked.

    Returns
    -------
    float
        In standard errors of a level's mean: 1.128, 2.326, 3.078 for 2, 5, 10 levels.

    References
    ----------
    Tippett (1925), Biometrika 17:364-387.
    """
    _check(k)
    if largest_of < 1:
        raise AnalysisError(f"the largest of {largest_of} ranges does not exist; give 1 or more")
    nodes, weights = _gauss()
    width = _REACH * (nodes + 1)
    return float(_REACH * (weights * (1 - range_probability(width, k) ** largest_of)).sum())


def range_quantile(probability: float, k: int, *, largest_of: int = 1) -> float:
    """Width that the range of k standard normal values, or the largest of several, stays below so often."""
    if not 0 < probability < 1:
        raise AnalysisError(f"probability must lie strictly between 0 and 1, not {probability!r}")
    single = probability ** (1 / largest_of)
    return float(brentq(lambda width: float(range_probability(width, k)) - single, 0.0, 2 * _REACH))


@cache
def _gauss() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of the quadrature, which cost more than everything they are used for."""
    return np.polynomial.legendre.leggauss(_NODES)


def _check(k: int) -> None:
    if k < 2:
        raise AnalysisError(f"a range needs 2 levels or more, not {k}")
