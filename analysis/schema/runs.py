"""Runs that repeat each other's responses: the later one used, or all of them as samples."""

from dataclasses import dataclass
from typing import Final

import duckdb

from analysis.errors import AnalysisError
from analysis.schema.columns import find_column
from analysis.schema.duplicates import find_duplicates, key_columns, run_sql
from analysis.schema.quoting import named_task, quote_identifier, shown
from analysis.schema.responses import CONDITIONS
from analysis.schema.status import SET_ASIDE
from analysis.schema.store import store_columns
from analysis.schema.violation import number

RUN_CHOICES: Final = ("latest", "all")
_LISTED: Final = 10
_CLOCK: Final = r"regexp_replace(timestamp, '([T ][0-9]{2})-([0-9]{2})-([0-9]{2})', '\1:\2:\3')"
#: SQL for a logged time: ISO with or without offset (then UTC), lm-eval's dashes, epoch seconds or milliseconds.
_EPOCH: Final = "TRY_CAST(timestamp AS DOUBLE)"
_TIME: Final = f"""coalesce(TRY_CAST({_CLOCK} AS TIMESTAMPTZ), CASE
    WHEN {_EPOCH} BETWEEN 1e8 AND 1e11 THEN to_timestamp({_EPOCH})
    WHEN {_EPOCH} BETWEEN 1e11 AND 1e14 THEN to_timestamp({_EPOCH} / 1000) END)"""


@dataclass(frozen=True, slots=True)
class Superseded:
    """Rows of one model and task that a later run repeats, and that are not used."""

    task: str
    model: str
    run: str
    rows: int


@dataclass(frozen=True, slots=True)
class SettledRuns:
    """What ``resolve_runs`` did: rows dropped, by run, and rows whose sample now names their run."""

    superseded: tuple[Superseded, ...] = ()
    rows_as_samples: int = 0


@dataclass(frozen=True, slots=True)
class _Overlap:
    """Two runs of one model and task with common keys; counts are of responses that exist."""

    model: str
    task: str
    older: str
    newer: str
    older_count: int
    newer_count: int
    ordered: bool


def resolve_runs(con: duckdb.DuckDBPyConnection, mode: str, *, conditions: tuple[str, ...] = CONDITIONS) -> SettledRuns:
    """Settle responses that stand in several runs; the view ``responses`` changes accordingly.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        From ``open_store``.
    mode : {"latest", "all"}
        ``latest`` uses, of each repeated response, the one of the run that began last; ``all`` makes the
        runs of a model and task samples (``0@run``).
    conditions : tuple of str
        Columns that belong to the key: ``study.conditions``.

    Raises
    ------
    AnalysisError
        ``latest``, and the order of two runs is not logged, or the later of two has fewer responses: a
        crashed retry must not replace a full run. All such pairs are named.
    """
    if mode not in RUN_CHOICES:
        raise AnalysisError(f"--runs is {' or '.join(RUN_CHOICES)}, not {mode!r}")
    columns = store_columns(con)
    found = tuple(column for name in conditions if (column := find_column(name, columns)) is not None)
    if not find_duplicates(con, found):
        return SettledRuns()
    _number_runs(con)
    return _latest(con, found) if mode == "latest" else _as_samples(con)


def _number_runs(con: duckdb.DuckDBPyConnection) -> None:
    """Table ``numbered_runs``: runs of every model and task with repeated responses, in order of time."""
    set_aside = ", ".join(f"'{status}'" for status in sorted(SET_ASIDE))
    con.execute(
        f"""
        CREATE OR REPLACE TABLE numbered_runs AS
        WITH affected AS (SELECT DISTINCT model, task FROM duplicate_rows
                          GROUP BY model, task, key_ HAVING min(run_) <> max(run_)),
        runs AS (
            SELECT model, task, {run_sql()} AS run_, min({_TIME}) AS began,
                   count(*) FILTER (coalesce(status, '') NOT IN ({set_aside})) AS n
            FROM responses SEMI JOIN affected USING (model, task) GROUP BY ALL
        )
        SELECT *, row_number() OVER (PARTITION BY model, task ORDER BY began NULLS FIRST, run_) - 1 AS place FROM runs
        """
    )


def _latest(con: duckdb.DuckDBPyConnection, conditions: tuple[str, ...]) -> SettledRuns:
    _refuse(_overlaps(con))
    keys = [quote_identifier(name) for name in key_columns(conditions)]
    con.execute(
        f"""
        CREATE OR REPLACE TABLE superseded AS
        SELECT DISTINCT {", ".join(keys)}, run_ FROM (
            SELECT d.*, place < max(place) OVER (PARTITION BY key_) AS late
            FROM duplicate_rows d JOIN numbered_runs USING (model, task, run_)) WHERE late
        """
    )
    same = " AND ".join(f"r.{key} IS NOT DISTINCT FROM s.{key}" for key in keys)
    run = run_sql("r")
    counts = con.execute(
        f"""
        SELECT r.task, r.model, s.run_, count(*) FROM logged_responses r JOIN superseded s ON {same} AND {run} = s.run_
        GROUP BY ALL ORDER BY ALL
        """
    ).fetchall()
    con.execute(
        f"""
        CREATE OR REPLACE VIEW responses AS SELECT * FROM logged_responses r
        WHERE NOT EXISTS (SELECT 1 FROM superseded s WHERE {same} AND {run} = s.run_)
        """
    )
    return SettledRuns(tuple(Superseded(*row) for row in counts))


def _overlaps(con: duckdb.DuckDBPyConnection) -> list[_Overlap]:
    rows = con.execute(
        """
        SELECT DISTINCT model, task, a.run_, b.run_, a.n, b.n, coalesce(a.began < b.began, false)
        FROM duplicate_rows d JOIN duplicate_rows e USING (key_, model, task)
        JOIN numbered_runs a USING (model, task) JOIN numbered_runs b USING (model, task)
        WHERE a.run_ = d.run_ AND b.run_ = e.run_ AND a.place < b.place ORDER BY ALL
        """
    ).fetchall()
    return [_Overlap(*row) for row in rows]


def _refuse(overlaps: list[_Overlap]) -> None:
    problems = []
    for o in overlaps:
        where = f"model {shown(o.model)}, {named_task(o.task)}: runs {shown(o.older)} and {shown(o.newer)}"
        if not o.ordered:
            problems.append(f"{where}: their times are not logged, or the same")
        elif o.newer_count < o.older_count:
            found = f"{number(o.newer_count, 'response')}, the earlier {o.older_count:,}"
            problems.append(f"{where}: the later has {found}")
    if problems:
        listed = "\n  ".join(problems[:_LISTED]) + ("\n  …" if len(problems) > _LISTED else "")
        raise AnalysisError(
            f"--runs latest cannot choose between runs; take one out of the directory, or use --runs all:\n  {listed}",
            offenders=problems,
        )


def _as_samples(con: duckdb.DuckDBPyConnection) -> SettledRuns:
    run = run_sql("r")
    join = f"LEFT JOIN numbered_runs n ON r.model = n.model AND r.task = n.task AND {run} = n.run_ AND n.place > 0"
    con.execute(
        f"""
        CREATE OR REPLACE VIEW responses AS
        SELECT r.* REPLACE (CASE WHEN n.run_ IS NULL THEN r.sample ELSE r.sample || '@' || n.run_ END AS sample)
        FROM logged_responses r {join}
        """
    )
    renamed = con.execute(f"SELECT count(n.run_) FROM logged_responses r {join}").fetchall()[0][0]
    return SettledRuns(rows_as_samples=renamed)
