"""Logged probabilities brought to [0, 1] by declaration, never by guess."""

import pyarrow as pa

from analysis.schema.probability_scale import as_fractions
from analysis.schema.study import Study


def test_percent_is_divided_and_fractions_are_left_alone() -> None:
    """Catches a scale inferred from the largest value."""
    rows = pa.record_batch({"item": ["a", "b", "c"], "probability": [70.0, 1.0, None]})
    assert as_fractions(rows, Study(probability_scale="percent")).column("probability").to_pylist() == [0.7, 0.01, None]
    assert as_fractions(rows, Study()).column("probability").to_pylist() == [70.0, 1.0, None]


def test_rows_without_probabilities_pass() -> None:
    rows = pa.record_batch({"item": ["a"]})
    assert as_fractions(rows, Study(probability_scale="percent")) is rows
