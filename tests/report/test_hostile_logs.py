"""Whole reports on logs in which every name is hostile: compiled as a document, opened as a page."""

import itertools
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from chromium import Browser
from example_reports import SCRIPTED
from example_tables import skip_or_fail
from test_latex import overfull

from analysis.report.write import write_report
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

#: Every sign that LaTeX, HTML or a spreadsheet reads as its own, directions, line ends, length, and formula starts.
NAMES = (
    *SCRIPTED,
    r"back\slash \input{/etc/passwd} {x} $y$ & # % _ ^ ~",
    "=HYPERLINK(\"http://example.org\",\"x\")",
    "+1+2",
    "-3 - 4",
    "@SUM(A1)",
    "two\nlines\r\nand\ttabs",
    "rtl \u202egnp.exe\u202c \u200f\u2066x\u2069 \u05e9\u05dc",
    "rocket \U0001f680 \U0001f469\u200d\U0001f52c",
    "long " + "x" * 195,
    "<<'' `` \"quoted\" >> 50% & more",
)  # fmt: skip
STUDY = '[[contrast]]\nfactor = "strategy"\nlevels = ["-plain", "=cot()"]\nname = "a \\\\input{x} $b$ <b>"\n'


def yes_no(rng: np.random.Generator) -> list[dict[str, object]]:
    """Validity, polarity, templates, forms and groups, all with hostile names, and a hostile task."""
    rows = []
    for model, template, form, unit in itertools.product(range(5), range(6), range(2), range(6)):
        for polarity in ("affirmative", "negated"):
            validity = ("valid", "invalid")[template % 2]
            right = ("no", "yes")[(validity == "valid") == (polarity == "affirmative")]
            answer = right if rng.random() < 0.5 + 0.08 * model else {"yes": "no", "no": "yes"}[right]
            row = {"task": NAMES[4], "model": NAMES[model], "template": NAMES[4 + template], "form": NAMES[10 + form]}
            row |= {"unit": NAMES[unit + 6], "item": f"{NAMES[unit]} {template} {form} {polarity}"}
            row |= {"nationality": NAMES[12 + unit % 2], "validity": validity, "polarity": polarity, "gold": right}
            rows.append(row | {"output": answer if rng.random() < 0.97 else NAMES[unit]})
    return rows


def scored(rng: np.random.Generator) -> list[dict[str, object]]:
    """Scores under strategies."""
    return [
        {"task": NAMES[0], "model": NAMES[m], "item": f"{NAMES[q % 14]} {q}", "strategy": s, "logged_score": score}
        for m, q in itertools.product(range(4), range(20))
        for s, score in (("-plain", int(rng.random() < 0.5)), ("=cot()", int(rng.random() < 0.7)))
    ]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(5)
    rows = yes_no(rng) + scored(rng)
    (folder / "logs").mkdir()
    (folder / "logs" / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "logs" / "study.toml").write_text(STUDY, encoding="utf-8")
    content = run_report([folder / "logs"], RunSettings(resampling=Resampling(flips=100, resamples=100)))
    assert {name.split("_")[0] for name in (f.name for f in content.figures)} >= {"floor", "class", "heat"}
    return write_report(content, folder / "report")


def test_the_document_with_every_table_compiles(report: Path) -> None:
    """Catches a name out of a log that reaches LaTeX as a command in any table, caption or sentence."""
    if shutil.which("pdflatex") is None or shutil.which("pdftotext") is None:
        skip_or_fail("no pdflatex or no pdftotext")
    source = (report / "report.tex").read_text(encoding="ascii")
    tables = sorted((report / "tables").glob("*.tex"))
    assert [t.name for t in tables if f"tables/{t.stem}" not in source] == []
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "report.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=report, capture_output=True, timeout=180, check=False)
        assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
    log = (report / "report.log").read_text(encoding="utf-8", errors="replace")
    assert [points for points in overfull(log) if points > 2] == []
    assert "undefined" not in log
    text = subprocess.run(["pdftotext", "-layout", report / "report.pdf", "-"], capture_output=True, check=True).stdout
    assert b"root:x" not in text
    assert rb"\input{/etc/passwd}" in text


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_runs_nothing_and_fits(report: Path, browser: Browser, width: int) -> None:
    """Catches a name out of a log that runs as a script, loads something, breaks the policy or widens the page."""
    address = report / "index.html"
    browser.open(address, width=width)
    assert browser.value("document.title") != "owned"
    assert browser.value("document.querySelectorAll('script').length") == 1
    assert browser.value("document.querySelectorAll('img, [onload], [onerror], [onfocus], [autofocus]').length") == 0
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.value("document.documentElement.scrollWidth") == width
    assert browser.complaints() == []
    assert browser.requests() == [address.resolve().as_uri()]


def test_no_cell_of_a_csv_file_is_a_formula(report: Path) -> None:
    """Catches a name that a spreadsheet would compute."""
    for path in [*(report / "tables").glob("*.csv"), *(report / "figures").glob("*.csv")]:
        text = path.read_text(encoding="utf-8")
        assert "=HYPERLINK" not in text.replace("'=HYPERLINK", ""), path.name
        assert "@SUM" not in text.replace("'@SUM", ""), path.name


def test_cells_of_the_heat_map_are_on_the_page(report: Path, browser: Browser) -> None:
    """Catches a heat map whose cells are left out with everything else that does not draw."""
    browser.open(report / "index.html")
    pictures = (
        "[...document.querySelectorAll('figure[id*=heat_map] image')].map(i => i.getAttribute('href').slice(0, 22))"
    )
    found = browser.value(pictures)
    assert len(found) >= 4
    assert set(found) == {"data:image/png;base64,"}
