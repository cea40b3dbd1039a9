"""Room for the labels of rows: a name is never read as a formula."""

import pytest

from analysis.report.figures.model_rows import row_layout


def room(label: str) -> float:
    return row_layout([label], row=10.0, width=100.0).left


def test_dollar_signs_take_room_and_break_nothing() -> None:
    """Catches names read as formulas when they are measured: a traceback, or dollar signs without room."""
    dollar = room("x$") - room("x")
    assert dollar > 1
    assert room("$x$") == pytest.approx(room("x") + 2 * dollar, abs=1.0)
    assert room(r"$\nosuch{$") > room(r"\nosuch{")
