"""Probabilities that a model's tokens give to yes, one row per question, with what is right and what was answered."""

from typing import Final

import duckdb
import pandas as pd

from analysis.reduction.exclusions import left_out_sql
from analysis.reduction.selection import EVERYTHING, Selection
from analysis.schema.status import UNCERTAIN, Status
from analysis.schema.task_design import TaskDesign

#: What an uncertain answer counts for; left out where it is excluded.
_CREDIT: Final = {"incorrect": "0.0", "half": "0.5", "excluded": "NULL"}


def any_token_probability(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether some response, of any task, has the probability of its tokens; quicker than to reduce them."""
    return con.execute("SELECT 1 FROM responses WHERE p_yes IS NOT NULL LIMIT 1").fetchone() is not None


def token_probabilities(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Questions of a yes/no task by model, with the mean token probability over repeats of the question.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``analysed``; its texts are never loaded.
    design : TaskDesign
        Its ``uncertain`` says what an answer that could not be read counts for.
    selection : Selection

    Returns
    -------
    DataFrame
        ``model, item, unit`` (text), ``truth`` (1 where Yes is right, else 0), ``probability`` (mean ``p_yes``, missing
        where no response has one), ``right`` (share of right answers; missing where nothing was answered),
        ``responses``, ``known`` (responses with a ``p_yes``). In order of model, unit and item.
    """
    left_out, parameters = left_out_sql(con, selection)
    uncertain = ", ".join(f"'{status}'" for status in sorted(UNCERTAIN))
    unit = "template" if design.target == "new_templates" else "unit_"
    query = f"""
        SELECT model, item, CAST({unit} AS VARCHAR) AS unit, CAST(any_value(gold_) = 'yes' AS DOUBLE) AS truth,
               avg(p_yes) AS probability,
               avg(CASE WHEN status = '{Status.ANSWERED}' THEN CAST(answer = gold_ AS DOUBLE)
                        WHEN status IN ({uncertain}) THEN {_CREDIT[design.uncertain]} END) AS "right",
               count(*) AS responses, count(p_yes) AS known
        FROM analysed WHERE coalesce(task, '') = ? AND {left_out} IS NULL AND gold_ IN ('yes', 'no')
        GROUP BY model, item, {unit} ORDER BY model, unit, item
    """
    return con.execute(query, [design.task, *parameters]).df()
