"""The data of a table as CSV: full precision, every column."""

import csv
import io

import numpy as np
import pandas as pd

from analysis.report.columns import is_missing
from analysis.report.escape import escape_csv
from analysis.report.notes import SIMULATED
from analysis.report.ordering import ordered_rows
from analysis.report.spec import Table
from analysis.vocabulary import OUTPUT_COLUMNS


def render_csv(table: Table) -> str:
    """Data of a table as CSV (RFC 4180 quoting, lines end with a line feed).

    Every column of the data in the order of the output vocabulary, then the others as they come; rows
    in the order of the table; numbers unrounded; missing values empty. Text that a spreadsheet would
    take for a formula begins with ``'``. Simulated data say so in a last column ``simulated``.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
    """
    rows = ordered_rows(table.rows, table.spec)
    names = [name for name in _columns(rows) if not (table.is_simulated and name == "simulated")]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    last = (["simulated"], [SIMULATED]) if table.is_simulated else ([], [])
    writer.writerow([escape_csv(name) for name in names] + last[0])
    for values in zip(*(rows[name].astype(object) for name in names), strict=True):
        writer.writerow([_cell(value) for value in values] + last[1])
    return buffer.getvalue()


def _columns(rows: pd.DataFrame) -> list[str]:
    known = [name for name in OUTPUT_COLUMNS if name in rows.columns]
    return known + [str(name) for name in rows.columns if name not in OUTPUT_COLUMNS]


def _cell(value: object) -> str:
    if is_missing(value):
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        # Whole numbers among floats are counts that share their column with missing values.
        return str(int(value)) if float(value).is_integer() and abs(float(value)) < 2**53 else repr(float(value))
    return escape_csv(str(value))
