"""One row per item: what its rows say of gold answer, unit and factors, and what follows from it."""

from dataclasses import dataclass
from typing import Final

import duckdb

from analysis.schema.columns import ItemColumns, item_columns
from analysis.schema.quoting import quote_identifier
from analysis.schema.store import store_columns
from analysis.schema.study import Study

#: Name of all tasks together where the study pools them and has no name.
POOLED: Final = "all tasks"
_FACTS: Final = ("gold", "validity", "polarity")


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """Columns of the temporary table ``item_facts`` (one row per task and item).

    Of every column in ``columns`` it has the lowest and the highest value among the rows of the item
    (``low``, ``high``): they differ where rows contradict each other. ``partial`` are columns that some
    rows have and others lack. ``pooled`` is the name of all tasks together, None where they are apart.
    """

    meaning: ItemColumns
    columns: tuple[str, ...]
    partial: tuple[str, ...]
    pooled: str | None

    @property
    def factors(self) -> tuple[str, ...]:
        return tuple(name for name in self.meaning.factors if name in self.columns)

    @property
    def conditions(self) -> tuple[str, ...]:
        return tuple(name for name in self.meaning.conditions if name in self.columns)


def low(column: str) -> str:
    """Quoted name of the lowest value of a column in ``item_facts``."""
    return quote_identifier(f"low {column}")


def high(column: str) -> str:
    """Quoted name of the highest value of a column in ``item_facts``."""
    return quote_identifier(f"high {column}")


def item_facts(con: duckdb.DuckDBPyConnection, study: Study) -> ItemFacts:
    """Build the temporary table ``item_facts`` in one pass over ``responses``.

    ``section`` is the task, or the name of all tasks where the study pools them; ``key`` is the item,
    with its task before it where tasks are pooled. A missing value of an item in some rows (a planned
    response that never came has no gold answer) is filled from its other rows.
    """
    meaning = item_columns(study, store_columns(con))
    wanted = tuple(dict.fromkeys([*_FACTS, meaning.unit, *meaning.factors, *meaning.conditions]))
    present, partial, tasks = _present(con, wanted)
    pooled = (study.name or POOLED) if study.pool_tasks and tasks > 1 else None
    values = [
        f"{end}(nullif(CAST({quote_identifier(name)} AS VARCHAR), '')) AS {alias(name)}"
        for name in present
        for end, alias in (("min", low), ("max", high))
    ]
    con.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE item_facts AS
        SELECT task, item, {"?" if pooled else "task"} AS section,
               {"task || '/' || item" if pooled else "item"} AS key, {", ".join([*values, "count(*) AS n_rows"])}
        FROM responses WHERE item IS NOT NULL GROUP BY task, item
        """,
        [pooled] if pooled else [],
    )
    return ItemFacts(meaning, present, partial, pooled)


def _present(con: duckdb.DuckDBPyConnection, wanted: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Columns that have a value, those that only some rows of a task have, and the number of tasks."""
    counts = ", ".join(f"count({quote_identifier(name)})" for name in wanted)
    tasks = con.execute(f"SELECT count(*), {counts} FROM responses GROUP BY task").fetchall()
    present = tuple(name for i, name in enumerate(wanted, 1) if any(row[i] for row in tasks))
    partial = tuple(name for i, name in enumerate(wanted, 1) if any(0 < row[i] < row[0] for row in tasks))
    return present, partial, len(tasks)
