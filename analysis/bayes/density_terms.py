"""Pieces of compiled log-densities: partially non-centred coordinates, and the binomial likelihood on vectors.

A quantity with prior N(mean, s^2) about which data say x with variance v is sampled as g in

    (1 - r) mean + r x + sqrt(r v) g,    r = s^2 / (s^2 + v)

so that g is nearly standard normal where data are many and where they are few. x and v come from a rough fit to the
data; they change the cost and no density, as the Jacobian is part of it.

References
----------
Papaspiliopoulos, Roberts and Skoeld (2007), Statistical Science 22:59-73, doi:10.1214/088342307000000014
(partially non-centred coordinates).
"""

import math
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Beyond these log-odds exp underflows for every purpose.
_FARTHEST: Final = 40.0
#: Coefficients 1/1, 1/3, ... of the series of atanh: enough of them for double precision at an argument of 1/3.
_ODD: Final = tuple(1.0 / (2 * k + 1) for k in range(15))


@njit(cache=True, nogil=True, error_model="numpy")
def placed(g: float, mean: float, log_sd: float, x: float, v: float) -> tuple[float, float, float]:
    """The quantity of the coordinate g, the share r of the data in it, and its scale sqrt(r v)."""
    r = 1.0 / (1.0 + v * math.exp(-2.0 * log_sd))
    scale = math.sqrt(r * v)
    return (1.0 - r) * mean + r * x + scale * g, r, scale


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def by_log_sd(g: float, mean: float, r: float, scale: float, x: float) -> float:
    """Derivative of a quantity by its log sd; that of its log scale is 1 - r."""
    return (1.0 - r) * (2.0 * r * (x - mean) + scale * g)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"})
def binomial_terms(base: Floats, shift: float, yes: Floats, answered: Floats, by_base: Floats) -> tuple[float, float]:
    """Binomial log-likelihood at log-odds base + shift, its derivative by shift; adds that by base.

    exp and log1p are written out (repeated squaring; series of atanh), so that the loop runs on vectors.
    """
    value, by_shift = 0.0, 0.0
    for i in range(base.size):
        eta = base[i] + shift
        y = -min(abs(eta), _FARTHEST) / 1024.0
        e = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * (1.0 / 120.0 + y / 720.0)))))
        for _ in range(10):
            e = e * e
        s = e / (2.0 + e)
        s2 = s * s
        series = 0.0
        for k in range(15):
            series = series * s2 + _ODD[14 - k]
        p = 1.0 / (1.0 + e)
        if eta < 0.0:
            p = e * p
        value += yes[i] * eta - answered[i] * (max(eta, 0.0) + 2.0 * s * series)
        slope = yes[i] - answered[i] * p
        by_shift += slope
        by_base[i] += slope
    return value, by_shift
