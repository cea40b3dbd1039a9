"""Tables as fragments of an HTML page, without styles or scripts of their own."""

from collections.abc import Iterable

from analysis.report.escape import display_width, escape_html
from analysis.report.formatted import NAME_WIDTH, Cell, FormattedRow, FormattedTable, Heading, format_table
from analysis.report.spec import Table

_LEGEND = {"bold": "Bold:", "underline": "Underlined:", "rule": "A rule marks where"}


def render_html(table: Table) -> str:
    """Table as an HTML fragment: a ``div`` with the table and its notes.

    Classes carry every style: ``data-table``, ``number``, ``text``, ``missing``, ``bold``, ``underline``,
    ``rule`` (line above the row), ``group``, ``long`` (a name to cut by CSS, whole in ``title``), ``mark``,
    ``table-notes``. ``data-sort`` holds the unrounded value of each cell.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
        Ends with a line feed; id of the block: ``table-<name>``.
    """
    shown = format_table(table)
    return "\n".join(
        [
            f'<div class="table-block" id="table-{shown.name}">',
            '<div class="table-scroll">',
            '<table class="data-table">',
            f"<caption>{escape_html(shown.caption)}</caption>",
            "<thead>",
            *_head(shown),
            "</thead>",
            *_body(shown),
            "</table>",
            "</div>",
            *_notes(shown),
            "</div>",
            "",
        ]
    )


def _kind(heading: Heading) -> str:
    return "text" if heading.align == "left" else "number"


def _head(table: FormattedTable) -> Iterable[str]:
    if table.spanners:
        yield f"<tr>{''.join(_spanning(table))}</tr>"
    cells = []
    for heading in table.headings:
        text = escape_html(heading.text)
        shown = f'<abbr title="{escape_html(heading.help)}">{text}</abbr>' if heading.help else text
        cells.append(f'<th scope="col" class="{_kind(heading)}">{shown}</th>')
    yield f"<tr>{''.join(cells)}</tr>"


def _spanning(table: FormattedTable) -> Iterable[str]:
    heads = {first: (text, length) for text, first, length in table.spanners}
    place = 0
    while place < len(table.headings):
        text, length = heads.get(place, ("", 1))
        yield (
            f'<th scope="colgroup" colspan="{length}" class="spanner">{escape_html(text)}</th>' if text else "<td></td>"
        )
        place += length


def _body(table: FormattedTable) -> Iterable[str]:
    yield "<tbody>"
    for place, row in enumerate(table.rows):
        if row.group is not None:
            if place:
                yield "</tbody>\n<tbody>"
            label = f"{_text(row.group)}{_marks(row.group)}"
            yield f'<tr class="group"><th scope="rowgroup" colspan="{len(table.headings)}">{label}</th></tr>'
        yield _row(row, table.headings)
    yield "</tbody>"


def _row(row: FormattedRow, headings: tuple[Heading, ...]) -> str:
    cells = "".join(_cell(cell, heading) for cell, heading in zip(row.cells, headings, strict=True))
    return f'<tr class="rule">{cells}</tr>' if row.rule else f"<tr>{cells}</tr>"


def _cell(cell: Cell, heading: Heading) -> str:
    styles = [("missing", cell.missing), ("bold", cell.bold), ("underline", cell.underline)]
    names = " ".join([_kind(heading), *(name for name, on in styles if on)])
    key = "" if cell.sort_key is None else f' data-sort="{escape_html(_sort_text(cell.sort_key))}"'
    tag, scope = ("th", ' scope="row"') if heading.is_name else ("td", "")
    return f'<{tag}{scope} class="{names}"{key}>{_text(cell, _kind(heading))}{_marks(cell)}</{tag}>'


def _sort_text(key: float | str) -> str:
    return key if isinstance(key, str) else repr(float(key))


def _text(cell: Cell, kind: str = "text") -> str:
    text = escape_html(cell.text)
    # Names in right-to-left scripts must not reorder the marks beside them.
    if kind == "text" and not cell.text.isascii() and not cell.missing:
        text = f"<bdi>{text}</bdi>"
    return f'<span class="long" title="{escape_html(cell.text)}">{text}</span>' if _is_long(cell) else text


def _is_long(cell: Cell) -> bool:
    return len(cell.parts) == 1 and display_width(cell.text) > NAME_WIDTH


def _marks(cell: Cell) -> str:
    return f'<sup class="mark">{",".join(cell.marks)}</sup>' if cell.marks else ""


def _notes(table: FormattedTable) -> Iterable[str]:
    plain = [sentence for mark, sentence in table.notes if not mark]
    opening = escape_html(" ".join([*plain, *table.legend_with(_LEGEND)]))
    lettered = [
        f'<p><sup class="mark">{mark}</sup> {escape_html(sentence)}</p>' for mark, sentence in table.notes if mark
    ]
    if opening or lettered:
        yield '<div class="table-notes">'
        yield from ([f"<p>{opening}</p>"] if opening else [])
        yield from lettered
        yield "</div>"
