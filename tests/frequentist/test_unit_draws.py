"""Compiled sums over signed and drawn units, against the matrix products that define them."""

import numpy as np
import pytest

from analysis.frequentist.unit_bootstrap import resampled_sums, unit_weights
from analysis.frequentist.unit_draws import chosen_sums, draw_counts


@pytest.mark.parametrize(("units", "tests"), [(1, 1), (7, 3), (8, 1), (9, 2), (83, 21)])
def test_chosen_sums_are_the_product_of_bits_and_columns(units, tests):
    """Catches bits read from the wrong end of a byte, and padding bits of the last byte that count."""
    rng = np.random.default_rng(units)
    packed = rng.integers(0, 256, size=(300, -(-units // 8)), dtype=np.uint8)
    columns = rng.standard_normal((units, tests))
    bits = np.unpackbits(packed, axis=1, count=units).astype(float)
    np.testing.assert_allclose(chosen_sums(packed, columns), bits @ columns, atol=1e-12)


def test_sums_do_not_depend_on_what_is_summed_beside_them():
    """Catches an order of addition that changes with the number of patterns or of columns."""
    rng = np.random.default_rng(1)
    packed, columns = rng.integers(0, 256, size=(64, 20), dtype=np.uint8), rng.standard_normal((157, 5))
    whole = chosen_sums(packed, columns)
    alone = chosen_sums(packed[:3], np.ascontiguousarray(columns[:, 2:3]))
    assert (alone[:, 0] == whole[:3, 2]).all()


def test_draw_counts_count_each_unit_of_each_row():
    """Catches counts that run into the next row."""
    index = np.array([[0, 0, 2], [2, 2, 2]], np.int32)
    assert draw_counts(index).tolist() == [[2.0, 0.0, 1.0], [0.0, 0.0, 3.0]]


def test_equal_and_empty_columns_have_their_own_sums():
    """Catches sums of distinct or of sparse columns that end in the wrong place."""
    rng = np.random.default_rng(2)
    first = rng.standard_normal((60, 2))
    inside = np.where(np.arange(60)[:, None] < 9, rng.standard_normal((60, 3)), 0.0)
    table = np.concatenate([first, np.zeros((60, 1)), inside, first[:, ::-1]], axis=1)
    order = np.lexsort(table.T[::-1])
    drawn = np.concatenate(list(unit_weights(60, np.random.default_rng(3), 500)))
    found = resampled_sums(table, rng=np.random.default_rng(3), resamples=500)
    np.testing.assert_allclose(found, drawn @ table[order], atol=1e-9)
