"""What the columns of a printed table have to do with each other, as a TOML file declares it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import Expression, parse_expression, roles_of

RELATIONS: Final = ("=", "<=", ">=")
_TABLE_KEYS: Final = {"name", "columns", "relation", "proportion"}
_RELATION_KEYS: Final = {"left", "relation", "right", "only", "says"}
_PROPORTION_KEYS: Final = {"columns", "n", "percent"}


@dataclass(frozen=True, slots=True)
class Relation:
    """``left relation right`` in every row, or in the rows whose column has the value that ``only`` names."""

    text: str
    left: Expression
    relation: str
    right: Expression
    only: Mapping[str, str]
    says: str = ""


@dataclass(frozen=True, slots=True)
class Proportions:
    """Columns that are shares of a whole number: of ``n``, or of what the column ``n`` prints."""

    columns: tuple[str, ...]
    n: int | str
    percent: bool = False


@dataclass(frozen=True, slots=True)
class TableDeclaration:
    """What the columns of a printed table have to do with each other."""

    name: str
    columns: tuple[str, ...]
    relations: tuple[Relation, ...]
    proportions: tuple[Proportions, ...]

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns in which a rule needs numbers."""
        sides = [side for relation in self.relations for side in (relation.left, relation.right)]
        named = [name for side in sides for name in roles_of(side)]
        shares = [name for share in self.proportions for name in (*share.columns, share.n) if isinstance(name, str)]
        return tuple(dict.fromkeys(named + shares))


def shipped_declarations() -> tuple[TableDeclaration, ...]:
    """Declarations that come with the package, for tables of published studies."""
    folder = files("analysis.verification").joinpath("declarations")
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    return tuple(table for entry in found for table in declarations(entry.read_text(encoding="utf-8"), entry.name))


def declarations(text: str, where: str) -> tuple[TableDeclaration, ...]:
    """Declarations of a TOML text.

    Raises
    ------
    AnalysisError
        Not TOML, unknown keys, an expression outside the grammar, or a column that the table does not declare.
    """
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise AnalysisError(f"{where}: not valid TOML: {error}") from None
    _only_keys(raw, {"table"}, where)
    return tuple(_table(entry, f"{where}, [[table]] {i}") for i, entry in enumerate(_tables(raw, "table", where), 1))


def _table(raw: Mapping[str, Any], where: str) -> TableDeclaration:
    _only_keys(raw, _TABLE_KEYS, where)
    columns = _texts(raw.get("columns"), f"{where}: columns")
    relations = tuple(
        _relation(entry, f"{where}, relation {i}") for i, entry in enumerate(_tables(raw, "relation", where), 1)
    )
    shares = tuple(
        _proportions(entry, f"{where}, proportion {i}") for i, entry in enumerate(_tables(raw, "proportion", where), 1)
    )
    if not relations and not shares:
        raise AnalysisError(f"{where}: declares neither a relation nor a proportion")
    table = TableDeclaration(_text(raw.get("name"), f"{where}: name"), columns, relations, shares)
    used = {*table.numeric, *(name for relation in relations for name in relation.only)}
    if unknown := sorted(used - set(columns)):
        raise AnalysisError(f"{where}: uses {unknown[0]!r}, which columns does not list", offenders=unknown)
    return table


def _relation(raw: Mapping[str, Any], where: str) -> Relation:
    _only_keys(raw, _RELATION_KEYS, where)
    left, right = (_text(raw.get(side), f"{where}: {side}") for side in ("left", "right"))
    sign = _text(raw.get("relation", "="), f"{where}: relation")
    if sign not in RELATIONS:
        raise AnalysisError(f"{where}: relation is one of {' '.join(RELATIONS)}, not {sign!r}")
    only = raw.get("only", {})
    if not isinstance(only, dict) or not all(isinstance(value, str) for value in only.values()):
        raise AnalysisError(f"{where}: only maps columns to texts")
    sides = []
    for text in (left, right):
        try:
            sides.append(parse_expression(text))
        except AnalysisError as error:
            raise AnalysisError(f"{where}: {text[:80]!r}: {error}") from error
    says = _text(raw.get("says", ""), f"{where}: says", empty=True)
    return Relation(f"{left} {sign} {right}", sides[0], sign, sides[1], only, says)


def _proportions(raw: Mapping[str, Any], where: str) -> Proportions:
    _only_keys(raw, _PROPORTION_KEYS, where)
    n = raw.get("n")
    if isinstance(n, bool) or not (isinstance(n, str) or (isinstance(n, int) and n > 0)):
        raise AnalysisError(f"{where}: n is a whole number above 0 or the name of a column")
    percent = raw.get("percent", False)
    if not isinstance(percent, bool):
        raise AnalysisError(f"{where}: percent is true or false")
    return Proportions(_texts(raw.get("columns"), f"{where}: columns"), n, percent)


def _tables(raw: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    found = raw.get(key, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise AnalysisError(f"{where}: [[{key}]] must be an array of tables")
    return found


def _only_keys(raw: Mapping[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(set(raw) - known):
        raise AnalysisError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")


def _text(value: Any, where: str, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or empty):
        raise AnalysisError(f"{where} must be a text")
    return value


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(entry, str) for entry in value):
        raise AnalysisError(f"{where} must be a list of texts")
    return tuple(value)
