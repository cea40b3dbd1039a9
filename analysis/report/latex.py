"""Tables in LaTeX: a fragment for ``\\input`` and a document of its own."""

from collections.abc import Iterable

from analysis.report.formatted import NAME_WIDTH, Cell, FormattedRow, FormattedTable, Heading, format_table
from analysis.report.latex_fit import COMMENT, FITTED, LONG_FITTED, NOTES_WIDTH, PREAMBLE, TURNED
from analysis.report.latex_text import escape_latex, latex_width
from analysis.report.short_names import with_short_names
from analysis.report.spec import Table

#: More rows than this make a table that breaks over pages, as do more rows and lines of notes together.
LONG_TABLE_ROWS = 40
_PAGE_LINES = 55
_NOTE_CHARACTERS = 90
#: Characters of a row that fit a page on its side in the smallest size; widths to which names are cut until they do.
_LONG_LINE = 180
_SHORTER = (28, 20, 14)
#: Width of a text that takes several lines.
_WRAPPED = "17em"
_LEGEND = {"bold": "Bold:", "underline": "Underlined:", "rule": "A rule marks where"}


def render_latex(table: Table) -> str:
    """Table as a LaTeX fragment in ASCII, the same under pdflatex and lualatex.

    A ``table`` float; one much wider than the line lies on its side where the page is wide enough for its height,
    and is shrunk to the line otherwise. More than 40 rows give a ``longtable``, which
    breaks over pages and wants a single column. Label: ``tab:<name>`` unless the table declares its own.
    Names longer than 40 characters are cut in the middle and given in full in a note; other texts take lines.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
        Source for ``\\input``; needs booktabs, longtable, graphicx and a T1 or Unicode font encoding.
    """
    shown = _fitting(format_table(table))
    return COMMENT + (_long(shown) if _is_long(shown) else _float(shown))


def standalone_latex(table: Table) -> str:
    """Document that holds one table and compiles by itself."""
    return PREAMBLE + render_latex(table) + "\\end{document}\n"


def _fitting(table: FormattedTable) -> FormattedTable:
    """Long texts cut or broken into lines; cut further where a table that breaks over pages, and so cannot be
    shrunk in a box, would be wider than the page."""
    shown = with_short_names(table, latex_width, wrapping=True)
    for longest in _SHORTER:
        if not _is_long(shown) or _row_width(shown) <= _LONG_LINE:
            break
        shown = with_short_names(table, latex_width, longest=longest)
    return shown


def _row_width(table: FormattedTable) -> int:
    """Characters of a row with each column's widest cell, two between columns."""
    widths = [
        min(max(map(_cell_width, column), default=0), NAME_WIDTH)
        for column in zip(*(row.cells for row in table.rows), strict=True)
    ]
    return sum(widths) + 2 * len(widths)


def _is_long(table: FormattedTable) -> bool:
    lines = sum(_height(row, table.headings) for row in table.rows) + sum(
        latex_width(sentence) // _NOTE_CHARACTERS + bool(mark) for mark, sentence in table.notes
    )
    return len(table.rows) > LONG_TABLE_ROWS or lines > _PAGE_LINES


def _height(row: FormattedRow, headings: tuple[Heading, ...]) -> int:
    """Lines of a row."""
    texts = (c for c, heading in zip(row.cells, headings, strict=True) if heading.wrapped)
    return max((1 + latex_width(cell.text) // NAME_WIDTH for cell in texts), default=1)


def _float(table: FormattedTable) -> str:
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            r"\setlength{\belowcaptionskip}{6pt}",
            *_own_number(table),
            r"\def\evenhandtable{%",
            rf"\begin{{tabular}}{{{_alignment(table)}}}",
            r"\toprule",
            *_head(table),
            r"\midrule",
            *_body(table),
            r"\bottomrule",
            r"\end{tabular}}%",
            r"\def\evenhandnotes{%",
            *_notes(table),
            r"}%",
            *FITTED,
            r"\def\evenhandcaption{%",
            rf"\caption{{{escape_latex(table.title, breakable=True)}}}",
            rf"\label{{{table.reference}}}}}%",
            *TURNED,
            r"\end{table}",
            "",
        ]
    )


def _long(table: FormattedTable) -> str:
    width = sum(heading.parts for heading in table.headings)
    title = escape_latex(table.title, breakable=True)
    return "\n".join(
        [
            r"\begingroup",
            rf"\def\evenhandtable{{\begin{{tabular}}{{{_alignment(table)}}}",
            *_head(table),
            _widest_row(table) + r" \\",
            r"\end{tabular}}%",
            *LONG_FITTED,
            *NOTES_WIDTH,
            *_own_number(table),
            rf"\begin{{longtable}}{{{_alignment(table)}}}",
            rf"\caption{{{title}}}\label{{{table.reference}}}\\",
            r"\toprule",
            *_head(table),
            r"\midrule",
            r"\endfirsthead",
            rf"\multicolumn{{{width}}}{{@{{}}l}}{{Table \thetable{{}} (continued)}}\\",
            r"\toprule",
            *_head(table),
            r"\midrule",
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            # Not printed; widths are right from the first run.
            _widest_row(table) + r" \kill",
            *_body(table),
            r"\end{longtable}",
            r"\vspace{-\medskipamount}",
            r"\dimen0=\linewidth \advance\dimen0-\noteswidth \divide\dimen0 2",
            r"\advance\leftskip\dimen0 \advance\rightskip\dimen0 plus 1fil \parindent=0pt \footnotesize",
            *_notes(table),
            r"\evenhandback",
            r"\endgroup",
            "",
        ]
    )


def _own_number(table: FormattedTable) -> Iterable[str]:
    """The number that the table was given, in its group alone; the counter is as if the table were not there."""
    if table.number:
        yield rf"\def\thetable{{{escape_latex(table.number)}}}\def\theHtable{{{table.name}}}%"
        yield r"\addtocounter{table}{-1}%"


def _widest_row(table: FormattedTable) -> str:
    """Row of each column's widest cell, to measure a table that cannot be put in a box."""
    cells = [max((row.cells[at] for row in table.rows), key=_cell_width) for at in range(len(table.headings))]
    return _cells(FormattedRow(tuple(cells)), table.headings)


def _cell_width(cell: Cell) -> int:
    return latex_width(cell.text) + len(cell.marks) + cell.bold


def _body_width(table: FormattedTable, place: int) -> int:
    return max((latex_width(row.cells[place].text) for row in table.rows), default=1)


def _lines(text: str, width: int) -> list[str]:
    """Heading in lines about as wide as its column of digits, which are narrower than letters; broken at spaces,
    interval kinds kept whole."""
    lines: list[str] = []
    for word in text.replace("% ", "%\0").split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= max(width - 2, 8):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [line.replace("\0", " ") for line in lines]


def _alignment(table: FormattedTable) -> str:
    # The parts of an interval stand in columns of their own, so that each aligns.
    letters = [
        "l" if h.align == "left" else "@{}".join("r" * (h.parts - 1) + _last_letter(table, place))
        for place, h in enumerate(table.headings)
    ]
    return "@{}" + "".join(letters) + "@{}"


def _last_letter(table: FormattedTable, place: int) -> str:
    """Right, as numbers align; left where the last parts are all of one shape, so that a heading wider than its
    column leaves its room beside the interval and not within it."""
    heading = table.headings[place]
    if heading.parts == 1:
        return "r"
    shapes = {
        "".join("0" if c.isdigit() else c for c in row.cells[place].parts[-1])
        for row in table.rows
        if len(row.cells[place].parts) == heading.parts
    }
    return "l" if len(shapes) == 1 else "r"


def _head(table: FormattedTable) -> Iterable[str]:
    if table.spanners:
        yield from _spanning(table)
    cells = []
    for place, heading in enumerate(table.headings):
        side = "l" if heading.align == "left" else "c" if heading.parts > 1 else "r"
        lines = r"\\".join(map(escape_latex, _lines(heading.text, _body_width(table, place))))
        stacked = rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{lines}\end{{tabular}}"
        cells.append(rf"\multicolumn{{{heading.parts}}}{{{_edged(table, place, side)}}}{{{stacked}}}")
    yield " & ".join(cells) + r" \\"


def _edged(table: FormattedTable, place: int, side: str) -> str:
    left = "@{}" if place == 0 else ""
    return left + side + ("@{}" if place == len(table.headings) - 1 else "")


def _spanning(table: FormattedTable) -> Iterable[str]:
    cells, rules, place, at = [], [], 0, 1
    heads = {first: (text, length) for text, first, length in table.spanners}
    while place < len(table.headings):
        text, length = heads.get(place, ("", 1))
        width = sum(h.parts for h in table.headings[place : place + length])
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escape_latex(text)}}}" if text else " & " * (width - 1))
        if text:
            rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
        place, at = place + length, at + width
    yield " & ".join(cells) + r" \\"
    yield "".join(rules)


def _body(table: FormattedTable) -> Iterable[str]:
    width = sum(heading.parts for heading in table.headings)
    for place, row in enumerate(table.rows):
        if row.group is not None:
            if place:
                yield r"\addlinespace"
            group = rf"\textit{{{escape_latex(row.group.text)}}}{_marks(row.group)}"
            # A starred end keeps the heading on the page of its first row.
            yield rf"\multicolumn{{{width}}}{{@{{}}l@{{}}}}{{{group}}} \\*"
        elif row.rule:
            yield r"\midrule"
        yield _cells(row, table.headings) + r" \\"


def _cells(row: FormattedRow, headings: tuple[Heading, ...]) -> str:
    return " & ".join(_cell(cell, heading) for cell, heading in zip(row.cells, headings, strict=True))


def _cell(cell: Cell, heading: Heading) -> str:
    parts = [_styled(escape_latex(part.strip(" ")), cell) + "~" * part.endswith(" ") for part in cell.parts]
    # A mark takes no room in a column of numbers, so that the digits stay aligned.
    mark = _marks(cell) if heading.align == "left" else rf"\rlap{{{_marks(cell)}}}" if cell.marks else ""
    if heading.wrapped and latex_width(cell.text) > NAME_WIDTH:
        lines = _styled(escape_latex(cell.text, breakable=True), cell)
        return rf"\begin{{minipage}}[t]{{{_WRAPPED}}}\raggedright {lines}{mark}\strut\end{{minipage}}"
    if len(parts) == heading.parts:
        return " & ".join(parts) + mark
    return rf"\multicolumn{{{heading.parts}}}{{c}}{{{''.join(parts)}{mark}}}"


def _styled(text: str, cell: Cell) -> str:
    if cell.bold:
        text = rf"\textbf{{\boldmath {text}}}" if "$" in text else rf"\textbf{{{text}}}"
    return rf"\underline{{{text}}}" if cell.underline else text


def _marks(cell: Cell) -> str:
    return rf"\textsuperscript{{{','.join(cell.marks)}}}" if cell.marks else ""


def _notes(table: FormattedTable) -> Iterable[str]:
    plain = [sentence for mark, sentence in table.notes if not mark]
    opening = escape_latex(" ".join([*plain, *table.legend_with(_LEGEND)]), breakable=True)
    lettered = [
        rf"\textsuperscript{{{mark}}}\,{escape_latex(sentence, breakable=True)}"
        for mark, sentence in table.notes
        if mark
    ]
    yield "\\par\n".join([opening, *lettered] if opening else lettered) + r"\par"
