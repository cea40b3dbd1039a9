"""Does a factor matter? Range of the level means beside what chance alone would give."""

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arguments import check_level
from analysis.errors import AnalysisError
from analysis.frequentist.denoised import denoised_range, denoised_sd
from analysis.frequentist.level_effects import LevelEffects, effects_between, effects_within
from analysis.frequentist.level_permutations import permuted_levels
from analysis.frequentist.studentised_range import expected_range

Floats = NDArray[np.float64]
#: Ranges and sums of squares that differ by less, relatively, are ties.
_TIE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """Level means of one or T sets of values (models), and whether they differ; numbers or arrays (T,).

    Attributes
    ----------
    means : (..., k)
        Mean of each level over units; with incomplete units as if every level had met every unit. NaN
        for a level that no unit in use has.
    estimate : float
        Range: largest minus smallest level mean. Never to be read without ``null_range``.
    std_error : float
        Of one level's mean, without the differences between units.
    df : float
        Degrees of freedom of that error.
    statistic : float
        F of levels against unit x level.
    p_value : float in (0, 1]
        Of the range, by permuting the level labels.
    q, p_q : float
        Levels' sum of squares over the mean square within units (Cochran's Q where values are single
        answers), and its permutation p-value.
    mc_error : float
        Monte-Carlo standard error of ``p_value``.
    null_range : float
        Expected range without any effect: d_k * std_error.
    null_range_permuted, null_range_95 : float
        Mean and 95th percentile of the range under permutation.
    denoised_range : float
        Root of range^2 - E[range^2 under permutation], at least what ``denoised_sd`` implies: permuted
        ranges hold the effect itself, and take off too much where it is large.
    denoised_sd, denoised_low, denoised_high : float
        Standard deviation between the true level means, with limits; with fewer than 4 residual degrees
        of freedom this and the denoised range are NaN.
    largest_null, largest_null_95 : float
        Expected value and 95th percentile of the largest of all T ranges without any effect: what a table
        of the models that move most has to be compared with.
    ci_level : float
    permutations, n_levels : int
    n_clusters, n_set_aside : int
        Units in use; units that cannot be (within units: with one level only).
    design : str
        "within" (labels permuted within units) or "between" (units have one level each: over units).
    reason : str
    """

    means: Any
    estimate: Any
    std_error: Any
    df: Any
    statistic: Any
    p_value: Any
    q: Any
    p_q: Any
    mc_error: Any
    null_range: Any
    null_range_permuted: Any
    null_range_95: Any
    denoised_range: Any
    denoised_sd: Any
    denoised_low: Any
    denoised_high: Any
    largest_null: Any
    largest_null_95: Any
    ci_level: float
    permutations: int
    n_levels: Any
    n_clusters: Any
    n_set_aside: Any
    design: Any
    reason: Any


#: With fewer residual degrees of freedom the noise is not known well enough to take it off a spread.
LEAST_ERROR_DF: Final = 4
FEW_UNITS: Final = "too few units to tell levels from units ({df:g} residual degrees of freedom)"
#: Fields that are the same for all T.
_SHARED: Final = ("ci_level", "permutations")


def homogeneity(
    values: ArrayLike, *, rng: np.random.Generator, permutations: int = 20_000, ci_level: float = 0.95
) -> Homogeneity:
    """Range, permutation tests and noise-corrected spread of the levels of a factor.

    Parameters
    ----------
    values : array_like (G, k) or (T, G, k)
        Mean of each unit at each level; NaN where a unit lacks the level. T sets (models) share their
        permutations as far as they share their units.
    rng : Generator
    permutations : int
    ci_level : float in (0, 1)
        Of the limits of ``denoised_sd``.

    Notes
    -----
    The null hypothesis is that labels are exchangeable within units: equal levels for these units and
    whatever else they contain (templates, say). Units of one level each are exchanged as wholes.
    Sets of values with different missing units are permuted separately; the largest of their ranges is
    then that of independent ones.

    References
    ----------
    Tippett (1925), Biometrika 17:364-387 (d_k). Pesarin (2001), Multivariate Permutation Tests.
    """
    check_level(ci_level)
    table = np.asarray(values, float)
    if table.ndim not in (2, 3) or np.isinf(table).any():
        raise AnalysisError(
            f"values must be finite or missing, (units, levels) or (models, units, levels); found shape {table.shape}"
        )
    given, stack = table.shape[:-2], table.reshape(-1, *table.shape[-2:])
    tests, _, k = stack.shape
    out = {name: np.full(tests, np.nan) for name in (f.name for f in fields(Homogeneity)) if name not in _SHARED}
    out["means"] = np.full((tests, k), np.nan)
    out |= {name: np.zeros(tests, dtype=np.int64) for name in ("n_levels", "n_clusters", "n_set_aside")}
    out |= {name: np.full(tests, "", dtype=object) for name in ("design", "reason")}
    ranges: list[Floats] = []
    for members in _patterns(stack):
        ranges += _one_pattern(stack[members], members, out, rng, permutations, ci_level)
    if ranges:
        largest = np.concatenate(ranges, axis=1).max(axis=1)
        out["largest_null"][:], out["largest_null_95"][:] = largest.mean(), np.quantile(largest, 0.95)
    shaped = {name: one.reshape((*given, *one.shape[1:]))[()] for name, one in out.items()}
    return Homogeneity(ci_level=ci_level, permutations=permutations, **shaped)


def _patterns(stack: Floats) -> list[NDArray[np.int64]]:
    """Indices of the sets of values that miss the same unit x level means."""
    seen = np.packbits(~np.isnan(stack.reshape(len(stack), -1)), axis=1)
    groups: dict[bytes, list[int]] = {}
    for at, row in enumerate(seen):
        groups.setdefault(row.tobytes(), []).append(at)
    return [np.array(members) for members in groups.values()]


def _one_pattern(
    values: Floats,
    members: NDArray[np.int64],
    out: dict[str, Any],
    rng: np.random.Generator,
    permutations: int,
    ci_level: float,
) -> list[Floats]:
    observed = ~np.isnan(values[0])
    per_unit = observed.sum(axis=1)
    within = bool((per_unit > 1).any())
    use = per_unit > 1 if within else per_unit == 1
    levels = np.flatnonzero(observed[use].any(axis=0))
    out["n_clusters"][members], out["n_levels"][members] = use.sum(), len(levels)
    out["n_set_aside"][members] = np.count_nonzero(per_unit[~use])
    out["design"][members] = "within" if within else "between"
    if len(levels) < 2:
        out["reason"][members] = "one level only" if len(levels) else "no unit has a value"
        return []
    chosen = values[:, use][:, :, levels]
    fit = effects_within(chosen) if within else effects_between(chosen)
    if isinstance(fit, str):
        out["reason"][members] = fit
        return []
    null = permuted_levels(fit, rng=rng, permutations=permutations)
    for name, column in _columns(fit, null.ranges, null.squares, ci_level).items():
        out[name][members] = column
    out["means"][np.ix_(members, levels)] = fit.means
    return [null.ranges]


def _columns(fit: LevelEffects, ranges: Floats, squares: Floats, ci_level: float) -> dict[str, Any]:
    """Fields (T,) of sets that share their units."""
    drawn, k = len(ranges), fit.df_levels + 1
    observed = fit.means.max(axis=1) - fit.means.min(axis=1)
    between = np.maximum(fit.total - fit.mse * fit.df_error, 0) if fit.df_error > 0 else fit.total
    noisy = fit.mse > 0
    f = np.divide(between / fit.df_levels, fit.mse, out=np.full(len(observed), np.nan), where=noisy)
    error = np.sqrt(fit.mse / fit.n_eff)
    pooled = fit.total / (fit.df_levels + fit.df_error)
    if fit.design == "within":
        pooled = fit.total / (fit.counts - 1).sum()
    still = fit.total == 0
    hits = np.count_nonzero(ranges >= observed * (1 - _TIE), axis=0)
    hits_q = np.count_nonzero(squares >= between * (1 - _TIE), axis=0)
    p = np.where(still, 1.0, (hits + 1) / (drawn + 1))
    # No k values with this standard deviation span less (half of them at either end).
    few = fit.df_error < LEAST_ERROR_DF
    sd, low, high = denoised_sd(f, fit.mse, fit.n_eff, fit.df_levels, fit.df_error, ci_level=ci_level)
    least = np.nan_to_num(sd * 2 * np.sqrt((k - 1) / k))
    reason = np.where(noisy, "", "units do not differ in how levels move: no error to set a range against")
    reason = np.where(noisy & few, FEW_UNITS.format(df=fit.df_error), reason)
    reason = np.where(still, "no value differs between levels" if fit.design == "within" else "all equal", reason)
    return {
        "estimate": observed,
        "std_error": np.where(noisy, error, np.nan),
        "df": float(fit.df_error),
        "statistic": f,
        "p_value": p,
        "q": np.divide(between, pooled, out=np.full(len(observed), np.nan), where=~still),
        "p_q": np.where(still, 1.0, (hits_q + 1) / (drawn + 1)),
        "mc_error": np.where(still, 0.0, np.sqrt(p * (1 - p) / drawn)),
        "null_range": np.where(noisy, expected_range(k) * error, np.nan),
        "null_range_permuted": ranges.mean(axis=0),
        "null_range_95": np.quantile(ranges, 0.95, axis=0),
        "denoised_range": np.where(few, np.nan, np.maximum(denoised_range(observed, (ranges**2).mean(axis=0)), least)),
        "denoised_sd": np.where(few, np.nan, sd),
        "denoised_low": np.where(few, np.nan, low),
        "denoised_high": np.where(few, np.nan, high),
        "reason": reason.astype(object),
    }
