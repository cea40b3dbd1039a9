"""Two conditions on the same units: the paired t test with both effect sizes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.errors import AnalysisError
from analysis.frequentist.effect_sizes import d_av, d_z
from analysis.frequentist.proportion import SMALLEST_P
from analysis.frequentist.sign_flips import mean_and_error, unit_table


@dataclass(frozen=True, slots=True)
class PairedT:
    """Paired t test, first minus second; numbers or arrays (T,).

    Attributes
    ----------
    estimate, std_error, df, statistic, p_value : float
        Mean difference over units that have both; two-sided.
    ci_low, ci_high, ci_level : float
    mean_first, mean_second : float
        Over the same units.
    d_z, d_av : float
        See ``effect_sizes``.
    n_clusters : int
        Units that have both.
    n_unshared : int
        Units that have one only.
    reason : str
    """

    estimate: Any
    std_error: Any
    df: Any
    statistic: Any
    p_value: Any
    ci_low: Any
    ci_high: Any
    ci_level: float
    mean_first: Any
    mean_second: Any
    d_z: Any
    d_av: Any
    n_clusters: Any
    n_unshared: Any
    reason: Any


def paired_t(first: ArrayLike, second: ArrayLike, *, ci_level: float = 0.95) -> PairedT:
    """Mean difference of two conditions over independent units.

    Parameters
    ----------
    first, second : array_like (G,) or (T, G)
        Values averaged to the unit beforehand; NaN where a unit lacks the condition.
    ci_level : float in (0, 1)

    References
    ----------
    Student (1908), Biometrika 6:1-25.
    """
    (given, a), (other, b) = unit_table(first), unit_table(second)
    if given != other or a.shape != b.shape:
        raise AnalysisError(f"both conditions need the same units; found {np.shape(first)} and {np.shape(second)}")
    missing = np.isnan(a) | np.isnan(b)
    mean, error, n = mean_and_error(a - b)
    df = np.where(n > 0, n - 1.0, np.nan)
    usable = error > 0
    t = np.divide(mean, error, out=np.full(mean.shape, np.nan), where=usable)
    free = np.where(n > 1, df, np.nan)
    reach = np.where(usable, student.ppf(0.5 + check_level(ci_level) / 2, free) * error, np.nan)
    reason = np.select(
        [n == 0, n == 1, ~usable],
        ["no unit has both conditions", "one unit only", "the difference is the same in all units"],
        "",
    )
    fields = {
        "estimate": mean,
        "std_error": error,
        "df": df,
        "statistic": t,
        "p_value": np.maximum(2 * student.sf(np.abs(t), free), SMALLEST_P),
        "ci_low": mean - reach,
        "ci_high": mean + reach,
        "mean_first": mean_and_error(np.where(missing, np.nan, a))[0],
        "mean_second": mean_and_error(np.where(missing, np.nan, b))[0],
        "d_z": np.asarray(d_z(a, b)),
        "d_av": np.asarray(d_av(a, b)),
        "n_clusters": n,
        "n_unshared": (np.isnan(a) ^ np.isnan(b)).sum(axis=1),
        "reason": reason.astype(object),
    }
    return PairedT(ci_level=ci_level, **{name: one.reshape(given)[()] for name, one in fields.items()})
