"""Tables held in every format to golden files, which EVENHAND_WRITE_GOLDEN=1 writes anew."""

import csv
import difflib
import io
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.report.columns import Decision, Text
from analysis.report.spec import Table
from analysis.report.table_files import TABLE_FORMATS

GOLDEN = Path(__file__).parent / "golden"
#: Columns of numbers that settings fix, whatever was drawn.
_FIXED = re.compile(r"ci_level|family_size|rope_.*|limit|prior_scale|second_scale|threshold|order|simulated")
#: Columns of words that follow from what was drawn; of others the words are held.
_DRAWN = {
    "reason", "where", "diagnosis", "why", "printed_code", "code", "factor", "status", "bayes_factor_bound", "withheld",
}  # fmt: skip


def assert_as_before(tables: Iterable[Table], name: str, ending: str) -> None:
    """One golden file ``<name>.<ending>`` with all tables; of CSV the last digits of a number may differ."""
    text = "".join(f"===== {table.spec.name}\n{TABLE_FORMATS[ending](table)}" for table in tables)
    path = GOLDEN / f"{name}.{ending}"
    if os.environ.get("EVENHAND_WRITE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    expected = path.read_bytes().decode("utf-8")
    if ending == "csv":
        _assert_same_cells(text, expected)
    else:
        changes = list(
            difflib.unified_diff(expected.split("\n"), text.split("\n"), "golden", "found", lineterm="", n=0)
        )
        assert not changes, "\n".join(changes[:30])


def masked(table: Table) -> Table:
    """The table with every drawn number and every word that follows from one replaced, rows in order of their names.

    Draws of a sampler are the same from run to run but not from machine to machine. What remains is the
    structure: title, headings, labels, groups, notes, alignment and rows.
    """
    rows = table.rows.copy()
    declared = {column.name: column for column in table.columns()}
    for name in map(str, rows.columns):
        column = declared.get(name)
        if isinstance(column, Decision):
            rows[name] = next(iter(column.labels), "")
        elif name in _DRAWN or name.endswith("_reason") or (column is not None and column.header == "Least likely"):
            rows[name] = "…" if isinstance(column, Text) else ""
        elif pd.api.types.is_float_dtype(rows[name]) and not _FIXED.fullmatch(name):
            rows[name] = np.where(rows[name].notna(), 1.0, np.nan)
        elif pd.api.types.is_bool_dtype(rows[name]) and not _FIXED.fullmatch(name):
            rows[name] = True
    names = [column.name for column in table.columns() if isinstance(column, Text) and column.name not in _DRAWN]
    if names:
        rows = rows.sort_values(list(dict.fromkeys([*table.spec.groups, *names])), kind="stable", ignore_index=True)
    note, notes = _without_digits(table.spec.note), tuple(map(_without_digits, table.notes))
    return replace(table, spec=replace(table.spec, note=note), rows=rows, notes=notes)


def _without_digits(text: str) -> str:
    """A sentence without its numbers; reasons are listed as far as rows have them, and rows differ."""
    text = re.sub(r"Reasons: [^.]*\.", "Reasons: ….", text)
    return re.sub(r"[+−-]?\d[\d,.]*\d|\d", "#", text)


def _assert_same_cells(text: str, expected: str) -> None:
    found, golden = (_blocks(part) for part in (text, expected))
    assert list(found) == list(golden)
    for name, rows in golden.items():
        assert len(found[name]) == len(rows), name
        for row, wanted in zip(found[name], rows, strict=True):
            assert list(row) == list(wanted), name
            for column, value in wanted.items():
                if row[column] != value:
                    assert float(row[column]) == pytest.approx(float(value), rel=1e-7, abs=1e-9), (name, column, row)


def _blocks(text: str) -> dict[str, list[dict[str, str]]]:
    parts = (part.partition("\n") for part in text.split("===== ")[1:])
    return {name: list(csv.DictReader(io.StringIO(rows, newline=""))) for name, _, rows in parts}
