"""Beta-binomial and binomial log-likelihoods with their gradient in one pass, compiled once and kept on disk.

Cells are taken in tiles of fixed size whose intermediate values lie in one small array, so that the
compiler turns every loop into vector instructions. For a count k and a whole number of steps

    log-gamma(a + k) - log-gamma(a) = log a (a + 1) ... (a + min(k, 8) - 1)
                                      + log-gamma(a + max(k, 8)) - log-gamma(a + 8),

where the second line is by asymptotic series, and 0 up to k = 8.
"""

import math
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from analysis.bayes.compiled import compiled
from analysis.bayes.elementary_functions import (
    EXPONENT_OF_ONE,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    MANTISSA_LENGTH,
    ROUND,
    exp_series,
    logarithms,
)

Floats = NDArray[np.float64]

_TILE: Final = 32
# Places of the intermediate values within a tile: first those of Yes, then, _TILE further, those of No.
_COUNT, _P, _BASE, _RAISED, _VALUE, _SLOPE = (2 * _TILE * i for i in range(6))
# Arguments of the logarithms, upper and lower of both outcomes and a product, their logarithms, and the log-odds.
_Z, _LOG, _ETA = 12 * _TILE, 17 * _TILE, 22 * _TILE
#: Numbers that ``beta_binomial_block`` needs as working space.
WORK_SIZE: Final = 23 * _TILE

#: Arguments are raised by this much before the asymptotic series, whose error is then below 2e-14.
_SHIFT: Final = 8.0
#: Log-odds are held inside this range, where both probabilities are still ordinary numbers.
_LARGEST: Final = 600.0
_HALF_LOG_TWO_PI: Final = 0.91893853320467274178


@njit(inline="always", error_model="numpy")
def _rising(x: float) -> tuple[float, float]:
    """x (x + 1) ... (x + 7) and its derivative."""
    product, slope = x, 1.0
    for i in range(1, 8):
        factor = x + i
        slope = slope * factor + product
        product = product * factor
    return product, slope


@njit(inline="always", error_model="numpy")
def _stirling(w: float) -> tuple[float, float]:
    """Stirling's correction of log-gamma at 1 / w, and the part of digamma beyond -log(w) - w / 2."""
    u = w * w
    high = -1 / 1680 + u * (1 / 1188 + u * (-691 / 360360 + u / 156))
    value = w * (1 / 12 + u * (-1 / 360 + u * (1 / 1260 + u * high)))
    high = 1 / 240 + u * (-1 / 132 + u * (691 / 32760 - u / 12))
    return value, u * (-1 / 12 + u * (1 / 120 + u * (-1 / 252 + u * high)))


@compiled()
def log_gamma_and_slope(x: float) -> tuple[float, float]:
    """Log-gamma and digamma of a positive number.

    References
    ----------
    Abramowitz and Stegun (1964), Handbook of Mathematical Functions, 6.1.15, 6.1.41 and 6.3.18.
    """
    product, slope = _rising(x)
    shifted = x + _SHIFT
    w = 1.0 / shifted
    correction, tail = _stirling(w)
    log = math.log(shifted)
    value = (shifted - 0.5) * log - shifted + _HALF_LOG_TWO_PI + correction - math.log(product)
    return value, log - 0.5 * w + tail - slope / product


@compiled("contract", "nsz")
def _logistic(t: Floats) -> None:
    """Probabilities of Yes and No from _ETA, each to full relative precision."""
    bits = t.view(np.uint64)
    for i in range(_TILE):
        x = -min(max(t[i + _ETA], -_LARGEST), _LARGEST)
        t[i + _LOG] = x * LOG2_E + ROUND
        whole = t[i + _LOG] - ROUND
        t[i + _Z] = (x - whole * LN2_HIGH) - whole * LN2_LOW
    for i in range(_TILE):
        # The last bits hold the whole number: it becomes the exponent.
        bits[i + _LOG] = (bits[i + _LOG] + EXPONENT_OF_ONE) << MANTISSA_LENGTH
    for i in range(_TILE):
        odds = t[i + _LOG] * exp_series(t[i + _Z])
        p = 1.0 / (1.0 + odds)
        t[i + _P] = p
        t[i + _P + _TILE] = odds * p


@njit(inline="always", error_model="numpy")
def _partly_rising(x: float, count: float) -> tuple[float, float]:
    """x (x + 1) ... of ``count`` factors, at most eight, and its derivative."""
    product, slope = 1.0, 0.0
    for i in range(8):
        used = 1.0 if count > i else 0.0
        factor = x + i if count > i else 1.0
        slope = slope * factor + product * used
        product = product * factor
    return product, slope


@compiled("contract", "arcp", "nsz", "reassoc")
def _arguments(t: Floats, phi: float) -> None:
    """Arguments of the logarithms, and what the first eight steps add to the digamma difference."""
    for i in range(2 * _TILE):
        lower = phi * t[i + _P]
        product, slope = _partly_rising(lower, t[i + _COUNT])
        shifted, raised = lower + _SHIFT, max(t[i + _COUNT] - _SHIFT, 0.0)
        t[i + _BASE] = lower
        t[i + _RAISED] = raised
        t[i + _Z] = shifted + raised
        t[i + _Z + 2 * _TILE] = shifted
        t[i + _VALUE] = product
        t[i + _SLOPE] = slope / product
    for i in range(_TILE):
        t[i + _Z + 4 * _TILE] = t[i + _VALUE] * t[i + _VALUE + _TILE]


@compiled("contract", "arcp", "nsz", "reassoc")
def _differences(t: Floats) -> tuple[float, float]:
    """Differences of digamma (_SLOPE); the sum of those of log-gamma, and the sum of base * slope."""
    total = by_log_phi = 0.0
    for i in range(2 * _TILE):
        lower, raised = t[i + _BASE] + _SHIFT, t[i + _RAISED]
        upper = lower + raised
        both = 1.0 / (upper * lower)
        w_u, w_l = lower * both, upper * both
        log_u, log_l = t[i + _LOG], t[i + _LOG + 2 * _TILE]
        value_u, tail_u = _stirling(w_u)
        value_l, tail_l = _stirling(w_l)
        total += (upper - 0.5) * log_u - (lower - 0.5) * log_l + (value_u - value_l) - raised
        slope = log_u - log_l - 0.5 * (w_u - w_l) + (tail_u - tail_l) + t[i + _SLOPE]
        t[i + _SLOPE] = slope
        by_log_phi += t[i + _BASE] * slope
    for i in range(_TILE):
        total += t[i + _LOG + 4 * _TILE]
    return total, by_log_phi


@compiled("contract", "nsz")
def beta_binomial_block(
    eta: Floats, phi: float, yes: Floats, no: Floats, by_eta: Floats, t: Floats
) -> tuple[float, float]:
    """Sum over cells of log B(phi q + yes, phi (1 - q) + no) - log B(phi q, phi (1 - q)), q = logistic(eta).

    Parameters
    ----------
    eta, yes, no : ndarray (C,)
        Log-odds, and counts of either outcome, whole numbers; a cell without counts adds 0.
    phi : float
        Concentration.
    by_eta : ndarray (C,)
        Receives the derivative by eta.
    t : ndarray (WORK_SIZE,)
        Overwritten.

    Returns
    -------
    value, by_log_phi : float
        The sum, and its derivative by log phi, without the terms in phi + yes + no (``phi_terms``).
    """
    value = by_log_phi = 0.0
    for start in range(0, eta.size, _TILE):
        size = min(_TILE, eta.size - start)
        if size < _TILE:
            t[_ETA:] = 0.0
            t[_COUNT : _COUNT + 2 * _TILE] = 0.0
        for i in range(size):
            t[i + _ETA] = eta[start + i]
            t[i + _COUNT] = yes[start + i]
            t[i + _COUNT + _TILE] = no[start + i]
        _logistic(t)
        _arguments(t, phi)
        logarithms(t[_Z:_LOG], t[_LOG:_ETA])
        of_tile, slope = _differences(t)
        for i in range(size):
            by_eta[start + i] = phi * t[i + _P] * t[i + _P + _TILE] * (t[i + _SLOPE] - t[i + _SLOPE + _TILE])
        value += of_tile
        by_log_phi += slope
    return value, by_log_phi


@compiled()
def phi_terms(phi: float, sizes: Floats, cells: Floats) -> tuple[float, float]:
    """Sum over cells of log-gamma(phi) - log-gamma(phi + n), and its derivative by log phi.

    ``sizes`` are the distinct n, ``cells`` how many cells have each.
    """
    base, base_slope = log_gamma_and_slope(phi)
    value = by_log_phi = 0.0
    for i in range(sizes.size):
        top, top_slope = log_gamma_and_slope(phi + sizes[i])
        value += cells[i] * (base - top)
        by_log_phi += cells[i] * phi * (base_slope - top_slope)
    return value, by_log_phi


@compiled()
def binomial_block(eta: Floats, yes: Floats, no: Floats, by_eta: Floats) -> float:
    """Sum over cells of yes log q + no log(1 - q), q = logistic(eta); ``by_eta`` receives its derivative."""
    value = 0.0
    for i in range(eta.size):
        x = eta[i]
        small = math.exp(-abs(x))
        n = yes[i] + no[i]
        value += yes[i] * x - n * (max(x, 0.0) + math.log1p(small))
        by_eta[i] = yes[i] - n * (1.0 if x >= 0 else small) / (1.0 + small)
    return value
