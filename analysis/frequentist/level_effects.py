"""Level means of a factor and their noise, with units as blocks or with units of one level each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Sums of squares below this share of the total are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class LevelEffects:
    """Additive fit of T sets of values over the same units and k levels.

    Attributes
    ----------
    design : {"within", "between"}
        Units that serve several levels, or one each.
    means : (T, k)
        Level means as if every level had met every unit.
    blocks : (T, G, k) or (T, G)
        Values that permutations move: deviations from the unit's mean with the levels that a unit lacks
        put last and set to 0; or the units' deviations from the grand mean.
    places : (G, k) or (G,) of int
        Level of each value in ``blocks``.
    counts : (G,) of int
        Levels that each unit serves.
    solve : (k, k)
        Effects = sums of ``blocks`` by level @ solve.
    total : (T,)
        Sum of squares of ``blocks``.
    mse : (T,)
        Mean square of what units and levels leave.
    n_eff : float
        Units per level of the balanced design with the same precision: std_error = sqrt(mse / n_eff).
    df_levels, df_error : int
    """

    design: str
    means: Floats
    blocks: Floats
    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    solve: Floats
    total: Floats
    mse: Floats
    n_eff: float
    df_levels: int
    df_error: int


def effects_within(values: Floats) -> LevelEffects | str:
    """Fit unit + level to ``values`` (T, G, k), every unit with two levels or more; else the reason why not.

    Notes
    -----
    Least squares with units as fixed blocks: level effects solve C e = q, where q are sums over units of
    deviations from the unit's mean and C = diag(n_f) - sum_u m_u m_u' / k_u. In a complete design
    effects are plain differences of level means.
    """
    observed = ~np.isnan(values[0])
    zeroed = np.where(observed, values, 0.0)
    g, k = observed.shape
    counts = observed.sum(axis=1)
    unit_mean = _sorted_sum(zeroed, axis=2) / counts
    off = _rounded(np.where(observed, values - unit_mean[..., None], 0.0), zeroed)
    met = observed.astype(float)
    information = np.diag(met.sum(axis=0)) - met.T @ (met / counts[:, None])
    if np.linalg.matrix_rank(information) < k - 1:
        return "some levels are never compared with the others within a unit"
    solve = np.linalg.pinv(information, hermitian=True)
    sums = _sorted_sum(off, axis=1)
    effects = sums @ solve
    total = _sorted_sum((off**2).reshape(len(off), -1), axis=1)
    error = total - (effects * sums).sum(axis=1)
    df_error = int(counts.sum()) - g - (k - 1)
    centre = (unit_mean - effects @ (met / counts[:, None]).T).mean(axis=1)
    order = np.argsort(~observed, axis=1, kind="stable")
    return LevelEffects(
        design="within",
        means=centre[:, None] + effects,
        blocks=np.take_along_axis(off, order[None], axis=2),
        places=order,
        counts=counts,
        solve=solve,
        total=total,
        mse=_mean_square(error, total, df_error),
        n_eff=float((k - 1) / np.trace(solve)),
        df_levels=k - 1,
        df_error=df_error,
    )


def effects_between(values: Floats) -> LevelEffects | str:
    """One-way fit of ``values`` (T, G, k), every unit with exactly one level; else the reason why not."""
    observed = ~np.isnan(values[0])
    g, k = observed.shape
    level = observed.argmax(axis=1)
    one = np.where(observed, values, 0.0).sum(axis=2)
    per_level = observed.sum(axis=0)
    df_error = g - k
    if df_error < 1:
        return "one unit per level: levels cannot be told from units"
    centre = _sorted_sum(one, axis=1) / g
    off = _rounded(one - centre[:, None], one)
    sums = off @ observed.astype(float)
    total = _sorted_sum(off**2, axis=1)
    error = total - (sums**2 / per_level).sum(axis=1)
    return LevelEffects(
        design="between",
        means=centre[:, None] + sums / per_level,
        blocks=off,
        places=level,
        counts=np.ones(g, dtype=np.int64),
        solve=np.diag(1 / per_level),
        total=total,
        mse=_mean_square(error, total, df_error),
        n_eff=float(1 / np.mean(1 / per_level)),
        df_levels=k - 1,
        df_error=df_error,
    )


def _rounded(off: Floats, values: Floats) -> Floats:
    """Deviations with those that are rounding set to 0, so that equal values do not vary."""
    scale = np.abs(values).reshape(len(values), -1).max(axis=1).reshape(-1, *[1] * (values.ndim - 1))
    return np.where(np.abs(off) <= _ROUNDING * scale, 0.0, off)


def _mean_square(error: Floats, total: Floats, df: int) -> Floats:
    left = np.where(error <= _ROUNDING * total, 0.0, error)
    return left / df if df > 0 else np.full(left.shape, np.nan)


def _sorted_sum(values: Floats, axis: int) -> Floats:
    """Sum whose last digit does not depend on the order of units or levels."""
    return np.sort(values, axis=axis).sum(axis=axis)
