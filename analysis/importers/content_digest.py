"""Digests of logged content: names for questions to which a harness gives none."""

import hashlib
from collections.abc import Mapping
from typing import Any

from analysis.importers.json_text import as_text

#: Hexadecimal digits of a name made from content: 64 bits, enough for millions of questions.
NAME_DIGITS = 16


def content_digest(value: Any) -> str:
    """SHA-256 of a logged value: of a text itself, of anything else as JSON with its keys in order."""
    return hashlib.sha256(as_text(_ordered(value)).encode()).hexdigest()


def content_name(value: Any) -> str:
    """Short name of a question, equal wherever its content is equal."""
    return content_digest(value)[:NAME_DIGITS]


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
