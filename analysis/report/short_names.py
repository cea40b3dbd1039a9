"""Long texts in media where a cell cannot hold them: cut in the middle, or broken into lines."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from analysis.report.escape import shortened
from analysis.report.formatted import NAME_WIDTH, Cell, FormattedTable, Heading, Letters

#: Columns of characters beyond which a text is cut where the medium breaks texts into lines.
TEXT_WIDTH: Final = 240


def with_short_names(
    table: FormattedTable, width_of: Callable[[str], int], *, wrapping: bool = False, longest: int = NAME_WIDTH
) -> FormattedTable:
    """Table whose long texts are cut in the middle, each with a lettered note that gives it in full.

    Parameters
    ----------
    table : FormattedTable
    width_of : callable
        Width of a string in the medium, in characters.
    wrapping : bool
        The medium breaks cells into lines: texts up to ``TEXT_WIDTH`` stay whole in columns that name no row,
        whose headings are then ``wrapped``.
    longest : int
        Width to which texts are cut.
    """
    letters = Letters({sentence: mark for mark, sentence in table.notes if mark})
    known = len(letters.of)
    headings = tuple(
        replace(heading, wrapped=wrapping and _takes_lines(heading, [row.cells[at] for row in table.rows], width_of))
        for at, heading in enumerate(table.headings)
    )

    def short(cell: Cell, *, limit: int = longest) -> Cell:
        if len(cell.parts) > 1 or width_of(cell.text) <= limit:
            return cell
        mark = letters.mark(f"In full: {cell.text}")
        return replace(cell, parts=(shortened(cell.text, longest, width_of),), marks=(*cell.marks, mark))

    rows = tuple(
        replace(
            row,
            cells=tuple(
                short(cell, limit=TEXT_WIDTH if heading.wrapped else longest)
                for cell, heading in zip(row.cells, headings, strict=True)
            ),
            group=short(row.group, limit=NAME_WIDTH) if row.group else None,
        )
        for row in table.rows
    )
    added = [(mark, sentence) for sentence, mark in list(letters.of.items())[known:]]
    return replace(table, headings=headings, rows=rows, notes=table.notes + tuple(added))


def _takes_lines(heading: Heading, cells: Sequence[Cell], width_of: Callable[[str], int]) -> bool:
    """Whether a column of texts has some that are too long for one line and name no row."""
    if heading.is_name or heading.align != "left" or heading.parts > 1:
        return False
    return any(width_of(cell.text) > NAME_WIDTH for cell in cells)
