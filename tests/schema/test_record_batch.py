"""Responses as an Arrow batch: every field in its own column."""

from dataclasses import fields

from analysis.schema.responses import COLUMNS, Response, record_batch


def test_every_field_lands_in_the_column_of_its_name():
    """Catches fields and columns zipped in two orders: the task stood under "item", the item under "task"."""
    kinds = {"text": str, "number": float, "integer": int, "flag": bool}
    values = {c.name: kinds[c.kind](i + 1) for i, c in enumerate(COLUMNS)}
    (row,) = record_batch([Response(**values)]).to_pylist()
    assert row == values


def test_schema_and_response_have_the_same_names():
    """Catches a column added on one side only."""
    assert {f.name for f in fields(Response)} == {c.name for c in COLUMNS} | {"extra"}
