"""Do two models differ in their floor? The delta method at the classes where each model is worst."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.errors import AnalysisError
from analysis.frequentist.clustered import clustered_contrasts
from analysis.frequentist.multiplicity import family_size, holm
from analysis.frequentist.pairwise import model_pairs
from analysis.frequentist.proportion import SMALLEST_P

Floats = NDArray[np.float64]
#: Pairs of models taken at once, so that memory does not grow with their number.
_PORTION = 64


@dataclass(frozen=True, slots=True)
class FloorDifferences:
    """Differences of floors over P pairs of models; arrays (P,) unless said otherwise.

    Attributes
    ----------
    pairs : (P, 2) of int
        Positions of the models: the first minus the second.
    estimate, std_error, df : ndarray
        Difference, and its standard error over paired units.
    statistic, p_value : ndarray
        t and its two-sided p-value.
    p_adjusted : ndarray
        Holm over the pairs.
    ci_low, ci_high : ndarray
        Unadjusted t limits.
    ci_level : float
    worst : (P, 2) of int
        The class at which each model has its floor; the first of those that tie.
    tied : (P, 2) of bool
        Whether two classes of the model are equal, so that another class would do as well.
    n_clusters : ndarray of int
        Units that both models have.
    family_size : int
    reason : ndarray of str
    """

    pairs: NDArray[np.int64]
    estimate: Floats
    std_error: Floats
    df: Floats
    statistic: Floats
    p_value: Floats
    p_adjusted: Floats
    ci_low: Floats
    ci_high: Floats
    ci_level: float
    worst: NDArray[np.int64]
    tied: NDArray[np.bool_]
    n_clusters: NDArray[np.int64]
    family_size: int
    reason: NDArray[np.object_]


def floor_differences(
    n: ArrayLike,
    y: ArrayLike,
    classes: ArrayLike,
    *,
    pairs: ArrayLike | None = None,
    ci_level: float = 0.95,
) -> FloorDifferences:
    """Difference of the smallest class rates of two models that answered the same units.

    Parameters
    ----------
    n, y : array_like (M, G, K)
        Weight of responses and of right answers by model, unit and group (``unit_arrays.UnitArrays``).
    classes : array_like (C, K)
        Rates whose minimum is the floor, as weights of the groups.
    pairs : array_like (P, 2) of int, optional
        Pairs of models; all of them, in order, by default.
    ci_level : float in (0, 1)

    Notes
    -----
    The rates of both models enter one covariance over units (CR2, Satterthwaite degrees of freedom), with
    each model's worst class taken as given. A percentile bootstrap of the difference, and exchanging
    models within units, are wrong where one model's classes tie and the other's do not. One-sided, the
    difference errs against the model whose classes tie; two-sided it holds its level.

    References
    ----------
    Shapiro (1991), Annals of Operations Research 30:169-186 (delta method at a minimum).
    """
    trials, right = np.asarray(n, float), np.asarray(y, float)
    ell = np.atleast_2d(np.asarray(classes, float))
    if trials.ndim != 3 or trials.shape != right.shape or ell.shape[-1] != trials.shape[-1]:
        raise AnalysisError(
            f"n and y must be (models, units, groups) and classes (classes, groups); found {trials.shape}, "
            f"{right.shape}, {ell.shape}"
        )
    index = model_pairs(pairs, len(trials))
    total = trials.sum(axis=1)
    rate = np.divide(right.sum(axis=1), total, out=np.zeros_like(total), where=total > 0) @ ell.T
    unknown = ((total <= 0)[:, None, :] & (ell != 0)).any(axis=(1, 2))
    chosen = rate.argmin(axis=1)
    tied = np.isclose(rate, rate.min(axis=1, keepdims=True), rtol=0, atol=1e-12).sum(axis=1) > 1
    parts = [
        _differences(trials, right, ell[chosen], index[at : at + _PORTION]) for at in range(0, len(index), _PORTION)
    ]
    estimate, variance, df = np.concatenate(parts, axis=1) if parts else np.zeros((3, 0))
    asked = (trials > 0).any(axis=2)
    shared = (asked[index[:, 0]] & asked[index[:, 1]]).sum(axis=1)
    lost = unknown[index].any(axis=1)
    single = np.isnan(variance)
    estimate = np.where(lost, np.nan, estimate)
    error = np.where(lost | single, np.nan, np.sqrt(np.maximum(variance, 0)))
    usable = error > 0
    t = np.divide(estimate, error, out=np.full(len(index), np.nan), where=usable)
    reach = np.where(usable, student.ppf(0.5 + check_level(ci_level) / 2, df) * error, np.nan)
    p = np.maximum(2 * student.sf(np.abs(t), df), SMALLEST_P)
    return FloorDifferences(
        pairs=index,
        estimate=estimate,
        std_error=error,
        df=np.where(lost | single, np.nan, df),
        statistic=t,
        p_value=p,
        p_adjusted=holm(p),
        ci_low=np.maximum(estimate - reach, -1),
        ci_high=np.minimum(estimate + reach, 1),
        ci_level=ci_level,
        worst=chosen[index],
        tied=tied[index],
        n_clusters=shared,
        family_size=family_size(p),
        reason=np.select(
            [lost, single, ~usable],
            [
                "a model has no response in a class",
                "one unit only in a class",
                "the difference is the same in all units",
            ],
            "",
        ).astype(object),
    )


def _differences(n: Floats, y: Floats, worst: Floats, pairs: NDArray[np.int64]) -> Floats:
    """Estimate, variance and degrees of freedom (3, P); ``worst`` (M, K) is each model's worst class."""
    first, second = pairs.T
    weights = np.concatenate([worst[first], -worst[second]], axis=-1)[:, None, :]
    found = clustered_contrasts(
        np.concatenate([n[first], n[second]], axis=-1), np.concatenate([y[first], y[second]], axis=-1), weights
    )
    return np.stack([found.estimate[:, 0], found.variance[:, 0], found.df[:, 0]])
