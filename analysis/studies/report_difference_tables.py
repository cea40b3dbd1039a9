"""Tables of a difference between two reports."""

from typing import Final

import pandas as pd

from analysis.report.columns import Count, Number, Signed, Text
from analysis.report.spec import Table, TableSpec

#: Changed values printed.
MOST_VALUES: Final = 20
_KINDS: Final = {"setting": "Settings", "version": "Versions", "input": "Inputs (SHA-256)"}
_HASH: Final = 12


def choices_table(choices: pd.DataFrame, *, simulated: bool) -> Table:
    """Settings, versions and inputs that differ."""
    rows = choices.assign(kind=choices["kind"].map(_KINDS))
    inputs = choices["kind"] == "input"
    for side in ("before", "after"):
        rows[side] = choices[side].where(~inputs, choices[side].str[:_HASH]).replace("", "none")
    spec = TableSpec(
        "differing_choices",
        title="Settings, versions and inputs that differ",
        columns=(Text("name", "Name"), Text("before", "Before"), Text("after", "After")),
        groups=("kind",),
    )
    return Table(spec, rows, simulated=simulated)


def numbers_table(numbers: pd.DataFrame, *, simulated: bool) -> Table:
    """Columns of data in which something changed."""
    spec = TableSpec(
        "changed_columns",
        title="Data that changed",
        columns=(
            Text("column", "Column"),
            Count("compared", "Rows"),
            Count("changed", "Changed"),
            Number("largest", "Largest change", digits=4, reason="reason"),
        ),
        groups=("data",),
        note="Rows are matched by what they are about. No test: the data of a report hold no paired responses.",
    )
    reason = pd.Series("text or missing numbers", index=numbers.index).where(numbers["largest"].isna(), "")
    return Table(spec, numbers.assign(reason=reason), simulated=simulated)


def values_table(values: pd.DataFrame, *, simulated: bool) -> Table:
    """The estimates that changed most."""
    found = values[values["column"] == "estimate"]
    size = found["change"].astype(float).abs()
    rows = found.assign(_size=size).sort_values(["_size", "data", "row"], ascending=[False, True, True])
    reason = pd.Series("defined on one side only", index=rows.index).where(rows["change"].isna(), "")
    spec = TableSpec(
        "changed_estimates",
        title="Estimates that changed most",
        columns=(
            Text("row", "Of"),
            Text("before", "Before"),
            Text("after", "After"),
            Signed("change", "Change", digits=4, reason="reason"),
        ),
        groups=("data",),
        note=f"{len(found):,} estimates changed; at most {MOST_VALUES} are printed, --json gives all.",
    )
    return Table(spec, rows.assign(reason=reason).drop(columns="_size").head(MOST_VALUES), simulated=simulated)


def rows_table(rows: pd.DataFrame, *, simulated: bool) -> Table | None:
    """Data with rows that one report alone has; None where there are none."""
    found = rows[(rows["before_only"] > 0) | (rows["after_only"] > 0)]
    if found.empty:
        return None
    spec = TableSpec(
        "unmatched_rows",
        title="Rows that one report alone has",
        columns=(
            Text("data", "Data"),
            Count("compared", "Both"),
            Count("before_only", "Before only"),
            Count("after_only", "After only"),
        ),
    )
    return Table(spec, found, simulated=simulated)
