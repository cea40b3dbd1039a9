"""Printed tables as files, and pairs of them row by row."""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import Expression, roles_of
from analysis.verification.printed_numbers import Span, implied_span, printed_span

#: Largest table that is read; a printed one is far smaller.
MOST_BYTES: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """The cells of one line, by column."""

    where: str
    line: int
    cells: Mapping[str, str]

    @property
    def name(self) -> str:
        """The first cell."""
        return next(iter(self.cells.values()), "").strip()

    def number(self, column: str) -> Span | None:
        """What a cell can have been; None where it is empty."""
        try:
            return printed_span(self.cells[column])
        except AnalysisError as error:
            raise AnalysisError(f"{self.where}, line {self.line}, column {column}: {error}") from None

    def numbers(self, expressions: Iterable[Expression]) -> dict[str, Span] | None:
        """Spans of the columns that expressions take; None where one is empty."""
        names = dict.fromkeys(name for expression in expressions for name in roles_of(expression))
        found = {name: self.number(name) for name in names}
        known = {name: span for name, span in found.items() if span is not None}
        return known if len(known) == len(found) else None

    def value(self, expression: Expression) -> Span | None:
        """What an expression can be; None where a cell is empty."""
        found = self.numbers([expression])
        return None if found is None else implied_span(expression, found)

    def has(self, chosen: Mapping[str, tuple[str, ...]]) -> bool:
        """Whether every column has one of the texts."""
        return all(self.cells[column].strip() in texts for column, texts in chosen.items())


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table as it was printed; ``where`` is the path of its file, or of both; ``file`` their names."""

    where: str
    header: tuple[str, ...]
    rows: tuple[PrintedRow, ...]
    file: str


def printed_table(path: Path) -> PrintedTable:
    """Read a CSV file.

    Raises
    ------
    AnalysisError
        It cannot be read, is empty, or a line has too few or too many cells.
    """
    lines = _lines(path)
    if not lines:
        raise AnalysisError(f"{path}: is empty; the first line names the columns")
    header = tuple(name.strip() for name in lines[0][1])
    if twice := sorted({name for name in header if header.count(name) > 1}):
        raise AnalysisError(f"{path}: two columns are called {twice[0]!r}", offenders=twice)
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise AnalysisError(f"{path}, line {number}: {len(cells)} cells where the header has {len(header)}")
    rows = (PrintedRow(str(path), line, dict(zip(header, cells, strict=True))) for line, cells in lines[1:])
    return PrintedTable(str(path), header, tuple(rows), path.name)


def joined(left: PrintedTable, right: PrintedTable, keys: tuple[str, str]) -> PrintedTable:
    """Rows of the left table with the right one's columns, after ``right_``: empty where no row there has their key.

    Raises
    ------
    AnalysisError
        Two rows of the right table have the same key.
    """
    others: dict[str, PrintedRow] = {}
    for row in right.rows:
        key = _key(row, keys[1])
        if key in others:
            raise AnalysisError(f"{right.where}: lines {others[key].line} and {row.line} are both of {key!r}")
        others[key] = row
    none = PrintedRow(right.where, 0, dict.fromkeys(right.header, ""))
    rows = tuple(
        PrintedRow(row.where, row.line, {**row.cells, **{f"right_{name}": cell for name, cell in other.cells.items()}})
        for row in left.rows
        for other in [others.get(_key(row, keys[0]), none)]
    )
    header = (*left.header, *(f"right_{name}" for name in right.header))
    return PrintedTable(f"{left.where} and {right.where}", header, rows, f"{left.file} and {right.file}")


def _key(row: PrintedRow, pattern: str) -> str:
    def cell(found: re.Match[str]) -> str:
        if found[1] not in row.cells:
            raise AnalysisError(f"{row.where}: a key names the column {found[1]!r}, which is not there")
        return row.cells[found[1]]

    return re.sub(r"\s", "", re.sub(r"\{([^{}]*)\}", cell, pattern)).casefold()


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """Lines that are not empty, with their numbers."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise AnalysisError(f"{path}: larger than {MOST_BYTES:,} bytes; a printed table is smaller")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AnalysisError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise AnalysisError(f"{path}: cannot be read: {error.strerror or error}") from None
    reader = csv.reader(text.splitlines(keepends=True))
    try:
        return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise AnalysisError(f"{path}, line {reader.line_num}: {error}") from None
