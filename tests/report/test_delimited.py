"""CSV: the data behind a table, exact and harmless."""

import csv
import io

import numpy as np
import pandas as pd
from example_tables import FLOOR, HOSTILE_NAMES, floor_rows, hostile_table, matches_golden
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.report.columns import Number, Text
from analysis.report.delimited import render_csv
from analysis.report.escape import escape_csv
from analysis.report.spec import Table, TableSpec


def records(source: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(source, newline="")))


def table_of(rows: pd.DataFrame, **options: object) -> Table:
    return Table(TableSpec("t", "T", (Text(rows.columns[0]),), **options), rows)


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_read_back_exactly(values: list[float]) -> None:
    """Catches rounding in the file that others compute with."""
    found = records(render_csv(table_of(pd.DataFrame({"v": values}))))
    assert [float(row["v"]) for row in found] == values


def test_every_column_in_the_order_of_the_vocabulary() -> None:
    """Catches a column that the table does not print being lost, and an order that depends on the data."""
    rows = floor_rows()
    header = render_csv(Table(FLOOR, rows[rows.columns[::-1]])).split("\n")[0].split(",")
    assert set(header) == set(rows.columns)
    assert header[:6] == ["model", "ci_low", "ci_high", "ci_level", "ci_method", "p_adjusted"]


def test_rows_are_in_the_order_of_the_table() -> None:
    """Catches a file whose rows cannot be laid beside the printed table."""
    found = [row["floor"] for row in records(render_csv(Table(FLOOR, floor_rows())))]
    assert found == ["0.6745", "0.642", "0.4996", "0.41", "0.3", ""]


def test_missing_and_typed_values() -> None:
    """Catches nan and inf in the file, counts as 3.0, and flags as Python words."""
    rows = pd.DataFrame(
        {"n": [3, None, np.inf], "flag": [True, False, None], "text": ["None", "", None]}, dtype=object
    ).astype({"n": float})
    assert render_csv(table_of(rows)) == "n,flag,text\n3,true,None\n,false,\n,,\n"


def test_hostile_names_read_back_and_start_no_formula() -> None:
    """Catches a cell that a spreadsheet runs, a negative number guarded as text, a broken quote."""
    found = records(render_csv(hostile_table()))
    assert [row["model"] for row in found] == [escape_csv(name) for name in HOSTILE_NAMES]
    assert found[4]["model"] == "'=cmd()"
    assert found[3]["estimate"] == "-0.03"
    assert all(not value.startswith(("=", "+", "@", "\t", "\r")) for row in found for value in row.values())


def test_header_is_guarded_too() -> None:
    """Catches a formula in the name of a factor."""
    rows = pd.DataFrame({"m": ["a"], "=cmd()": ["b"]})
    assert render_csv(table_of(rows)) == "m,'=cmd()\na,b\n"


def test_simulated_data_say_so_in_every_row() -> None:
    """Catches generated numbers that lose their label on the way into a spreadsheet."""
    for table in (Table(FLOOR, floor_rows(), simulated=True), Table(FLOOR, floor_rows().assign(simulated=True))):
        found = records(render_csv(table))
        assert [row["simulated"] for row in found] == ["SIMULATED DATA"] * 6


def test_golden() -> None:
    """Catches any unread change of a rendered table."""
    assert matches_golden(render_csv(Table(FLOOR, floor_rows(), simulated=True)), "floor.csv")
    rows = pd.DataFrame({"model": list(HOSTILE_NAMES), "v": range(len(HOSTILE_NAMES))}, dtype=object)
    table = Table(TableSpec("hostile", "T", (Text("model"), Number("v"))), rows)
    assert matches_golden(render_csv(table), "hostile.csv")
