"""Step-down max-T: many correlated means tested together, and intervals that hold for all of them at once."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arguments import check_level
from analysis.frequentist.flip_counts import canonical_units, flipped_sums
from analysis.frequentist.sign_flips import mean_and_error, unit_table

Floats = NDArray[np.float64]
#: Studentised statistics that differ by less, relatively, are ties.
_TIE: Final = 1e-9
#: Smallest share of the mean square that counts as variance: a value that all units share has none.
_NO_VARIANCE: Final = 1e-15


@dataclass(frozen=True, slots=True)
class MaxT:
    """T means over the same units, tested together; arrays (T,) unless said otherwise.

    Attributes
    ----------
    estimate, std_error, df, statistic : ndarray
        Mean, standard error, units - 1, and their ratio; NaN with fewer than two units, or no variation.
    p_value : ndarray in (0, 1]
        Of the studentised statistic alone, unadjusted.
    p_adjusted : ndarray in (0, 1]
        Step-down; controls the family-wise error with the correlation of the statistics kept.
    ci_low, ci_high : ndarray
        Simultaneous limits: all T hold together with ``ci_level``.
    critical : float
        Number of standard errors that these limits reach.
    mc_error : ndarray
        Monte-Carlo standard error of ``p_adjusted``.
    flips, family_size : int
        Sign patterns drawn; tests run.
    n_clusters : ndarray of int
    reason : ndarray of str
    """

    estimate: Floats
    std_error: Floats
    df: Floats
    statistic: Floats
    p_value: Floats
    p_adjusted: Floats
    ci_low: Floats
    ci_high: Floats
    ci_level: float
    critical: float
    mc_error: Floats
    flips: int
    family_size: int
    n_clusters: NDArray[np.int64]
    reason: NDArray[np.object_]


def max_t(values: ArrayLike, *, rng: np.random.Generator, flips: int = 20_000, ci_level: float = 0.95) -> MaxT:
    """Step-down max-T by common sign flips, two-sided, with simultaneous intervals.

    Parameters
    ----------
    values : array_like (T, G)
        Difference of each unit for each test; NaN where a unit is absent.
    rng : Generator
    flips : int
        Sign patterns, the same for all tests.
    ci_level : float in (0, 1)
        Of the simultaneous intervals.

    Notes
    -----
    Statistics are t values, recomputed under every sign pattern. Limits reach ``critical`` standard
    errors: the quantile of the largest |t| of the units' deviations from their mean under random
    signs. Tests with fewer than two units are not part of the family.

    References
    ----------
    Westfall and Young (1993), Resampling-Based Multiple Testing, algorithm 2.8.
    Romano and Wolf (2005), JASA 100:94-108, doi:10.1198/016214504000000539.
    """
    check_level(ci_level)
    table = np.atleast_2d(unit_table(values)[1])
    mean, error, n = mean_and_error(table)
    run = np.flatnonzero(n > 1)
    raw, adjusted = np.full(len(table), np.nan), np.full(len(table), np.nan)
    critical = np.nan
    if len(run):
        zeroed = np.where(np.isnan(table[run]), 0.0, table[run])
        off = np.where(np.isnan(table[run]), 0.0, table[run] - mean[run, None])
        raw[run], adjusted[run], critical = _flipped(zeroed, off, n[run], rng, flips, ci_level)
    varies = error > 0
    statistic = np.divide(mean, error, out=np.full_like(mean, np.nan), where=varies)
    reach = np.where(varies, critical * error, np.nan)
    reasons = np.where(n == 0, "no unit has a value", np.where(n == 1, "one unit only", ""))
    reasons = np.where((n > 1) & ~varies, "no interval: all units have the same value", reasons)
    return MaxT(
        estimate=mean,
        std_error=error,
        df=np.where(n > 0, n - 1.0, np.nan),
        statistic=statistic,
        p_value=raw,
        p_adjusted=adjusted,
        ci_low=mean - reach,
        ci_high=mean + reach,
        ci_level=ci_level,
        critical=float(critical),
        mc_error=np.sqrt(adjusted * (1 - adjusted) / flips),
        flips=flips,
        family_size=len(run),
        n_clusters=n,
        reason=reasons.astype(object),
    )


def _flipped(
    zeroed: Floats, off: Floats, n: NDArray[np.int64], rng: np.random.Generator, flips: int, ci_level: float
) -> tuple[Floats, Floats, float]:
    """Unadjusted and step-down p-values (T,), and the critical value of the simultaneous limits."""
    # One stack, so that tests and deviations are flipped together and one draw serves both.
    both = np.concatenate([zeroed, off])
    units, _ = canonical_units(both)
    squares = np.sort(both**2, axis=1).sum(axis=1)
    trials = np.concatenate([n, n]).astype(float)
    tests = len(n)
    observed = _abs_t(np.sort(zeroed, axis=1).sum(axis=1), squares[:tests], trials[:tests])
    order = np.argsort(-observed, kind="stable")
    reached = observed * (1 - _TIE)
    alone, stepped = np.zeros(tests), np.zeros(tests)
    largest = []
    for sums in flipped_sums(units, rng, flips):
        t = _abs_t(sums, squares, trials)
        null, deviation = t[:, :tests], t[:, tests:]
        alone += np.count_nonzero(null >= reached, axis=0)
        successive = np.maximum.accumulate(null[:, order][:, ::-1], axis=1)[:, ::-1]
        stepped += np.count_nonzero(successive >= reached[order], axis=0)
        largest.append(deviation.max(axis=1))
    adjusted = np.empty(tests)
    adjusted[order] = np.maximum.accumulate((stepped + 1) / (flips + 1))
    return (alone + 1) / (flips + 1), adjusted, float(np.quantile(np.concatenate(largest), ci_level))


def _abs_t(sums: Floats, squares: Floats, n: Floats) -> Floats:
    """|t| of sums over n units whose squares add up to ``squares``; very large where nothing varies."""
    safe = np.where(squares > 0, squares, 1.0)
    share = np.minimum(sums**2 / (n * safe), 1 - _NO_VARIANCE)
    return np.sqrt((n - 1) * share / (1 - share))
