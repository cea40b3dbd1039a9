"""Texts of any kind written as TOML."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(text: str) -> str:
    """Basic string of TOML for any text; what a screen does not show is escaped."""
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _escaped(c)) for c in text) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def toml_texts(texts: Iterable[str]) -> str:
    """List of basic strings."""
    return "[" + ", ".join(toml_text(text) for text in texts) + "]"


def toml_table(entries: Mapping[str, str]) -> str:
    """Inline table of texts; names are quoted where TOML wants it."""
    pairs = (f"{name if _BARE.fullmatch(name) else toml_text(name)} = {toml_text(e)}" for name, e in entries.items())
    return "{ " + ", ".join(pairs) + " }"
