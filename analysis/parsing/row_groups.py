"""Rows of a batch that agree in some columns, so that each combination is looked at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

#: Combined codes beyond this are numbered anew before they could overflow.
_LARGEST = 1 << 40


class RowGroups(NamedTuple):
    """``first`` row of every group in order of its code, and for each row the number of its group."""

    first: NDArray[np.int64]
    group: NDArray[np.int64]


def row_groups(columns: Sequence[pa.Array | NDArray[np.generic]]) -> RowGroups:
    """Group rows by equal values in all columns; missing values equal each other.

    Parameters
    ----------
    columns : sequence of Arrow arrays or of integer or boolean ndarrays, all of one length
    """
    combined = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        codes = _codes(column)
        size = int(codes.max(initial=0)) + 1
        if size == 1:
            continue
        if int(combined.max(initial=0)) + 1 > _LARGEST // size:
            combined = np.unique(combined, return_inverse=True)[1]
        combined = combined * size + codes
    _, first, group = np.unique(combined, return_index=True, return_inverse=True)
    return RowGroups(first.astype(np.int64), group.astype(np.int64))


def _codes(column: pa.Array | NDArray[np.generic]) -> NDArray[np.int64]:
    if isinstance(column, np.ndarray):
        return column.astype(np.int64)
    if column.null_count == len(column):
        return np.zeros(len(column), np.int64)
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
