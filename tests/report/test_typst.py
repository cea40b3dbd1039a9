"""Typst: every table compiles, whatever its names, and shows them."""

import dataclasses
from pathlib import Path

import pytest
from example_tables import FLOOR, HOSTILE_NAMES, floor_rows, hostile_table, long_table, matches_golden, skip_or_fail

from analysis.report.escape import visible
from analysis.report.spec import Table
from analysis.report.typst import render_typst


def compiled(source: str, folder: Path) -> bytes:
    """The document as SVG pages; an error of the compiler fails the test."""
    try:
        import typst  # noqa: PLC0415
    except ImportError:
        skip_or_fail("typst is not installed")
    path = folder / "document.typ"
    path.write_text(source, encoding="utf-8")
    made = typst.compile(str(path), format="svg")
    return b"".join(made) if isinstance(made, list) else made


@pytest.mark.parametrize("name", ["floor", "hostile", "levels"])
def test_tables_compile_alone(name: str, tmp_path: Path) -> None:
    """Catches a string that ends early, a label that the language refuses, a row with a cell too many."""
    tables = {"floor": Table(FLOOR, floor_rows(), simulated=True), "hostile": hostile_table(), "levels": long_table()}
    plain = len(compiled("empty", tmp_path))
    assert len(compiled(render_typst(tables[name]), tmp_path)) > plain + 1000


def test_names_are_strings_and_never_markup() -> None:
    """Catches a name that calls a function, reads a file, or closes the string around it."""
    source = render_typst(hostile_table())
    for name in HOSTILE_NAMES:
        text = visible(name).replace("\\", "\\\\").replace('"', '\\"')
        assert f'"{text}"' in source
    outside = "".join(part for place, part in enumerate(source.replace('\\"', "").split('"')) if place % 2 == 0)
    assert set("$@<>*_`") & set(outside) <= set("<>")


def test_a_declared_number_does_not_count(tmp_path: Path) -> None:
    """Catches a table of the study whose own number moves that of the next."""
    spec = dataclasses.replace(FLOOR, number="7b", label="tab:own")
    source = render_typst(Table(spec, floor_rows()))
    assert 'numbering: _ => "7b",' in source
    assert "<tab:own>" in source
    assert "update(n => n - 1)" in source
    assert compiled(source + "\n@tab:own\n", tmp_path)


def test_golden() -> None:
    """Catches any change of what a reader sees."""
    assert matches_golden(render_typst(Table(FLOOR, floor_rows(), simulated=True)), "floor.typ")
