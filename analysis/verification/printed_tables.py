"""Does a printed table agree with itself? Relations between its columns, and proportions that no count can give."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import roles_of
from analysis.verification.printed_declarations import Relation, TableDeclaration
from analysis.verification.printed_numbers import Span, implied_span, possible_count, printed_span

#: Largest table that is read; a printed one is far smaller.
MOST_BYTES: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A row that cannot be right: ``what`` was printed, ``possible`` is what the other numbers allow."""

    line: int
    row: str
    rule: str
    printed: str
    possible: str


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """Findings of one table; ``checks`` counts the rows × rules looked at, ``empty`` those without a number."""

    declaration: str
    findings: tuple[Finding, ...]
    checks: int
    empty: int


def check_table(path: Path, declared: tuple[TableDeclaration, ...]) -> tuple[CheckedTable, ...]:
    """Check a CSV file against every declaration whose columns it has.

    Raises
    ------
    AnalysisError
        The file cannot be read, a cell that a rule needs is no number, or no declaration fits.
    """
    header, rows = _read(path)
    fitting = [table for table in declared if set(table.columns) <= set(header)]
    if not fitting:
        names = ", ".join(table.name for table in declared) or "none"
        near = min(declared, key=lambda table: len(set(table.columns) - set(header)), default=None)
        lacking = [] if near is None else [name for name in near.columns if name not in header]
        nearest = f"; the nearest, {near.name}, needs {', '.join(lacking)} too" if near is not None else ""
        raise AnalysisError(
            f"{path}: no declaration fits its columns; declared are: {names}{nearest}; "
            "write one of your own (docs/check_tables.md) and name it with --declaration",
            offenders=lacking,
        )
    return tuple(_checked(path, table, rows) for table in fitting)


def _checked(path: Path, table: TableDeclaration, rows: list[tuple[int, dict[str, str]]]) -> CheckedTable:
    findings: list[Finding] = []
    checks = empty = 0
    for line, row in rows:
        spans = _spans(path, line, row, table)
        for relation in table.relations:
            if any(row.get(column) != value for column, value in relation.only.items()):
                continue
            needed = (*roles_of(relation.left), *roles_of(relation.right))
            if any(spans[name] is None for name in needed):
                empty += 1
                continue
            checks += 1
            findings += _broken(line, row, relation, {name: span for name in needed if (span := spans[name])})
        for column, n, span in _shares(table, spans):
            if span is None or n is None:
                empty += 1
                continue
            checks += 1
            if not possible_count(span, n):
                findings.append(_no_count(line, row, column, n))
    return CheckedTable(table.name, tuple(findings), checks, empty)


def _broken(line: int, row: dict[str, str], relation: Relation, spans: dict[str, Span]) -> Iterator[Finding]:
    left, right = implied_span(relation.left, spans), implied_span(relation.right, spans)
    too_low, too_high = left.high < right.low, left.low > right.high
    broken = {"=": too_low or too_high, "<=": too_high, ">=": too_low}[relation.relation]
    if broken:
        names = dict.fromkeys((*roles_of(relation.left), *roles_of(relation.right)))
        printed = ", ".join(f"{name} {row[name].strip()}" for name in names)
        rule = relation.text + (f" ({relation.says})" if relation.says else "")
        possible = f"left side {left.text}, right side {right.text}"
        yield Finding(line, _row_name(row), rule, printed, possible)


def _no_count(line: int, row: dict[str, str], column: str, n: int) -> Finding:
    rule = f"{column} is a share of {n:,}"
    return Finding(line, _row_name(row), rule, f"{column} {row[column].strip()}", "no whole number gives it")


def _shares(table: TableDeclaration, spans: Mapping[str, Span | None]) -> Iterator[tuple[str, int | None, Span | None]]:
    for share in table.proportions:
        for column in share.columns:
            span = spans[column]
            if span is not None and share.percent:
                span = Span(span.low / 100, span.high / 100)
            total = spans[share.n] if isinstance(share.n, str) else None
            yield column, share.n if isinstance(share.n, int) else _whole(total), span


def _whole(span: Span | None) -> int | None:
    return None if span is None else round((span.low + span.high) / 2)


def _row_name(row: dict[str, str]) -> str:
    return next(iter(row.values()), "").strip()


def _spans(path: Path, line: int, row: dict[str, str], table: TableDeclaration) -> dict[str, Span | None]:
    found: dict[str, Span | None] = {}
    for column in table.numeric:
        try:
            found[column] = printed_span(row[column])
        except AnalysisError as error:
            raise AnalysisError(f"{path}, line {line}, column {column}: {error}") from None
    return found


def _read(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Header, and rows with their line numbers."""
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
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise AnalysisError(f"{path}, line {reader.line_num}: {error}") from None
    if not lines:
        raise AnalysisError(f"{path}: is empty; the first line names the columns")
    header = [name.strip() for name in lines[0][1]]
    if twice := sorted({name for name in header if header.count(name) > 1}):
        raise AnalysisError(f"{path}: two columns are called {twice[0]!r}", offenders=twice)
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise AnalysisError(f"{path}, line {number}: {len(cells)} cells where the header has {len(header)}")
    return header, [(number, dict(zip(header, cells, strict=True))) for number, cells in lines[1:]]
