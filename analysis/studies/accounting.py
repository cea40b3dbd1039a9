"""Every row read is used or set aside with a reason; what a report's manifest says of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.errors import AnalysisError
from analysis.reduction.intake import Intake
from analysis.report.manifest import report_manifest
from analysis.schema.runs import SettledRuns
from analysis.schema.task_design import TaskDesign


def rows_set_aside(
    excluded: pd.DataFrame, statuses: pd.DataFrame, settled: SettledRuns, unestimated: Mapping[str, str]
) -> pd.DataFrame:
    """Rows that no main estimate uses: excluded (a declared contrast may use those), repeated, or not estimable.

    Parameters
    ----------
    excluded : DataFrame
        ``task, model, reason, rows`` of ``reduction.exclusions``.
    statuses : DataFrame
        Rows by task and model.
    settled : SettledRuns
        Runs that were superseded.
    unestimated : mapping
        Task -> why it has no estimate.
    """
    parts = [excluded]
    gone: dict[tuple[str, str], int] = {}
    for task, model, n in zip(excluded["task"], excluded["model"], excluded["rows"], strict=True):
        gone[task, model] = gone.get((task, model), 0) + int(n)
    left = [
        (task, model, int(n) - gone.get((task, model), 0))
        for task, model, n in zip(statuses["task"], statuses["model"], statuses["rows"], strict=True)
    ]
    rows = [
        {"task": task, "model": model, "reason": f"no estimate: {unestimated[task]}", "rows": n}
        for task, model, n in left
        if task in unestimated and n > 0
    ]
    rows += [
        {"task": run.task, "model": run.model, "reason": f"repeated in a later run: {run.run}", "rows": run.rows}
        for run in settled.superseded
    ]
    if rows:
        parts.append(pd.DataFrame(rows, columns=excluded.columns))
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else excluded


def refuse_nothing(
    excluded: pd.DataFrame, rows: int, designs: Sequence[TaskDesign], warnings: Sequence[str] = ()
) -> None:
    """Refuse a run whose selection and exclusions leave no row of any task; ``warnings`` may say why."""
    chosen = excluded[~excluded["reason"].isin(["errored", "missing"])]
    if designs and rows and int(chosen["rows"].sum()) == rows:
        reasons = chosen.groupby("reason", sort=False)["rows"].sum().sort_values(ascending=False, kind="stable")
        listed = "".join(f"\n  {n:,} rows: {reason}" for reason, n in reasons.items())
        raise AnalysisError(
            f"none of the {rows:,} responses is left to estimate anything from:{listed}"
            + "".join(f"\n  {said}" for said in warnings)
        )


def run_manifest(
    intake: Intake, excluded: pd.DataFrame, settings: Mapping[str, Any], timings: Mapping[str, float]
) -> dict[str, Any]:
    """Manifest of a run: inputs, settings, and rows read, used and set aside."""
    files = intake.files
    kept = {"file": "path", "sha256": "sha256", "bytes": "bytes", "format": "format"}
    read = files[files["verdict"] == "read"][list(kept)].rename(columns=kept).to_dict("records")
    out = int(excluded["rows"].sum())
    return report_manifest(
        inputs=[{str(name): value for name, value in entry.items()} for entry in read],
        settings=settings,
        rows={
            "files": {str(k): int(v) for k, v in files["verdict"].value_counts().sort_index().items()},
            "records": intake.records,
            "responses": intake.rows,
            "used": intake.rows - out,
            "set_aside": {str(k): int(v) for k, v in excluded.groupby("reason")["rows"].sum().sort_index().items()},
        },
        timings=timings,
    )
