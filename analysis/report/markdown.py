"""Tables in Markdown (GitHub's pipe tables)."""

from collections.abc import Iterable

from analysis.report.escape import escape_markdown
from analysis.report.formatted import Cell, FormattedTable, format_table
from analysis.report.spec import Table

_LEGEND = {"bold": "Bold:", "underline": "Italic:", "rule": "A line of dashes marks where"}


def render_markdown(table: Table) -> str:
    """Table in Markdown: caption, pipe table, notes.

    Groups and rules are rows of the table, spanners are written before the headings that they cover;
    what other media underline is italic.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
        Every row has the same number of pipes.
    """
    shown = format_table(table)
    return "\n".join([f"**{escape_markdown(shown.caption)}**", "", *_lines(shown), "", *_notes(shown), ""])


def _lines(table: FormattedTable) -> Iterable[str]:
    spanning = {at: text for text, first, length in table.spanners for at in range(first, first + length)}
    heads = [f"{spanning[at]}: {h.text}" if at in spanning else h.text for at, h in enumerate(table.headings)]
    yield _line(map(escape_markdown, heads))
    yield _line(":--" if heading.align == "left" else "--:" for heading in table.headings)
    for row in table.rows:
        if row.group is not None:
            yield _line([f"**{escape_markdown(row.group.text)}**", *[""] * (len(table.headings) - 1)])
        elif row.rule:
            yield _line(["\u2014"] * len(table.headings))
        yield _line(map(_cell, row.cells))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = escape_markdown(cell.text).strip()
    text = f"*{text}*" if cell.underline else text
    text = f"**{text}**" if cell.bold else text
    return text + (f"<sup>{','.join(cell.marks)}</sup>" if cell.marks else "")


def _notes(table: FormattedTable) -> Iterable[str]:
    plain = [sentence for mark, sentence in table.notes if not mark]
    if opening := escape_markdown(" ".join([*plain, *table.legend_with(_LEGEND)])):
        yield opening
    for mark, sentence in table.notes:
        if mark:
            yield f"\n<sup>{mark}</sup> {escape_markdown(sentence)}"
