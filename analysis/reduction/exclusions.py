"""Why rows are not used, such that used and unused rows add up to all rows."""

from collections.abc import Sequence
from typing import Final

import duckdb
import pandas as pd

from analysis.errors import AnalysisError
from analysis.reduction.selection import EVERYTHING, Selection, check_selection, column_types
from analysis.schema.design import TaskDesign
from analysis.schema.quoting import named_task, shown
from analysis.schema.status import SET_ASIDE, UNCERTAIN, Status

_SET_ASIDE: Final = ", ".join(f"'{status}'" for status in sorted(SET_ASIDE))
_SCORED: Final = ", ".join(f"'{status}'" for status in sorted(UNCERTAIN | {Status.ANSWERED}))
#: SQL: nobody scored the reply, or it is not even logged. Where the score alone says what is right, that is not wrong.
UNSCORED: Final = (
    f"(score_value IS NULL AND (status = '{Status.ANSWERED}' OR "
    f"(status = '{Status.UNPARSED}' AND rule IS NOT DISTINCT FROM 'empty' AND output IS NULL)))"
)
#: SQL: the log says that there was an answer (by a score), and not which. Where gold answers decide, that is not wrong.
UNKNOWN_ANSWER: Final = f"(status = '{Status.ANSWERED}' AND answer IS NULL)"
NO_SCORE: Final = "no score"
NO_ANSWER: Final = "answer not in the log"


def left_out_sql(con: duckdb.DuckDBPyConnection, selection: Selection) -> tuple[str, list[object]]:
    """SQL expression over ``analysed`` and its parameters: why a row is outside the analysis, else NULL.

    What the user did not select comes first, then what the study excludes. Errored and missing
    responses are inside: they were planned, and are counted as set aside.
    """
    reason, parameters = selection.reason_sql(column_types(con))
    return f"coalesce({reason}, excluded)", parameters


def exclusions(
    con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Rows of ``analysed`` that no estimate uses, by reason.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``analysed``.
    designs : sequence of TaskDesign
        Tasks to report on.
    selection : Selection

    Returns
    -------
    DataFrame
        ``task, model, reason, rows`` in that order of sorting. Each row of the view has one reason
        at most, the first that applies: not selected, excluded by the study, errored or missing, in tasks
        of kind ``score`` without a score, and in judgements and choices with a score but without the answer.

    Raises
    ------
    AnalysisError
        Used and unused rows do not add up to all rows of a task and model, or the selection names a
        column or level that does not occur.
    """
    check_selection(con, selection)
    accounting(con, designs, selection)
    table = _rows_by_reason(con, designs, selection)
    return table[table["reason"] != ""].reset_index(drop=True)


def accounting(
    con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Rows in, used and excluded for every task and model.

    Returns
    -------
    DataFrame
        ``task, model, rows, used, excluded``; a row is used when it was answered (and scored, where the
        score decides) or is uncertain, and nothing leaves it out.

    Raises
    ------
    AnalysisError
        ``used + excluded != rows`` somewhere (a status outside the schema), or ``analysed``
        holds fewer or more rows than ``responses`` (rows lost or doubled on the way).
    """
    tasks = [design.task for design in designs]
    total = con.execute(
        "SELECT coalesce(task, '') AS task, model, count(*) AS rows FROM analysed "
        "WHERE list_contains(?, coalesce(task, '')) GROUP BY ALL ORDER BY ALL",
        [tasks],
    ).df()
    reasons = _rows_by_reason(con, designs, selection)
    reasons["kind"] = reasons["reason"].map(lambda reason: "excluded" if reason else "used")
    parts = reasons.pivot_table(index=["task", "model"], columns="kind", values="rows", aggfunc="sum", fill_value=0)
    parts = parts.reindex(columns=["used", "excluded"], fill_value=0).reset_index()
    table = total.merge(parts, on=["task", "model"], how="left").fillna({"used": 0, "excluded": 0})
    table = table.astype({"rows": "int64", "used": "int64", "excluded": "int64"})
    _check_sums(con, table)
    return table[["task", "model", "rows", "used", "excluded"]]


def _rows_by_reason(
    con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], selection: Selection
) -> pd.DataFrame:
    """Rows by task, model and reason; the reason of used rows is empty, that of unknown statuses absent."""
    left_out, parameters = left_out_sql(con, selection)
    query = f"""
        SELECT task, model, reason, count(*) AS rows FROM (
            SELECT coalesce(task, '') AS task, model, coalesce({left_out}, CASE
                WHEN status IN ({_SET_ASIDE}) THEN status
                WHEN {UNSCORED} AND list_contains(?, coalesce(task, '')) THEN '{NO_SCORE}'
                WHEN {UNKNOWN_ANSWER} AND list_contains(?, coalesce(task, '')) THEN '{NO_ANSWER}'
                WHEN status IN ({_SCORED}) THEN '' END) AS reason
            FROM analysed WHERE list_contains(?, coalesce(task, '')))
        WHERE reason IS NOT NULL GROUP BY ALL ORDER BY ALL
    """
    by_score = [design.task for design in designs if design.kind == "score"]
    by_gold = [design.task for design in designs if design.kind in ("judgement", "choice")]
    return con.execute(query, [*parameters, by_score, by_gold, [design.task for design in designs]]).df()


def _check_sums(con: duckdb.DuckDBPyConnection, table: pd.DataFrame) -> None:
    off = table[table["used"] + table["excluded"] != table["rows"]]
    if len(off):
        first = off.iloc[0]
        raise AnalysisError(
            f"rows do not add up for {len(off)} of {len(table)} models: {shown(first['model'])} "
            f"({named_task(first['task'])}) has {first['rows']} rows, {first['used']} used and "
            f"{first['excluded']} excluded; the others have a status outside the schema",
            offenders=tuple(off["model"]),
        )
    logged, analysed = con.execute(
        "SELECT (SELECT count(*) FROM responses), (SELECT count(*) FROM analysed)"
    ).fetchall()[0]
    if logged != analysed:
        raise AnalysisError(
            f"rows do not add up: the logs hold {logged} responses, of which {analysed} reached the analysis"
        )
