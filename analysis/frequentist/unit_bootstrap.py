"""Bootstrap of whole units by matrix products: sums of resampled units, percentile and studentised limits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from analysis.arguments import check_level
from analysis.errors import AnalysisError
from analysis.frequentist.unit_draws import draw_counts

Floats = NDArray[np.float64]
WEIGHTS: Final = ("multinomial", "poisson")
#: Numbers held at once while resampling.
_BLOCK: Final = 4_000_000
_ROUNDING: Final = 1e-12
#: Copying a column of weights costs about as much as multiplying so many.
_COPIED: Final = 8


@dataclass(frozen=True, slots=True)
class BootstrapMean:
    """Means, or ratios of sums, with studentised bootstrap limits; numbers or arrays (T,).

    Attributes
    ----------
    estimate, std_error, df : float
        Ratio of sums over units, its linearised standard error, units - 1.
    statistic : float
        estimate / std_error.
    p_value : float in (0, 1]
        Of 0, two-sided: twice the smaller tail of the studentised replicates.
    mc_error : float
        Monte-Carlo standard error of the p-value.
    ci_low, ci_high, ci_level : float
    ci_method : str
    resamples : int
    n_clusters : int
    reason : str
    """

    estimate: Any
    std_error: Any
    df: Any
    statistic: Any
    p_value: Any
    mc_error: Any
    ci_low: Any
    ci_high: Any
    ci_level: float
    ci_method: str
    resamples: int
    n_clusters: Any
    reason: Any


def resampled_sums(
    sums: ArrayLike, *, rng: np.random.Generator, resamples: int = 10_000, weights: str = "multinomial"
) -> Floats:
    """Column sums of resampled units.

    Parameters
    ----------
    sums : array_like (G, C)
        What each unit adds: counts and events of cells, models side by side. Whatever has to be
        resampled with the same units goes into one call: units are sorted by value before they are
        drawn, so that their order in the log does not matter.
    rng : Generator
    resamples : int
    weights : {"multinomial", "poisson"}
        Poisson weights leave the number of units free: for ratios of sums only, where that cancels.

    Returns
    -------
    ndarray (resamples, C)
    """
    table = np.asarray(sums, float)
    if table.ndim != 2 or not len(table) or not np.isfinite(table).all():
        raise AnalysisError(f"sums must be finite, (units, columns) with a unit or more; found shape {table.shape}")
    table = table[np.lexsort(table.T[::-1])]
    distinct, blocks, place = _blocks(table)
    sums = np.zeros((resamples, distinct.shape[1]))
    start = 0
    for drawn in unit_weights(len(table), rng, resamples, weights):
        rows = slice(start, start + len(drawn))
        for units, columns in blocks:
            sums[rows, columns] = drawn[:, units] @ distinct[np.ix_(units, columns)]
        start += len(drawn)
    return sums[:, place]


def _blocks(table: Floats) -> tuple[Floats, list[tuple[NDArray[np.intp], NDArray[np.intp]]], NDArray[np.intp]]:
    """Distinct columns of a table (G, C), which units matter to which of them, and the distinct one of each column.

    Sums of groups of units have many zeros, and sums of one model's units many equal columns.
    """
    distinct, place = _distinct(table)
    patterns, pattern = _distinct(distinct != 0)
    columns = [np.flatnonzero(pattern == at) for at in range(patterns.shape[1])]
    units = [np.flatnonzero(one) for one in patterns.T]
    work = sum(len(u) * (len(c) + _COPIED) for u, c in zip(units, columns, strict=True))
    if work > len(table) * distinct.shape[1]:
        units, columns = [np.arange(len(table))], [np.arange(distinct.shape[1])]
    return distinct, list(zip(units, columns, strict=True)), place


def _distinct(table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Columns that differ, in order of appearance, and which of them each column is."""
    found: dict[bytes, int] = {}
    place = np.array([found.setdefault(column.tobytes(), len(found)) for column in table.T], np.intp)
    return table[:, np.unique(place, return_index=True)[1]], place


def unit_weights(
    units: int, rng: np.random.Generator, resamples: int, weights: str = "multinomial"
) -> Iterator[Floats]:
    """How often each unit is drawn, (block, units), ``resamples`` rows in all."""
    if weights not in WEIGHTS:
        raise AnalysisError(f"weights must be one of {', '.join(WEIGHTS)}, not {weights!r}")
    block = int(np.clip(_BLOCK // units, 16, 2000))
    table = _poisson_table()
    for start in range(0, resamples, block):
        n = min(block, resamples - start)
        if weights == "poisson":
            yield table[np.frombuffer(rng.bytes(2 * n * units), np.uint16)].reshape(n, units)
        else:
            yield draw_counts(rng.integers(0, units, size=(n, units), dtype=np.int32))


def resampled_rates(
    n: ArrayLike, y: ArrayLike, *, rng: np.random.Generator, resamples: int = 10_000, weights: str = "multinomial"
) -> Floats:
    """Rates of groups when units are resampled, all models with the same units.

    Parameters
    ----------
    n, y : array_like (M, G, K)
        Weight of responses and events by model, unit and group.

    Returns
    -------
    ndarray (resamples, M, K)
        NaN where no unit drawn serves the group.
    """
    trials, events = np.asarray(n, float), np.asarray(y, float)
    if trials.ndim != 3 or trials.shape != events.shape:
        raise AnalysisError(f"n and y must be (models, units, groups); found {trials.shape}, {events.shape}")
    models, units, groups = trials.shape
    sides = [side.transpose(1, 0, 2).reshape(units, models * groups) for side in (trials, events)]
    drawn = resampled_sums(np.concatenate(sides, axis=1), rng=rng, resamples=resamples, weights=weights)
    total, right = (part.reshape(resamples, models, groups) for part in np.split(drawn, 2, axis=1))
    return np.divide(right, total, out=np.full_like(right, np.nan), where=total > 0)


def percentile_limits(replicates: ArrayLike, *, ci_level: float = 0.95) -> tuple[Floats, Floats]:
    """Equal-tailed percentiles over the first axis; NaN where more than 1 % of the replicates are undefined.

    For smooth functionals (rates, differences, correlations): for a minimum or a range they cover too rarely.
    """
    values = np.asarray(replicates, float)
    tail = (1 - check_level(ci_level)) / 2
    lost = np.isnan(values).mean(axis=0) > 0.01
    whole = np.where(lost, 0.0, values)
    low, high = np.nanquantile(whole, (tail, 1 - tail), axis=0)
    return np.where(lost, np.nan, low)[()], np.where(lost, np.nan, high)[()]


def bootstrap_t(
    values: ArrayLike,
    *,
    rng: np.random.Generator,
    sizes: ArrayLike | None = None,
    resamples: int = 10_000,
    ci_level: float = 0.95,
) -> BootstrapMean:
    """Studentised bootstrap of a mean over units, or of a ratio of sums.

    Parameters
    ----------
    values : array_like (G,) or (T, G)
        Unit values; NaN where a unit is absent. T rows share their resamples.
    rng : Generator
    sizes : array_like, broadcastable to ``values``, optional
        The estimate is then sum(values) / sum(sizes), and not the mean.
    resamples : int
    ci_level : float in (0, 1)

    Notes
    -----
    For skewed values (absolute residuals) this covers better than percentiles. Standard error by
    linearisation: G / (G - 1) * sum (a - r b)^2 / (sum b)^2, in the data and in each resample.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 12.
    """
    top = np.asarray(values, float)
    given, top = top.shape[:-1], np.atleast_2d(top)
    bottom = np.ones_like(top) if sizes is None else np.broadcast_to(np.asarray(sizes, float), top.shape)
    tail = (1 - check_level(ci_level)) / 2
    present = ~(np.isnan(top) | np.isnan(bottom))
    a, b = np.where(present, top, 0.0), np.where(present, bottom, 0.0)
    g = present.sum(axis=1).astype(float)
    estimate, error = _ratios(np.stack([g, a.sum(1), b.sum(1), (a * a).sum(1), (a * b).sum(1), (b * b).sum(1)]))
    usable = np.flatnonzero((g > 1) & (error > 0))
    low, high, p = (np.full(len(top), np.nan) for _ in range(3))
    lost = np.zeros(len(top), dtype=bool)
    if len(usable):
        limits, p[usable] = _studentised(
            a[usable], b[usable], present[usable], estimate, usable, rng, resamples, tail, error
        )
        low[usable], high[usable] = (
            estimate[usable] - limits[1] * error[usable],
            estimate[usable] - limits[0] * error[usable],
        )
        lost = ~np.isfinite(low) | ~np.isfinite(high)
    few = np.isin(np.arange(len(top)), usable) & lost
    reason = np.select(
        [g == 0, np.isnan(estimate), g == 1, ~(error > 0), few],
        [
            "no unit has a value",
            "the sizes add up to 0",
            "one unit only",
            "all units have the same value",
            "too few units differ: many resamples do not vary",
        ],
        "",
    )
    statistic = np.divide(estimate, error, out=np.full(len(top), np.nan), where=error > 0)
    fields = {
        "estimate": estimate,
        "std_error": error,
        "df": np.where(g > 0, g - 1, np.nan),
        "statistic": statistic,
        "p_value": p,
        "mc_error": np.sqrt(p * (1 - np.minimum(p, 1)) / resamples),
        "ci_low": np.where(lost, np.nan, low),
        "ci_high": np.where(lost, np.nan, high),
        "n_clusters": g.astype(np.int64),
        "reason": reason.astype(object),
    }
    shaped = {name: one.reshape(given)[()] for name, one in fields.items()}
    return BootstrapMean(ci_level=ci_level, ci_method="unit bootstrap-t", resamples=resamples, **shaped)


def _studentised(
    a: Floats,
    b: Floats,
    present: NDArray[np.bool_],
    estimates: Floats,
    usable: NDArray[np.intp],
    rng: np.random.Generator,
    resamples: int,
    tail: float,
    errors: Floats,
) -> tuple[Floats, Floats]:
    """Quantiles (2, T) of the studentised replicates, and p-values (T,)."""
    tests, g = a.shape
    parts = np.stack([present.astype(float), a, b, a * a, a * b, b * b])
    columns = parts.transpose(2, 0, 1).reshape(g, 6 * tests)
    drawn = resampled_sums(columns, rng=rng, resamples=resamples).reshape(resamples, 6, tests)
    ratio, error = _ratios(drawn.transpose(1, 0, 2))
    off = ratio - estimates[usable]
    # A resample without variation lies infinitely far out, unless it hit the estimate itself.
    still = ~(error > 0)
    t = np.divide(off, error, out=np.where(off == 0, 0.0, np.copysign(np.inf, np.nan_to_num(off))), where=~still)
    observed = estimates[usable] / errors[usable]
    below, above = (t <= observed).sum(axis=0), (t >= observed).sum(axis=0)
    p = np.minimum(1.0, 2 * (np.minimum(below, above) + 1) / (resamples + 1))
    ordered = np.sort(t, axis=0)
    at = np.clip((np.array([tail, 1 - tail]) * resamples).astype(int), 0, resamples - 1)
    return ordered[at], p


def _ratios(parts: Floats) -> tuple[Floats, Floats]:
    """Ratio of sums and its standard error, from units, sums of a, b, a^2, ab and b^2 on the first axis."""
    g, a, b, aa, ab, bb = parts
    ratio = np.divide(a, b, out=np.full(a.shape, np.nan), where=b > 0)
    squares = aa - 2 * ratio * ab + ratio**2 * bb
    squares = np.where(squares <= _ROUNDING * aa, 0.0, squares)
    factor = np.divide(g, g - 1, out=np.full(g.shape, np.nan), where=g > 1)
    return ratio, np.sqrt(factor * squares) / np.where(b > 0, b, np.nan)


def _poisson_table() -> Floats:
    """Poisson(1) counts by a 16-bit number, each count as often as its probability asks for."""
    k = np.arange(12)
    upper = np.cumsum(np.exp(-1 - gammaln(k + 1)))
    return np.searchsorted(upper, (np.arange(65536) + 0.5) / 65536).astype(np.float64)
