"""What the numbers of printed tables have to do with each other, as a TOML file declares it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import Expression, roles_of
from analysis.verification.declaration_keys import (
    chosen_rows,
    known_columns,
    known_tables,
    one_expression,
    one_of,
    one_text,
    only_keys,
    several_texts,
    table_list,
)
from analysis.verification.printed_p_values import DISTRIBUTIONS, PValue
from analysis.verification.printed_statements import Statement, statement_group

RELATIONS: Final = ("=", "<=", ">=")
_RELATION_KEYS: Final = {"left", "relation", "right", "only", "but", "says"}
_PROPORTION_KEYS: Final = {"columns", "n", "percent"}
_P_VALUE_KEYS: Final = {"p", "distribution", "statistic", "df", "only", "stars"}
_TABLE_KEYS: Final = {"name", "columns", "counts", "exact", "relation", "proportion", "p_value"}
_JOIN_KEYS: Final = {"name", "left", "right", "left_key", "right_key", "relation"}


@dataclass(frozen=True, slots=True)
class Relation:
    """``left relation right`` in every row, or those whose columns have a text of ``only`` and none of ``but``."""

    text: str
    left: Expression
    relation: str
    right: Expression
    only: Mapping[str, tuple[str, ...]]
    but: Mapping[str, tuple[str, ...]]
    says: str = ""


@dataclass(frozen=True, slots=True)
class Proportions:
    """Columns that are shares of a whole number: of ``n``, or of what the column ``n`` prints."""

    columns: tuple[str, ...]
    n: int | str
    percent: bool = False


@dataclass(frozen=True, slots=True)
class TableDeclaration:
    """What the columns of one printed table have to do with each other.

    ``counts`` are columns of whole numbers, of which nothing was rounded away; with ``exact`` there are no others.
    """

    name: str
    columns: tuple[str, ...]
    relations: tuple[Relation, ...]
    proportions: tuple[Proportions, ...]
    p_values: tuple[PValue, ...] = ()
    counts: tuple[str, ...] = ()
    exact: bool = False

    def fits(self, header: tuple[str, ...]) -> bool:
        """Whether a table with these columns is meant."""
        return set(self.columns) == set(header) if self.exact else set(self.columns) <= set(header)


@dataclass(frozen=True, slots=True)
class Join:
    """Rows of two tables with the same key: columns of the left one by name, of the right one after ``right_``.

    A key is a text with columns in braces; keys are compared without capitals and spaces.
    """

    name: str
    left: str
    right: str
    left_key: str
    right_key: str
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Declarations:
    """Tables, pairs of tables row by row, and numbers that say something of a whole table."""

    tables: tuple[TableDeclaration, ...]
    joins: tuple[Join, ...] = field(default=())
    statements: tuple[Statement, ...] = field(default=())


def shipped_declarations() -> Declarations:
    """Declarations that come with the package, for tables of published studies."""
    folder = files("analysis.verification").joinpath("declarations")
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    read = [declarations(entry.read_text(encoding="utf-8"), entry.name) for entry in found]
    return Declarations(
        tuple(table for each in read for table in each.tables),
        tuple(join for each in read for join in each.joins),
        tuple(statement for each in read for statement in each.statements),
    )


def declarations(text: str, where: str) -> Declarations:
    """Declarations of a TOML text.

    Raises
    ------
    AnalysisError
        Not TOML, unknown keys, an expression outside the grammar, or a column or table that is not declared.
    """
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise AnalysisError(f"{where}: not valid TOML: {error}") from None
    only_keys(raw, {"table", "join", "statements"}, where)
    tables = tuple(_table(entry, f"{where}, [[table]] {i}") for i, entry in _numbered(raw, "table", where))
    columns = {table.name: set(table.columns) for table in tables}
    joins = tuple(_join(entry, columns, f"{where}, [[join]] {i}") for i, entry in _numbered(raw, "join", where))
    for join in joins:
        columns[join.name] = _joined_columns(columns[join.left], columns[join.right])
    groups = (
        statement_group(entry, columns, f"{where}, [[statements]] {i}")
        for i, entry in _numbered(raw, "statements", where)
    )
    return Declarations(tables, joins, tuple(statement for group in groups for statement in group))


def _numbered(raw: Mapping[str, Any], key: str, where: str) -> enumerate[Mapping[str, Any]]:
    return enumerate(table_list(raw, key, where), 1)


def _joined_columns(left: set[str], right: set[str]) -> set[str]:
    return left | {f"right_{column}" for column in right}


def _table(raw: Mapping[str, Any], where: str) -> TableDeclaration:
    only_keys(raw, _TABLE_KEYS, where)
    columns = several_texts(raw.get("columns"), f"{where}: columns")
    counts = several_texts(raw.get("counts", []), f"{where}: counts", empty=True)
    known = set(columns)
    known_columns(set(counts), known, where)
    return TableDeclaration(
        one_text(raw.get("name"), f"{where}: name"),
        columns,
        _relations(raw, known, where),
        tuple(_proportions(one, known, f"{where}, proportion {i}") for i, one in _numbered(raw, "proportion", where)),
        tuple(_p_value(one, known, f"{where}, p_value {i}") for i, one in _numbered(raw, "p_value", where)),
        counts,
        _flag(raw, "exact", where),
    )


def _join(raw: Mapping[str, Any], tables: Mapping[str, set[str]], where: str) -> Join:
    only_keys(raw, _JOIN_KEYS, where)
    left, right = (one_text(raw.get(side), f"{where}: {side}") for side in ("left", "right"))
    known_tables((left, right), tables, where, when=" before it")
    keys = [one_text(raw.get(key, "{model}"), f"{where}: {key}") for key in ("left_key", "right_key")]
    return Join(
        one_text(raw.get("name"), f"{where}: name"),
        left,
        right,
        keys[0],
        keys[1],
        _relations(raw, _joined_columns(tables[left], tables[right]), where),
    )


def _relations(raw: Mapping[str, Any], known: set[str], where: str) -> tuple[Relation, ...]:
    return tuple(_relation(one, known, f"{where}, relation {i}") for i, one in _numbered(raw, "relation", where))


def _relation(raw: Mapping[str, Any], known: set[str], where: str) -> Relation:
    only_keys(raw, _RELATION_KEYS, where)
    left, right = (one_text(raw.get(side), f"{where}: {side}") for side in ("left", "right"))
    sign = one_text(raw.get("relation", "="), f"{where}: relation")
    if sign not in RELATIONS:
        raise AnalysisError(f"{where}: relation is one of {' '.join(RELATIONS)}, not {sign!r}")
    only, but = (chosen_rows(raw.get(key, {}), f"{where}: {key}") for key in ("only", "but"))
    sides = [one_expression(text, where) for text in (left, right)]
    known_columns({*only, *but, *(name for side in sides for name in roles_of(side))}, known, where)
    says = one_text(raw.get("says", ""), f"{where}: says", empty=True)
    return Relation(f"{left} {sign} {right}", sides[0], sign, sides[1], only, but, says)


def _proportions(raw: Mapping[str, Any], known: set[str], where: str) -> Proportions:
    only_keys(raw, _PROPORTION_KEYS, where)
    n = raw.get("n")
    if isinstance(n, bool) or not (isinstance(n, str) or (isinstance(n, int) and n > 0)):
        raise AnalysisError(f"{where}: n is a whole number above 0 or the name of a column")
    columns = several_texts(raw.get("columns"), f"{where}: columns")
    known_columns({*columns, *([n] if isinstance(n, str) else [])}, known, where)
    return Proportions(columns, n, _flag(raw, "percent", where))


def _p_value(raw: Mapping[str, Any], known: set[str], where: str) -> PValue:
    only_keys(raw, _P_VALUE_KEYS, where)
    distribution = one_text(raw.get("distribution"), f"{where}: distribution")
    one_of(distribution, DISTRIBUTIONS, f"{where}: distribution")
    p, statistic, df = (one_text(raw.get(key), f"{where}: {key}") for key in ("p", "statistic", "df"))
    only = chosen_rows(raw.get("only", {}), f"{where}: only")
    stars = raw.get("stars", [])
    if not isinstance(stars, list) or not all(isinstance(one, float) and 0 < one < 1 for one in stars):
        raise AnalysisError(f"{where}: stars is a list of numbers between 0 and 1")
    known_columns({p, statistic, df, *only}, known, where)
    return PValue(p, distribution, statistic, df, only, tuple(stars))


def _flag(raw: Mapping[str, Any], key: str, where: str) -> bool:
    value = raw.get(key, False)
    if not isinstance(value, bool):
        raise AnalysisError(f"{where}: {key} is true or false")
    return value
