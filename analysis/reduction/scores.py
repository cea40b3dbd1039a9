"""Scores in [0, 1] by question: the reduction of benchmarks whose answers are graded, and what answers cost."""

from collections.abc import Sequence
from typing import Final

import duckdb
import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.reduction.cells import level_sql
from analysis.reduction.exclusions import left_out_sql
from analysis.reduction.selection import EVERYTHING, Selection, column_types
from analysis.schema.quoting import named_task, quote_identifier
from analysis.schema.study_keys import UNCERTAIN_TREATMENTS as TREATMENTS
from analysis.schema.task_design import TaskDesign

#: Columns of cost -> what they are.
COSTS: Final = ("tokens_in", "tokens_out", "tokens_reasoning", "latency")


def item_scores(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, selection: Selection = EVERYTHING, *, by: Sequence[str] = ()
) -> pd.DataFrame:
    """Mean score of each model on each question, over samples and all conditions but those of ``by``.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``analysed``.
    design : TaskDesign
    selection : Selection
    by : sequence of str
        Conditions under which a question counts as another one; a missing level is the empty text.

    Returns
    -------
    DataFrame
        ``model, item, unit``, those of ``by``, ``score, n_samples, n_right, n_set_aside``: mean of the scores, their
        number, how many are 1, and replies without a score. Rows sorted by model, item and ``by``; ``score`` is
        missing without samples.

    Raises
    ------
    AnalysisError
        A score lies outside [0, 1], or there is none.
    """
    left_out, parameters = left_out_sql(con, selection)
    columns = column_types(con)
    levels = "".join(f", {level_sql(name, columns)} AS {quote_identifier(name)}" for name in by)
    places = ", ".join(str(4 + at) for at in range(len(by)))
    keys = "model, item" + (f", {places}" if places else "")
    table = con.sql(
        f"""
        SELECT model, item, min(unit_) AS unit{levels}, avg(score_value) AS score, count(score_value) AS n_samples,
               count(*) FILTER (score_value = 1) AS n_right, count(*) - count(score_value) AS n_set_aside,
               min(score_value) AS least, max(score_value) AS most
        FROM analysed WHERE coalesce(task, '') = ? AND {left_out} IS NULL GROUP BY {keys} ORDER BY {keys}
        """,
        params=[design.task, *parameters],
    ).df()
    least, most = table["least"].min(), table["most"].max()
    if np.isnan(least):
        raise AnalysisError(f"{named_task(design.task)}: no response has a score")
    if least < 0 or most > 1:
        raise AnalysisError(
            f"{named_task(design.task)}: scores run from {least:g} to {most:g}; a mean score needs them in [0, 1], so "
            "divide them by the top of their scale in the log"
        )
    return table.drop(columns=["least", "most"])


def item_accuracies(counts: pd.DataFrame, uncertain: str, *, by: Sequence[str] = ()) -> pd.DataFrame:
    """The same from counts of right answers: every question weighs the same, however often it was asked.

    Parameters
    ----------
    counts : DataFrame
        As ``cells.item_counts`` returns.
    uncertain : {"incorrect", "excluded", "half"}
        Treatment of unreadable answers.
    by : sequence of str
        Conditions under which a question counts as another one.
    """
    if uncertain not in TREATMENTS:
        raise AnalysisError(f"uncertain must be one of {', '.join(TREATMENTS)}, not {uncertain!r}")
    keys = ["model", "item", "unit", *by]
    names = ["n_answered", "n_uncertain", "n_set_aside", "n_correct"]
    sums = counts.groupby(keys, observed=True, sort=True)[names].sum().reset_index()
    lost = sums["n_uncertain"].to_numpy(float)
    scored = sums["n_answered"].to_numpy(float) + (0 if uncertain == "excluded" else lost)
    right = sums["n_correct"].to_numpy(float)
    credit = right + 0.5 * lost if uncertain == "half" else right
    return pd.DataFrame(
        {
            **{name: sums[name].astype(str) for name in keys},
            "score": np.divide(credit, scored, out=np.full(len(sums), np.nan), where=scored > 0),
            "n_samples": scored.astype(np.int64),
            "n_right": right.astype(np.int64),
            "n_set_aside": sums["n_set_aside"].to_numpy(np.int64),
        }
    )


def model_costs(con: duckdb.DuckDBPyConnection, design: TaskDesign, selection: Selection = EVERYTHING) -> pd.DataFrame:
    """Mean tokens and seconds per response by model, over the responses that have them.

    Returns
    -------
    DataFrame
        ``model`` and those of ``COSTS`` that some response has.
    """
    left_out, parameters = left_out_sql(con, selection)
    means = ", ".join(f"avg({name}) AS {name}" for name in COSTS)
    table = con.sql(
        f"SELECT model, {means} FROM analysed WHERE coalesce(task, '') = ? AND {left_out} IS NULL "
        "GROUP BY model ORDER BY model",
        params=[design.task, *parameters],
    ).df()
    return table[["model", *(name for name in COSTS if table[name].notna().any())]]
