"""HTML tables: structure, escaping, sorting keys."""

from html.parser import HTMLParser

import pandas as pd
from example_tables import FLOOR, HOSTILE_NAMES, floor_rows, hostile_table, long_table, matches_golden
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.report.columns import Number, Text
from analysis.report.escape import visible
from analysis.report.formatted import format_table
from analysis.report.html_table import render_html
from analysis.report.spec import Table, TableSpec

ALLOWED = set(["div", "table", "caption", "thead", "tbody", "tr", "th", "td", "abbr", "sup", "span", "bdi", "p"])


class Cells(HTMLParser):
    """Cells by row as a browser reads them, without the marks of notes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open) and "sup" not in self.open:
            self.rows[-1][-1] += data


def parsed(source: str) -> Cells:
    reader = Cells()
    reader.feed(source)
    reader.close()
    assert reader.open == []
    return reader


def test_cells_are_those_of_every_other_format() -> None:
    """Catches a renderer that rounds or words by itself."""
    shown = format_table(long_table())
    rows = [row for row in parsed(render_html(long_table())).rows if len(row) > 1][1:]
    assert rows == [[cell.text for cell in row.cells] for row in shown.rows]


def test_hostile_names_stay_text() -> None:
    """Catches a tag or attribute that a name brings with it, an inline style, a script."""
    reader = parsed(render_html(hostile_table()))
    assert {tag for tag, _ in reader.tags} <= ALLOWED
    allowed = {"class", "id", "title", "scope", "colspan", "data-sort"}
    assert {name for _, attributes in reader.tags for name in attributes} <= allowed
    names = [row[0] for row in reader.rows[1:] if len(row) == 2]
    assert names == [visible(name) for name in HOSTILE_NAMES]


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=())), min_size=1, max_size=3))
def test_no_text_leaves_its_cell(names: list[str]) -> None:
    """Catches text that closes its cell, for any text at all."""
    rows = pd.DataFrame({"m": names, "v": range(len(names))}, dtype=object)
    reader = parsed(render_html(Table(TableSpec("t", "T", (Text("m"), Number("v", digits=0))), rows)))
    assert reader.rows[1:] == [[visible(name), str(at)] for at, name in enumerate(names)]


def test_sort_keys_are_unrounded_and_missing_has_none() -> None:
    """Catches sorting by printed text: 9 after 10, minus signs, bounds of p-values."""
    tags = parsed(render_html(Table(FLOOR, floor_rows()))).tags
    keys = [
        attributes.get("data-sort") for tag, attributes in tags if tag in ("td", "th") and "scope" not in attributes
    ]
    assert "0.6745" in keys
    assert "1e-09" in keys
    assert "-0.2015" in keys
    assert all(a.get("data-sort") is None for _, a in tags if "missing" in (a.get("class") or "").split())


def test_headings_have_scopes_and_long_names_their_full_text() -> None:
    """Catches a table that a screen reader cannot follow, and a cut name that cannot be read."""
    tags = parsed(render_html(Table(FLOOR, floor_rows()))).tags
    assert [tag for tag, _ in tags].count("caption") == 1
    assert sum(a.get("scope") == "col" for _, a in tags) == 9
    assert sum(a.get("scope") == "row" for _, a in tags) == 6
    assert sum(a.get("scope") == "colgroup" for _, a in tags) == 1
    long = [a for tag, a in tags if tag == "span"]
    assert long == [{"class": "long", "title": "d" * 24 + "-Instruct-" + "e" * 24}]


def test_golden() -> None:
    """Catches any unread change of a rendered table."""
    assert matches_golden(render_html(Table(FLOOR, floor_rows(), simulated=True)), "floor.html")
    assert matches_golden(render_html(hostile_table()), "hostile.html")
