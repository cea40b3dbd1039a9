"""Several contrasts of the same units at once: the largest of them by chance, and limits that hold together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
#: Numbers held at once while drawing.
_BLOCK = 4_000_000


@dataclass(frozen=True, slots=True)
class LargestContrast:
    """What the largest of Q contrasts would be without any effect, for T sets (models) of them; arrays (T,).

    Attributes
    ----------
    estimate : ndarray
        Largest absolute contrast of each set.
    null_largest, null_largest_95 : ndarray
        Mean and 95th percentile of it if every true contrast were 0.
    p_value : ndarray in (0, 1]
        Of the largest |contrast| / standard error.
    mc_error : ndarray
    pointwise_level : ndarray
        Level at which limits of single contrasts hold for all Q of the set together with ``ci_level``.
    all_null, all_null_95 : float
        Mean and 95th percentile of the largest over all sets.
    draws : int
    """

    estimate: Floats
    null_largest: Floats
    null_largest_95: Floats
    p_value: Floats
    mc_error: Floats
    pointwise_level: Floats
    all_null: float
    all_null_95: float
    draws: int


def largest_contrast(
    values: ArrayLike,
    estimate: ArrayLike,
    std_error: ArrayLike,
    df: ArrayLike,
    *,
    rng: np.random.Generator,
    draws: int = 20_000,
    ci_level: float = 0.95,
) -> LargestContrast:
    """Joint null distribution of contrasts by a multiplier bootstrap over units.

    Parameters
    ----------
    values : array_like (T, Q, G)
        Unit values of each contrast (``linearised.unit_contrast_values``); NaN where a unit serves none of it.
    estimate, std_error, df : array_like (T, Q)
        Cluster-robust; NaN where undefined.
    rng : Generator
    draws : int
    ci_level : float in (0, 1)

    Notes
    -----
    Deviations of units from their mean are multiplied by standard normal numbers, the same for all
    contrasts of a unit: the correlations between contrasts are those of the units. Sizes are those of
    the given standard errors; t statistics are carried to the normal scale by their tail probability.

    References
    ----------
    Hothorn, Bretz and Westfall (2008), Biometrical Journal 50:346-363, doi:10.1002/bimj.200810425.
    Chernozhukov, Chetverikov and Kato (2013), Annals of Statistics 41:2786-2819, doi:10.1214/13-AOS1161.
    """
    table = np.asarray(values, float)
    size, error, free = (np.asarray(x, float) for x in (estimate, std_error, df))
    if table.ndim != 3 or table.shape[:2] != size.shape:
        raise AnalysisError(f"values must be (sets, contrasts, units); found {table.shape} beside {size.shape}")
    level = check_level(ci_level)
    usable = (error > 0) & np.isfinite(size)
    units = _scaled(table, usable)
    z = np.where(usable, ndtri(1 - student.sf(np.abs(size) / np.where(usable, error, 1), free)), 0.0)
    z = np.minimum(np.nan_to_num(z, posinf=np.inf), 38.0)
    observed, moved = np.where(usable, np.abs(z), 0).max(axis=1), np.where(usable, error, 0.0)
    studentised, sizes = np.empty((draws, len(size))), np.empty((draws, len(size)))
    order = np.lexsort(np.abs(units.reshape(-1, units.shape[-1])))
    flat = np.ascontiguousarray(units.reshape(-1, units.shape[-1])[:, order].T)
    block = int(np.clip(_BLOCK // max(flat.shape), 64, draws))
    for start in range(0, draws, block):
        at = slice(start, min(start + block, draws))
        drawn = np.abs(rng.standard_normal((at.stop - start, len(flat))) @ flat).reshape(-1, *size.shape)
        studentised[at], sizes[at] = drawn.max(axis=2), (drawn * moved).max(axis=2)
    p = ((studentised >= observed).sum(axis=0) + 1) / (draws + 1)
    any_usable = usable.any(axis=1)
    largest = sizes.max(axis=1)
    known = bool(any_usable.any())

    def shown(x: Floats) -> Floats:
        return np.where(any_usable, x, np.nan)

    return LargestContrast(
        estimate=np.abs(np.where(np.isfinite(size), size, 0)).max(axis=1, initial=0.0),
        null_largest=shown(sizes.mean(axis=0)),
        null_largest_95=shown(np.quantile(sizes, 0.95, axis=0)),
        p_value=shown(p),
        mc_error=shown(np.sqrt(p * (1 - p) / draws)),
        pointwise_level=shown(2 * ndtr(np.quantile(studentised, level, axis=0)) - 1),
        all_null=float(largest.mean()) if known else np.nan,
        all_null_95=float(np.quantile(largest, 0.95)) if known else np.nan,
        draws=draws,
    )


def _scaled(table: Floats, usable: NDArray[np.bool_]) -> Floats:
    """Deviations of units with unit length for each contrast; 0 where a unit or the contrast is missing."""
    present = ~np.isnan(table)
    count = present.sum(axis=-1, keepdims=True)
    mean = np.divide(np.where(present, table, 0).sum(axis=-1, keepdims=True), np.maximum(count, 1))
    off = np.where(present & usable[..., None], table - mean, 0.0)
    length = np.sqrt((off**2).sum(axis=-1, keepdims=True))
    return np.divide(off, length, out=np.zeros_like(off), where=length > 0)
