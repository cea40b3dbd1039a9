"""Sign-flip tests of paired differences by unit: is their mean 0, when each unit's sign could as well be the other?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
ALTERNATIVES: Final = ("two-sided", "greater", "less")
#: Up to this many units with a difference, all sign patterns are enumerated.
ENUMERATED_UNITS: Final = 16
#: Sums closer than this share of the sum of absolute values are ties.
_TIE: Final = 1e-10
#: Numbers held at once while flipping.
_BLOCK: Final = 4_000_000
#: More than this share of the tests at the smallest possible p-value calls for more flips.
_CROWDED: Final = 0.05


@dataclass(frozen=True, slots=True)
class SignFlipTest:
    """Sign-flip tests of one or T means over the same units; each field is a number, or an array (T,).

    Attributes
    ----------
    estimate, std_error : float
        Mean over the units present, and its standard error; NaN where too few units are there.
    df : float
        Units present - 1.
    statistic : float
        estimate / std_error; NaN where the values do not vary. The p-value does not rest on it.
    p_value : float in (0, 1]
        Share of sign patterns as extreme as the data: # / 2^g where all are enumerated, else
        (b + 1) / (flips + 1). NaN without a unit.
    mc_error : float
        Monte-Carlo standard error of the p-value, 0 where all patterns were enumerated.
    resolution : float
        The smallest p-value that this test could have given: 2 / 2^g (two-sided) or 1 / (flips + 1).
    flips : int
        Sign patterns used.
    exact : bool
        Whether these were all there are.
    n_clusters : int
        Units present.
    n_differing : int
        Units g whose value is not 0; the others say nothing about the sign.
    alternative : {"two-sided", "greater", "less"}
    reason : str
        Why nothing is known, or that no p-value below ``alpha`` was possible; empty otherwise.
    """

    estimate: Any
    std_error: Any
    df: Any
    statistic: Any
    p_value: Any
    mc_error: Any
    resolution: Any
    flips: Any
    exact: Any
    n_clusters: Any
    n_differing: Any
    alternative: str
    reason: Any

    @property
    def n_units(self) -> Any:
        """Units present, another name of ``n_clusters``."""
        return self.n_clusters

    @property
    def at_floor(self) -> Any:
        """Whether the p-value is the smallest that the drawn flips allow: to be printed as an upper bound."""
        return ~np.asarray(self.exact) & (np.asarray(self.p_value) <= np.asarray(self.resolution))


def sign_flip_test(
    values: ArrayLike,
    *,
    rng: np.random.Generator,
    flips: int = 20_000,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    most_flips: int | None = None,
) -> SignFlipTest:
    """Test mean 0 by flipping the signs of whole units.

    Parameters
    ----------
    values : array_like (G,) or (T, G)
        Difference of each unit (averaged within the unit first); NaN where a unit is absent. T tests
        share their sign patterns, so that they stay as correlated as they are.
    rng : Generator
        Not used where all patterns are enumerated (16 differing units or fewer).
    flips : int
        Sign patterns drawn otherwise.
    alternative : {"two-sided", "greater", "less"}
        Of the mean against 0.
    alpha : float
        Level below which a p-value has to be possible; else ``reason`` says so.
    most_flips : int, optional
        Draw that many instead when more than 5 % of the drawn tests sit at 1 / (flips + 1).

    Raises
    ------
    AnalysisError
        Infinite values, another number of axes, or an unknown alternative.

    Notes
    -----
    Exact when each unit's difference is symmetric about 0 (as under exchange of the two sides within
    units); for mean 0 alone it holds as the number of units grows. The result does not depend on the
    order of units, nor on which side is called first.

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21.
    Phipson and Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9:39, doi:10.2202/1544-6115.1585.
    """
    given, table = unit_table(values)
    if alternative not in ALTERNATIVES:
        raise AnalysisError(f"alternative must be one of {', '.join(ALTERNATIVES)}, not {alternative!r}")
    present = ~np.isnan(table)
    zeroed = np.where(present, table, 0.0)
    differing = np.count_nonzero(zeroed, axis=1)
    exact = differing <= ENUMERATED_UNITS
    p, used = np.ones(len(table)), np.where(exact, 2.0 ** np.minimum(differing, 50), float(flips))
    for row in np.flatnonzero(exact & (differing > 0)):
        p[row] = _enumerated(zeroed[row][zeroed[row] != 0], alternative)
    drawn = np.flatnonzero(~exact)
    if len(drawn):
        p[drawn] = _drawn(zeroed[drawn], rng, flips, alternative)
        crowded = np.mean(p[drawn] <= 1 / (flips + 1)) > _CROWDED
        if most_flips is not None and most_flips > flips and crowded:
            p[drawn], used[drawn] = _drawn(zeroed[drawn], rng, most_flips, alternative), most_flips
    ends = 2.0 if alternative == "two-sided" else 1.0
    resolution = np.where(exact, np.minimum(ends / used, 1.0), 1 / (used + 1))
    mean, error, n = mean_and_error(table)
    known = n > 0
    statistic = np.divide(mean, error, out=np.full_like(mean, np.nan), where=error > 0)
    reasons = [_reason(*row, alpha) for row in zip(n, differing, resolution, strict=True)]
    fields = {
        "estimate": mean,
        "std_error": error,
        "df": np.where(known, n - 1.0, np.nan),
        "statistic": statistic,
        "p_value": np.where(known, p, np.nan),
        "mc_error": np.where(known, np.where(exact, 0.0, np.sqrt(p * (1 - p) / used)), np.nan),
        "resolution": np.where(known, resolution, np.nan),
        "flips": used.astype(np.int64),
        "exact": exact,
        "n_clusters": n,
        "n_differing": differing,
        "reason": np.array(reasons, dtype=object),
    }
    return SignFlipTest(alternative=alternative, **{name: one.reshape(given)[()] for name, one in fields.items()})


def flips_needed(n_tests: int, *, alpha: float = 0.05) -> int:
    """Flips that keep the smallest p-value a twentieth of what Bonferroni over ``n_tests`` asks for."""
    return max(int(np.ceil(20 * n_tests / alpha)), 1)


def unit_table(values: ArrayLike) -> tuple[tuple[int, ...], Floats]:
    """Leading shape of ``values`` and the values as (T, G), checked."""
    table = np.asarray(values, float)
    if table.ndim not in (1, 2):
        raise AnalysisError(f"unit values must have axes (units) or (tests, units); found shape {table.shape}")
    if np.isinf(table).any():
        raise AnalysisError(f"unit values must be finite or missing; {int(np.isinf(table).sum())} are infinite")
    return table.shape[:-1], np.atleast_2d(table)


def mean_and_error(table: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Mean, its standard error and the number of units present, along the last axis; NaN where unknown."""
    present = ~np.isnan(table)
    n = np.count_nonzero(present, axis=-1)
    # Sorted, so that the last digit does not depend on the order of units.
    ordered = np.sort(np.where(present, table, 0.0), axis=-1)
    mean = np.divide(ordered.sum(axis=-1), n, out=np.full(n.shape, np.nan), where=n > 0)
    off = np.sort(np.where(present, table - mean[..., None], 0.0), axis=-1)
    off[np.abs(off) <= 1e-12 * np.abs(mean[..., None])] = 0.0
    squares = (off**2).sum(axis=-1)
    variance = np.divide(squares, n * (n - 1.0), out=np.full(n.shape, np.nan), where=n > 1)
    return mean, np.sqrt(variance), n


def canonical_units(table: Floats) -> tuple[Floats, Floats]:
    """Units in an order and with signs that do not depend on how they, or the tests, were written down.

    Parameters
    ----------
    table : (T, G)
        Without NaN.

    Returns
    -------
    units : (T, G)
        Columns sorted and each multiplied by +1 or -1, rows multiplied by ``lean``: the same sign
        patterns over all columns give the same null distribution.
    lean : (T,)
        +1 or -1, such that the sum of lean * row is not negative.
    """
    size = np.abs(table)
    total, scale = table.sum(axis=1), size.sum(axis=1)
    lean = np.where(total < -_TIE * scale, -1.0, 1.0)
    rows = np.lexsort(np.sort(size, axis=1).T[::-1])
    leaned = (table * lean[:, None])[rows]
    columns = np.lexsort(np.concatenate([size[rows], leaned])[::-1])
    leaned = leaned[:, columns]
    first = np.take_along_axis(leaned, np.argmax(leaned != 0, axis=0)[None], axis=0)[0]
    units = np.empty_like(leaned)
    units[rows] = leaned * np.where(first < 0, -1.0, 1.0)
    return units, lean


def flipped_sums(units: Floats, rng: np.random.Generator, flips: int) -> Iterator[Floats]:
    """Sums (block, T) of the columns of ``units`` (T, G) under random signs, ``flips`` rows in all."""
    tests, g = units.shape
    block = int(np.clip(_BLOCK // max(tests, g), 64, 10_000))
    columns, total = np.ascontiguousarray(2 * units.T), units.sum(axis=1)
    for start in range(0, flips, block):
        size = min(block, flips - start)
        packed = np.frombuffer(rng.bytes(size * -(-g // 8)), np.uint8).reshape(size, -1)
        yield np.unpackbits(packed, axis=1, count=g).astype(np.float64) @ columns - total


def _drawn(zeroed: Floats, rng: np.random.Generator, flips: int, alternative: str) -> Floats:
    units, lean = canonical_units(zeroed[:, (zeroed != 0).any(axis=0)])
    total, slack = units_total(zeroed), _TIE * np.abs(zeroed).sum(axis=1)
    hits = np.zeros(len(units))
    for sums in flipped_sums(units, rng, flips):
        hits += np.count_nonzero(_as_extreme(sums * lean, total, slack, alternative), axis=0)
    return (hits + 1) / (flips + 1)


def units_total(zeroed: Floats) -> Floats:
    """Sums over units that do not depend on their order."""
    return np.sort(zeroed, axis=-1).sum(axis=-1)


def _enumerated(values: Floats, alternative: str) -> float:
    """Share of all 2^g sign patterns as extreme as the data; half of them mirror the other half."""
    g, size = len(values), np.sort(np.abs(values))
    patterns = np.arange(2 ** (g - 1))[:, None] >> np.arange(g) & 1
    sums = np.asarray((1.0 - 2.0 * patterns) @ size, dtype=np.float64)
    total, slack = float(units_total(values)), _TIE * float(size.sum())
    count = np.sum([_as_extreme(half, total, slack, alternative).sum() for half in (sums, -sums)])
    return float(count / 2**g)


def _as_extreme(sums: Floats, total: Floats | float, slack: Floats | float, alternative: str) -> NDArray[np.bool_]:
    if alternative == "two-sided":
        return np.abs(sums) >= np.abs(total) - slack
    return sums >= total - slack if alternative == "greater" else sums <= total + slack


def _reason(n: int, differing: int, resolution: float, alpha: float) -> str:
    if n == 0:
        return "no unit has a value"
    if differing == 0:
        return "no unit differs: every value is 0"
    if resolution > alpha:
        return f"{differing} differing unit{'s' if differing > 1 else ''} cannot give a p-value below {resolution:.3g}"
    return ""
