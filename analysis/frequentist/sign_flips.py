"""Sign-flip tests of paired differences by unit: is their mean 0, when each unit's sign could as well be the other?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError
from analysis.frequentist.flip_counts import TIE, as_extreme, extreme_counts, extreme_pair_counts, units_total

Floats = NDArray[np.float64]
ALTERNATIVES: Final = ("two-sided", "greater", "less")
#: Up to this many units with a difference, all sign patterns are enumerated.
ENUMERATED_UNITS: Final = 16
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
        Draw up to that many when more than 5 % of the drawn tests sit at 1 / (flips + 1).

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

    def counted(rows: NDArray[np.intp], zeroed: Floats, number: int) -> Floats:
        return extreme_counts(zeroed[rows], rng, number, alternative)

    return _tested(table, given, counted, flips, alternative, alpha, most_flips)


def pair_flip_tests(
    sides: ArrayLike,
    pairs: NDArray[np.int64],
    *,
    rng: np.random.Generator,
    flips: int = 20_000,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    most_flips: int | None = None,
) -> SignFlipTest:
    """``sign_flip_test`` of the differences of pairs of rows.

    Parameters
    ----------
    sides : array_like (M, G)
        Unit values; NaN where a unit is absent. Parameters without a description are those of ``sign_flip_test``.
    pairs : (T, 2) of int
        Rows of ``sides``: the first minus the second is tested.

    Notes
    -----
    Where all rows have the same units the flipped sums of M rows serve all pairs, with the same p-values.
    """
    _, table = unit_table(sides)
    differences = table[pairs[:, 0]] - table[pairs[:, 1]]
    table = table[:, ~np.isnan(table).all(axis=0)]
    if np.isnan(table).any() or not len(pairs):
        return sign_flip_test(
            differences, rng=rng, flips=flips, alternative=alternative, alpha=alpha, most_flips=most_flips
        )

    def counted(rows: NDArray[np.intp], _: Floats, number: int) -> Floats:
        return extreme_pair_counts(table, pairs[rows], rng, number, alternative)

    return _tested(differences, (len(pairs),), counted, flips, alternative, alpha, most_flips)


def _tested(
    table: Floats,
    given: tuple[int, ...],
    counted: Callable[[NDArray[np.intp], Floats, int], Floats],
    flips: int,
    alternative: str,
    alpha: float,
    most_flips: int | None,
) -> SignFlipTest:
    """Tests of the rows (T, G), of shape ``given``; ``counted`` counts extreme sign patterns of some rows."""
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
        hits = counted(drawn, zeroed, flips)
        crowded = np.mean(hits == 0) > _CROWDED
        if most_flips is not None and most_flips > flips and crowded:
            hits += counted(drawn, zeroed, most_flips - flips)
            used[drawn] = most_flips
        p[drawn] = (hits + 1) / (used[drawn] + 1)
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


def _enumerated(values: Floats, alternative: str) -> float:
    """Share of all 2^g sign patterns as extreme as the data; half of them mirror the other half."""
    g, size = len(values), np.sort(np.abs(values))
    patterns = np.arange(2 ** (g - 1))[:, None] >> np.arange(g) & 1
    sums = np.asarray((1.0 - 2.0 * patterns) @ size, dtype=np.float64)
    total, slack = float(units_total(values)), TIE * float(size.sum())
    count = np.sum([as_extreme(half, total, slack, alternative).sum() for half in (sums, -sums)])
    return float(count / 2**g)


def _reason(n: int, differing: int, resolution: float, alpha: float) -> str:
    if n == 0:
        return "no unit has a value"
    if differing == 0:
        return "no unit differs: every value is 0"
    if resolution > alpha:
        return f"{differing} differing unit{'s' if differing > 1 else ''} cannot give a p-value below {resolution:.3g}"
    return ""
