"""How often random signs of units give a sum as extreme as the observed one, in an order of no consequence."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.frequentist.unit_draws import chosen_sums

Floats = NDArray[np.float64]
#: Sums closer than this share of the sum of absolute values are ties.
TIE: Final = 1e-10
#: Numbers held at once while flipping: few enough for a processor's own memory.
_BLOCK: Final = 400_000


def canonical_order(table: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """An order and signs of units that do not depend on how they, or the tests, were written down.

    Parameters
    ----------
    table : (T, G)
        Without NaN.

    Returns
    -------
    columns : (G,) of int
        Positions of the units in the new order.
    signs : (G,)
        +1 or -1 for each unit in that order.
    lean : (T,)
        +1 or -1, such that the sum of lean * row is not negative.
    """
    size = np.abs(table)
    total, scale = table.sum(axis=1), size.sum(axis=1)
    lean = np.where(total < -TIE * scale, -1.0, 1.0)
    rows = np.lexsort(np.sort(size, axis=1).T[::-1])
    leaned = (table * lean[:, None])[rows]
    columns = np.lexsort(np.concatenate([size[rows], leaned])[::-1])
    leaned = leaned[:, columns]
    first = np.take_along_axis(leaned, np.argmax(leaned != 0, axis=0)[None], axis=0)[0]
    return columns, np.where(first < 0, -1.0, 1.0), lean


def canonical_units(table: Floats) -> tuple[Floats, Floats]:
    """Units in canonical order and with canonical signs, (T, G), and the lean of each row (T,).

    Rows are multiplied by their lean, columns by their sign: the same sign patterns over all columns give the
    same null distribution.
    """
    columns, signs, lean = canonical_order(table)
    return (table * lean[:, None])[:, columns] * signs, lean


def flipped_sums(units: Floats, rng: np.random.Generator, flips: int) -> Iterator[Floats]:
    """Sums (block, T) of the columns of ``units`` (T, G) under random signs, ``flips`` rows in all."""
    columns, total = np.ascontiguousarray(2 * units.T), units.sum(axis=1)
    for bits in _random_bits(units.shape[1], rng, flips, len(units)):
        yield chosen_sums(bits, columns) - total


def extreme_counts(zeroed: Floats, rng: np.random.Generator, flips: int, alternative: str) -> Floats:
    """Sign patterns, of ``flips`` random ones, that give each row (T, G) a sum as extreme as its own."""
    used = zeroed[:, (zeroed != 0).any(axis=0)]
    columns, signs, _ = canonical_order(used)
    total, slack = units_total(zeroed), TIE * np.abs(zeroed).sum(axis=1)
    hits = np.zeros(len(zeroed))
    for sums in flipped_sums(used[:, columns] * signs, rng, flips):
        hits += np.count_nonzero(as_extreme(sums, total, slack, alternative), axis=0)
    return hits


def extreme_pair_counts(
    sides: Floats, pairs: NDArray[np.int64], rng: np.random.Generator, flips: int, alternative: str
) -> Floats:
    """``extreme_counts`` of the differences of the rows of ``sides`` (M, G) that ``pairs`` (T, 2) names.

    Under common signs the sum of a difference is the difference of the sums: those of M rows give all pairs.
    """
    differences = sides[pairs[:, 0]] - sides[pairs[:, 1]]
    used = (differences != 0).any(axis=0)
    columns, signs, _ = canonical_order(differences[:, used])
    total, slack = units_total(differences), TIE * np.abs(differences).sum(axis=1)
    rows = sides[:, used][:, columns] * signs
    firsts = [(int(first), np.flatnonzero(pairs[:, 0] == first)) for first in np.unique(pairs[:, 0])]
    hits = np.zeros(len(pairs))
    for by_row in flipped_sums(rows, rng, flips):
        sums = np.ascontiguousarray(by_row.T)
        for first, own in firsts:
            off = sums[first] - sums[pairs[own, 1]]
            hits[own] += np.count_nonzero(as_extreme(off, total[own, None], slack[own, None], alternative), axis=1)
    return hits


def units_total(zeroed: Floats) -> Floats:
    """Sums over units that do not depend on their order."""
    return np.sort(zeroed, axis=-1).sum(axis=-1)


def as_extreme(sums: Floats, total: Floats | float, slack: Floats | float, alternative: str) -> NDArray[np.bool_]:
    """Whether sums reach the observed ``total``, up to rounding."""
    if alternative == "two-sided":
        return np.abs(sums) >= np.abs(total) - slack
    return sums >= total - slack if alternative == "greater" else sums <= total + slack


def _random_bits(g: int, rng: np.random.Generator, flips: int, tests: int) -> Iterator[NDArray[np.uint8]]:
    """Random bits of g units, eight to a byte, ``flips`` rows in all; a block times ``tests`` sums are held at once."""
    # Whole bytes of the generator: the signs do not depend on the size of a block.
    block = 8 * int(np.clip(_BLOCK // (8 * tests), 64, 1250))
    for start in range(0, flips, block):
        size = min(block, flips - start)
        yield np.frombuffer(rng.bytes(size * -(-g // 8)), np.uint8).reshape(size, -1)
