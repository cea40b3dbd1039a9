"""A table: what it declares, and the data it is filled with."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.errors import AnalysisError
from analysis.report.columns import Column, Row, is_missing

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_LABEL = re.compile(r"[A-Za-z0-9:._-]+")
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Where:
    """Condition on the unrounded data: ``Where("floor", ">", 0.5)``; false where the value is missing.

    ``cells`` names the columns whose cells it styles; default: the column itself. ``meaning`` is what the
    legend says of them instead of the condition.
    """

    column: str
    op: str
    value: float | str | bool
    cells: tuple[str, ...] = ()
    meaning: str = ""

    def __post_init__(self) -> None:
        if self.op not in _OPERATORS:
            raise AnalysisError(f'unknown comparison "{self.op}" of column "{self.column}"; use {" ".join(_OPERATORS)}')

    def holds(self, row: Row) -> bool:
        """Whether the condition is true of a row."""
        found = row[self.column]
        if is_missing(found):
            return False
        try:
            return bool(_OPERATORS[self.op](found, self.value))
        except TypeError as error:
            raise AnalysisError(f'column "{self.column}" holds {found!r}, compared with {self.value!r}') from error


@dataclass(frozen=True, slots=True)
class OrderBy:
    """One key of a table's order; missing values come last.

    ``levels`` fixes the sequence (a value outside it is an error); ``natural`` reads numbers within
    text, so that level 10 follows level 9.
    """

    column: str
    descending: bool = False
    levels: tuple[str, ...] = ()
    natural: bool = False


@dataclass(frozen=True, slots=True)
class Spanner:
    """Heading above several neighbouring columns, given by their names."""

    header: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableSpec:
    """Declaration of a table.

    Parameters
    ----------
    name : str
        Stable name, for files and labels: small letters, digits, ``_`` and ``-``.
    title : str
        Caption.
    columns : tuple of Column
        In order of printing.
    order : str or tuple of (str or OrderBy)
        Sort keys, ``"-estimate"`` descending; rows equal in all keys, and all rows without keys, keep
        their order.
    groups : tuple of str
        Columns whose values head groups of rows; groups come in the order of their first row.
    spanners : tuple of Spanner
        Headings above several columns.
    note : str
        Sentence under the table; what the data say of themselves is added by ``notes_from``.
    rule_where : Where, optional
        A rule is drawn between two rows where the condition changes.
    bold_where, underline_where : tuple of Where
        Cells set in bold, underlined.
    number, label : str
        Number and LaTeX label in place of those that the document would give.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    order: str | tuple[str | OrderBy, ...] = ()
    groups: tuple[str, ...] = ()
    spanners: tuple[Spanner, ...] = ()
    note: str = ""
    rule_where: Where | None = None
    bold_where: tuple[Where, ...] = ()
    underline_where: tuple[Where, ...] = ()
    number: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise AnalysisError(f"a table's name has small letters, digits, _ and -, not {self.name!r}")
        if self.label and not _LABEL.fullmatch(self.label):
            raise AnalysisError(f'table "{self.name}": a label has letters, digits and : . _ -, not {self.label!r}')
        names = [column.name for column in self.columns]
        if not names:
            raise AnalysisError(f'table "{self.name}" declares no columns')
        for spanner in self.spanners:
            at = [names.index(name) for name in spanner.columns if name in names]
            if len(at) != len(spanner.columns) or at != list(range(at[0], at[0] + len(at))):
                raise AnalysisError(f'table "{self.name}": "{spanner.header}" spans columns that are not neighbours')
        for where in self.styles:
            if unknown := set(where.cells or (where.column,)) - set(names):
                raise AnalysisError(f'table "{self.name}" styles cells it does not print: {", ".join(sorted(unknown))}')

    @property
    def reference(self) -> str:
        """Label in LaTeX."""
        return self.label or f"tab:{self.name}"

    @property
    def styles(self) -> tuple[Where, ...]:
        """Conditions that style cells."""
        return self.bold_where + self.underline_where

    @property
    def keys(self) -> tuple[OrderBy, ...]:
        """Sort keys, written out."""
        order = (self.order,) if isinstance(self.order, str) else self.order
        return tuple(
            key if isinstance(key, OrderBy) else OrderBy(key.removeprefix("-"), descending=key.startswith("-"))
            for key in order
        )

    def needs(self) -> tuple[str, ...]:
        """Columns that the data must have, each once."""
        declared = [name for column in self.columns if not column.optional for name in column.needs()]
        wheres = [where.column for where in (self.rule_where, *self.styles) if where is not None]
        keys = [key.column for key in self.keys]
        optional = {column.name for column in self.columns if column.optional}
        return tuple(dict.fromkeys(declared + [n for n in [*self.groups, *keys, *wheres] if n not in optional]))


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A declaration filled with data.

    Parameters
    ----------
    spec : TableSpec
    rows : DataFrame
        One row per printed row, unrounded. Never changed.
    notes : tuple of str
        Further sentences under the table.
    simulated : bool
        Whether the numbers come from generated logs; every rendering says so. A column ``simulated``
        with a true value has the same effect.
    rendered : RenderedTable, optional
        Its files where they were rendered already; they hold as long as nothing else of the table changed.
    """

    spec: TableSpec
    rows: pd.DataFrame
    notes: tuple[str, ...] = ()
    simulated: bool = False
    rendered: "RenderedTable | None" = None

    def __post_init__(self) -> None:
        if not self.rows.columns.is_unique:
            twice = sorted({str(c) for c in self.rows.columns[self.rows.columns.duplicated()]})
            raise AnalysisError(f'table "{self.spec.name}": columns occur twice: {", ".join(twice)}', offenders=twice)
        absent = [name for name in self.spec.needs() if name not in self.rows.columns]
        if absent:
            raise AnalysisError(
                f'table "{self.spec.name}" declares {", ".join(absent)}, which its data lack; '
                f"they have {', '.join(map(str, self.rows.columns)) or 'no columns'}",
                offenders=absent,
            )

    @property
    def is_simulated(self) -> bool:
        """Whether any number comes from generated logs."""
        marked = self.rows["simulated"] if "simulated" in self.rows.columns else ()
        return self.simulated or any(bool(value) for value in marked if not is_missing(value))

    def columns(self) -> tuple[Column, ...]:
        """Declared columns without the optional ones that the data lack."""
        return tuple(c for c in self.spec.columns if not c.optional or set(c.needs()) <= set(self.rows.columns))


@dataclass(frozen=True, slots=True, eq=False)
class RenderedTable:
    """Text of a table by the ending of its file, and the table ``of`` which it is."""

    of: Table
    texts: Mapping[str, str]

    def is_of(self, table: Table) -> bool:
        """Whether the text of ``table`` would be the same."""
        said, now = ((t.spec, t.notes, t.simulated) for t in (self.of, table))
        return self.of.rows is table.rows and said == now
