"""A number printed in one place that says something of a table in another: how it is declared."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
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
from analysis.verification.printed_summaries import SUMMARIES

_GROUP_KEYS: Final = {"of", "quoted", "column", "each"}
_KEYS: Final = {"at", "column", "take", "values", "rows", "condition", "printed", "says"}
_CONDITION: Final = re.compile(r"([^<>]+)(<=|>=|<|>)([^<>]+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """Which rows are counted."""

    text: str
    left: Expression
    sign: str
    right: Expression


@dataclass(frozen=True, slots=True)
class Statement:
    """A number in the table ``quoted``, or ``printed``, is ``take`` of ``values`` over rows of the table ``of``.

    ``at`` names the row that quotes it, ``column`` the expression of that row; ``rows`` are those that are summarised.
    """

    of: str
    quoted: str
    at: Mapping[str, tuple[str, ...]]
    column: Expression
    take: str
    values: tuple[Expression, ...]
    texts: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]
    condition: Condition | None
    printed: str
    says: str

    @property
    def text(self) -> str:
        """What follows from the table, in words."""
        what = self.condition.text if self.condition else ", ".join(self.texts)
        where = ", ".join(" + ".join(texts) for texts in self.rows.values())
        found = what if self.take == "cell" else f"{self.take.replace('_', ' ')} of {what or 'rows'}"
        return found + (f" of {where}" if where else "")


def statement_group(raw: Mapping[str, Any], tables: Mapping[str, set[str]], where: str) -> tuple[Statement, ...]:
    """Statements about one table, quoted in one other.

    Parameters
    ----------
    raw : mapping
        As TOML has it.
    tables : mapping
        Declared tables with their columns.
    where : str
        Place of the group, for messages.

    Raises
    ------
    AnalysisError
        Unknown keys, tables, columns or summaries, or an expression outside the grammar.
    """
    only_keys(raw, _GROUP_KEYS, where)
    of = one_text(raw.get("of"), f"{where}: of")
    quoted = one_text(raw.get("quoted"), f"{where}: quoted")
    known_tables((of, quoted), tables, where)
    column = one_text(raw.get("column", "value"), f"{where}: column")
    return tuple(
        _statement(one, of, quoted, column, tables, f"{where}, each {i}")
        for i, one in enumerate(table_list(raw, "each", where), 1)
    )


def _statement(
    raw: Mapping[str, Any], of: str, quoted: str, column: str, tables: Mapping[str, set[str]], where: str
) -> Statement:
    only_keys(raw, _KEYS, where)
    take = one_of(one_text(raw.get("take", "cell"), f"{where}: take"), SUMMARIES, f"{where}: take")
    texts = several_texts(raw.get("values", []), f"{where}: values", empty=True)
    least, most = SUMMARIES[take]
    if not least <= len(texts) <= most:
        raise AnalysisError(f"{where}: {take} is of {least if least == most else f'{least} to {most}'} values")
    condition = _condition(raw["condition"], where) if "condition" in raw else None
    if condition is not None and take != "count":
        raise AnalysisError(f"{where}: a condition is for take = 'count'")
    found = Statement(
        of,
        quoted,
        chosen_rows(raw.get("at"), f"{where}: at"),
        one_expression(one_text(raw.get("column", column), f"{where}: column"), where),
        take,
        tuple(one_expression(text, where) for text in texts),
        texts,
        chosen_rows(raw.get("rows", {}), f"{where}: rows"),
        condition,
        one_text(raw.get("printed", ""), f"{where}: printed", empty=True),
        one_text(raw.get("says", ""), f"{where}: says", empty=True),
    )
    _columns_known(found, tables, where)
    return found


def _condition(text: Any, where: str) -> Condition:
    found = _CONDITION.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise AnalysisError(f"{where}: a condition is two expressions with <, <=, > or >= between them")
    return Condition(text, one_expression(found[1], where), found[2], one_expression(found[3], where))


def _columns_known(statement: Statement, tables: Mapping[str, set[str]], where: str) -> None:
    condition = statement.condition
    sides = (*statement.values, *((condition.left, condition.right) if condition else ()))
    used = {
        statement.of: {*statement.rows, *(name for side in sides for name in roles_of(side))},
        statement.quoted: set(),
    }
    used[statement.quoted] |= {*statement.at, *roles_of(statement.column)}
    for name, columns in used.items():
        known_columns(columns, tables[name], where, of=name)
