"""Beta-binomial and binomial log-likelihoods with their gradient in one pass, compiled once and kept on disk.

Cells are taken in tiles of fixed size whose intermediate values lie in one small array, so that the
compiler turns every loop into vector instructions. The log-gamma and digamma functions of an argument
share a shift by eight and one logarithm.
"""

import math
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TILE: Final = 64
#: Numbers that ``beta_binomial_block`` needs as working space.
WORK_SIZE: Final = 16 * _TILE
# Places of the intermediate values within a tile; _Z and _LOG hold three values per cell.
_BASE, _COUNT, _SLOPE, _VALUE, _Z, _LOG = 0, _TILE, 2 * _TILE, 3 * _TILE, 4 * _TILE, 7 * _TILE
_ETA, _YES, _NO, _P, _Q, _KEPT = 10 * _TILE, 11 * _TILE, 12 * _TILE, 13 * _TILE, 14 * _TILE, 15 * _TILE

#: Arguments are raised by this much before the asymptotic series, whose error is then below 2e-14.
_SHIFT: Final = 8.0
#: Log-odds are held inside this range, where both probabilities are still ordinary numbers.
_LARGEST: Final = 600.0
_LOG2_E: Final = 1.4426950408889634
_LN2_HIGH: Final = 6.93147180369123816490e-01
_LN2_LOW: Final = 1.90821492927058770002e-10
#: Adding and subtracting it rounds a double to a whole number.
_ROUND: Final = 6755399441055744.0
_ONE_BITS: Final = 0x3FF0000000000000
_ROOT_HALF_BITS: Final = 0x3FE6A09E667F3BCD
_MANTISSA: Final = 0x000FFFFFFFFFFFFF
_HALF_LOG_TWO_PI: Final = 0.91893853320467274178


@njit(inline="always", error_model="numpy")
def _exp_series(r: float) -> float:
    """exp(r) for abs(r) <= log(2) / 2, by Taylor's series to the 13th power."""
    upper = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600 + r / 6227020800))))
    middle = 1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * upper)))
    return 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * middle)))


@njit(inline="always", error_model="numpy")
def _log_series(z: float) -> float:
    """Remainder of log((1 + s) / (1 - s)) - 2 s as a polynomial in z = s^2, from FreeBSD's e_log.c."""
    high = 2.222219843214978396e-01 + z * (
        1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01)
    )
    return z * (6.666666666666735130e-01 + z * (3.999999999940941908e-01 + z * (2.857142874366239149e-01 + z * high)))


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


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _logistic(t: Floats) -> None:
    """_P and _Q from _ETA, each to full relative precision."""
    bits = t.view(np.int64)
    for i in range(_TILE):
        x = -min(max(t[i + _ETA], -_LARGEST), _LARGEST)
        whole = (x * _LOG2_E + _ROUND) - _ROUND
        t[i + _Z] = whole
        t[i + _Z + _TILE] = (x - whole * _LN2_HIGH) - whole * _LN2_LOW
    for i in range(_TILE):
        bits[i + _LOG] = (int(t[i + _Z]) + 1023) << 52
    for i in range(_TILE):
        odds = t[i + _LOG] * _exp_series(t[i + _Z + _TILE])
        p = 1.0 / (1.0 + odds)
        t[i + _P] = p
        t[i + _Q] = odds * p


@njit(cache=True, error_model="numpy", fastmath={"contract", "arcp", "nsz", "reassoc"})
def _arguments(t: Floats, phi: float, share: int, count: int) -> None:
    """Arguments of the logarithms, and what the shift takes from the digamma difference."""
    for i in range(_TILE):
        lower = phi * t[i + share]
        upper = lower + t[i + count]
        product_u, slope_u = _rising(upper)
        product_l, slope_l = _rising(lower)
        both = 1.0 / (product_u * product_l)
        t[i + _BASE] = lower
        t[i + _COUNT] = t[i + count]
        t[i + _Z] = upper + _SHIFT
        t[i + _Z + _TILE] = lower + _SHIFT
        t[i + _Z + 2 * _TILE] = product_l * product_l * both
        t[i + _SLOPE] = (slope_u * product_l - slope_l * product_u) * both


@njit(cache=True, error_model="numpy", fastmath={"contract", "arcp", "nsz"})
def _logarithms(t: Floats) -> None:
    """_LOG from _Z, which is overwritten; positive normal numbers, error below one unit in the last place."""
    bits = t.view(np.int64)
    for i in range(3 * _TILE):
        raised = bits[i + _Z] + (_ONE_BITS - _ROOT_HALF_BITS)
        bits[i + _LOG] = (raised & _MANTISSA) + _ROOT_HALF_BITS
        t[i + _Z] = float((raised >> 52) - 1023)
    for i in range(3 * _TILE):
        f = t[i + _LOG] - 1.0
        s = f / (2.0 + f)
        half = 0.5 * f * f
        rest = s * (half + _log_series(s * s)) + t[i + _Z] * _LN2_LOW
        t[i + _LOG] = t[i + _Z] * _LN2_HIGH - ((half - rest) - f)


@njit(cache=True, error_model="numpy", fastmath={"contract", "arcp", "nsz", "reassoc"})
def _differences(t: Floats) -> tuple[float, float]:
    """Differences of log-gamma (_VALUE) and digamma (_SLOPE); their sum, and the sum of base * slope."""
    total = by_log_phi = 0.0
    for i in range(_TILE):
        lower = t[i + _BASE] + _SHIFT
        upper = lower + t[i + _COUNT]
        both = 1.0 / (upper * lower)
        w_u, w_l = lower * both, upper * both
        log_u, log_l = t[i + _LOG], t[i + _LOG + _TILE]
        value_u, tail_u = _stirling(w_u)
        value_l, tail_l = _stirling(w_l)
        value = (upper - 0.5) * log_u - (lower - 0.5) * log_l + (value_u - value_l) - t[i + _COUNT]
        slope = log_u - log_l - 0.5 * (w_u - w_l) + (tail_u - tail_l) - t[i + _SLOPE]
        t[i + _VALUE] = value + t[i + _LOG + 2 * _TILE]
        t[i + _SLOPE] = slope
        total += t[i + _VALUE]
        by_log_phi += t[i + _BASE] * slope
    return total, by_log_phi


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def beta_binomial_block(
    eta: Floats, phi: float, yes: Floats, no: Floats, by_eta: Floats, t: Floats
) -> tuple[float, float]:
    """Sum over cells of log B(phi q + yes, phi (1 - q) + no) - log B(phi q, phi (1 - q)), q = logistic(eta).

    Parameters
    ----------
    eta, yes, no : ndarray (C,)
        Log-odds, and counts of either outcome; a cell without counts adds 0.
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
        t[_ETA:_P] = 0.0
        for i in range(size):
            t[i + _ETA] = eta[start + i]
            t[i + _YES] = yes[start + i]
            t[i + _NO] = no[start + i]
        _logistic(t)
        _arguments(t, phi, _P, _YES)
        _logarithms(t)
        of_yes, slope_yes = _differences(t)
        t[_KEPT : _KEPT + _TILE] = t[_SLOPE : _SLOPE + _TILE]
        _arguments(t, phi, _Q, _NO)
        _logarithms(t)
        of_no, slope_no = _differences(t)
        for i in range(size):
            by_eta[start + i] = phi * t[i + _P] * t[i + _Q] * (t[i + _KEPT] - t[i + _SLOPE])
        value += of_yes + of_no
        by_log_phi += slope_yes + slope_no
    return value, by_log_phi


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
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
