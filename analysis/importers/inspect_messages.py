"""Texts of Inspect samples: content parts, reasoning, attachments, prompts and their hash."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.importers.json_text import as_text

_ATTACHMENT = "attachment://"


@dataclass(frozen=True, slots=True)
class Content:
    """Text parts of a message joined by newlines, and its reasoning parts; None where there are none."""

    text: str | None
    reasoning: str | None


def resolved(text: str, attachments: Mapping[str, Any]) -> str:
    """Text with a reference to an attachment replaced by what it stands for."""
    if text.startswith(_ATTACHMENT):
        stored = attachments.get(text.removeprefix(_ATTACHMENT))
        return stored if isinstance(stored, str) else text
    return text


def message_content(content: Any, attachments: Mapping[str, Any]) -> Content:
    """Text and reasoning of a message's content, which is a text or a list of parts."""
    if isinstance(content, str):
        return Content(resolved(content, attachments), None)
    if not isinstance(content, list):
        return Content(None, None)
    texts, thoughts = [], []
    for part in content:
        if isinstance(part, str):
            texts.append(resolved(part, attachments))
        elif isinstance(part, dict) and part.get("type") == "text":
            texts.append(resolved(as_text(part.get("text") or ""), attachments))
        elif isinstance(part, dict) and part.get("type") == "reasoning":
            # Redacted reasoning is an encrypted block; its summary is what can be read.
            thought = part.get("summary") if part.get("redacted") else part.get("reasoning") or part.get("summary")
            thoughts += [resolved(thought, attachments)] if isinstance(thought, str) and thought else []
    return Content("\n".join(texts) if texts else None, "\n".join(thoughts) if thoughts else None)


def prompt_text(question: Any, attachments: Mapping[str, Any]) -> str | None:
    """The input of a sample as one text; messages as lines ``role: text``."""
    if isinstance(question, str):
        return resolved(question, attachments)
    if not isinstance(question, list):
        return None
    lines = []
    for message in question:
        if isinstance(message, dict):
            text = message_content(message.get("content"), attachments).text
            lines.append(f"{message.get('role')}: {'' if text is None else text}")
    return "\n".join(lines)


def question_hash(question: Any, choices: list[str] | None, attachments: Mapping[str, Any]) -> str:
    """First 16 hex digits of the SHA-256 of input and choices, without the random ids of messages."""
    parts = question
    if isinstance(question, list):
        parts = [_canonical(message, attachments) for message in question]
    elif isinstance(question, str):
        parts = resolved(question, attachments)
    text = json.dumps([parts, choices], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _canonical(message: Any, attachments: Mapping[str, Any]) -> Any:
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if isinstance(content, str):
        content = resolved(content, attachments)
    elif isinstance(content, list):
        content = [
            {
                key: resolved(value, attachments) if isinstance(value, str) else value
                for key, value in part.items()
                if key != "id"
            }
            if isinstance(part, dict)
            else part
            for part in content
        ]
    return [message.get("role"), content]
