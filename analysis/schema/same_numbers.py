"""Levels of a condition that are one number written in several ways, such as 0 and 0.0: one level."""

import math
from collections.abc import Sequence

import duckdb

from analysis.schema.columns import find_column
from analysis.schema.quoting import quote_identifier, quote_text, shown
from analysis.schema.store import store_columns

#: A column with more values than this holds no levels.
_MOST = 1000


def unite_same_numbers(con: duckdb.DuckDBPyConnection, conditions: Sequence[str]) -> tuple[str, ...]:
    """Write every number of a condition as the shortest text that the logs have for it; ``responses`` follows.

    A column with a level that is no number is left as it is.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        From ``open_store``.
    conditions : sequence of str
        ``study.conditions``.

    Returns
    -------
    tuple of str
        A sentence per column that changed; none when called again.
    """
    columns = store_columns(con, "logged_responses")
    found = dict.fromkeys(column for name in conditions if (column := find_column(name, columns)) is not None)
    replaced, sentences = [], []
    for name in found:
        spellings = _spellings(_levels(con, name))
        if not spellings:
            continue
        column = quote_identifier(name)
        cases = " ".join(f"WHEN {quote_text(old)} THEN {quote_text(new)}" for old, new in spellings.items())
        replaced.append(f"CASE r.{column} {cases} ELSE r.{column} END AS {column}")
        listed = ", ".join(f"{shown(old)} counts as {shown(new)}" for old, new in spellings.items())
        sentences.append(f"{name.capitalize()}: levels that are the same number are one level ({listed}).")
    if replaced:
        con.execute("ALTER VIEW logged_responses RENAME TO responses_as_spelt")
        con.execute(
            f"CREATE VIEW logged_responses AS SELECT r.* REPLACE ({', '.join(replaced)}) FROM responses_as_spelt r"
        )
    return tuple(sentences)


def _levels(con: duckdb.DuckDBPyConnection, column: str) -> list[str]:
    """Texts of a column; none where it is no text or holds no levels."""
    name = quote_identifier(column)
    query = f"SELECT DISTINCT {name} FROM logged_responses WHERE {name} <> '' LIMIT {_MOST + 1}"
    levels = [row[0] for row in con.execute(query).fetchall()]
    return levels if len(levels) <= _MOST and all(isinstance(level, str) for level in levels) else []


def _spellings(levels: Sequence[str]) -> dict[str, str]:
    """Level -> the text that stands for it, of those that change."""
    texts: dict[float, str] = {}
    for level in sorted(levels, key=lambda level: (len(level), level)):
        number = _number(level)
        if number is None:
            return {}
        texts.setdefault(number, level)
    return {level: text for level in sorted(levels) if (text := texts[float(level)]) != level}


def _number(level: str) -> float | None:
    try:
        number = float(level if "_" not in level else "nan")
    except ValueError:
        return None
    return number if math.isfinite(number) else None
