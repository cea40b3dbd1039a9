"""The documentation site builds without a warning, needs no network, and its links lead somewhere."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import analysis as eh
from analysis.cli.main import build_parser

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "reports/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


class Page(HTMLParser):
    """Anchors and links of a page, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        self.loaded += [found[name] for name in ("src", "srcset", "data") if name in found]
        self.loaded += [found["href"]] if tag == "link" and "href" in found else []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as ``make docs`` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = ["-b", "html", "-W", "--keep-going", "-q", "-d", str(folder / "doctrees"), "docs", str(folder / "html")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *command], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_make_docs_builds_with_warnings_as_errors() -> None:
    """Catches a target that builds otherwise than the test does."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "-m sphinx -b html -W --keep-going -q -d build/doctrees docs build/docs" in makefile


def test_built_pages_load_nothing_from_the_network(site: Path) -> None:
    """Catches a script, style sheet, font or image of another host."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert [url for url in Page(text).loaded if urlsplit(url).netloc] == [], path.name
        assert "<script" in text, "nothing was looked at"
    for path in site.rglob("*.css"):
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", path.read_text(encoding="utf-8")), path.name


def test_links_of_the_built_pages_lead_to_pages_and_anchors(site: Path) -> None:
    """Catches a link to a heading that was renamed, and to a page that is not there."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    lost = []
    for path, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if not target.exists() or (
                url.fragment and target in pages and unquote(url.fragment) not in pages[target].anchors
            ):
                lost.append(f"{path.name}: {link}")
    assert len(pages) > 40
    assert lost == []


def test_every_command_and_option_is_on_the_page_of_commands(site: Path) -> None:
    """Catches a command that the generator leaves out."""
    text = (site / "commands.html").read_text(encoding="utf-8")
    parser = build_parser()
    commands = next(action for action in parser._actions if action.dest == "command").choices
    assert len(commands) > 10
    for name, command in commands.items():
        assert f"evenhand {name}" in text
        for action in command._actions:
            assert all(option in text for option in action.option_strings if action.dest != "help"), name


def test_every_public_name_is_in_the_python_reference(site: Path) -> None:
    """Catches a public function without a place in the reference, or without its docstring and example there."""
    text = (site / "api.html").read_text(encoding="utf-8")
    for name in eh.__all__:
        assert f'id="analysis.{name}"' in text, name
    assert text.count("&gt;&gt;&gt; ") + text.count('<span class="gp">') > 2 * len(eh.__all__)


@pytest.mark.parametrize("evidence", ["floor_coverage", "test_sizes", "bias_sbc", "incoherence_sbc"])
def test_the_page_of_evidence_names_the_command_of_each_file(site: Path, evidence: str) -> None:
    """Catches tables of evidence whose source a reader cannot run again."""
    record = (ROOT / "benchmarks" / "results" / f"{evidence}.json").read_text(encoding="utf-8")
    command = re.search(r'"command": "([^"]+)"', record)
    assert command
    page = (site / "evidence.html").read_text(encoding="utf-8")
    assert command[1] in re.sub(r"<[^>]+>", "", page)


def links_of(page: Path) -> Iterator[tuple[int, str]]:
    """Links of a Markdown page outside of code, with their line."""
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        if not fenced:
            for found in re.finditer(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                yield number, found[1]


def slugs_of(page: Path) -> set[str]:
    """Anchors that a forge gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", NAMES)
def test_links_of_the_sources_lead_somewhere(name: str) -> None:
    """Catches a dead link for who reads the Markdown in the repository; other hosts are checked by syntax only."""
    page = ROOT / name
    for line, link in links_of(page):
        url, where = urlsplit(link), f"{name}:{line}: {link}"
        if url.scheme:
            assert url.scheme == "https", where
            assert re.fullmatch(r"[\w.-]+\.[a-z]{2,}", url.netloc), where
            continue
        target = (page.parent / unquote(url.path)).resolve() if url.path else page
        assert target.exists(), where
        if url.fragment and target.suffix == ".md":
            assert unquote(url.fragment) in slugs_of(target), where
