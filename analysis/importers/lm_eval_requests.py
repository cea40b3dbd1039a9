"""Requests of one lm-evaluation-harness document: prompts, continuations and what came back."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.importers.json_text import as_text

_FLAG = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a document.

    ``continuation`` is the text whose log-likelihood was asked for (None for generation),
    ``options`` the generation options, ``replies`` one entry per repeat.
    """

    context: str | None
    continuation: str | None
    options: Mapping[str, Any]
    replies: tuple[Any, ...]

    @property
    def is_loglikelihood(self) -> bool:
        """Whether the replies are log-likelihoods, not texts."""
        return bool(self.replies) and all(is_scored(reply) for reply in self.replies)


def is_scored(reply: Any) -> bool:
    """Whether a reply is a pair of log-likelihood and greedy flag."""
    if not (isinstance(reply, list) and len(reply) == 2):
        return False
    return isinstance(reply[1], bool) or as_text(reply[1]).lower() in _FLAG


def loglikelihood(reply: Any) -> float:
    """Log-likelihood of a reply as a number; NaN where there is none. Text is converted, never compared."""
    value = reply[0] if isinstance(reply, list) and reply else None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def requests(row: Mapping[str, Any]) -> tuple[Request, ...]:
    """Requests of a row, in order, with their replies."""
    arguments = _arguments(row.get("arguments"))
    replies = _replies(row.get("resps"), len(arguments))
    arguments += [()] * (len(replies) - len(arguments))
    found = []
    for argument, answer in zip(arguments, replies, strict=False):
        context = _context(argument[0]) if argument else None
        rest = argument[1] if len(argument) > 1 else None
        text = rest if isinstance(rest, str) else None
        found.append(Request(context, text, rest if isinstance(rest, dict) else {}, answer))
    return tuple(found)


def competing(found: tuple[Request, ...]) -> tuple[Request, ...]:
    """Requests that compete as choices; a second half without context (mutual information) does not."""
    half = len(found) // 2
    first, second = found[:half], found[half:]
    if half and len(second) == half:
        same = all(a.continuation == b.continuation for a, b in zip(first, second, strict=True))
        if same and all(not r.context for r in second) and all(r.context for r in first):
            return first
    return found


def _arguments(value: Any) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        ordered = sorted(value.items(), key=lambda pair: _number(pair[0]))
        return [tuple(v[k] for k in sorted(v, key=_number)) if isinstance(v, dict) else () for _, v in ordered]
    if isinstance(value, list):
        return [tuple(entry) if isinstance(entry, list) else (entry,) for entry in value]
    return []


def _number(key: str) -> int:
    digits = key.rpartition("_")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0


def _replies(value: Any, n_arguments: int) -> list[tuple[Any, ...]]:
    if not isinstance(value, list):
        return []
    if all(isinstance(entry, list) and not is_scored(entry) for entry in value):
        return [tuple(entry) for entry in value]
    # Forks flatten the list: one entry per request, or all repeats of the only request.
    if n_arguments == 1 and len(value) > 1:
        return [tuple(value)]
    return [tuple(entry) if isinstance(entry, list) and not is_scored(entry) else (entry,) for entry in value]


def _context(value: Any) -> str | None:
    """Prompt as text; chat prompts are a list that holds the messages as JSON text."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        value = value[0]
        try:
            messages = json.loads(value)
        except (ValueError, RecursionError):
            return str(value)
        if isinstance(messages, list) and all(isinstance(m, dict) for m in messages):
            return "\n".join(f"{m.get('role')}: {as_text(m.get('content', ''))}" for m in messages)
        return str(value)
    return value if isinstance(value, str) else None if value is None else as_text(value)
