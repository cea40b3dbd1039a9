"""Escaping: no text from a log becomes markup, a command, a formula or a hidden character."""

import csv
import html
import io
import re
from html.parser import HTMLParser

import pytest
from example_tables import HOSTILE_NAMES
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analysis.report.escape import (
    display_width,
    escape_csv,
    escape_html,
    escape_markdown,
    escape_terminal,
    shortened,
    visible,
)
from analysis.report.latex_text import escape_latex, latex_width

#: Lone surrogates included.
ANY_TEXT = st.text(st.characters(exclude_categories=()))


class Reader(HTMLParser):
    """Text and tags that a browser would find."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.tags, self.attributes = "", [], []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def read(source: str) -> Reader:
    reader = Reader()
    reader.feed(source)
    reader.close()
    return reader


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a\u2424b"),
        ("a\u200fb", "a[U+200F]b"),
        ("\u202eexe", "[U+202E]exe"),
        ("\u2066x\u2069", "[U+2066]x[U+2069]"),
        ("\x1b[2J", "[U+001B][2J"),
        ("\x9b31m", "[U+009B]31m"),
        ("\ud83d", "[U+D83D]"),
        ("a\u2028b", "a[U+2028]b"),
        ("\ufeff", "[U+FEFF]"),
        ("\U000e0041", "[U+E0041]"),
        ("\U0001f469\u200d\U0001f52c", "\U0001f469\u200d\U0001f52c"),
        ("\u05e9 \u6a21 caf\u00e9", "\u05e9 \u6a21 caf\u00e9"),
    ],
)
def test_hidden_characters_are_shown(text: str, shown: str) -> None:
    """Catches names that look alike, read backwards or drive a terminal; and emoji taken apart."""
    assert visible(text) == shown


@settings(deadline=None)
@given(ANY_TEXT)
def test_visible_text_is_one_line_that_can_be_written(text: str) -> None:
    """Catches a line separator or surrogate that was forgotten."""
    shown = visible(text)
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")
    assert not re.search("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", shown)
    assert visible(shown) == shown


@settings(deadline=None)
@given(ANY_TEXT)
@example("<script>alert(1)</script>")
@example('" onmouseover="x')
@example("&lt;b>")
def test_html_parses_back_to_the_same_text(text: str) -> None:
    """Catches an unescaped bracket, ampersand or quote, in an element and in an attribute."""
    reader = read(f'<p title="{escape_html(text)}">{escape_html(text)}</p>')
    assert reader.tags == ["p"]
    assert reader.text == visible(text)
    assert reader.attributes == [("title", visible(text))]


@settings(deadline=None)
@given(ANY_TEXT)
def test_csv_parses_back_and_starts_no_formula(text: str) -> None:
    """Catches a broken quote, and a cell that a spreadsheet would run."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow([escape_csv(text), "end"])
    ((cell, last),) = csv.reader(io.StringIO(buffer.getvalue(), newline=""))
    assert last == "end"
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    cell.encode("utf-8")


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-2", "@x", "\tx", "\rx", "\uff1dcmd()"])
def test_formula_starts_get_an_apostrophe(text: str) -> None:
    """Catches a start that the guard forgot, and text that is lost by guarding."""
    assert escape_csv(text) == f"'{text}"


def test_csv_keeps_line_feeds_and_shows_bidirectional_controls() -> None:
    """Catches exact text lost where quoting could hold it, and reversed text in a spreadsheet."""
    assert escape_csv("two\nlines") == "two\nlines"
    assert escape_csv("a\u202eb") == "a[U+202E]b"


def unescaped_markdown(text: str) -> str:
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", lambda m: f"&#{ord(m[1])};", text))


@settings(deadline=None)
@given(ANY_TEXT)
def test_markdown_has_no_pipe_tag_or_code_and_reads_back(text: str) -> None:
    """Catches a name that adds a cell, opens a tag, a code span or a link."""
    escaped = escape_markdown(text)
    assert not re.search(r"[|`<>$~@]", escaped)
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_\[\]]", re.sub(r"\\[*_\[\]#\\]", "", escaped))
    assert unescaped_markdown(escaped) == visible(text)


@pytest.mark.parametrize(
    "text", ["http://example.org", "HTTPS://example.org", "www.example.org", "WWW.x.org", "a@b.org"]
)
def test_markdown_makes_no_link_by_itself(text: str) -> None:
    """Catches an address in a name that a renderer turns into a link."""
    assert not re.search(r"://|www\.|@", escape_markdown(text), re.IGNORECASE)


@pytest.mark.parametrize("text", ["- a", "+ a", "1. a", "12) a", "---", "===", "# a"])
def test_markdown_paragraphs_stay_paragraphs(text: str) -> None:
    """Catches a note that becomes a list, a rule or a heading; and decimals with stray backslashes."""
    assert "\\" in escape_markdown(text)
    assert escape_markdown("0.25") == "0.25"


@settings(deadline=None)
@given(ANY_TEXT)
def test_latex_is_ascii_in_balanced_groups(text: str) -> None:
    """Catches a special character that reaches TeX raw."""
    source = escape_latex(text, breakable=True)
    assert source.isascii()
    assert source.isprintable()
    bare = re.sub(r"\\[\\{}$&%#_ ^~`'\"]", "", source)
    assert not re.search(r"[%#&]", bare)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    commands = set(re.findall(r"\\([a-zA-Z]+)", source))
    assert not commands & {"input", "write", "def", "catcode", "end", "begin", "directlua", "csname"}


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("a_b 50% $x$ #&", r"a\_b 50\% \$x\$ \#\&"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("--", r"-\kern0pt -"),
        ("[1em]*", r"{[}1em{]}{*}"),
        ("\u2212.5 \u2264 \u00e9", r"$-$.5 $\leq$ \'{e}"),
        ("\u6a21", r"\texttt{{[}U+6A21{]}}"),
        ("\u200f", r"\texttt{{[}U+200F{]}}"),
        ("a\nb", r"a\textsuperscript{N}\textsubscript{L}b"),
        (" a  b", r"\ a\ \ b"),
    ],
)
def test_latex_by_hand(text: str, source: str) -> None:
    """Catches a character typeset as another (dashes joined, brackets taken as options, spaces lost)."""
    assert escape_latex(text) == source


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("\u6a21\u578b", 4), ("e\u0301", 1), ("\U0001f680", 2), ("\u2764\ufe0f", 2), ("", 0)],
)
def test_display_width(text: str, width: int) -> None:
    """Catches columns out of line under wide characters and combining marks."""
    assert display_width(text) == width


@settings(deadline=None)
@given(ANY_TEXT)
def test_terminal_text_has_no_control_character(text: str) -> None:
    """Catches an escape sequence that reaches the terminal."""
    assert not re.search("[\x00-\x1f\x7f-\x9f]", escape_terminal(text))


@settings(deadline=None)
@given(st.text(), st.integers(12, 60))
def test_shortened_text_fits_and_keeps_both_ends(text: str, limit: int) -> None:
    """Catches a name cut at its end, where versions stand, or still too wide."""
    for width_of in (latex_width, len):
        short = shortened(text, limit, width_of)
        assert width_of(short) <= limit
        if short != text:
            head, _, tail = short.partition("\u2026")
            assert text.startswith(head)
            assert text.endswith(tail)
            assert width_of(text) > limit


def test_hostile_names_are_told_apart() -> None:
    """Catches escaping that maps two names to one."""
    for escape in (escape_html, escape_markdown, escape_csv, escape_latex, escape_terminal):
        assert len({escape(name) for name in HOSTILE_NAMES}) == len(HOSTILE_NAMES)
