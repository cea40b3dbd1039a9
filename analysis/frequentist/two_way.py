"""Test of a mean change when both facets of the rows are random: models and items, surfaces and templates."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from analysis.errors import AnalysisError
from analysis.frequentist.proportion import SMALLEST_P

Floats = NDArray[np.float64]
#: Each facet needs this many levels for its variance to be worth estimating.
FEWEST_LEVELS: Final = 10


@dataclass(frozen=True, slots=True)
class TwoWayTest:
    """Mean change with a variance clustered by two crossed facets.

    Attributes
    ----------
    estimate, std_error : float
        Mean over rows; root of the two-way variance.
    df : float
        Levels of the smaller facet - 1.
    statistic, p_value : float
        t and its two-sided p-value; NaN where ``reason`` says that a facet is too small.
    deff : float
        Two-way variance over the variance of independent rows.
    n_clusters : int
        Levels of the smaller facet.
    n_levels : tuple of int
        Levels of the first and the second facet.
    n : int
        Rows.
    reason : str
    """

    estimate: float
    std_error: float
    df: float
    statistic: float
    p_value: float
    deff: float
    n_clusters: int
    n_levels: tuple[int, int]
    n: int
    reason: str


def two_way_test(d: ArrayLike, first: ArrayLike, second: ArrayLike) -> TwoWayTest:
    """Is the mean change 0 for other levels of both facets?

    Parameters
    ----------
    d : array_like (N,)
        Change of each row (matched pair), finite.
    first, second : array_like (N,)
        Level of either facet, any labels.

    Notes
    -----
    V = max(V_first + V_second - V_both, V_first, V_second), each V from changes centred at their mean
    and multiplied by its own L / (L - 1), and t with min(L_first, L_second) - 1 degrees of freedom.
    Uncentred changes make the test far too conservative.

    References
    ----------
    Cameron, Gelbach and Miller (2011), J. Bus. Econ. Stat. 29:238-249, doi:10.1198/jbes.2010.07136.
    MacKinnon, Nielsen and Webb (2021), J. Bus. Econ. Stat. 39:505-519, doi:10.1080/07350015.2019.1677473.
    """
    values = np.asarray(d, float)
    a, b = level_codes(first), level_codes(second)
    if values.ndim != 1 or values.shape != a.shape or values.shape != b.shape or not np.isfinite(values).all():
        raise AnalysisError(
            f"changes must be finite, one per row, with a level of either facet; found shapes "
            f"{values.shape}, {a.shape}, {b.shape}"
        )
    n, levels = len(values), (int(a.max(initial=-1)) + 1, int(b.max(initial=-1)) + 1)
    mean = float(np.sort(values).sum() / n) if n else np.nan
    off = values - mean
    cells = level_codes(a * max(levels[1], 1) + b)
    v_a, v_b, v_cell = (_variance(off, codes) for codes in (a, b, cells))
    variance = max(v_a + v_b - v_cell, v_a, v_b)
    independent = _variance(off, np.arange(n))
    reason = _reason(n, levels, variance)
    error = float(np.sqrt(variance)) if variance >= 0 else np.nan
    t = mean / error if not reason else np.nan
    df = min(levels) - 1.0
    return TwoWayTest(
        estimate=mean,
        std_error=error,
        df=df if n else np.nan,
        statistic=t,
        p_value=np.nan if reason else max(float(2 * student.sf(abs(t), df)), SMALLEST_P),
        deff=variance / independent if independent > 0 else np.nan,
        n_clusters=min(levels),
        n_levels=levels,
        n=n,
        reason=reason,
    )


def level_codes(labels: ArrayLike) -> NDArray[np.int64]:
    """Levels as integers 0..L-1 in order of their labels."""
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    return codes.reshape(np.shape(labels)).astype(np.int64)


def _variance(off: Floats, codes: NDArray[np.int64]) -> float:
    """Of the mean of ``off``, clustered by ``codes``; NaN with one cluster."""
    sums = np.bincount(codes, off) if len(off) else np.zeros(0)
    sums = np.sort(sums)
    g = len(sums)
    return float(g / (g - 1) * (sums**2).sum() / len(off) ** 2) if g > 1 else np.nan


def _reason(n: int, levels: tuple[int, int], variance: float) -> str:
    if n == 0:
        return "no pair"
    if min(levels) < FEWEST_LEVELS:
        return f"{levels[0]} and {levels[1]} levels: a two-way variance needs {FEWEST_LEVELS} of each"
    return "" if variance > 0 else "no test: all rows changed alike"
