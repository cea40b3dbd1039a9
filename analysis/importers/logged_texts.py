"""Texts of logged records: a hash of what was asked, one gold answer of several, the words of an error."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from analysis.importers.inspect_messages import prompt_text
from analysis.importers.json_text import as_text


def content_hash(*parts: Any) -> str:
    """First 16 hex digits of the SHA-256 of JSON values."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def single_gold(texts: Iterable[str]) -> tuple[str | None, dict[str, str]]:
    """The gold answer if all texts are the same one, else None and the texts as ``meta.target``."""
    found = [text.strip() for text in texts]
    if len({text.casefold() for text in found}) == 1:
        return found[0] or None, {}
    return None, {"meta.target": as_text(found)} if found else {}


def error_words(error: Any) -> str | None:
    """First line of a logged error; None where there is none."""
    if error is None or error is False or error in ("", [], {}):
        return None
    message = error.get("message") if isinstance(error, dict) else error
    lines = as_text(message).strip().splitlines() if message else []
    return lines[0] if lines else "error without a message"


def conversation(prompt: Any) -> str | None:
    """A prompt as one text: a text as it is, messages as lines ``role: text``; None for anything else."""
    return prompt_text(prompt, {}) if isinstance(prompt, (str, list)) and prompt else None


def letters(count: int) -> tuple[str, ...]:
    """Labels A, B, C ... of options by position; numbers from 1 where there are more than 26."""
    if count > 26:
        return tuple(str(at + 1) for at in range(count))
    return tuple(chr(ord("A") + at) for at in range(count))
