"""Markdown tables: one cell per column whatever the text."""

import pandas as pd
from example_tables import FLOOR, floor_rows, hostile_table, long_table, matches_golden
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.report.columns import Number, Text
from analysis.report.formatted import format_table
from analysis.report.markdown import render_markdown
from analysis.report.spec import Table, TableSpec


def table_lines(source: str) -> list[str]:
    return [line for line in source.split("\n") if line.startswith("|")]


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=())), min_size=1, max_size=3))
def test_every_row_has_the_same_number_of_pipes(names: list[str]) -> None:
    """Catches a name that adds a cell or a row."""
    rows = pd.DataFrame({"m": names, "v": range(len(names))}, dtype=object)
    source = render_markdown(Table(TableSpec("t", "T", (Text("m"), Number("v"))), rows, notes=tuple(names)))
    lines = table_lines(source)
    assert len(lines) == 2 + len(names)
    assert {line.count("|") for line in lines} == {3}
    assert source.count("|") == 3 * len(lines)


def test_groups_and_rules_are_rows_of_the_same_width() -> None:
    """Catches a group heading with one cell, after which renderers end the table."""
    for table, columns in ((long_table(), 5), (hostile_table(), 2), (Table(FLOOR, floor_rows()), 9)):
        lines = table_lines(render_markdown(table))
        assert {line.count("|") for line in lines} == {columns + 1}


def test_notes_follow_in_paragraphs_of_their_own() -> None:
    """Catches notes that run into one another or into the table."""
    table = Table(FLOOR, floor_rows(), notes=("- not a list",))
    source = render_markdown(table)
    for mark, sentence in format_table(table).notes:
        if mark:
            assert f"\n\n<sup>{mark}</sup> {sentence}\n" in source + "\n"
    assert "\n- not" not in source


def test_golden() -> None:
    """Catches any unread change of a rendered table."""
    assert matches_golden(render_markdown(Table(FLOOR, floor_rows(), simulated=True)), "floor.md")
    assert matches_golden(render_markdown(hostile_table()), "hostile.md")
