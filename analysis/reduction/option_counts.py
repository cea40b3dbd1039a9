"""Which option was answered where which one is right: counts by model and question of a multiple-choice task."""

import re
from typing import Final

import duckdb
import pandas as pd

from analysis.reduction.exclusions import left_out_sql
from analysis.reduction.selection import EVERYTHING, Selection
from analysis.schema.status import UNCERTAIN, Status
from analysis.schema.task_design import TaskDesign

_LETTER: Final = re.compile("[A-Z]")


def option_counts(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Scored responses by question, right option and answered option.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``analysed``; its texts are never loaded.
    design : TaskDesign
        Of kind ``choice``.
    selection : Selection

    Returns
    -------
    DataFrame
        ``model, item, unit, gold, answer`` (text; the answer is empty where it could not be read) and ``n``. Errored
        and missing responses are in no row. In order of its keys.
    """
    left_out, parameters = left_out_sql(con, selection)
    uncertain = ", ".join(f"'{status}'" for status in sorted(UNCERTAIN))
    unit = "template" if design.target == "new_templates" else "unit_"
    query = f"""
        SELECT model, item, CAST({unit} AS VARCHAR) AS unit, gold_ AS gold,
               CASE WHEN status = '{Status.ANSWERED}' THEN answer ELSE '' END AS answer, count(*) AS n
        FROM analysed
        WHERE coalesce(task, '') = ? AND {left_out} IS NULL AND gold_ IS NOT NULL
            AND (status IN ({uncertain}) OR (status = '{Status.ANSWERED}' AND answer IS NOT NULL))
        GROUP BY ALL ORDER BY ALL
    """
    return con.execute(query, [design.task, *parameters]).df()


def option_labels(counts: pd.DataFrame) -> tuple[str, ...]:
    """Labels of the options in order: those that are right or answered somewhere; letters without a gap from A."""
    found = sorted({*counts["gold"], *counts["answer"]} - {""})
    if found and all(_LETTER.fullmatch(label) for label in found):
        return tuple(chr(code) for code in range(ord("A"), ord(found[-1]) + 1))
    return tuple(found)
