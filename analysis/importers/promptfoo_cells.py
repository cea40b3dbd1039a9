"""Cells of promptfoo's CSV tables: mark, score, text and reason share one cell in most layouts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.importers.promptfoo_columns import MARK, MARKS, SCORE, Columns, PromptColumn

_SEPARATOR = "\n---\n"


@dataclass(frozen=True, slots=True)
class Cell:
    """One reply as a table has it.

    ``mark`` is PASS, FAIL, ERROR or None; ``error`` the message of a failed call, ``reason`` that of the
    grading; ``others`` are further columns of the row.
    """

    text: str | None
    mark: str | None = None
    score: str | None = None
    named: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    error: str | None = None
    others: Mapping[str, str] = field(default_factory=dict)


def read_cell(cells: list[str], columns: Columns, column: PromptColumn) -> Cell:
    """Reply to one prompt in one row."""
    raw = cells[column.at]
    others = {name: cells[at] for name, at in columns.others.items() if cells[at]}
    aspects = {name: cells[at] for name, at in column.aspects.items()}
    if aspects.get("Comment"):
        others["comment"] = aspects["Comment"]
    if columns.result is not None:
        mark = cells[columns.result].strip()
        return Cell(raw or None, mark if mark in MARKS else None, others=others)
    if "Status" in aspects:
        return _from_columns(raw, aspects, others)
    return _from_marked(raw, aspects.get("Grader Reason") or None, others, scored=columns.scored)


def _from_columns(raw: str, aspects: Mapping[str, str], others: Mapping[str, str]) -> Cell:
    mark, reason = aspects["Status"].strip(), aspects["Grader Reason"] or None
    if mark not in MARKS:
        return Cell(raw or None, others=others)
    if mark == "ERROR":
        return Cell(None, mark, error=_first_line(reason or raw), others=others)
    named = _named_scores(aspects["Named Scores"])
    return Cell(raw, mark, aspects["Score"].strip() or None, named, reason, others=others)


def _from_marked(raw: str, reason: str | None, others: Mapping[str, str], *, scored: bool) -> Cell:
    """``[PASS] (1.00)``, text and reason; only the first mark is the harness's, the text may hold more."""
    match = MARK.match(raw)
    if match is None:
        return Cell(raw or None, others=others)
    mark, body = match[1], raw[match.end() :]
    score = SCORE.match(body) if scored else None
    if score is not None:
        body = body[score.end() :]
        head, found, tail = body.rpartition(f"\n\n{'Pass' if mark == 'PASS' else 'Fail'} Reason: ")
        reason, body = (tail, head) if found else (reason, body)
    text = _unpadded(body)
    if mark != "PASS":
        mark, text, reason = _failed(mark, text, reason)
    if mark == "ERROR":
        return Cell(None, mark, error=_first_line(reason or text), others=others)
    value, named = (score["score"], _listed(score["named"])) if score is not None else (None, {})
    return Cell(text, mark, value, named, reason, others=others)


def _failed(mark: str, text: str, reason: str | None) -> tuple[str, str, str | None]:
    """Mark, text and reason of a failed cell, which holds the reason before the text.

    Without the line that parts them, and without a reason behind the text, there was no grading: the call
    failed, and the cell holds its message. (Files before 2025 have no mark of their own for that.)
    """
    if reason and text.startswith(reason + _SEPARATOR):
        return mark, text[len(reason) + len(_SEPARATOR) :], reason
    before, parted, after = text.partition(_SEPARATOR)
    if parted:
        return mark, after, reason or before
    if text.endswith(_SEPARATOR.rstrip("\n")):
        return mark, "", reason or text.removesuffix(_SEPARATOR.rstrip("\n"))
    return (mark if reason else "ERROR"), text, reason


def _unpadded(body: str) -> str:
    """Text without the blank or the empty line that the harness puts after the mark."""
    return body[2:] if body.startswith("\n\n") else body[1:] if body[:1] in (" ", "\n") else body


def _listed(named: str) -> dict[str, str]:
    """Named scores as a cell lists them: ``, tone: 0.50, length: 1.00``."""
    pairs = (part.rpartition(": ") for part in named.split(", ") if ": " in part)
    return {name: value for name, _, value in pairs if name}


def _named_scores(text: str) -> dict[str, str]:
    try:
        scores: Any = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    pairs = scores.items() if isinstance(scores, dict) else ()
    return {name: repr(value) for name, value in pairs if isinstance(value, (int, float))}


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0] if lines else ""
