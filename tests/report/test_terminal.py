"""Tables in a terminal: aligned, and without a character that drives it."""

import re

from example_tables import FLOOR, floor_rows, hostile_table, long_table, matches_golden

from analysis.report.escape import display_width
from analysis.report.formatted import format_table
from analysis.report.spec import Table
from analysis.report.terminal import render_text


def test_no_control_character_reaches_the_terminal() -> None:
    """Catches an escape sequence or a reversal from a name."""
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", render_text(hostile_table())
    )


def test_decimal_points_align_under_signs_marks_and_wide_characters() -> None:
    """Catches columns out of line where a name is wide or a cell carries a mark."""
    rows = [line for line in render_text(hostile_table()).split("\n") if re.search(r"[+\u2212]0\.\d\d$", line)]
    assert len(rows) > 20
    assert len({display_width(line[: line.rindex(".")]) for line in rows}) == 1


def test_cells_are_those_of_every_other_format() -> None:
    """Catches a renderer that rounds or words by itself."""
    text = re.sub(r"\s+", " ", render_text(long_table()))
    for row in format_table(long_table()).rows:
        assert " ".join(cell.text for cell in row.cells) in text


def test_golden() -> None:
    """Catches any unread change of a rendered table."""
    assert matches_golden(render_text(Table(FLOOR, floor_rows(), simulated=True)), "floor.txt")
    assert matches_golden(render_text(hostile_table()), "hostile.txt")
