"""Tables as plain text for a terminal."""

import textwrap
from collections.abc import Iterable

from analysis.report.escape import display_width, escape_terminal
from analysis.report.formatted import Cell, FormattedTable, Heading, format_table
from analysis.report.short_names import with_short_names
from analysis.report.spec import Table

_LEGEND = {"bold": "*\u2026*:", "underline": "_\u2026_:", "rule": "A line marks where"}
_GAP = "  "
_NOTE_WIDTH = 100


def render_text(table: Table) -> str:
    """Table as text for a terminal, aligned for wide characters, without control characters.

    Bold cells stand between asterisks, underlined ones between underscores.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
    """
    shown = with_short_names(format_table(table), display_width)
    columns = [_column([row.cells[at] for row in shown.rows], h) for at, h in enumerate(shown.headings)]
    lines = [*_wrapped(shown.caption), *_lines(shown, columns), *_notes(shown)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _column(cells: list[Cell], heading: Heading) -> list[str]:
    """Heading and cells of one column, padded to one width; parts of numbers align, marks follow them."""
    left = heading.align == "left"
    bodies = [_body(cell) for cell in cells]
    whole = [body for body in bodies if len(body) == heading.parts]
    part_widths = [max(display_width(body[at]) for body in whole) for at in range(heading.parts)] if whole else []
    texts = [
        "".join(_padded(part, width, left) for part, width in zip(body, part_widths, strict=True))
        if len(body) == heading.parts
        else "".join(body)
        for body in bodies
    ]
    tails = [_tail(cell) for cell in cells]
    tail_width = max(map(display_width, tails), default=0)
    title = escape_terminal(heading.text)
    width = max([display_width(title) - tail_width, *map(display_width, texts)])
    full = [
        _padded(text, width, left) + _padded(tail, tail_width, True) for text, tail in zip(texts, tails, strict=True)
    ]
    return [_padded(title, width + tail_width, left), *full]


def _body(cell: Cell) -> list[str]:
    first, *others = map(escape_terminal, cell.parts)
    return ["_" * cell.underline + "*" * cell.bold + first, *others]


def _tail(cell: Cell) -> str:
    return "*" * cell.bold + "_" * cell.underline + (f"[{','.join(cell.marks)}]" if cell.marks else "")


def _padded(text: str, width: int, left: bool) -> str:
    space = " " * (width - display_width(text))
    return text + space if left else space + text


def _lines(table: FormattedTable, columns: list[list[str]]) -> Iterable[str]:
    widths = [display_width(column[0]) for column in columns]
    line = "\u2500" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    yield line
    if table.spanners:
        yield _spanning(table, widths)
    yield _GAP.join(column[0] for column in columns)
    yield line
    for place, row in enumerate(table.rows, start=1):
        if row.group is not None:
            yield f"{escape_terminal(row.group.text)}{_tail(row.group)}:"
        elif row.rule:
            yield line
        yield _GAP.join(column[place] for column in columns)
    yield line


def _spanning(table: FormattedTable, widths: list[int]) -> str:
    heads = {first: (text, length) for text, first, length in table.spanners}
    cells, place = [], 0
    while place < len(widths):
        text, length = heads.get(place, ("", 1))
        width = sum(widths[place : place + length]) + len(_GAP) * (length - 1)
        text = escape_terminal(text)
        room = max(width - display_width(text), 0)
        cells.append(" " * (room // 2) + text + " " * (room - room // 2))
        place += length
    return _GAP.join(cells)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(escape_terminal(text), _NOTE_WIDTH)


def _notes(table: FormattedTable) -> Iterable[str]:
    plain = [sentence for mark, sentence in table.notes if not mark]
    yield from _wrapped(" ".join([*plain, *table.legend_with(_LEGEND)]))
    for mark, sentence in table.notes:
        if mark:
            yield from _wrapped(f"[{mark}] {sentence}")
