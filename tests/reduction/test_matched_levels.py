"""Answers matched over the levels of a condition: by name, averaged in order, nothing paired by position."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.reduction.matched_levels import matched_levels


def answers(*rows):
    """(model, unit, item, strategy, temperature, value)"""
    table = pd.DataFrame(rows, columns=["model", "unit", "item", "strategy", "temperature", "value"])
    return matched_levels(table, table["value"].to_numpy(float), "strategy", conditions=("strategy", "temperature"))


ROWS = [
    ("a", "u", "u1", "zero", "0", 1.0), ("a", "u", "u1", "few", "0", 0.0),
    ("a", "u", "u1", "zero", "1", 1.0), ("a", "u", "u1", "few", "1", 1.0),
    ("a", "u", "u2", "few", "0", 0.0), ("a", "u", "u2", "zero", "0", 0.0),
    ("a", "v", "v1", "zero", "0", 1.0), ("a", "v", "v1", "few", "1", 1.0),
    ("b", "u", "u1", "zero", "0", 1.0), ("b", "v", "v1", "zero", "0", np.nan), ("b", "v", "v1", "few", "0", 1.0),
]  # fmt: skip


def test_means_worked_by_hand():
    """Catches rows of two temperatures paired with each other, and items weighted by their temperatures."""
    found = answers(*ROWS)
    assert found.levels == ("few", "zero")
    means = found.unit_means(("zero", "few"))
    # a, u: u1 has zero (1 + 1) / 2 and few (0 + 1) / 2; u2 has 0 and 0; the unit is the mean of its two items.
    np.testing.assert_allclose(means[0], [[0.5, np.nan], [0.25, np.nan]])
    assert np.isnan(means[1]).all()
    both, only = found.configuration_means(("zero", "few"))
    np.testing.assert_allclose(both, [[0.5, 0.0], [1.0, 1.0]])
    assert only.tolist() == [0, 0]


def test_the_order_of_rows_is_nothing():
    """Catches pairing by position."""
    shuffled = [ROWS[i] for i in np.random.default_rng(0).permutation(len(ROWS))]
    np.testing.assert_array_equal(
        answers(*ROWS).unit_means(("zero", "few")), answers(*shuffled).unit_means(("zero", "few"))
    )


def test_an_unknown_level_is_named():
    """Catches a misspelt baseline that compares nothing."""
    with pytest.raises(AnalysisError, match="strategy has no level 'one'; there are few, zero"):
        answers(*ROWS).unit_means(("zero", "one"))
