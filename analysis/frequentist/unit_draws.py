"""Sums over randomly signed, and counts of randomly drawn, units: the loops behind flips and resamples, compiled."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def chosen_sums(packed: NDArray[np.uint8], columns: Floats) -> Floats:
    """Sums of the rows of ``columns`` whose bit is set.

    Parameters
    ----------
    packed : (F, B) of uint8
        Bits of F patterns over G units, the first unit in the highest bit, as ``numpy.unpackbits`` reads them.
    columns : (G, T)

    Returns
    -------
    ndarray (F, T)

    Notes
    -----
    Eight units at a time: the 256 sums of each eight are made once and looked up by the byte of every pattern (the
    method of four Russians). Each sum is added up in the order of the units, whatever F and T.
    """
    flips, size = packed.shape
    units, tests = columns.shape
    sums, table = np.zeros((flips, tests)), np.zeros((256, tests))
    for at in range(size):
        for bit in range(8):
            unit = 8 * at + 7 - bit
            for below in range(1 << bit):
                for t in range(tests):
                    added = columns[unit, t] if unit < units else 0.0
                    table[(1 << bit) + below, t] = table[below, t] + added
        for f in range(flips):
            byte = packed[f, at]
            for t in range(tests):
                sums[f, t] += table[byte, t]
    return sums


@njit(cache=True, nogil=True)
def draw_counts(index: NDArray[np.int32]) -> Floats:
    """How often each of G units stands in the rows of ``index`` (N, G) of numbers below G, as (N, G) floats."""
    counts = np.zeros(index.shape)
    for row in range(index.shape[0]):
        for at in range(index.shape[1]):
            counts[row, index[row, at]] += 1.0
    return counts
