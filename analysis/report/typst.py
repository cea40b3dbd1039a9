"""Tables in Typst: a figure to be included in a document."""

from collections.abc import Iterable
from typing import Final

from analysis.report.escape import visible
from analysis.report.formatted import Cell, FormattedRow, FormattedTable, format_table
from analysis.report.spec import Table

_LEGEND: Final = {"bold": "Bold:", "underline": "Underlined:", "rule": "A rule marks where"}
_RULES: Final = {"edge": "0.8pt", "middle": "0.5pt"}


def render_typst(table: Table) -> str:
    """Table as a figure in Typst, which breaks over pages; for ``#include`` or to be pasted.

    Every text of the data is a string of the language, never markup. Label: that of the table in LaTeX.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
        Source for Typst 0.12 or newer; needs no package.
    """
    shown = format_table(table)
    alignment = ", ".join("left" if heading.align == "left" else "right" for heading in shown.headings)
    own = [f"  numbering: _ => {_string(shown.number)},"] if shown.number else []
    uncounted = ["#counter(figure.where(kind: table)).update(n => n - 1)"] if shown.number else []
    return "\n".join(
        [
            "#[",
            "#show figure: set block(breakable: true)",
            "#set text(size: 0.85em)",
            "#figure(",
            "  kind: table,",
            f"  caption: figure.caption(position: top, {_string(shown.title)}),",
            *own,
            "  table(",
            f"    columns: {len(shown.headings)},",
            f"    align: ({alignment},),",
            "    stroke: none,",
            "    inset: (x: 4pt, y: 3pt),",
            *(f"    {line}" for line in _lines(shown)),
            "  ),",
            f") <{shown.reference}>",
            *uncounted,
            *_notes(shown),
            "]",
            "",
        ]
    )


def _string(text: str) -> str:
    """Text as a string of the language."""
    return '"' + visible(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _lines(table: FormattedTable) -> Iterable[str]:
    yield _rule("edge")
    yield "table.header("
    yield from (f"  {cell}" for cell in _spanning(table))
    yield from (f"  {_string(heading.text)}," for heading in table.headings)
    yield "),"
    yield _rule("middle")
    for place, row in enumerate(table.rows):
        yield from _row(row, len(table.headings), first=place == 0)
    yield _rule("edge")


def _rule(kind: str) -> str:
    return f"table.hline(stroke: {_RULES[kind]}),"


def _spanning(table: FormattedTable) -> Iterable[str]:
    heads = {first: (text, length) for text, first, length in table.spanners}
    place = 0
    while table.spanners and place < len(table.headings):
        text, length = heads.get(place, ("", 1))
        yield f"table.cell(colspan: {length}, align: center, {_string(text)})," if text else "[],"
        if text:
            yield f"table.hline(start: {place}, end: {place + length}, stroke: {_RULES['middle']}),"
        place += length


def _row(row: FormattedRow, columns: int, *, first: bool) -> Iterable[str]:
    if row.group is not None:
        yield f"table.cell(colspan: {columns}, emph({_string(row.group.text)}){_marks(row.group)}),"
    elif row.rule and not first:
        yield _rule("middle")
    yield " ".join(f"{_cell(cell)}," for cell in row.cells)


def _cell(cell: Cell) -> str:
    text = _string(cell.text)
    text = f"strong({text})" if cell.bold else text
    text = f"underline({text})" if cell.underline else text
    return text + _marks(cell)


def _marks(cell: Cell) -> str:
    return f" + super({_string(','.join(cell.marks))})" if cell.marks else ""


def _notes(table: FormattedTable) -> Iterable[str]:
    plain = [sentence for mark, sentence in table.notes if not mark]
    if opening := " ".join([*plain, *table.legend_with(_LEGEND)]):
        yield f"#par({_string(opening)})"
    for mark, sentence in table.notes:
        if mark:
            yield f"#par(super({_string(mark)}) + {_string(' ' + sentence)})"
