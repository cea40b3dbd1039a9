"""Section of every report: what was read, what became of it, what was left out."""

from collections.abc import Mapping, Sequence

import pandas as pd

from analysis.report.columns import Count, Text
from analysis.report.content import Section
from analysis.report.escape import shortened
from analysis.report.numbers import counted
from analysis.report.spec import Table, TableSpec
from analysis.schema.resolved import exclusion_reason
from analysis.schema.status import Status
from analysis.schema.study import Contrast

#: A report prints at most this many files; the rest stand in the CSV and in the manifest.
FILES_PRINTED = 40
#: At most so many remarks of importers, and so many names of files that are not logs.
REMARKS_PRINTED, NAMED = 40, 10
#: Longer names are shortened in the middle.
NAME_WIDTH = 80

FILES = TableSpec(
    "files_read",
    title="Files and what became of them",
    columns=(
        Text("file", "File"),
        Text("format", "Format"),
        Text("verdict", "Verdict"),
        Count("records", "Records"),
        Count("used", "Records read"),
        Count("set_aside", "Records skipped"),
        Count("rows", "Responses read"),
        Text("reason", "Reason", optional=True),
    ),
    note=(
        "Records = records read + records skipped. A record that was read gives one response or several (repeats). "
        "Whether an estimate uses a response that was read is another question: the tables below answer it."
    ),
)
SKIPPED = TableSpec(
    "records_skipped",
    title="Records skipped while reading",
    columns=(Text("reason", "Reason"), Count("records", "Records skipped"), Count("files", "Files")),
    order=("-records", "reason"),
    note="These records gave no response, and stand in no other count.",
)
STATUSES = TableSpec(
    "responses_read",
    title="Responses by model and status",
    columns=(
        Text("task", "Task", optional=True),
        Text("label", "Model"),
        Count("items", "Items"),
        Count("rows", "Responses read"),
        *(Count(str(status), str(status).capitalize(), optional=True) for status in Status),
    ),
    note="Unparsed, refused and truncated responses are uncertain; no estimate uses errored and missing ones.",
)
SET_ASIDE = TableSpec(
    "set_aside",
    title="Responses left out of the main estimates",
    columns=(
        Text("task", "Task", optional=True),
        Text("label", "Model"),
        Text("reason", "Reason"),
        Text("used_by", "Used by", optional=True),
        Count("rows", "Responses"),
    ),
    note="For every model: responses read = responses in the main estimates + those of this table.",
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
    contrasts: Sequence[Contrast] = (),
) -> Section:
    """What was read, from the tables of the intake (files, notes, records set aside) and of the reduction.

    ``contrasts`` are the declared ones: they compare levels that the main estimates leave out.
    """
    logs = files[~files["verdict"].isin(["not a log", "companion"])].assign(reason=lambda t: t["reason"].fillna(""))
    printed = logs.head(FILES_PRINTED)
    if not (printed["reason"] != "").any():
        printed = printed.drop(columns="reason")
    absent = [str(s) for s in Status if s is not Status.ANSWERED and not statuses[str(s)].any()]
    seen = statuses.drop(columns=absent)
    none = f"No response was {' or '.join(absent)}." if absent else ""
    tables = [Table(FILES, printed, notes=_file_notes(files, len(logs), len(printed)), simulated=simulated)]
    if len(records_set_aside):
        tables.append(Table(SKIPPED, _by_reason(records_set_aside), simulated=simulated))
    tables.append(Table(STATUSES, _printed(seen, labels), notes=(none,) if none else (), simulated=simulated))
    if len(excluded):
        shown = _with_users(excluded, contrasts)
        tables.append(Table(SET_ASIDE, _printed(shown, labels), simulated=simulated))
    lead = (_totals(files, statuses, _with_users(excluded, contrasts)),)
    return Section("What was read", lead=lead, tables=tuple(tables), notes=_remarks(notes))


def _by_reason(records_set_aside: pd.DataFrame) -> pd.DataFrame:
    """Records and files for each reason of the importers."""
    grouped = records_set_aside.groupby("reason", as_index=False, sort=True)
    return grouped.agg(records=("records", "sum"), files=("file", "nunique"))


def _remarks(notes: pd.DataFrame) -> tuple[str, ...]:
    """What the importers had to say, each thing once, with its count and files."""
    said = []
    for note, group in notes.groupby("note", sort=False):
        times, files = int(group["count"].sum()), int(group["file"].nunique())
        first = group["file"].iloc[0]
        where = f"{first}: " if files == 1 else ""
        counts = [counted(times, "time")] * (times > 1) + [f"in {counted(files, 'file')}, first {first}"] * (files > 1)
        said.append(f"{where}{note}" + (f" ({' '.join(counts)})" if counts else ""))
    shown = said[:REMARKS_PRINTED]
    more = len(said) - len(shown)
    return (*shown, f"{counted(more, 'further remark')}: `evenhand import` lists them.") if more else tuple(shown)


def _file_notes(files: pd.DataFrame, logs: int, printed: int) -> tuple[str, ...]:
    notes = []
    if logs > printed:
        notes.append(f"The first {printed} of {logs:,} files are printed; all are in data/files.parquet.")
    for verdict, words in (("companion", "belong to the logs and hold no responses"), ("not a log", "are not logs")):
        names = [shortened(str(name), NAME_WIDTH, len) for name in files.loc[files["verdict"] == verdict, "file"]]
        if names:
            more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
            listed = f" ({', '.join(names[:NAMED])}{more})" if verdict == "not a log" else ""
            notes.append(f"Files beside them that {words}: {len(names):,}{listed}.")
    return tuple(notes)


def _totals(files: pd.DataFrame, statuses: pd.DataFrame, excluded: pd.DataFrame) -> str:
    read, models = int((files["verdict"] == "read").sum()), int(statuses["model"].nunique())
    rows, out = int(files["rows"].sum()), int(excluded["rows"].sum())
    elsewhere = int(excluded.loc[excluded["used_by"] != "nothing", "rows"].sum()) if "used_by" in excluded else 0
    main, rest = ("main ", f" ({elsewhere:,} of these are there for declared contrasts)") if elsewhere else ("", "")
    return (
        f"{counted(read, 'file')} gave {counted(rows, 'response')} of {counted(models, 'model')}: "
        f"{rows - out:,} enter the {main}estimates, {out:,} do not{rest}."
    )


def _with_users(excluded: pd.DataFrame, contrasts: Sequence[Contrast]) -> pd.DataFrame:
    """Rows left out with the contrasts that compare them, where there are any."""
    users: dict[str, list[str]] = {}
    for contrast in contrasts:
        for level in contrast.levels:
            reason = exclusion_reason(contrast.factor, level)
            users.setdefault(reason, []).append(f"contrast: {contrast.name or contrast.factor}")
    if not set(users) & set(excluded["reason"]):
        return excluded
    return excluded.assign(used_by=["; ".join(users.get(str(reason), ["nothing"])) for reason in excluded["reason"]])


def _printed(rows: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Rows with printed model names, and without the task where there is only one."""
    named = rows.assign(label=[labels.get(model, model) for model in rows["model"].astype(str)])
    return named.drop(columns="task") if named["task"].nunique() < 2 else named
