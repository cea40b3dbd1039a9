"""Text from logs made safe for HTML, Markdown, CSV and terminals; for LaTeX see ``latex_text``."""

import html
import re
import unicodedata
from collections.abc import Callable

NEWLINE_SIGN = "\u2424"
ELLIPSIS = "\u2026"

#: Characters that are invisible, reorder their neighbours or command a device: shown as ``[U+XXXX]``.
#: The joiners U+200C and U+200D stay, since emoji and several scripts are spelled with them.
_HIDDEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
#: The same without tab, line feed and carriage return, which a quoted CSV cell can hold.
_HIDDEN_IN_CSV = re.compile(_HIDDEN.pattern.replace("\x00-\x1f", "\x00-\x08\x0b\x0c\x0e-\x1f"))
#: First characters by which a spreadsheet takes text for a formula, full-width forms included.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")

_MARKDOWN_ENTITIES = {ord(c): f"&#{ord(c)};" for c in "`|@$~"} | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
}
_MARKDOWN_MARKUP = re.compile(r"([\\*_\[\]#])")
#: Starts of a paragraph that would make it a list, a rule or a heading.
_MARKDOWN_BLOCKS = re.compile(r"^\s*(?:([-+=])|([0-9]+)([.)])(?=\s|$))")
_MARKDOWN_LINKS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def code_point(char: str) -> str:
    """Notation of one character in ASCII, for instance ``[U+200F]``."""
    return f"[U+{ord(char):04X}]"


def visible(text: str) -> str:
    """Text in which nothing hides: a line feed becomes U+2424, other hidden characters ``[U+XXXX]``.

    Hidden are control characters, bidirectional controls, zero-width and other ignorable characters,
    lone surrogates and noncharacters. The result can be encoded and never ends a line.
    """
    return _HIDDEN.sub(lambda m: NEWLINE_SIGN if m[0] == "\n" else code_point(m[0]), text)


def escape_html(text: str) -> str:
    """Text for an HTML element or a quoted attribute; parsed back it equals ``visible(text)``."""
    return html.escape(visible(text), quote=True)


def escape_markdown(text: str) -> str:
    """Text for a Markdown table cell or paragraph: no markup, HTML, link, mention or formula arises.

    The pipe becomes a character reference, so that counting pipes counts cells.
    """
    marked = _MARKDOWN_MARKUP.sub(r"\\\1", visible(text)).translate(_MARKDOWN_ENTITIES)
    linked = _MARKDOWN_LINKS.sub(lambda m: f"&#{ord(m[0])};", marked)
    return _MARKDOWN_BLOCKS.sub(lambda m: rf"\{m[1]}" if m[1] else rf"{m[2]}\{m[3]}", linked, count=1)


def escape_csv(text: str) -> str:
    """Text for a CSV cell before quoting, with a leading ``'`` where a spreadsheet would see a formula.

    References
    ----------
    OWASP, CSV Injection, https://owasp.org/www-community/attacks/CSV_Injection.
    """
    shown = _HIDDEN_IN_CSV.sub(lambda m: code_point(m[0]), text)
    return f"'{shown}" if shown.startswith(_FORMULA_STARTS) else shown


def escape_terminal(text: str) -> str:
    """Text that cannot move the cursor, colour, reorder or end a line of a terminal."""
    return visible(text)


def display_width(text: str) -> int:
    """Columns that text takes in a terminal: wide East Asian characters two, combining marks none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(map(_char_width, text)) + text.count("\ufe0f")


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def shortened(text: str, limit: int, width_of: Callable[[str], int]) -> str:
    """Text with its middle replaced by an ellipsis if ``width_of`` finds it wider than ``limit``.

    Parameters
    ----------
    text : str
    limit : int
        Largest width, at least 3.
    width_of : callable
        Width of a string; additive over its characters.
    """
    if width_of(text) <= limit:
        return text
    head = _prefix(text, (2 * (limit - 1) + 2) // 3, width_of)
    tail = _prefix(text[::-1], limit - 1 - width_of(head), width_of)[::-1]
    return head + ELLIPSIS + tail


def _prefix(text: str, room: int, width_of: Callable[[str], int]) -> str:
    for end, char in enumerate(text):
        room -= width_of(char)
        if room < 0:
            return text[:end]
    return text
