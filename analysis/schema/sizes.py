"""Numbers of rows, models, items and units of every task, and the levels of its factors and conditions."""

from collections import defaultdict
from dataclasses import dataclass

import duckdb

from analysis.schema.items import ItemFacts, high, low
from analysis.schema.quoting import quote_identifier


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of one task; ``with_unit`` items have a value in the column of the unit."""

    rows: int
    models: int
    items: int
    units: int
    with_unit: int
    model_family: bool
    model_size: bool
    simulated: bool


def task_sizes(con: duckdb.DuckDBPyConnection, facts: ItemFacts) -> dict[str, Size]:
    """Task -> its numbers, from ``responses`` and ``design_items``."""
    unit = low(facts.meaning.unit) if facts.meaning.unit in facts.columns else "NULL"
    rows = con.execute(
        f"""
        WITH items AS (
            SELECT section, count(*) AS items, count(DISTINCT unit_) AS units FROM design_items GROUP BY section
        ), units AS (
            SELECT section, count({unit}) AS with_unit FROM item_facts GROUP BY section
        ), rows AS (
            SELECT {_section(facts)} AS section, count(*) AS n, count(DISTINCT model) AS models,
                   count(model_family) > 0 AS family, count(model_size) > 0 AS size,
                   coalesce(bool_or(simulated), false) AS simulated
            FROM responses GROUP BY ALL
        )
        SELECT section, n, models, coalesce(items, 0), coalesce(units, 0), coalesce(with_unit, 0),
               family, size, simulated
        FROM rows LEFT JOIN items USING (section) LEFT JOIN units USING (section)
        """,
        _parameters(facts),
    ).fetchall()
    return {task: Size(*numbers) for task, *numbers in rows}


def factor_levels(con: duckdb.DuckDBPyConnection, facts: ItemFacts) -> dict[str, dict[str, tuple[str, ...]]]:
    """Task -> factor of its items -> levels in order; factors without a value are absent."""
    query = "SELECT DISTINCT section, {column} FROM item_facts WHERE {column} IS NOT NULL ORDER BY ALL"
    found = {name: con.execute(query.format(column=low(name))).fetchall() for name in facts.factors}
    return _by_task(found)


def condition_levels(con: duckdb.DuckDBPyConnection, facts: ItemFacts) -> dict[str, dict[str, tuple[str, ...]]]:
    """Task -> condition -> levels in order; conditions without a value are absent."""
    query = (
        "SELECT DISTINCT {section}, nullif(CAST({column} AS VARCHAR), '') AS level_ "
        "FROM responses WHERE level_ IS NOT NULL ORDER BY ALL"
    )
    found = {
        name: con.execute(
            query.format(section=_section(facts), column=quote_identifier(name)), _parameters(facts)
        ).fetchall()
        for name in facts.conditions
    }
    return _by_task(found)


def varying_conditions(con: duckdb.DuckDBPyConnection, facts: ItemFacts) -> dict[str, tuple[str, ...]]:
    """Task -> conditions that differ between rows of some item."""
    varying: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for name in facts.conditions:
        query = f"SELECT DISTINCT section FROM item_facts WHERE {low(name)} <> {high(name)}"
        for (task,) in con.execute(query).fetchall():
            varying[task] += (name,)
    return varying


def derived_counts(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, int]]:
    """Task -> column that was derived (gold, validity, polarity) -> items."""
    query = "SELECT section, derived, count(*) FROM design_items WHERE derived IS NOT NULL GROUP BY ALL ORDER BY ALL"
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for task, column, items in con.execute(query).fetchall():
        counts[task][column] = items
    return counts


def _by_task(found: dict[str, list[tuple[str, str]]]) -> dict[str, dict[str, tuple[str, ...]]]:
    listed: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, rows in found.items():
        for task, level in rows:
            listed[task][name].append(level)
    return {task: {name: tuple(levels) for name, levels in columns.items()} for task, columns in listed.items()}


def _section(facts: ItemFacts) -> str:
    return "CAST(? AS VARCHAR)" if facts.pooled else "task"


def _parameters(facts: ItemFacts) -> list[object]:
    return [facts.pooled] if facts.pooled else []
