"""A table as every reader sees it: text, alignment, styles and notes. The one place of rounding."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from analysis.errors import AnalysisError
from analysis.report.columns import Column, Key, Row, Text, is_missing
from analysis.report.notes import SIMULATED, SIMULATED_NOTE, notes_from
from analysis.report.numbers import EN_DASH, MINUS
from analysis.report.ordering import ordered_rows
from analysis.report.spec import Table, TableSpec, Where

#: Columns of characters beyond which a name is cut in the middle, where a medium has no other way.
NAME_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell in plain Unicode text, not yet escaped.

    ``parts`` joined are the text; the parts of one column align. ``marks`` are the letters of its notes.
    """

    parts: tuple[str, ...]
    missing: bool = False
    bold: bool = False
    underline: bool = False
    marks: tuple[str, ...] = ()
    sort_key: Key = None

    @property
    def text(self) -> str:
        """Text without marks."""
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class Heading:
    """Head of a column; ``parts`` is the number of parts of its widest cell, ``wrapped`` whether it takes lines."""

    text: str
    align: str
    help: str = ""
    parts: int = 1
    is_name: bool = False
    wrapped: bool = False


@dataclass(frozen=True, slots=True)
class FormattedRow:
    """Cells of one row; ``group`` heads a group that begins here, ``rule`` asks for a rule above the row."""

    cells: tuple[Cell, ...]
    group: Cell | None = None
    rule: bool = False


@dataclass(frozen=True, slots=True)
class FormattedTable:
    """Everything that renderers escape and lay out.

    ``spanners`` are (heading, first column, number of columns). ``legend`` explains styles as
    (``bold``, ``underline`` or ``rule``, meaning), since each medium has its own word for them. ``notes``
    are (letter or empty, sentence). ``number`` is empty where the document numbers the table; ``reference`` is
    its label in LaTeX.
    """

    name: str
    title: str
    headings: tuple[Heading, ...]
    spanners: tuple[tuple[str, int, int], ...]
    rows: tuple[FormattedRow, ...]
    legend: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    number: str = ""
    reference: str = ""

    @property
    def caption(self) -> str:
        """Title, with the number where one was given: in LaTeX the document numbers the others."""
        return f"Table {self.number}. {self.title}" if self.number else self.title

    def legend_with(self, words: dict[str, str]) -> tuple[str, ...]:
        """Legend in the words of one medium, ``words[kind]`` in front of each meaning."""
        return tuple(f"{words[kind]} {meaning}." for kind, meaning in self.legend)


@dataclass(slots=True)
class Letters:
    """Letters given to reasons in the order in which they are met."""

    of: dict[str, str] = field(default_factory=dict)

    def mark(self, reason: str) -> str:
        """Letter of a reason, the next one if it is new."""
        return self.of.setdefault(reason, letter(len(self.of)))


def letter(place: int) -> str:
    """Letter of a note counted from 0: a to z, aa, ab and so on."""
    place, last = divmod(place, 26)
    return (letter(place - 1) if place else "") + chr(ord("a") + last)


@functools.lru_cache(maxsize=1)
def format_table(table: Table) -> FormattedTable:
    """Round, mark and explain a table, in plain Unicode text.

    The last table is kept: a report renders each of its tables in every format before the next.

    Parameters
    ----------
    table : Table

    Returns
    -------
    FormattedTable

    Raises
    ------
    AnalysisError
        A value contradicts its declaration (a proportion above 1, text in a column of numbers, a
        fraction in a column of counts, a level without its place in the order).
    """
    spec, columns = table.spec, table.columns()
    rows = ordered_rows(table.rows, spec)
    letters = Letters()
    records = [{str(name): value for name, value in r.items()} for r in rows.astype(object).to_dict("records")]
    formatted = _formatted_rows(records, table, letters)
    return FormattedTable(
        name=spec.name,
        title=f"{SIMULATED}: {spec.title}" if table.is_simulated else spec.title,
        headings=tuple(_headings(columns, table, formatted)),
        spanners=tuple(_spanners(spec, columns)),
        rows=formatted,
        legend=tuple(_legend(table)),
        notes=tuple(_general_notes(table, formatted)) + tuple((mark, why) for why, mark in letters.of.items()),
        number=spec.number,
        reference=spec.reference,
    )


def _formatted_rows(records: Sequence[Row], table: Table, letters: Letters) -> tuple[FormattedRow, ...]:
    spec, columns = table.spec, table.columns()
    rule_where = spec.rule_where
    formatted: list[FormattedRow] = []
    before: Row | None = None
    for record in records:
        label = " · ".join(str(record[name]) for name in spec.groups if not is_missing(record[name]))
        starts = bool(spec.groups) and (before is None or any(_differs(before, record, g) for g in spec.groups))
        crosses = rule_where is not None and before is not None and rule_where.holds(before) != rule_where.holds(record)
        cells = _limited(tuple(_cell(c, record, table, letters) for c in columns), columns, record, letters)
        formatted.append(FormattedRow(cells, Cell((label or EN_DASH,)) if starts else None, crosses and not starts))
        before = record
    return tuple(formatted)


def _differs(before: Row, row: Row, name: str) -> bool:
    one, two = before[name], row[name]
    return is_missing(one) != is_missing(two) or (not is_missing(one) and one != two)


def _cell(column: Column, row: Row, table: Table, letters: Letters) -> Cell:
    try:
        parts = column.parts(row)
    except AnalysisError as error:
        raise AnalysisError(f'table "{table.spec.name}", column "{column.name}": {error}') from error
    reason = _reason(column, row, missing=parts is None)
    marks = (letters.mark(reason),) if reason else ()
    if parts is None:
        return Cell((EN_DASH,), missing=True, marks=marks)
    return Cell(
        parts,
        bold=_styled(table.spec.bold_where, column, row),
        underline=_styled(table.spec.underline_where, column, row),
        marks=marks,
        sort_key=column.sort_key(row),
    )


def _styled(conditions: Iterable[Where], column: Column, row: Row) -> bool:
    return any(column.name in (w.cells or (w.column,)) and w.column in row and w.holds(row) for w in conditions)


def _reason(column: Column, row: Row, *, missing: bool) -> str:
    """Why a value is missing, or what limits it; the row's reason explains missing numbers only."""
    own = column.reason or f"{column.name}_reason"
    for name in (own, "reason") if missing and not isinstance(column, Text) else (own,):
        found = row.get(name)
        if not is_missing(found) and str(found).strip():
            return str(found)
    return ""


def _limited(cells: tuple[Cell, ...], columns: tuple[Column, ...], row: Row, letters: Letters) -> tuple[Cell, ...]:
    """Cells with the row's reason on its name, if it explains no missing value and is not printed itself."""
    found = row.get("reason")
    if is_missing(found) or not str(found).strip() or any(c.name == "reason" for c in columns):
        return cells
    if any(letters.of.get(str(found)) in cell.marks for cell in cells):
        return cells
    first = replace(cells[0], marks=(*cells[0].marks, letters.mark(str(found))))
    return (first, *cells[1:])


def _headings(columns: tuple[Column, ...], table: Table, rows: tuple[FormattedRow, ...]) -> Iterable[Heading]:
    names = [c.name for c in columns if isinstance(c, Text)]
    for place, column in enumerate(columns):
        parts = max((len(row.cells[place].parts) for row in rows), default=1)
        is_name = bool(names) and column.name == names[0]
        yield Heading(column.heading(table.rows), column.align, column.help, parts, is_name)


def _spanners(spec: TableSpec, columns: tuple[Column, ...]) -> Iterable[tuple[str, int, int]]:
    names = [column.name for column in columns]
    for spanner in spec.spanners:
        covered = [names.index(name) for name in spanner.columns if name in names]
        if covered:
            yield spanner.header, covered[0], len(covered)


def _legend(table: Table) -> Iterable[tuple[str, str]]:
    headers = {column.name: column.header or column.name for column in table.columns()}
    for kind, wheres in (("bold", table.spec.bold_where), ("underline", table.spec.underline_where)):
        conditions: dict[str, list[str]] = {}
        for where in wheres:
            if cells := [name for name in where.cells or (where.column,) if name in headers]:
                own = where.cells in ((), (where.column,))
                other = "" if own else f"where {headers.get(where.column, where.column)} "
                said = where.meaning or f"{other}{_condition(where)}"
                conditions.setdefault(said, []).extend(cells)
        if conditions:
            yield kind, "; ".join(f"{_covering(names, table.spec, headers)} {c}" for c, names in conditions.items())
    if (rule := table.spec.rule_where) is not None and rule.column in table.rows.columns:
        change = f"crosses {_shown(rule)}" if rule.op[0] in "<>" else f"{_condition(rule)} changes"
        yield "rule", f"{headers.get(rule.column, rule.column)} {change}"


def _covering(names: list[str], spec: TableSpec, headers: dict[str, str]) -> str:
    """Headings of the columns, or of the spanner that covers exactly them."""
    spanned = [spanner.header for spanner in spec.spanners if set(spanner.columns) == set(names)]
    return spanned[0] if spanned else ", ".join(dict.fromkeys(headers[name] for name in names))


def _condition(where: Where) -> str:
    return f"{ {'<=': '≤', '>=': '≥', '==': '=', '!=': '≠'}.get(where.op, where.op) } {_shown(where)}"


def _shown(where: Where) -> str:
    if isinstance(where.value, bool | str):
        return str(where.value)
    return f"{where.value:g}".replace("-", MINUS)


def _general_notes(table: Table, rows: tuple[FormattedRow, ...]) -> Iterable[tuple[str, str]]:
    cells = [cell for row in rows for cell in row.cells]
    sentences = [SIMULATED_NOTE] if table.is_simulated else []
    sentences += [table.spec.note] if table.spec.note else []
    sentences += [f"{c.header or c.name}: {c.help}" for c in table.columns() if c.help]
    sentences += [*notes_from(table.rows, table.spec), *table.notes]
    if any(cell.missing and not cell.marks for cell in cells):
        sentences.append(f"{EN_DASH}: no value, and the data give no reason.")
    if not rows:
        sentences.append("The table has no rows.")
    return [("", sentence if sentence.endswith((".", "!", "?")) else f"{sentence}.") for sentence in sentences]
