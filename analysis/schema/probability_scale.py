"""Probabilities brought to [0, 1] from the scale that ``study.toml`` declares for the logs."""

import pyarrow as pa
import pyarrow.compute as pc

from analysis.schema.study import Study

_DIVISORS = {"fraction": 1.0, "percent": 100.0}


def hundred_percent(study: Study) -> float:
    """What 100 % is among the logged numbers of the column ``probability``."""
    return _DIVISORS[study.probability_scale]


def as_fractions(rows: pa.RecordBatch, study: Study) -> pa.RecordBatch:
    """Rows with the logged column ``probability`` on [0, 1], by the study's ``probability_scale``.

    Never guesses from the values: without a declared scale they stay as logged, and
    ``check_responses`` refuses those outside [0, 1].
    """
    divisor = _DIVISORS[study.probability_scale]
    if divisor == 1.0 or "probability" not in rows.schema.names:
        return rows
    place = rows.schema.get_field_index("probability")
    return rows.set_column(place, "probability", pc.divide(rows.column(place).cast(pa.float64()), divisor))
