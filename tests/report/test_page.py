"""The page: structure, policy, escaping, and behaviour in a browser."""

import base64
import dataclasses
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from chromium import Browser
from example_reports import HOSTILE, SCRIPTED, example_report

from analysis.report.escape import visible
from analysis.report.page import render_page
from analysis.report.write import write_report
from analysis.vocabulary import MEASURES

MODELS = [f"vendor-{i}/model-{i * 7}b" for i in range(29)]
#: Landmarks and headings of the example's page, in order: what a screen reader steps through.
OUTLINE = [
    "html lang=en",
    "title Answer bias in the demo task",
    "div role=note Simulated data",
    "header",
    "h1 Answer bias in the demo task",
    "nav aria-label=Contents",
    "main",
    "h2 Summary",
    "h3 What can be claimed",
    "h3 What cannot be claimed",
    "h3 What needs attention",
    "h2 Task demo",
    "caption SIMULATED DATA: Competence floor by model",
    "h3 Competence floor against answer bias",
    "h3 Accuracy where Yes and where No is right",
    "h2 Measures",
    "h2 Provenance",
    "footer",
]
VOID = {"meta", "link", "br", "img", "hr", "input", "wbr"}


class Reader(HTMLParser):
    """Elements of a page in order: (tag, attributes, text right inside)."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.unbalanced: list[str] = []
        self._open: list[tuple[str, list[str]]] = []
        self.feed(text)
        self.close()
        self.unbalanced += [tag for tag, _ in self._open]

    def handle_starttag(self, tag, attrs):
        texts: list[str] = []
        self.elements.append((tag, dict(attrs), texts))
        if tag not in VOID:
            self._open.append((tag, texts))

    def handle_endtag(self, tag):
        if self._open and self._open[-1][0] == tag:
            self._open.pop()
        else:
            self.unbalanced.append(f"/{tag}")

    def handle_data(self, data):
        if self._open:
            self._open[-1][1].append(data)

    def all(self, tag):
        return [(attributes, "".join(texts)) for name, attributes, texts in self.elements if name == tag]


@pytest.fixture(scope="module")
def page() -> str:
    return render_page(example_report(MODELS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_report(example_report(MODELS), tmp_path_factory.mktemp("page") / "report")


def test_outline_of_the_page(page):
    """A heading level is skipped, a landmark or the language is missing, the summary is not first."""
    found = []
    for tag, attributes, texts in Reader(page).elements:
        text = "".join(texts).strip()
        if tag == "html":
            found.append(f"html lang={attributes['lang']}")
        elif tag == "div" and attributes.get("role") == "note":
            found.append(f"div role=note {text.split(':')[0]}")
        elif tag == "nav":
            found.append(f"nav aria-label={attributes['aria-label']}")
        elif tag in ("header", "main", "footer"):
            found.append(tag)
        elif tag in ("title", "h1", "h2", "h3", "h4", "caption"):
            found.append(f"{tag} {text}")
    assert found == OUTLINE


def test_markup_is_balanced_and_ids_are_unique(page):
    """An element is left open, or two elements share an id."""
    reader = Reader(page)
    assert reader.unbalanced == []
    ids = Counter(attributes["id"] for _, attributes, _ in reader.elements if "id" in attributes)
    assert [name for name, times in ids.items() if times > 1] == []
    targets = {a["href"][1:] for a, _ in reader.all("a") if a["href"].startswith("#")}
    assert targets <= set(ids)


def test_policy_allows_the_own_style_and_script_by_hash_and_nothing_else(page):
    """A hash of other text than the page holds leaves it without style; 'unsafe-inline' lets a log's text run."""
    policy = next(a["content"] for a, _ in Reader(page).all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert set(rules) == {"default-src", "style-src", "script-src", "img-src", "base-uri", "form-action"}
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"


def test_page_refers_to_nothing_outside_its_folder(page):
    """A font, script or image from the network, or an inline handler or style that the policy would block."""
    for tag, attributes, _ in Reader(page).elements:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        assert tag not in ("iframe", "object", "embed", "base", "form")
        for name in ("href", "src", "xlink:href"):
            assert re.match(
                r"#|data:,$|(tables|figures)/[a-z0-9_-]+\.[a-z]+$|manifest\.json$|report\.tex$|references\.bib$|numbers\.tex$",
                attributes.get(name, "#"),
            )
    assert not re.search(r"@import|url\((?!#)", page)


def test_every_measure_is_explained(page):
    """A measure in a table has no meaning anywhere on the page."""
    reader = Reader(page)
    terms = dict(zip((t for _, t in reader.all("dt")), (t for _, t in reader.all("dd")), strict=True))
    assert MEASURES.items() <= terms.items()


def test_timings_do_not_reach_the_page(page):
    """Two runs on the same input give different pages."""
    content = example_report(MODELS)
    slower = {**content.manifest, "timings": {"read": 99.0}}
    assert page == render_page(dataclasses.replace(content, manifest=slower))


def test_simulated_banner_only_where_data_are_simulated():
    """Generated numbers are shown as real ones, or the reverse."""
    assert 'class="simulated"' in render_page(example_report(MODELS[:2]))
    assert 'class="simulated"' not in render_page(example_report(MODELS[:2], simulated=False))


def test_a_report_of_nothing_is_a_page():
    """No section, no input, no sentence: an empty list ends in a traceback."""
    content = example_report(MODELS[:1])
    empty = type(content)("Empty", (), (), (), {}, {}, simulated=False)
    text = render_page(empty)
    assert "Nothing could be estimated" in text
    assert Reader(text).unbalanced == []


def test_hostile_names_are_text():
    """A name closes an element, opens one, or reorders the line around it."""
    content = example_report(HOSTILE, title=SCRIPTED[2])
    text = render_page(content)
    reader = Reader(text)
    plain = Reader(render_page(example_report([f"m{i}" for i in range(len(HOSTILE))])))
    assert reader.unbalanced == []
    tags = Counter(tag for tag, _, _ in reader.elements if tag not in ("bdi", "span", "path", "use", "g", "defs"))
    assert tags == Counter(
        tag for tag, _, _ in plain.elements if tag not in ("bdi", "span", "path", "use", "g", "defs")
    )
    assert reader.all("h1")[0][1] == visible(SCRIPTED[2])
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f]", text)


@pytest.mark.parametrize(("width", "dark"), [(360, False), (1280, False), (1280, True), (3840, False)])
def test_page_fits_the_window_without_complaint_or_request(browser: Browser, folder, width, dark):
    """The page is wider than a phone, breaks its own policy, logs an error or asks for something."""
    address = folder / "index.html"
    browser.open(address, width=width, dark=dark)
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.value("document.documentElement.scrollWidth") == width
    assert browser.complaints() == []
    assert browser.requests() == [address.resolve().as_uri()]


def test_style_and_dark_mode_apply(browser: Browser, folder):
    """The style is blocked, or dark mode keeps black text, or figures turn dark on dark."""
    seen = {}
    for dark in (False, True):
        browser.open(folder / "index.html", dark=dark)
        seen[dark] = browser.value(
            "[document.body, document.querySelector('.card')].map(e => getComputedStyle(e).backgroundColor)"
        )
        ink = browser.value("getComputedStyle(document.body).color")
        assert _contrast(ink, seen[dark][0]) > 7
        for quiet in (".kicker", "figcaption", ".attention h3", "a", ".simulated"):
            colours = browser.value(
                f"(e => [e.color, '{seen[dark][0]}'])(getComputedStyle(document.querySelector('{quiet}')))"
            )
            assert _contrast(*colours) > 4.5, quiet
    assert seen[True][0] != seen[False][0]
    assert seen[True][1] == seen[False][1] == "rgb(255, 255, 255)"


def _contrast(first: str, second: str) -> float:
    """Contrast ratio of WCAG 2.2."""

    def luminance(colour: str) -> float:
        parts = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


COLUMN = "[...document.querySelectorAll('.data-table tbody tr')].map(r => r.cells[{}].dataset.sort)"


def test_tables_sort_by_mouse_and_keyboard(browser: Browser, folder):
    """Numbers sort as text, the state is not announced, or only a mouse can sort."""
    browser.open(folder / "index.html")
    before = browser.value(COLUMN.format(0))
    heads = "document.querySelectorAll('.data-table thead th')"
    browser.value(f"{heads}[1].querySelector('button').click()")
    values = [float(v) for v in browser.value(COLUMN.format(1))]
    assert values == sorted(values)
    assert browser.value(f"[...{heads}].map(h => h.getAttribute('aria-sort'))") == [None, "ascending", None]
    browser.value(f"{heads}[1].querySelector('button').focus()")
    browser.press("Enter")
    values = [float(v) for v in browser.value(COLUMN.format(1))]
    assert values == sorted(values, reverse=True)
    assert browser.value(f"{heads}[1].getAttribute('aria-sort')") == "descending"
    browser.press(" ")
    assert browser.value(f"{heads}[1].getAttribute('aria-sort')") is None
    assert browser.value(COLUMN.format(0)) == before
    browser.value(f"{heads}[0].querySelector('button').click()")
    names = browser.value(COLUMN.format(0))
    assert names == sorted(MODELS, key=lambda name: [int(d) for d in re.findall(r"\d+", name)])


TABLE = """
<table><thead><tr><td></td><th colspan="2">both</th></tr><tr><th>name</th><th>a</th><th>b</th></tr></thead>
<tbody><tr><th colspan="3">group</th></tr>
<tr><td>x</td><td data-sort="10">10</td><td>\u22122</td></tr><tr><td>y</td><td>\u2013</td><td>1,000</td></tr>
<tr><td>z</td><td data-sort="9">9</td><td>3</td></tr></tbody></table>
"""


def test_sorting_knows_groups_missing_values_and_printed_numbers(browser: Browser, tmp_path):
    """A group heading is sorted among its rows, a dash counts as small, or a printed minus as text."""
    page = render_page(example_report(MODELS[:2]))
    path = tmp_path / "page.html"
    path.write_text(page.replace("<main>", f"<main>{TABLE}", 1), encoding="utf-8")
    browser.open(path)
    first = "[...document.querySelector('main table').tBodies[0].rows].map(r => r.cells[0].textContent)"
    click = "document.querySelectorAll('main table')[0].querySelectorAll('button')[{}].click()"
    browser.value(click.format(1))
    assert browser.value(first) == ["group", "z", "x", "y"]
    browser.value(click.format(1))
    assert browser.value(first) == ["group", "x", "z", "y"]
    browser.value(click.format(2))
    assert browser.value(first) == ["group", "x", "z", "y"]
    assert browser.value("document.querySelectorAll('main table')[0].querySelectorAll('button').length") == 3


def test_hostile_names_run_nothing(browser: Browser, tmp_path):
    """A name of a model runs as a script, loads an image, or widens the page."""
    address = write_report(example_report(HOSTILE, title=SCRIPTED[0]), tmp_path / "report") / "index.html"
    browser.open(address, width=360)
    assert browser.value("document.title") == visible(SCRIPTED[0])
    assert browser.value("document.querySelectorAll('script').length") == 1
    assert browser.value("document.querySelectorAll('img, [onload], [onerror], [onfocus]').length") == 0
    assert browser.value("document.documentElement.scrollWidth") == 360
    assert browser.complaints() == []
    assert browser.requests() == [address.resolve().as_uri()]


def test_the_browser_would_notice_a_violation(browser: Browser, tmp_path):
    """The checks above pass because complaints are not collected."""
    path = tmp_path / "page.html"
    page = render_page(example_report(MODELS[:2]))
    path.write_text(page.replace("</main>", "<b style='color:red'>x</b><script>1</script></main>"), encoding="utf-8")
    browser.open(path)
    assert len(browser.complaints()) == 2


def test_rows_are_filtered_by_words(browser: Browser, folder):
    """Rows that match are hidden, others stay, or the number shown is not said."""
    browser.open(folder / "index.html")
    shown = "[...document.querySelectorAll('.data-table tbody tr')].filter(r => r.checkVisibility()).length"
    assert browser.value(shown) == len(MODELS)
    typed = "(i => { i.value = '%s'; i.dispatchEvent(new Event('input')); })(document.querySelector('.filter input'))"
    browser.value(typed % "VENDOR-3/ 21b")
    assert browser.value(shown) == 1
    assert browser.value("document.querySelector('.filter [role=status]').textContent") == f"1 of {len(MODELS)} rows"
    browser.value(typed % "")
    assert browser.value(shown) == len(MODELS)
    assert browser.complaints() == []


def test_methods_stand_on_the_page_with_their_sources():
    """The page keeps silent on how its numbers were made, or shows keys instead of sources."""
    content = dataclasses.replace(example_report(MODELS), methods=("Limits are Wilson's [@wilson1927].",))
    reader = Reader(render_page(content))
    assert "Limits are Wilson's (Wilson 1927)." in [text for _, text in reader.all("p")]
    assert ("#methods", "Methods") in [(a["href"], text) for a, text in reader.all("a")]
