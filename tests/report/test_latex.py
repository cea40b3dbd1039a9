"""LaTeX: every table compiles under both engines, alone and included, and shows the same."""

import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from example_tables import FLOOR, HOSTILE_NAMES, floor_rows, hostile_table, long_table, matches_golden, skip_or_fail

from analysis.report import typeset as typesetting
from analysis.report.columns import Column, Interval, Number, Signed, Text
from analysis.report.latex import render_latex, standalone_latex
from analysis.report.latex_text import _PIECES, escape_latex, latex_width
from analysis.report.spec import Table, TableSpec

ENGINES = ("pdflatex", "lualatex")
PREAMBLE = r"\documentclass{article}\usepackage{iftex}\ifPDFTeX\usepackage[T1]{fontenc}\usepackage{lmodern}\fi"
PACKAGES = r"\usepackage{booktabs,longtable,graphicx}"


def compiled(source: str, engine: str, folder: Path) -> tuple[str, str]:
    """Log and text of a document; an error of the engine fails the test."""
    if shutil.which(engine) is None or shutil.which("pdftotext") is None:
        skip_or_fail(f"no {engine} or no pdftotext")
    (folder / "document.tex").write_text(source, encoding="ascii")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "document.tex"]
    for _ in range(3 if "longtable}{" in source else 1):
        run = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
        assert run.returncode == 0, run.stdout.decode("utf-8", "replace")[-3000:]
    text = subprocess.run(["pdftotext", "-layout", "document.pdf", "-"], cwd=folder, capture_output=True, check=True)
    return (folder / "document.log").read_text(encoding="utf-8", errors="replace"), text.stdout.decode("utf-8")


def overfull(log: str) -> list[float]:
    """Points by which boxes are too wide."""
    return [float(points) for points in re.findall(r"Overfull \\hbox \(([0-9.]+)pt", log.replace("\n", ""))]


def printed(text: str) -> str:
    """Typeset characters without spaces; ligatures of letters and raised digits are taken apart."""
    return "".join(unicodedata.normalize("NFKC", text).split())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["floor", "hostile", "levels"])
def test_tables_compile_alone_without_overfull_boxes(name: str, engine: str, tmp_path: Path) -> None:
    """Catches a raw special character, an unknown command, a font without the glyph, a table wider than the page."""
    tables = {"floor": Table(FLOOR, floor_rows(), simulated=True), "hostile": hostile_table(), "levels": long_table()}
    log, text = compiled(standalone_latex(tables[name]), engine, tmp_path)
    assert "Missing character" not in log
    assert all(points <= 2 for points in overfull(log))
    assert tables[name].spec.title[:10] in text


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("columns", ["", "[twocolumn]"])
def test_fragments_compile_inside_a_document(columns: str, engine: str, tmp_path: Path) -> None:
    """Catches a fragment that needs its own preamble, or a width fixed for one page."""
    # Tables that break over pages want a single column.
    tables = [Table(FLOOR, floor_rows()), hostile_table(12)] + ([] if columns else [long_table()])
    for table in tables:
        (tmp_path / f"{table.spec.name}.tex").write_text(render_latex(table), encoding="ascii")
    inputs = "\n".join(rf"\input{{{table.spec.name}}}See Table~\ref{{tab:{table.spec.name}}}." for table in tables)
    preamble = PREAMBLE.replace(r"\documentclass", rf"\documentclass{columns}")
    log, _ = compiled(f"{preamble}{PACKAGES}\\begin{{document}}{inputs}\\end{{document}}\n", engine, tmp_path)
    assert all(points <= 2 for points in overfull(log))
    assert "Missing character" not in log


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [10, 60])
def test_texts_beside_names_take_lines_and_stay_whole(rows: int, engine: str, tmp_path: Path) -> None:
    """Catches a sentence cut into a footnote, and one that is wider than its column, in tables of both kinds."""
    words = "A prior that puts nineteen of twenty typical rates of yes between one tenth and nine tenths"
    texts = [words, "short", "settings/of/the/run/without/any/blank/that/is/longer/than/one/line.json", *HOSTILE_NAMES]
    table = Table(
        TableSpec("texts", "Texts", (Text("model", "Model"), Text("why", "Why"), Number("value", "Value"))),
        pd.DataFrame(
            {
                "model": [f"m{i}" for i in range(rows)],
                "why": [texts[i % len(texts)] for i in range(rows)],
                "value": 0.5,
            },
            dtype=object,
        ),
    )
    log, text = compiled(standalone_latex(table), engine, tmp_path)
    assert all(points <= 2 for points in overfull(log))
    assert f"In full: {words}" not in render_latex(table)
    assert set(words.split()) <= set(text.split())


def test_both_engines_show_the_same_text(tmp_path: Path) -> None:
    """Catches a character that one engine sets and the other replaces, and dashes or quotes joined to others."""
    # A slashed equals sign and a prime have no code point in the fonts of pdflatex.
    characters = [c for c in _PIECES if c not in "\n\u2424\u2260\u2032"] + list("ÀéîõüŸŠčž")
    lines = [f"x{c}x" for c in characters] + [n for n in HOSTILE_NAMES if len(n) < 60]
    body = "\n\n".join(rf"\noindent {escape_latex(line)}" for line in lines)
    seen = []
    for engine in ENGINES:
        folder = tmp_path / engine
        folder.mkdir()
        log, text = compiled(f"{PREAMBLE}\\begin{{document}}\\raggedright {body}\\end{{document}}", engine, folder)
        assert "Missing character" not in log
        seen.append(printed(text))
    assert seen[0] == seen[1]
    for name in (
        "-- --- ,, << >> '' `` !` ?` \"q\"",
        r"back\slash \input{/etc/passwd} \\ \end{table}",
        "[1em] * [U+200F]",
    ):
        assert printed(name) in seen[0]
    assert "rtl[U+202E]gnp.exe[U+202C][U+200F][U+2066]x[U+2069]" in seen[0]


def test_source_is_ascii_and_has_no_open_group() -> None:
    """Catches text that depends on the engine's input encoding, and a brace from a name."""
    source = render_latex(hostile_table())
    assert source.isascii()
    bare = re.sub(r"\\.", "", source)
    depth = 0
    for char in bare:
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0


def test_long_names_are_cut_apart_and_given_in_full() -> None:
    """Catches two names of 300 characters that print alike with no way to tell them apart."""
    names = ["x" * 150 + "y" * 150, "x" * 150 + "z" + "y" * 149]
    rows = pd.DataFrame({"model": names, "n": [1, 2]})
    source = render_latex(Table(TableSpec("t", "T", (Text("model", "Model"), Number("n", "n"))), rows))
    flat = source.replace(r"\allowbreak{}", "")
    assert all(f"In full: {name}" in flat for name in names)
    assert r"\textsuperscript{a} & 1.00" in source
    assert r"\textsuperscript{b} & 2.00" in source


def test_width_counts_code_points_in_brackets() -> None:
    """Catches a table of CJK names as wide as their code points, far over the page."""
    assert latex_width("ab\u6a21") == 2 + len("[U+6A21]")
    assert latex_width("\u00e9\u2212") == 2


def test_long_table_repeats_its_head() -> None:
    """Catches a table over 40 rows in a float, which runs off the page."""
    assert r"\begin{longtable}" not in render_latex(long_table(40))
    assert r"\begin{longtable}" not in render_latex(hostile_table(12))
    assert r"\begin{longtable}" in render_latex(hostile_table())
    source = render_latex(long_table(41))
    assert r"\endhead" in source
    assert source.count(r"\label{tab:levels}") == 1


def wide_table(rows: int, columns: int) -> Table:
    """Differences by model in many columns of intervals."""
    at = np.arange(rows)
    data: dict[str, object] = {"model": [f"laboratory/model-{i:02d}" for i in at]}
    shown: list[Column] = [Text("model", "Model")]
    for j in range(columns):
        data |= {f"v{j}": 0.1 * j + at / 1000, f"l{j}": 0.1 * j + at / 1000 - 0.2, f"h{j}": 0.1 * j + at / 1000 + 0.2}
        shown += [Signed(f"v{j}", f"Value {j}", digits=3), Interval(f"l{j}", high=f"h{j}", digits=3, signed=True)]
    frame = pd.DataFrame(data).assign(ci_level=0.95, ci_method="wilson")
    return Table(TableSpec("wide", "Wide", tuple(shown)), frame)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("rows", "columns", "turned"), [(50, 5, True), (50, 2, False), (12, 5, True), (12, 2, False)])
def test_wide_tables_lie_on_their_side(rows: int, columns: int, turned: bool, engine: str, tmp_path: Path) -> None:
    """Catches a table whose last columns are printed beyond the page, or in letters too small to read: every word of
    it lies on the page, and the letters of its rows are as high as the smallest size, 7 points."""
    compiled(standalone_latex(wide_table(rows, columns)), engine, tmp_path)
    found = subprocess.run(
        ["pdftotext", "-bbox", "document.pdf", "-"], cwd=tmp_path, capture_output=True, check=True, text=True
    ).stdout
    box = r'x[Mm]in="([-0-9.]+)" y[Mm]in="([-0-9.]+)" x[Mm]ax="([-0-9.]+)" y[Mm]ax="([-0-9.]+)"'
    names = [tuple(map(float, m)) for m in re.findall(rf"<word {box}>laboratory/model-", found)]
    words = [tuple(map(float, m)) for m in re.findall(rf"<word {box}>", found)]
    told = subprocess.run(["pdfinfo", "document.pdf"], cwd=tmp_path, capture_output=True, check=True, text=True).stdout
    page_turned = re.search(r"Page rot: +90", told) is not None
    width, height = sorted((595.28, 841.89), reverse=page_turned)
    assert len(names) == rows
    assert all(x0 > 0 and y0 > 0 and x1 < width and y1 < height for x0, y0, x1, y1 in words)
    upright = [x1 - x0 > y1 - y0 for x0, y0, x1, y1 in names]
    on_side = page_turned or not any(upright)
    assert on_side == turned
    assert min(min(x1 - x0, y1 - y0) for x0, y0, x1, y1 in names) > 5.5


def test_a_document_is_typeset_until_its_columns_settle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches heads of long tables that stand beside their columns because a pass is missing."""
    if shutil.which("pdflatex") is None:
        skip_or_fail("no pdflatex")
    passes = []
    one_pass = typesetting._one_pass
    monkeypatch.setattr(typesetting, "_one_pass", lambda *args: (passes.append(1), one_pass(*args))[1])
    (tmp_path / "report.tex").write_text(standalone_latex(long_table(95)), encoding="ascii")
    assert typesetting.typeset(tmp_path).problem == ""
    needed = len(passes)
    passes.clear()
    (tmp_path / "report.tex").write_text(r"\documentclass{article}\begin{document}x\end{document}", encoding="ascii")
    assert typesetting.typeset(tmp_path).problem == ""
    assert len(passes) == 2
    assert needed >= 3


def test_golden() -> None:
    """Catches any unread change of a rendered table."""
    assert matches_golden(render_latex(Table(FLOOR, floor_rows(), simulated=True)), "floor.tex")
    assert matches_golden(standalone_latex(long_table(42)), "levels.tex")
