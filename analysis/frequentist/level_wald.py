"""Cross-checks of "all levels equal" that need no permutation: Hotelling, Welch, Cochran."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from analysis.errors import AnalysisError
from analysis.frequentist.proportion import SMALLEST_P

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LevelTest:
    """A test of equal levels.

    Attributes
    ----------
    test : {"Hotelling", "Welch", "Cochran's Q"}
    estimate : float
        Largest minus smallest level mean.
    std_error : float
        Always NaN: a range has none.
    statistic : float
        F, or chi-squared for Cochran's Q.
    df, df_error : float
        Degrees of freedom; ``df_error`` is NaN for Cochran's Q.
    p_value : float in (0, 1]
    n_clusters : int
    reason : str
    """

    test: str
    estimate: float
    std_error: float
    statistic: float
    df: float
    df_error: float
    p_value: float
    n_clusters: int
    reason: str


def hotelling(values: ArrayLike) -> LevelTest:
    """F test of equal level means over units that have all k levels, with any correlation between levels.

    Parameters
    ----------
    values : array_like (G, k)
        Units with a missing level are left out (``n_clusters`` counts the others).

    References
    ----------
    Hotelling (1931), Annals of Mathematical Statistics 2:360-378.
    """
    table = _table(values)
    full = table[~np.isnan(table).any(axis=1)]
    g, k = full.shape
    if g - k + 1 < 1:
        return _undefined("Hotelling", g, f"{g} units with all {k} levels: {k} or more are needed")
    means = full.mean(axis=0)
    steps = full[:, 1:] - full[:, :1]
    covariance = np.atleast_2d(np.cov(steps, rowvar=False)) / g
    if np.linalg.matrix_rank(covariance) < k - 1:
        return _undefined("Hotelling", g, "some difference of levels is the same in all units")
    mean = steps.mean(axis=0)
    squared = float(mean @ np.linalg.solve(covariance, mean))
    df, df_error = k - 1, g - k + 1
    return _found("Hotelling", means, squared * df_error / ((g - 1) * df), df, df_error, g)


def welch(values: ArrayLike, levels: ArrayLike) -> LevelTest:
    """F test of equal means of units that have one level each, with unequal variances.

    Parameters
    ----------
    values, levels : array_like (G,)

    References
    ----------
    Welch (1951), Biometrika 38:330-336.
    """
    y, code = np.asarray(values, float), np.unique(np.asarray(levels), return_inverse=True)[1]
    groups = [y[code == at] for at in range(int(code.max(initial=-1)) + 1)]
    g, k = len(y), len(groups)
    if k < 2 or min(map(len, groups)) < 2:
        return _undefined("Welch", g, "a level with one unit only" if k > 1 else "one level only")
    n, mean = np.array([len(x) for x in groups]), np.array([x.mean() for x in groups])
    variance = np.array([x.var(ddof=1) for x in groups])
    if (variance <= 1e-12 * (mean**2 + variance.max())).any():
        return _undefined("Welch", g, "all units of a level have the same value")
    weight = n / variance
    centre = (weight * mean).sum() / weight.sum()
    lost = float((((1 - weight / weight.sum()) ** 2) / (n - 1)).sum())
    top = float((weight * (mean - centre) ** 2).sum()) / (k - 1)
    f = top / (1 + 2 * (k - 2) / (k**2 - 1) * lost)
    return _found("Welch", mean, f, k - 1, (k**2 - 1) / (3 * lost), g)


def cochran_q(values: ArrayLike) -> LevelTest:
    """Cochran's Q of binary answers, one row per unit and level.

    Parameters
    ----------
    values : array_like (G, k) of 0 and 1
        Units with a missing level are left out.

    Raises
    ------
    AnalysisError
        A value is not 0 or 1: with several rows per unit and level the test takes dependent rows as
        independent, and ``homogeneity`` is the one to use.

    References
    ----------
    Cochran (1950), Biometrika 37:256-266.
    """
    table = _table(values)
    full = table[~np.isnan(table).any(axis=1)]
    if not np.isin(full, (0, 1)).all():
        raise AnalysisError("Cochran's Q takes one answer, 0 or 1, per unit and level; average only for other tests")
    g, k = full.shape
    by_unit, by_level = full.sum(axis=1), full.sum(axis=0)
    spread = float((by_unit * (k - by_unit)).sum())
    if spread == 0:
        return _undefined("Cochran's Q", g, "no unit's answers differ between levels" if g else "no unit")
    q = (k - 1) * k * float(((by_level - by_level.mean()) ** 2).sum()) / spread
    means = by_level / g
    return LevelTest(
        test="Cochran's Q",
        estimate=float(means.max() - means.min()),
        std_error=np.nan,
        statistic=q,
        df=k - 1.0,
        df_error=np.nan,
        p_value=max(float(chi2.sf(q, k - 1)), SMALLEST_P),
        n_clusters=g,
        reason="",
    )


def _table(values: ArrayLike) -> Floats:
    table = np.asarray(values, float)
    if table.ndim != 2 or table.shape[1] < 2:
        raise AnalysisError(f"values must be (units, levels) with two levels or more; found shape {table.shape}")
    return table


def _found(test: str, means: Floats, f: float, df: float, df_error: float, g: int) -> LevelTest:
    p = max(float(f_distribution.sf(f, df, df_error)), SMALLEST_P)
    spread = float(means.max() - means.min())
    return LevelTest(test, spread, np.nan, float(f), float(df), float(df_error), p, g, "")


def _undefined(test: str, g: int, reason: str) -> LevelTest:
    return LevelTest(test, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, g, reason)
