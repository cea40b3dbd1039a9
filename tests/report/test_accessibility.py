"""axe-core on whole reports: no serious fault, in light and in dark, on a phone and on a desk."""

import dataclasses
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from example_reports import HOSTILE, SCRIPTED, example_report
from example_tables import FLOOR, floor_rows, hostile_table, long_table, skip_or_fail

from analysis.cli.main import main
from analysis.report.content import Section
from analysis.report.spec import Table
from analysis.report.write import write_report

#: Packages that carry axe-core, the newest first.
PACKAGES = ("axe_playwright_python", "axe_core_python")
#: Impacts that fail.
GRAVE = ("serious", "critical")
RUN = """
axe.run(document, {resultTypes: ['violations']}).then(found => JSON.stringify(found.violations.map(v =>
  [v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 160), (v.nodes[0].any[0] || {}).message || ''])))
"""


def axe_source() -> str:
    """The script of axe-core, from a package of Python."""
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            for path in Path(place).rglob("axe.min.js"):
                return path.read_text(encoding="utf-8")
    skip_or_fail(f"axe-core is not installed ({' or '.join(PACKAGES)})")
    raise AssertionError


def violations(browser: Browser, page: Path, *, width: int = 1280, dark: bool = False) -> list[list[Any]]:
    """What axe-core finds on a page with everything on it unfolded: impact, rule, number, example, message."""
    browser.open(page, width=width, dark=dark)
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.value(f"{axe_source()}; typeof axe")
    return json.loads(browser.value(RUN))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of a run, and one with every kind of table and with hostile names."""
    root = tmp_path_factory.mktemp("accessible")
    example = Path(__file__).parents[2] / "logs" / "example"
    assert main(["report", str(example), "--out", str(root / "run"), "--no-bayes", "--no-pdf", "--quiet"]) == 0
    content = example_report(HOSTILE, title=SCRIPTED[0])
    tables = (Table(FLOOR, floor_rows()), hostile_table(10), long_table())
    content = dataclasses.replace(content, sections=(*content.sections, Section("Tables", tables=tables)))
    write_report(content, root / "hostile")
    return {name: root / name / "index.html" for name in ("run", "hostile")}


@pytest.mark.parametrize("name", ["run", "hostile"])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (360, False)])
def test_axe_finds_no_serious_fault(browser: Browser, pages, name, width, dark):
    """Catches text too faint to read, a region that no keyboard reaches, a cell without its heading."""
    found = violations(browser, pages[name], width=width, dark=dark)
    assert [fault for fault in found if fault[0] in GRAVE] == []


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    page = tmp_path / "faulty.html"
    page.write_text("<!doctype html><html><body><img src='data:,'><p style='color:#eee'>faint</p></body></html>")
    return page


def test_axe_would_notice(browser: Browser, faulty):
    """The checks above pass because axe-core did not run."""
    rules = {rule for impact, rule, *_ in violations(browser, faulty) if impact in GRAVE}
    assert {"image-alt", "color-contrast", "html-has-lang"} <= rules
