"""Power of a test of an estimate whose standard error is known up to its degrees of freedom."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import nctdtr, ndtr, ndtri, stdtrit

Floats = NDArray[np.float64]
#: Beyond these standard deviations a normal probability is 0 or 1 for every purpose of planning.
_FAR = 8.5


def t_test_power(
    effect: ArrayLike,
    std_error: ArrayLike,
    *,
    df: ArrayLike = np.inf,
    level: float = 0.05,
    sides: int = 2,
    null_std_error: ArrayLike | None = None,
) -> Floats:
    """Probability that |estimate| / standard error exceeds the quantile of Student's t.

    Parameters
    ----------
    effect : array_like
        True distance from the value tested.
    std_error : array_like > 0
        Of the estimate, in the unit of the effect.
    df : array_like > 0
        Degrees of freedom of the estimated standard error; infinite for one that is known.
    level : float in (0, 1)
    sides : {1, 2}
        One side: rejections in the direction of a positive effect alone.
    null_std_error : array_like, optional
        What the test divides by, where that is not ``std_error``: a score test uses the variance that the null
        hypothesis implies.

    Returns
    -------
    ndarray in [0, 1]

    References
    ----------
    Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, 2nd ed., chapter 2.
    """
    error = np.asarray(std_error, float)
    scale = 1.0 if null_std_error is None else np.asarray(null_std_error, float) / error
    distance = np.asarray(effect, float) / error
    quantile = critical_value(df, level=level, sides=sides) * scale
    power = exceeds(quantile, df, distance)
    return power + exceeds(quantile, df, -distance) if sides == 2 else power


def critical_value(df: ArrayLike, *, level: float = 0.05, sides: int = 2) -> Floats:
    """Quantile of Student's t that a test at ``level`` has to exceed."""
    freedom = np.asarray(df, float)
    known = np.isinf(freedom)
    return np.where(known, -ndtri(level / sides), -stdtrit(np.where(known, 1.0, freedom), level / sides))


def exceeds(quantile: ArrayLike, df: ArrayLike, distance: ArrayLike) -> Floats:
    """P(T > quantile) of a noncentral t with noncentrality ``distance``; of a normal where df is infinite.

    Where the probability is 0 or 1 to ``_FAR`` standard deviations, the noncentral t is not evaluated.

    References
    ----------
    Abramowitz and Stegun (1964), Handbook of Mathematical Functions, 26.7.10 (normal approximation).
    """
    c, freedom, shift = np.broadcast_arrays(*(np.asarray(v, float) for v in (quantile, df, distance)))
    spread = np.sqrt(1 + c**2 / (2 * freedom))
    z = (shift - c) / spread
    near = ndtr((shift - c * (1 - 1 / (4 * freedom))) / spread)
    power = np.array(near)
    exact = np.isfinite(freedom) & ((np.abs(z) < _FAR) | (freedom < _FAR))
    if exact.any():
        found = 1 - nctdtr(freedom[exact], shift[exact], c[exact])
        # Far out the series breaks off without a value; the approximation errs by less than .001 there.
        power[exact] = np.clip(np.where(np.isfinite(found), found, near[exact]), 0, 1)
    return power
