"""A table in every format that a report holds."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from analysis.report.content import Section
from analysis.report.delimited import render_csv
from analysis.report.html_table import render_html
from analysis.report.latex import render_latex
from analysis.report.markdown import render_markdown
from analysis.report.spec import RenderedTable, Table
from analysis.report.terminal import render_text
from analysis.report.typst import render_typst

#: Ending of a table's file -> how it is rendered.
TABLE_FORMATS: Final[dict[str, Callable[[Table], str]]] = {
    "tex": render_latex,
    "html": render_html,
    "md": render_markdown,
    "csv": render_csv,
    "txt": render_text,
    "typ": render_typst,
}


def table_texts(table: Table) -> Mapping[str, str]:
    """Text of a table by the ending of its file. What was rendered before and still holds is not rendered again."""
    if table.rendered is not None and table.rendered.is_of(table):
        return table.rendered.texts
    return {ending: render(table) for ending, render in TABLE_FORMATS.items()}


def with_table_texts(section: Section) -> Section:
    """The section with its tables rendered, for a time at which there is nothing else to do."""
    tables = tuple(replace(t, rendered=RenderedTable(t, table_texts(t))) for t in section.tables)
    return replace(section, tables=tables)
