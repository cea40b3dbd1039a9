"""Do printed tables agree with themselves and with each other? What cannot follow from what else is printed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import roles_of
from analysis.verification.printed_declarations import Declarations, Proportions, Relation, TableDeclaration
from analysis.verification.printed_files import PrintedRow, PrintedTable, joined, printed_table
from analysis.verification.printed_numbers import Span, implied_span, possible_count, printed_span, rounded_twice
from analysis.verification.printed_p_values import PValue, p_span, printed_p, stars_agree
from analysis.verification.printed_statements import Statement
from analysis.verification.printed_summaries import count_span, summary_span


@dataclass(frozen=True, slots=True)
class Finding:
    """A number that cannot be right: ``printed`` is what stands there, ``possible`` what the others allow."""

    line: int
    row: str
    rule: str
    printed: str
    possible: str


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """Findings of one table, or between two; ``checks`` counts what was looked at, ``empty`` what lacked a number."""

    where: str
    declaration: str
    findings: tuple[Finding, ...]
    checks: int
    empty: int


#: What one check says: a finding, nothing wrong, or None for a number that is not there.
Outcome = Finding | bool | None


def check_tables(paths: Sequence[Path], declared: Declarations) -> tuple[CheckedTable, ...]:
    """Check CSV files against every declaration whose columns they have, and against each other.

    Raises
    ------
    AnalysisError
        A file cannot be read, a cell that a rule needs is no number, no declaration fits, or two files fit one
        declaration that others are compared with.
    """
    fitting: dict[str, list[PrintedTable]] = {}
    found = []
    for path in paths:
        table = printed_table(path)
        for declaration in _fitting(table, declared.tables):
            fitting.setdefault(declaration.name, []).append(table)
            found.append(_checked(table.where, declaration.name, _declared(table, declaration)))
    tables = _known_tables(fitting, declared)
    for join in declared.joins:
        if join.name in tables and join.relations:
            found.append(_checked(tables[join.name].where, join.name, _within(tables[join.name], join.relations)))
    stated: dict[str, list[Outcome]] = {}
    for statement in declared.statements:
        for where, outcome in _stated(statement, tables):
            stated.setdefault(where, []).append(outcome)
    found += [_checked(where, "numbers about whole tables", made) for where, made in stated.items()]
    return tuple(one for one in found if one.checks or one.empty or one.where not in stated)


def _fitting(table: PrintedTable, declared: Sequence[TableDeclaration]) -> list[TableDeclaration]:
    found = [one for one in declared if one.fits(table.header)]
    if found:
        return found
    near = min(declared, key=lambda one: len(set(one.columns) - set(table.header)), default=None)
    lacking = [] if near is None else [name for name in near.columns if name not in table.header]
    nearest = f"; the nearest, '{near.name}', needs {', '.join(lacking)} too" if near is not None and lacking else ""
    raise AnalysisError(
        f"{table.where}: no declaration fits its columns, of {len(declared)} that are known (docs/check_tables.md)"
        f"{nearest}; write one of your own and name it with --declaration",
        offenders=lacking,
    )


def _known_tables(fitting: Mapping[str, list[PrintedTable]], declared: Declarations) -> dict[str, PrintedTable]:
    """The file of each declaration, and pairs of files as joins declare them."""
    compared = {name for join in declared.joins for name in (join.left, join.right)}
    compared |= {name for statement in declared.statements for name in (statement.of, statement.quoted)}
    for name, files in fitting.items():
        if name in compared and len(files) > 1:
            both = " and ".join(table.where for table in files[:2])
            raise AnalysisError(f"{both} both fit {name!r}, with which others are compared; check them one by one")
    tables = {name: files[0] for name, files in fitting.items()}
    for join in declared.joins:
        if join.left in tables and join.right in tables:
            keys = (join.left_key, join.right_key)
            tables[join.name] = joined(tables[join.left], tables[join.right], keys)
    return tables


def _checked(where: str, name: str, outcomes: Sequence[Outcome]) -> CheckedTable:
    made = [one for one in outcomes if one is not None]
    findings = tuple(one for one in made if isinstance(one, Finding))
    return CheckedTable(where, name, findings, len(made), len(outcomes) - len(made))


def _declared(table: PrintedTable, declaration: TableDeclaration) -> list[Outcome]:
    found = _within(table, declaration.relations, declaration.counts)
    found += [one for row in table.rows for shares in declaration.proportions for one in _counted(row, shares)]
    for rule in declaration.p_values:
        found += [_p_value(row, rule) for row in table.rows if row.has(rule.only)] or [None]
    return found


def _within(table: PrintedTable, relations: Sequence[Relation], counts: Sequence[str] = ()) -> list[Outcome]:
    """Relations in the rows that they are about; one that is about no row there lacks its numbers."""
    found: list[Outcome] = []
    for relation in relations:
        rows = [row for row in table.rows if row.has(relation.only) and not (relation.but and row.has(relation.but))]
        found += [_relation(row, relation, counts) for row in rows] or [None]
    return found


def _relation(row: PrintedRow, relation: Relation, counts: Sequence[str]) -> Outcome:
    spans = row.numbers((relation.left, relation.right))
    if spans is None:
        return None
    spans = {name: Span(span.middle, span.middle) if name in counts else span for name, span in spans.items()}
    left, right = implied_span(relation.left, spans), implied_span(relation.right, spans)
    too_low, too_high = left.high < right.low, left.low > right.high
    if not {"=": too_low or too_high, "<=": too_high, ">=": too_low}[relation.relation]:
        return True
    names = dict.fromkeys((*roles_of(relation.left), *roles_of(relation.right)))
    printed = ", ".join(f"{name} {row.cells[name].strip()}" for name in names)
    rule = relation.text + (f" ({relation.says})" if relation.says else "")
    return Finding(row.line, row.name, rule, printed, f"left side {left.text}, right side {right.text}")


def _counted(row: PrintedRow, shares: Proportions) -> Iterator[Outcome]:
    total = row.number(shares.n) if isinstance(shares.n, str) else None
    n = shares.n if isinstance(shares.n, int) else None if total is None else round(total.middle)
    for column in shares.columns:
        span = row.number(column)
        if span is None or n is None:
            yield None
            continue
        scale = 100 if shares.percent else 1
        if possible_count(Span(span.low / scale, span.high / scale), n):
            yield True
            continue
        twice = rounded_twice(span, n, scale)
        possible = "no whole number gives it" + (f", unless it was rounded twice: {twice}" if twice else "")
        yield Finding(
            row.line, row.name, f"{column} is a share of {n:,}", f"{column} {row.cells[column].strip()}", possible
        )


def _p_value(row: PrintedRow, rule: PValue) -> Outcome:
    statistic, df = row.number(rule.statistic), row.number(rule.df)
    try:
        printed = printed_p(row.cells[rule.p])
    except AnalysisError as error:
        raise AnalysisError(f"{row.where}, line {row.line}, column {rule.p}: {error}") from None
    if statistic is None or df is None or printed is None:
        return None
    span, stars = printed
    possible = p_span(rule.distribution, statistic, df.counted)
    shown = f"{rule.p} {row.cells[rule.p].strip()}"
    text = f"{rule.p} of {rule.statistic} ({rule.distribution}, {rule.df} {row.cells[rule.df].strip()})"
    if possible.high < span.low or possible.low > span.high:
        return Finding(row.line, row.name, text, shown, f"p is {possible.text}")
    if rule.stars and not stars_agree(span, stars, rule.stars):
        levels = ", ".join(f"{level:g}" for level in rule.stars)
        return Finding(row.line, row.name, f"one star for each of {levels}", shown, "another number of stars")
    return True


def _stated(statement: Statement, tables: Mapping[str, PrintedTable]) -> Iterator[tuple[str, Outcome]]:
    """Where a statement is made, and whether it can be; nothing where its tables are not given."""
    of, quoted = tables.get(statement.of), tables.get(statement.quoted)
    if of is None:
        return
    chosen = [row for row in of.rows if row.has(statement.rows)]
    where, rows = (of.where, ()) if quoted is None else (quoted.where, quoted.rows)
    places = [row for row in rows if row.has(statement.at)]
    for row in places:
        shown = ", ".join(row.cells[name].strip() for name in roles_of(statement.column))
        name = " ".join(row.cells[column].strip() for column in statement.at)
        rule = f"{name} is {statement.text}, {of.file}"
        yield where, _compared(statement, chosen, of, (row, rule, shown), row.value(statement.column))
    if not places and statement.printed and chosen:
        rule = f"{statement.text} ({statement.says})"
        printed = printed_span(statement.printed)
        yield of.where, _compared(statement, chosen, of, (chosen[0], rule, statement.printed), printed)
    elif not places and quoted is not None:
        yield where, None


def _compared(
    statement: Statement,
    chosen: Sequence[PrintedRow],
    of: PrintedTable,
    named: tuple[PrintedRow, str, str],
    printed: Span | None,
) -> Outcome:
    """A printed number against what its table allows; ``named`` is where it stands, the rule, and the number."""
    try:
        possible = _possible(statement, chosen)
    except AnalysisError as error:
        raise AnalysisError(f"{of.where}: {statement.text}: {error}") from None
    if printed is None or possible is None:
        return None
    if possible.low <= printed.high and printed.low <= possible.high:
        return True
    row, rule, shown = named
    return Finding(row.line, row.name, rule, f"printed {shown}", f"it is {possible.text}")


def _possible(statement: Statement, rows: Sequence[PrintedRow]) -> Span | None:
    """What a statement's number can be; None where a row lacks a number."""
    condition = statement.condition
    if statement.take == "count" and condition is None:
        return Span(Fraction(len(rows)), Fraction(len(rows)))
    wanted = statement.values if condition is None else (condition.left, condition.right)
    values = [[row.value(expression) for expression in wanted] for row in rows]
    known = [[span for span in row if span is not None] for row in values]
    if not rows or any(len(row) < len(wanted) for row in known):
        return None
    if condition is not None:
        left, right = zip(*known, strict=True)
        return count_span(left, condition.sign, right)
    return summary_span(statement.take, known)
