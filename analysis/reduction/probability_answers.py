"""Stated probabilities of one task as a table: one row per response, with what it was asked and what is true."""

from typing import Final

import duckdb
import pandas as pd

from analysis.reduction.exclusions import left_out_sql
from analysis.reduction.selection import EVERYTHING, Selection, column_types
from analysis.schema.quoting import quote_identifier, quote_text
from analysis.schema.status import SET_ASIDE, Status
from analysis.schema.task_design import TaskDesign

#: Columns whose few levels repeat: kept as sorted categoricals, in which ``""`` is a missing level.
LEVELS: Final = ("model", "item", "unit", "identity", "wording", "sample", "role", "state", "item_family", "level")
NUMBERS: Final = ("tokens_in", "tokens_out", "tokens_reasoning", "latency", "cost")
#: Columns under which a log may give the price of a response, the first that exists.
_COSTS: Final = ("meta.cost", "cost", "meta.cost_usd")
#: Why an answered or uncertain row gives no probability.
UNREADABLE: Final = "no readable probability"
NOTHING_TO_COMPARE: Final = "a probability without a truth or an identity to compare it with"
INCOMPLETE: Final = "no truth, and other answers of its identity are missing"


def probability_answers(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Rows of a task that nothing leaves out.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``analysed``; its texts are never loaded.
    design : TaskDesign
        Where conditions vary within items, each model × levels counts as a model of its own, named so.
    selection : Selection

    Returns
    -------
    DataFrame
        ``logged_model``, ``LEVELS`` (categorical), ``status``, ``probability``, ``truth`` (missing where not
        answered, not known), ``NUMBERS`` (floats; missing where not logged). In an order that does not depend on
        that of the log.
    """
    left_out, parameters = left_out_sql(con, selection)
    columns = column_types(con)
    cost = next((name for name in _COSTS if name in columns), None)
    cost_sql = f"TRY_CAST({quote_identifier(cost)} AS DOUBLE)" if cost else "CAST(NULL AS DOUBLE)"
    model = "model"
    for name in design.varying:
        level = f"coalesce(CAST({quote_identifier(name)} AS VARCHAR), '')"
        model += f" || {quote_text(f' [{name}=')} || {level} || ']'"
    query = f"""
        SELECT model AS logged_model, {model} AS model, item, unit_ AS unit, coalesce(identity, '') AS identity,
               coalesce(wording, '') AS wording, coalesce(sample, '0') AS sample, coalesce(role, '') AS role,
               coalesce(state, '') AS state, coalesce(item_family, '') AS item_family, coalesce(level, '') AS level,
               status, CASE WHEN status = '{Status.ANSWERED}' THEN probability END AS probability, truth,
               tokens_in::DOUBLE AS tokens_in, tokens_out::DOUBLE AS tokens_out,
               tokens_reasoning::DOUBLE AS tokens_reasoning, latency::DOUBLE AS latency, {cost_sql} AS cost
        FROM analysed WHERE coalesce(task, '') = ? AND {left_out} IS NULL
        ORDER BY ALL
    """
    table = con.execute(query, [design.task, *parameters]).df()
    return table.astype({name: "category" for name in (*LEVELS, "logged_model", "status")})


def rows_without_use(answers: pd.DataFrame, joined: pd.Series, *, task: str) -> pd.DataFrame:
    """Rows of ``probability_answers`` that no estimate uses, by reason.

    Parameters
    ----------
    answers : DataFrame
    joined : Series of bool, index of ``answers``
        Whether a row stands in a complete set of answers of some identity.
    task : str

    Returns
    -------
    DataFrame
        ``task, model, reason, rows``; errored and missing rows are counted elsewhere.
    """
    planned = ~answers["status"].isin([str(status) for status in SET_ASIDE])
    unread = answers["probability"].isna()
    idle = ~unread & ~joined & answers["truth"].isna()
    has_role = answers["role"].astype(str) != ""
    reason = pd.Series("", index=answers.index)
    reason[idle & has_role] = INCOMPLETE
    reason[idle & ~has_role] = NOTHING_TO_COMPARE
    reason[unread] = UNREADABLE + ": " + answers["status"].astype(str)[unread]
    left = pd.DataFrame({"model": answers["logged_model"].astype(str), "reason": reason})[planned & (reason != "")]
    counted = left.groupby(["model", "reason"], sort=True).size().rename("rows").reset_index()
    return counted.assign(task=task)[["task", "model", "reason", "rows"]]


def logged_settings(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Settings of each model as logged.

    Returns
    -------
    DataFrame
        ``model`` and, where logged, ``model_resolved``, ``temperature``, ``strategy``, ``harness``: the values of its
        rows in order of name, joined by commas. Models as logged, whatever conditions vary.
    """
    left_out, parameters = left_out_sql(con, selection)
    names = ("model_resolved", "temperature", "strategy", "harness")
    texts = {name: f"CAST({name} AS VARCHAR)" for name in names}
    listed = ", ".join(f"string_agg(DISTINCT {t}, ', ' ORDER BY {t}) AS {name}" for name, t in texts.items())
    query = f"""
        SELECT model, {listed} FROM analysed WHERE coalesce(task, '') = ? AND {left_out} IS NULL
        GROUP BY model ORDER BY model
    """
    table = con.execute(query, [design.task, *parameters]).df()
    return table.drop(columns=[name for name in names if table[name].isna().all()]).fillna("not logged")


def mean_costs(answers: pd.DataFrame) -> pd.DataFrame:
    """Means per answer of what each model's answers cost.

    Returns
    -------
    DataFrame
        ``model`` (as logged), ``answers``, those of ``NUMBERS`` that some row logs; ``total_cost`` where prices are.
    """
    there = answers[answers["status"].astype(str) == str(Status.ANSWERED)]
    grouped = there.groupby(there["logged_model"].astype(str), sort=True)
    table = grouped.size().rename("answers").to_frame()
    for name in NUMBERS:
        if there[name].notna().any():
            table[name] = grouped[name].mean()
    if "cost" in table:
        table["total_cost"] = grouped["cost"].sum(min_count=1)
    return table.rename_axis("model").reset_index()
