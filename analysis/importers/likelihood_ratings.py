"""Likelihood ratings: JSON Lines with one rating, 0 to 100, of a hypothesis given a premise.

Written against McGill-NLP/probabilistic-reasoning of 2025. The model stands in the file name alone.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.content_digest import content_digest
from analysis.importers.file_names import stem
from analysis.importers.inspect_scores import as_number
from analysis.importers.json_text import as_text, is_id, read_lines, top_level_keys
from analysis.importers.logged_factors import count
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "likelihood ratings"
VERSIONS = "rating files of 2025"
TASK = "likelihood ratings"
FILE_MODEL = "model named after the file: the rows do not name it"
AS_LOGGED = 'ratings from 0 to 100 are kept as logged; declare probability_scale = "percent" in study.toml'
NO_RATING = "no rating in the row: kept as missing"
_EFFORT = re.compile(r"(?P<model>.+)_(?P<effort>reasoning_effort_[A-Za-z]+)")
_KEPT = ("summary", "original_id", "premise", "hypothesis", "asks-for", "hard_label")


def sniff(probe: Probe) -> Claim:
    """Say whether a file holds likelihood ratings."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    mine = {"UID", "run", "premise", "hypothesis", "answer"} <= set(top_level_keys(probe.text))
    return Claim.LOG if mine else Claim.NO


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per line.

    Raises
    ------
    LogError
        The file holds no ratings, a line is none, or it is damaged.
    """
    where = relative_name(path, options.root)
    named = _EFFORT.fullmatch(stem(path))
    columns: dict[str, Any] = {
        "model": named["model"] if named else stem(path),
        "strategy": named["effort"] if named else None,
        "task": TASK,
        "run": where,
        "harness": "likelihood ratings",
    }
    notes: tuple[str, ...] = (FILE_MODEL, AS_LOGGED)
    empty = True
    for number, row, odd in read_lines(path, options):
        if not isinstance(row, dict) or not all(is_id(row.get(key)) for key in ("UID", "run")):
            raise LogError(where, 'is no rating: it lacks "UID" or "run"', line=number)
        source = f"{where}:{number}"
        rating, more = _rating_columns(row)
        response = Response(source=source, extra=_extra(row), **columns, **_question_columns(row), **rating)
        yield Record(source, (response,), notes=notes + odd + more)
        notes, empty = (), False
    if empty:
        raise LogError(where, "no ratings in the file")


def _question_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    original = row.get("original_id")
    return {
        "item": as_text(row["UID"]),
        "unit": as_text(original) if is_id(original) else None,
        "sample": as_text(row["run"]),
        "prompt_hash": content_digest([row.get("premise"), row.get("hypothesis"), row.get("asks-for")]),
        "truth": _truth(row.get("hard_label")),
        "tokens_reasoning": count(row.get("reasoning_token_count")),
    }


def _truth(label: Any) -> float | None:
    """What turned out, 0 or 1."""
    return float(label) if isinstance(label, (bool, int)) and label in (0, 1) else None


def _rating_columns(row: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    answer = row.get("answer")
    number = as_number(answer) if not isinstance(answer, bool) else None
    if number is not None:
        return {"probability": number}, ()
    if isinstance(answer, str):
        return {"output": answer}, ()
    detail = "no rating" if answer is None else f"rating: {as_text(answer)}"
    return {"status": Status.UNPARSED, "rule": "no_rating", "status_detail": detail}, (NO_RATING,)


def _extra(row: Mapping[str, Any]) -> dict[str, str]:
    extra = {f"meta.{key}": as_text(row[key]) for key in _KEPT if isinstance(row.get(key), (str, int, float))}
    if isinstance(row.get("finish_reason"), str):
        extra["meta.stop_reason"] = row["finish_reason"]
    return extra
