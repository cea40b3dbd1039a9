"""Which rows an analysis uses: conditions typed by a user, as parametrised SQL, never evaluated."""

import csv
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

import duckdb

from analysis.errors import AnalysisError
from analysis.schema.columns import find_column
from analysis.schema.quoting import quote_identifier, shown

_EXPRESSION = re.compile(r"(?P<column>.+?)\s*(?:(?P<sign>!=|==?)|\s(?P<word>not\s+in|in)\s)\s*(?P<value>.*)", re.DOTALL)
_NUMBERS = {"DOUBLE", "FLOAT", "BIGINT", "INTEGER", "SMALLINT", "TINYINT", "HUGEINT"}
_FLAGS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition a row must meet to be used.

    ``text`` is what the user typed, ``values`` the levels it names; the empty value stands for a
    missing one. ``keep`` is False for ``!=`` and ``not in``.
    """

    column: str
    values: tuple[str, ...]
    keep: bool
    text: str


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that all have to hold; without one, every row is used."""

    conditions: tuple[Condition, ...] = ()

    def reason_sql(self, types: dict[str, str]) -> tuple[str, list[object]]:
        """SQL expression and parameters: why a row is not selected, NULL where it is.

        Parameters
        ----------
        types : dict of str
            Column of the table -> its DuckDB type, see ``column_types``.

        Raises
        ------
        AnalysisError
            A condition names no column of the table, or a value that its column cannot hold.
        """
        cases, parameters = [], []
        for condition in self.conditions:
            condition = _resolved(condition, types)
            test, values = _unmet_sql(condition, types)
            cases.append(f"WHEN {test} THEN ?")
            parameters += [*values, f"not selected: {condition.text}"]
        return (f"(CASE {' '.join(cases)} END)" if cases else "CAST(NULL AS VARCHAR)"), parameters


#: Selects every row.
EVERYTHING: Final = Selection()


def parse_condition(text: str) -> Condition:
    """Read ``column=value``, ``column!=value``, ``column in a,b`` or ``column not in a,b``.

    Values stand as they are; in a list, one that holds a comma goes into double quotes.
    """
    match = _EXPRESSION.fullmatch(text.strip())
    if match is None or (match["word"] and not match["value"].strip()):
        raise AnalysisError(
            f"--where {text!r} is not a condition; write column=value, column!=value or 'column in a,b'",
            offenders=(text,),
        )
    if match["word"]:
        row = next(csv.reader([match["value"]], skipinitialspace=True))
        values = tuple(dict.fromkeys(value.strip() for value in row))
    else:
        values = (match["value"].strip(),)
    keep = match["sign"] != "!=" and not (match["word"] or "").startswith("not")
    return Condition(match["column"].strip(), values, keep, text.strip())


def parse_selection(where: Sequence[str] = (), models: Iterable[str] = (), tasks: Iterable[str] = ()) -> Selection:
    """Selection from ``--where`` expressions and exact names of models and tasks; all have to hold."""
    named = [("model", tuple(models)), ("task", tuple(tasks))]
    lists = [Condition(name, levels, True, f"{name} in {', '.join(levels)}") for name, levels in named if levels]
    return Selection((*lists, *(parse_condition(text) for text in where)))


def column_types(con: duckdb.DuckDBPyConnection, view: str = "analysed") -> dict[str, str]:
    """Columns of a view or table -> DuckDB type, in order."""
    rows = con.execute(f"SELECT column_name, column_type FROM (DESCRIBE {quote_identifier(view)})").fetchall()
    return {name: kind for name, kind in rows}


def check_selection(con: duckdb.DuckDBPyConnection, chosen: Selection, view: str = "analysed") -> None:
    """Raise unless every column exists and every level asked for occurs in the data.

    A misspelt level would select nothing, or silently less than was meant. Levels that are to be
    left out need not occur.
    """
    types = column_types(con, view)
    chosen.reason_sql(types)
    for condition in (_resolved(condition, types) for condition in chosen.conditions):
        for value in condition.values if condition.keep else ():
            test, parameters = _equals_sql(condition, value, types[condition.column])
            found = con.execute(f"SELECT count(*) FROM {quote_identifier(view)} WHERE {test}", parameters).fetchone()
            if not found or not found[0]:
                _refuse_level(con, view, condition, value)


def _refuse_level(con: duckdb.DuckDBPyConnection, view: str, condition: Condition, value: str) -> None:
    level = f"CAST({quote_identifier(condition.column)} AS VARCHAR)"
    query = f"SELECT DISTINCT {level} FROM {quote_identifier(view)} WHERE {level} <> '' ORDER BY 1 LIMIT 10000"
    levels = [row[0] for row in con.execute(query).fetchall()]
    near = get_close_matches(value, levels, n=3, cutoff=0.4) or levels[:5]
    raise AnalysisError(
        f"no row has {condition.column} = {shown(value)} (asked for by: {condition.text}); "
        + (f"there is {', '.join(map(shown, near))}" if near else "the column is empty"),
        offenders=(condition.text,),
    )


def _resolved(condition: Condition, types: dict[str, str]) -> Condition:
    """The condition with its column as the table names it: ``topic`` finds ``factor.topic`` and ``meta.topic``."""
    return replace(condition, column=find_column(condition.column, tuple(types)) or condition.column)


def _unmet_sql(condition: Condition, types: dict[str, str]) -> tuple[str, list[object]]:
    if condition.column not in types:
        bare = [name.removeprefix("meta.") for name in types]
        near = get_close_matches(condition.column, bare, n=3, cutoff=0.5)
        hint = (
            f"did you mean {' or '.join(map(shown, near))}?" if near else f"there are: {', '.join(map(shown, types))}"
        )
        raise AnalysisError(
            f"{condition.text!r}: the logs have no column {condition.column!r}; {hint}", offenders=(condition.text,)
        )
    tests, parameters = [], []
    for value in condition.values:
        test, values = _equals_sql(condition, value, types[condition.column])
        tests.append(test)
        parameters += values
    met = "(" + " OR ".join(tests) + ")"
    return (f"NOT {met}" if condition.keep else met), parameters


def _equals_sql(condition: Condition, value: str, kind: str) -> tuple[str, list[object]]:
    """SQL test, true or false and never NULL, that a column has a value; the empty value means missing."""
    column = quote_identifier(condition.column)
    if value == "":
        return f"({column} IS NULL OR CAST({column} AS VARCHAR) = '')", []
    if kind == "BOOLEAN" or kind.split("(")[0] in _NUMBERS | {"DECIMAL"}:
        return f"({column} IS NOT DISTINCT FROM ?)", [_typed(condition, value, kind)]
    return f"(CAST({column} AS VARCHAR) IS NOT DISTINCT FROM ?)", [value]


def _typed(condition: Condition, value: str, kind: str) -> bool | float:
    if kind == "BOOLEAN":
        if value.lower() not in _FLAGS:
            raise AnalysisError(f"{condition.text!r}: {condition.column} is true or false, not {value!r}")
        return _FLAGS[value.lower()]
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise AnalysisError(f"{condition.text!r}: {condition.column} holds numbers, {value!r} is none")
    return number
