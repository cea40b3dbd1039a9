"""The same response key twice, within a run or across runs."""

import duckdb

from analysis.schema.quoting import quote_identifier
from analysis.schema.violation import ERROR, EXAMPLES, SOURCE, Violation, number


def run_sql(table: str = "") -> str:
    """SQL for the run of a row: its id, or the file it comes from."""
    prefix = f"{table}." if table else ""
    return f"coalesce({prefix}run, regexp_replace({prefix}source, ':[0-9]+$', ''), '')"


def key_columns(conditions: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that identify a response within a run."""
    return ("model", "task", "item", *conditions, "sample")


def find_duplicates(con: duckdb.DuckDBPyConnection, conditions: tuple[str, ...]) -> bool:
    """Build the table ``duplicate_rows`` of rows that share their key with another; whether there are any.

    Keys are compared by a hash first, which needs little memory, and then exactly.
    """
    names = [quote_identifier(name) for name in key_columns(conditions)]
    keys = ", ".join(names)
    con.execute(
        f"""
        CREATE OR REPLACE TABLE duplicate_rows AS
        WITH identified AS (
            SELECT *, hash({keys}) AS hash_ FROM responses WHERE model IS NOT NULL AND item IS NOT NULL
        ), hashed AS (SELECT hash_ FROM identified GROUP BY hash_ HAVING count(*) > 1)
        SELECT {keys}, {run_sql()} AS run_, {SOURCE} AS source_, dense_rank() OVER (ORDER BY {keys}) AS key_
        FROM identified SEMI JOIN hashed USING (hash_)
        QUALIFY count(*) OVER (PARTITION BY {keys}) > 1
        """
    )
    return bool(con.execute("SELECT count(*) FROM duplicate_rows").fetchall()[0][0])


def duplicate_responses(con: duckdb.DuckDBPyConnection, conditions: tuple[str, ...]) -> list[Violation]:
    """Responses that stand twice in one run, and responses that stand in several runs."""
    if not find_duplicates(con, conditions):
        return []
    return [*_within_runs(con, conditions), *_across_runs(con)]


def _within_runs(con: duckdb.DuckDBPyConnection, conditions: tuple[str, ...]) -> list[Violation]:
    keys, rows = con.execute(
        """
        SELECT count(DISTINCT key_), coalesce(sum(n), 0)
        FROM (SELECT key_, run_, count(*) AS n FROM duplicate_rows GROUP BY ALL HAVING n > 1)
        """
    ).fetchall()[0]
    if not keys:
        return []
    named = ", ".join(key_columns(conditions))
    message = (
        f"{number(keys, 'response')} logged more than once in one run ({number(int(rows), 'row')} of the same {named})"
    )
    fix = (
        "delete rows that are copies; give repeats different samples, or "
        "name the factor that tells them apart under conditions in study.toml"
    )
    return [Violation(ERROR, "duplicate response", message, int(rows), _pairs(con, "run_ = other_run"), fix)]


def _across_runs(con: duckdb.DuckDBPyConnection) -> list[Violation]:
    keys, rows, runs = con.execute(
        """
        SELECT count(DISTINCT key_), count(*), count(DISTINCT run_)
        FROM duplicate_rows SEMI JOIN
            (SELECT key_ FROM duplicate_rows GROUP BY key_ HAVING min(run_) <> max(run_)) several USING (key_)
        """
    ).fetchall()[0]
    if not keys:
        return []
    message = f"{number(keys, 'response')} in more than one run ({number(rows, 'row')} in {runs} runs)"
    fix = "--runs latest uses the later run, --runs all makes the runs samples; or take one out of the directory"
    return [Violation(ERROR, "duplicate response", message, rows, _pairs(con, "run_ <> other_run"), fix)]


def _pairs(con: duckdb.DuckDBPyConnection, condition: str) -> tuple[str, ...]:
    """Pairs of sources with the same key: one for each pair of runs, or several of the one run there is."""
    rows = con.execute(
        f"""
        WITH pairs AS (
            SELECT a.run_, b.run_ AS other_run, a.source_, b.source_ AS other FROM duplicate_rows a
            JOIN duplicate_rows b ON a.key_ = b.key_ AND (length(a.source_), a.source_) < (length(b.source_), b.source_)
        ), ordered AS (
            SELECT *, row_number() OVER (PARTITION BY least(run_, other_run), greatest(run_, other_run)
                                         ORDER BY length(source_), source_, length(other), other) AS place
            FROM pairs WHERE {condition}
        )
        SELECT source_ || ' and ' || other FROM ordered
        ORDER BY place, length(source_), source_, length(other), other LIMIT {EXAMPLES}
        """
    ).fetchall()
    return tuple(text for (text,) in rows)
