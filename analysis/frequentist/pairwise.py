"""All pairs of models, or of conditions, compared over the units they share."""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.errors import AnalysisError
from analysis.frequentist.effect_sizes import d_av, d_z
from analysis.frequentist.max_t import max_t
from analysis.frequentist.multiplicity import benjamini_hochberg, bonferroni, family_size, holm
from analysis.frequentist.sign_flips import flips_needed, pair_flip_tests

Floats = NDArray[np.float64]
ADJUSTMENTS: Final = ("holm", "bonferroni", "max_t", "benjamini_hochberg")
#: No more flips than this are drawn, however many tests there are.
MOST_FLIPS: Final = 200_000


@dataclass(frozen=True, slots=True)
class PairwiseDifferences:
    """Differences over P pairs, first minus second; arrays (P,) unless said otherwise.

    Attributes
    ----------
    pairs : (P, 2) of int
    estimate, std_error, df, statistic : ndarray
        Mean difference over shared units with its t statistic.
    p_value : ndarray in (0, 1]
        Sign-flip test.
    mc_error, resolution : ndarray
        Monte-Carlo standard error of the p-value, and the smallest value that it could have had.
    at_floor : ndarray of bool
        The p-value is that smallest value: an upper bound, as is what is adjusted from it.
    p_adjusted : ndarray in (0, 1]
    p_adjust_method : str
    family_size : int
    ci_low, ci_high : ndarray
        t limits; simultaneous ones with ``max_t``.
    ci_level : float
    ci_method : str
    d_z, d_av : ndarray
    flips : ndarray of int
    n_clusters : ndarray of int
        Units that both have.
    n_unshared : ndarray of int
        Units that one of the two lacks.
    reason : ndarray of str
    """

    pairs: NDArray[np.int64]
    estimate: Floats
    std_error: Floats
    df: Floats
    statistic: Floats
    p_value: Floats
    mc_error: Floats
    resolution: Floats
    at_floor: NDArray[np.bool_]
    p_adjusted: Floats
    p_adjust_method: str
    family_size: int
    ci_low: Floats
    ci_high: Floats
    ci_level: float
    ci_method: str
    d_z: Floats
    d_av: Floats
    flips: NDArray[np.int64]
    n_clusters: NDArray[np.int64]
    n_unshared: NDArray[np.int64]
    reason: NDArray[np.object_]


def pairwise_differences(
    values: ArrayLike,
    *,
    rng: np.random.Generator,
    pairs: ArrayLike | None = None,
    flips: int = 20_000,
    ci_level: float = 0.95,
    adjust: str = "holm",
    exploratory: bool = False,
) -> PairwiseDifferences:
    """Sign-flip tests of all pairs with a family-wise adjustment.

    Parameters
    ----------
    values : array_like (M, G)
        Unit values of each model or condition; NaN where it lacks the unit.
    rng : Generator
    pairs : array_like (P, 2) of int, optional
        All pairs by default.
    flips : int
        Raised, up to 200,000, to what the number of pairs needs.
    ci_level : float in (0, 1)
    adjust : {"holm", "bonferroni", "max_t", "benjamini_hochberg"}
    exploratory : bool
        Has to be set for ``benjamini_hochberg``, which bounds the share of false findings among those
        made, not the chance of one.

    Notes
    -----
    For floors use ``floor_difference``: sign flips test equal distributions, and floors of models with
    different bias differ in distribution when they are equal.
    """
    table = np.asarray(values, float)
    if table.ndim != 2:
        raise AnalysisError(f"values must be (models, units); found shape {table.shape}")
    if adjust not in ADJUSTMENTS:
        raise AnalysisError(f"adjust must be one of {', '.join(ADJUSTMENTS)}, not {adjust!r}")
    if adjust == "benjamini_hochberg" and not exploratory:
        raise AnalysisError("benjamini_hochberg bounds the false discovery rate only; say exploratory=True to use it")
    index = model_pairs(pairs, len(table))
    first, second = table[index[:, 0]], table[index[:, 1]]
    drawn = max(flips, min(flips_needed(len(index)), MOST_FLIPS))
    test = pair_flip_tests(table, index, rng=rng, flips=drawn, most_flips=MOST_FLIPS)
    reach = student.ppf(0.5 + check_level(ci_level) / 2, np.where(test.df > 0, test.df, np.nan)) * test.std_error
    low, high, method = test.estimate - reach, test.estimate + reach, "cluster t"
    if adjust == "max_t":
        together = max_t(first - second, rng=rng, flips=drawn, ci_level=ci_level)
        p_adjusted, low, high = together.p_adjusted, together.ci_low, together.ci_high
        method, size = "max-T simultaneous", together.family_size
    else:
        by = {"holm": holm, "bonferroni": bonferroni, "benjamini_hochberg": benjamini_hochberg}[adjust]
        p_adjusted, size = by(test.p_value), family_size(test.p_value)
    flat = ~(test.std_error > 0)
    present = ~np.isnan(table)
    return PairwiseDifferences(
        pairs=index,
        estimate=test.estimate,
        std_error=test.std_error,
        df=test.df,
        statistic=test.statistic,
        p_value=test.p_value,
        mc_error=test.mc_error,
        resolution=test.resolution,
        at_floor=test.at_floor,
        p_adjusted=p_adjusted,
        p_adjust_method=adjust,
        family_size=size,
        ci_low=np.where(flat, np.nan, low),
        ci_high=np.where(flat, np.nan, high),
        ci_level=ci_level,
        ci_method=method,
        d_z=d_z(first, second),
        d_av=d_av(first, second),
        flips=test.flips,
        n_clusters=test.n_clusters,
        n_unshared=(present[index[:, 0]] ^ present[index[:, 1]]).sum(axis=1),
        reason=test.reason,
    )


def model_pairs(pairs: ArrayLike | None, models: int) -> NDArray[np.int64]:
    """Positions (P, 2) of the pairs asked for, or of all pairs in order."""
    if pairs is None:
        return np.array(list(combinations(range(models), 2)), dtype=np.int64).reshape(-1, 2)
    index = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if ((index < 0) | (index >= models)).any():
        raise AnalysisError(f"pairs name positions outside 0..{models - 1}")
    return index
