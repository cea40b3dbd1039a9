"""Section of every report: what was read, what became of it, what was left out."""

from collections.abc import Mapping

import pandas as pd

from analysis.report.columns import Count, Text
from analysis.report.content import Section
from analysis.report.spec import Table, TableSpec
from analysis.schema.status import Status

#: A report prints at most this many files; the rest stand in the CSV and in the manifest.
FILES_PRINTED = 40

FILES = TableSpec(
    "files_read",
    title="Files and what became of them",
    columns=(
        Text("file", "File"),
        Text("format", "Format"),
        Text("verdict", "Verdict"),
        Count("records", "Records"),
        Count("used", "Used"),
        Count("set_aside", "Set aside"),
        Count("rows", "Responses"),
        Text("reason", "Reason", optional=True),
    ),
    note="Records = used + set aside. One record can give several responses (repeats).",
)
STATUSES = TableSpec(
    "responses_read",
    title="Responses by model and status",
    columns=(
        Text("task", "Task", optional=True),
        Text("label", "Model"),
        Count("items", "Items"),
        Count("rows", "Responses"),
        *(Count(str(status), str(status).capitalize(), optional=True) for status in Status),
    ),
    note="Unparsed, refused and truncated responses are uncertain; errored and missing ones are set aside.",
)
SET_ASIDE = TableSpec(
    "set_aside",
    title="Rows that no estimate uses",
    columns=(
        Text("task", "Task", optional=True),
        Text("label", "Model"),
        Text("reason", "Reason"),
        Count("rows", "Rows"),
    ),
    note="Rows read = rows used + the rows of this table, for every model.",
)


def reading_section(
    files: pd.DataFrame,
    statuses: pd.DataFrame,
    excluded: pd.DataFrame,
    notes: pd.DataFrame,
    *,
    records_set_aside: pd.DataFrame,
    labels: Mapping[str, str],
    simulated: bool,
) -> Section:
    """What was read, from the tables of the intake (files, notes, records set aside) and of the reduction."""
    logs = files[~files["verdict"].isin(["not a log", "companion"])].assign(reason=lambda t: t["reason"].fillna(""))
    printed = logs.head(FILES_PRINTED)
    if not (printed["reason"] != "").any():
        printed = printed.drop(columns="reason")
    absent = [str(s) for s in Status if s is not Status.ANSWERED and not statuses[str(s)].any()]
    seen = statuses.drop(columns=absent)
    none = f"No response was {' or '.join(absent)}." if absent else ""
    tables = [
        Table(FILES, printed, notes=_file_notes(files, len(logs), len(printed)), simulated=simulated),
        Table(STATUSES, _printed(seen, labels), notes=(none,) if none else (), simulated=simulated),
    ]
    if len(excluded):
        tables.append(Table(SET_ASIDE, _printed(excluded, labels), simulated=simulated))
    remarks = tuple(f"{r.file}: {r.records:,} records set aside: {r.reason}" for r in _first(records_set_aside))
    remarks += tuple(f"{n.file}: {n.note}" + (f" ({n.count:,} times)" if n.count > 1 else "") for n in _first(notes))
    lead = (_totals(files, statuses, excluded),)
    return Section("What was read", lead=lead, tables=tuple(tables), notes=remarks)


def _file_notes(files: pd.DataFrame, logs: int, printed: int) -> tuple[str, ...]:
    notes = []
    if logs > printed:
        notes.append(f"The first {printed} of {logs:,} files are printed; all are in data/files.parquet.")
    for verdict, words in (("companion", "belong to the logs and hold no responses"), ("not a log", "are not logs")):
        if count := int((files["verdict"] == verdict).sum()):
            notes.append(f"Files beside them that {words}: {count:,}.")
    return tuple(notes)


def _totals(files: pd.DataFrame, statuses: pd.DataFrame, excluded: pd.DataFrame) -> str:
    read, models = int((files["verdict"] == "read").sum()), statuses["model"].nunique()
    rows, out = int(files["rows"].sum()), int(excluded["rows"].sum())
    return (
        f"{read:,} {'file' if read == 1 else 'files'} gave {rows:,} responses of {models:,} "
        f"{'model' if models == 1 else 'models'}: {rows - out:,} enter the estimates, {out:,} do not."
    )


def _printed(rows: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Rows with printed model names, and without the task where there is only one."""
    named = rows.assign(label=[labels.get(model, model) for model in rows["model"].astype(str)])
    return named.drop(columns="task") if named["task"].nunique() < 2 else named


def _first(table: pd.DataFrame) -> list:
    return list(table.head(FILES_PRINTED).itertuples(index=False))
