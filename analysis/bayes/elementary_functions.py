"""exp and log written out, so that the compiler turns loops over them into vector instructions.

Compiled code must not reorder the sums inside them (no ``reassoc``): they rest on the order of roundings.
"""

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from analysis.bayes.compiled import compiled

Floats = NDArray[np.float64]

#: Log-odds are held inside this range before exp: the product of two odds is still an ordinary number.
FARTHEST: Final = 300.0
LOG2_E: Final = 1.4426950408889634
LN2_HIGH: Final = 6.93147180369123816490e-01
LN2_LOW: Final = 1.90821492927058770002e-10
#: Adding and subtracting it rounds a double to a whole number.
ROUND: Final = 6755399441055744.0
# Bits of doubles, without sign: there are vector instructions for these alone.
RAISE_BITS: Final = np.uint64(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
ROOT_HALF_BITS: Final = np.uint64(0x3FE6A09E667F3BCD)
MANTISSA: Final = np.uint64(0x000FFFFFFFFFFFFF)
MANTISSA_LENGTH: Final = np.uint64(52)
EXPONENT_OF_ONE: Final = np.uint64(1023)
#: Bits of 2^52, whose last ones hold a whole number.
WHOLE_BITS: Final = np.uint64(0x4330000000000000)
WHOLE: Final = 4503599627370496.0 + 1023.0


@njit(inline="always", error_model="numpy")
def exp_series(r: float) -> float:
    """exp(r) for abs(r) <= log(2) / 2, by Taylor's series to the 13th power."""
    upper = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600 + r / 6227020800))))
    middle = 1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * upper)))
    return 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * middle)))


@njit(inline="always", error_model="numpy")
def log_series(z: float) -> float:
    """Remainder of log((1 + s) / (1 - s)) - 2 s as a polynomial in z = s^2, from FreeBSD's e_log.c."""
    high = 2.222219843214978396e-01 + z * (
        1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01)
    )
    return z * (6.666666666666735130e-01 + z * (3.999999999940941908e-01 + z * (2.857142874366239149e-01 + z * high)))


@compiled("contract", "nsz")
def exponentials(x: Floats, farthest: float, out: Floats, rest: Floats) -> None:
    """``out`` becomes exp of x held inside +-``farthest`` (at most 700); ``rest`` is overwritten."""
    bits = out.view(np.uint64)
    for i in range(x.size):
        held = min(max(x[i], -farthest), farthest)
        out[i] = held * LOG2_E + ROUND
        whole = out[i] - ROUND
        rest[i] = (held - whole * LN2_HIGH) - whole * LN2_LOW
    for i in range(x.size):
        # The last bits hold the whole number: it becomes the exponent.
        bits[i] = (bits[i] + EXPONENT_OF_ONE) << MANTISSA_LENGTH
    for i in range(x.size):
        out[i] *= exp_series(rest[i])


@compiled("contract", "arcp", "nsz")
def logarithms(x: Floats, out: Floats) -> None:
    """``out`` becomes the logarithm of positive normal numbers; ``x`` is overwritten."""
    bits, mantissa = x.view(np.uint64), out.view(np.uint64)
    for i in range(x.size):
        raised = bits[i] + RAISE_BITS
        mantissa[i] = (raised & MANTISSA) + ROOT_HALF_BITS
        bits[i] = (raised >> MANTISSA_LENGTH) | WHOLE_BITS
    for i in range(x.size):
        exponent = x[i] - WHOLE
        f = out[i] - 1.0
        s = f / (2.0 + f)
        half = 0.5 * f * f
        rest = s * (half + log_series(s * s)) + exponent * LN2_LOW
        out[i] = exponent * LN2_HIGH - ((half - rest) - f)
