"""Levels that ``study.toml`` names and the logs do not have: a misspelt one would change nothing, and say nothing."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import duckdb

from analysis.schema.columns import find_column
from analysis.schema.quoting import quote_identifier, shown
from analysis.schema.store import store_columns
from analysis.schema.study import Study

#: At most this many levels are named.
_NAMED = 8
_DERIVED = ("gold", "validity", "polarity")


def absent_levels(con: duckdb.DuckDBPyConnection, study: Study) -> tuple[str, ...]:
    """A sentence per level of baselines, contrasts, restrictions and exclusions that no response has.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        With the view ``analysed``.
    study : Study
    """
    columns = store_columns(con, "analysed")
    known: dict[str, tuple[str, ...]] = {}
    sentences = []
    for key, name, levels in _declared(study):
        column = find_column(name, columns)
        if column is None:
            continue
        if column not in known:
            known[column] = _levels(con, f"{column}_" if column in _DERIVED else column)
        sentences += [
            f"study.toml, {key}: no response has {name} = {shown(level)}{_existing(level, known[column])}"
            for level in levels
            if level not in known[column]
        ]
    return tuple(dict.fromkeys(sentences))


def _declared(study: Study) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Setting, column and levels of everything that names levels."""
    for name, level in study.baselines.items():
        yield f"baseline of [factor.{name}]", name, (level,)
    for contrast in study.contrasts:
        said = f"contrast {shown(contrast.name or contrast.factor)}"
        yield said, contrast.factor, contrast.levels
        for name, levels in contrast.where.items():
            yield f"where of {said}", name, levels
    for restriction in study.restrictions:
        for kind, given in (("keep", restriction.keep), ("drop", restriction.drop)):
            for name, levels in given.items():
                yield f"{kind} of restriction {shown(restriction.name)}", name, levels
    for name, levels in study.exclude.items():
        yield "exclude", name, levels


def _levels(con: duckdb.DuckDBPyConnection, column: str) -> tuple[str, ...]:
    level = f"CAST({quote_identifier(column)} AS VARCHAR)"
    rows = con.execute(f"SELECT DISTINCT {level} FROM analysed WHERE {level} <> '' ORDER BY 1").fetchall()
    return tuple(row[0] for row in rows)


def _existing(level: str, levels: tuple[str, ...]) -> str:
    """What was probably meant, and what there is."""
    more = f" and {len(levels) - _NAMED} more" if len(levels) > _NAMED else ""
    listed = ", ".join(map(shown, levels[:_NAMED])) + more if levels else "none"
    near = get_close_matches(level, levels, n=1)
    return (f"; did you mean {shown(near[0])}?" if near else ".") + f" Levels: {listed}."
