"""Least-squares line with the band of its mean."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FittedLine:
    """Line at the points of a grid.

    ``slope``, ``intercept`` are numbers; ``fit``, ``low``, ``high`` arrays of the grid's shape, the band NaN with two
    points.
    """

    slope: float
    intercept: float
    fit: Floats
    low: Floats
    high: Floats


def fitted_line(x: ArrayLike, y: ArrayLike, grid: ArrayLike, *, ci_level: float = 0.95) -> FittedLine:
    """Least-squares line through points, with pointwise limits for its mean.

    Parameters
    ----------
    x, y : array_like (n,)
        At least two points with different x.
    grid : array_like
        Where the line is wanted.

    Raises
    ------
    AnalysisError
        Fewer points, or one x for all.

    Notes
    -----
    Limits are those of normal, independent deviations of equal size: a description of the points, no test.
    """
    a, b, at = np.asarray(x, float), np.asarray(y, float), np.asarray(grid, float)
    spread = float(((a - a.mean()) ** 2).sum()) if len(a) else 0.0
    if len(a) < 2 or a.shape != b.shape or spread == 0:
        raise AnalysisError(f"a line needs two points or more with different x; found {len(a)}")
    slope = float(((a - a.mean()) * (b - b.mean())).sum() / spread)
    intercept = float(b.mean() - slope * a.mean())
    fit = intercept + slope * at
    if len(a) == 2:
        return FittedLine(slope, intercept, fit, np.full_like(fit, np.nan), np.full_like(fit, np.nan))
    residual = float(((b - intercept - slope * a) ** 2).sum() / (len(a) - 2))
    error = np.sqrt(residual * (1 / len(a) + (at - a.mean()) ** 2 / spread))
    reach = student.ppf(0.5 + check_level(ci_level) / 2, len(a) - 2) * error
    return FittedLine(slope, intercept, fit, fit - reach, fit + reach)
