"""Ranges and level sums of squares when level labels are permuted: within units, or over units of one level."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations as all_orders
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from analysis.frequentist.level_effects import LevelEffects

Floats = NDArray[np.float64]
#: Numbers held at once while permuting.
_BLOCK: Final = 500_000
#: Orders of up to this many levels are looked up.
_TABLED_LEVELS: Final = 6


@dataclass(frozen=True, slots=True)
class PermutedLevels:
    """Null distribution; arrays (permutations, T).

    Attributes
    ----------
    ranges : ndarray
        Largest minus smallest level mean.
    squares : ndarray
        Sum of squares between levels.
    """

    ranges: Floats
    squares: Floats


def permuted_levels(fit: LevelEffects, *, rng: np.random.Generator, permutations: int) -> PermutedLevels:
    """Permute labels, the same way for all T sets of values."""
    draws = _within(fit, rng, permutations) if fit.design == "within" else _between(fit, rng, permutations)
    ranges, squares = [], []
    for sums in draws:
        effects = np.einsum("bft,fg->bgt", sums, fit.solve)
        ranges.append(effects.max(axis=1) - effects.min(axis=1))
        squares.append((effects * sums).sum(axis=1))
    return PermutedLevels(np.concatenate(ranges), np.concatenate(squares))


def _within(fit: LevelEffects, rng: np.random.Generator, permutations: int) -> Iterator[Floats]:
    """Sums by level (block, k, T) of permuted blocks."""
    tests, g, k = fit.blocks.shape
    blocks, places, counts = _canonical(fit)
    values = np.ascontiguousarray(blocks.reshape(tests, g * k).T)
    back = None if (places == np.arange(k)).all() else np.argsort(places, axis=1)[None]
    first = np.arange(g, dtype=np.int32)[:, None] * np.int32(k)
    size = int(np.clip(_BLOCK // (k * max(g, tests)), 16, permutations))
    ones, rows = np.ones(size * k * g), np.arange(0, size * k * g + 1, g, dtype=np.int32)
    for start in range(0, permutations, size):
        n = min(size, permutations - start)
        orders = _orders(rng, n, counts, k)
        takes = (orders if back is None else np.take_along_axis(orders, back, axis=2)) + first
        # Row (permutation, level) of a sparse matrix picks the value that each unit brings to the level.
        index = np.ascontiguousarray(takes.transpose(0, 2, 1)).ravel()
        picked = csr_matrix((ones[: len(index)], index, rows[: n * k + 1]), shape=(n * k, g * k))
        yield (picked @ values).reshape(n, k, tests)


def _orders(rng: np.random.Generator, n: int, counts: NDArray[np.int64], k: int) -> NDArray[np.int32]:
    """Random orders (n, G, k) of the first counts[u] places of each unit; the others stay."""
    if k <= _TABLED_LEVELS and (counts == k).all():
        table = np.array(list(all_orders(range(k))), dtype=np.int32)
        return table[rng.integers(len(table), size=(n, len(counts)), dtype=np.uint16)]
    # A random number with the place in its lowest bits: sorting it is quicker than sorting places by it.
    kind, bits = (np.uint32, 32) if k <= 256 else (np.uint64, 64)
    low = kind(2 ** int(k - 1).bit_length() - 1)
    keys = rng.integers(0, 2 ** (bits - 1), size=(n, len(counts), k), dtype=kind)
    keys[:, np.arange(k) >= counts[:, None]] = kind(2**bits - 1)
    keys = np.bitwise_or(np.bitwise_and(keys, ~low), np.arange(k, dtype=kind))
    keys.sort(axis=-1)
    return (keys & low).astype(np.int32)


def _between(fit: LevelEffects, rng: np.random.Generator, permutations: int) -> Iterator[Floats]:
    tests, g = fit.blocks.shape
    k = len(fit.solve)
    order = np.lexsort(np.concatenate([fit.blocks, np.abs(fit.blocks)])[::-1])
    values = np.ascontiguousarray(fit.blocks[:, order].T)
    level = np.sort(fit.places)
    size = int(np.clip(_BLOCK // (g * k), 16, 4000))
    for start in range(0, permutations, size):
        n = min(size, permutations - start)
        shuffled = rng.permuted(np.broadcast_to(level, (n, g)), axis=1)
        chosen = (shuffled[:, None, :] == np.arange(k)[:, None]).astype(np.float64)
        yield (chosen.reshape(n * k, g) @ values).reshape(n, k, tests)


def _canonical(fit: LevelEffects) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Blocks in an order that depends on the values alone, so that the order of units does not matter."""
    blocks, (tests, g, k) = fit.blocks, fit.blocks.shape
    if tests == 1:
        # Any arrangement within a unit is as good a start: sorted, the names of levels do not matter either.
        last = np.arange(k) >= fit.counts[:, None]
        blocks = np.sort(np.where(last, np.inf, blocks), axis=2)
        blocks = np.where(last, 0.0, blocks)
    keys = [*fit.places.T, *blocks.transpose(0, 2, 1).reshape(tests * k, g)]
    order = np.lexsort(keys[::-1]) if not (fit.counts == k).all() else np.lexsort(keys[: k - 1 : -1])
    return blocks[:, order], fit.places[order], fit.counts[order]
