"""Response files of llm-logic (conditionals and modals): one file holds all replies to one question.

Written against wesholliday/llm-logic of 2024: ``data/<condition>/<model>/<pattern>/
<model>_<pattern>_<item>_<temperature>.json``. Pattern and number of the item stand in the path alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.content_digest import content_digest, content_name
from analysis.importers.file_names import folder, stem
from analysis.importers.json_text import JsonParser, as_text, read_text, top_level_keys
from analysis.importers.logged_factors import seconds
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "llm-logic"
VERSIONS = "response files of 2024"
TASK = "llm-logic"
NO_GOLD = "no right answers in the file: they follow from the pattern of inference (column template)"
NO_PATTERN = "the file name tells no pattern and number: the item is named after the question's content"
NO_CONDITION = "no folder names the condition: it is left out"
NOT_NORMALISED = "yes_prob and no_prob do not add up to 1: p_yes is yes_prob as logged"
SEVERAL = "one reply answers several questions: it is split at its commas"
CONDITIONS = frozenset(
    {
        "zero-shot",
        "few-shot",
        "chain_of_thought",
        "zero-shot_log_probs",
        "few-shot_log_probs",
        "consistency-check",
    }
)
_TAIL = re.compile(r"_(?P<item>\d+)_(?P<temperature>None|\d+(?:\.\d+)?)\Z")
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class _Question:
    """What file and path say about the question that all replies answer."""

    item: str
    columns: dict[str, Any]
    extra: dict[str, str]
    notes: tuple[str, ...]


def sniff(probe: Probe) -> Claim:
    """Say whether a file is one question of llm-logic with its replies."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    keys = set(top_level_keys(probe.text))
    mine = {"user_prompt", "system_prompt", "model"} <= keys and bool(keys & {"responses", "yes_prob"})
    return Claim.LOG if mine else Claim.NO


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield the one record of a file, with a response per reply.

    Raises
    ------
    LogError
        The file lacks the question, the model or the replies, or is damaged.
    """
    where = relative_name(path, options.root)
    text, notes = read_text(path, options)
    log, odd = JsonParser(where).parse(text)
    if not isinstance(log, dict) or not all(
        isinstance(log.get(key), str) and log[key] for key in ("user_prompt", "model")
    ):
        raise LogError(where, "is no response file: it lacks the question or the model")
    question = _question(log, path, where)
    notes += odd + question.notes
    if "yes_prob" in log:
        answer, more = _token_answer(log, where)
        responses: list[Response] = [_response(question, where, 0, answer)]
    else:
        responses, more = _replies(log, question, where)
    yield Record(where, tuple(responses), notes=notes + more)


def _question(log: Mapping[str, Any], path: Path, where: str) -> _Question:
    found = _TAIL.search(stem(path))
    pattern = folder(path)
    condition = folder(path, 3)
    notes: tuple[str, ...] = (NO_GOLD,)
    named = found is not None and stem(path)[: found.start()].endswith(f"_{pattern}")
    if found is not None and named:
        item = f"{pattern}_{found['item']}"
    else:
        item, pattern, notes = content_name(log["user_prompt"]), "", (*notes, NO_PATTERN)
    if condition not in CONDITIONS:
        condition, notes = "", (*notes, NO_CONDITION)
    temperature = log.get("temperature")
    columns = {
        "model": log["model"],
        "task": TASK,
        "run": where,
        "template": pattern or None,
        "strategy": condition or None,
        "temperature": as_text(temperature) if isinstance(temperature, (str, int, float)) else None,
        "prompt": log["user_prompt"],
        "prompt_hash": content_digest(log["user_prompt"]),
        "harness": "llm-logic",
    }
    system = log.get("system_prompt")
    return _Question(item, columns, {"meta.system_prompt": system} if isinstance(system, str) else {}, notes)


def _response(question: _Question, where: str, sample: int, own: Mapping[str, Any]) -> Response:
    columns = question.columns | {"item": question.item, "sample": str(sample), "source": where} | dict(own)
    return Response(**columns | {"extra": question.extra | own.get("extra", {})})


def _token_answer(log: Mapping[str, Any], where: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The larger of the probabilities of the words yes and no, which need not add up to 1."""
    yes, no = seconds(log.get("yes_prob")), seconds(log.get("no_prob"))
    if yes is None or no is None or not (0 <= yes <= 1 and 0 <= no <= 1):
        raise LogError(where, "yes_prob and no_prob are no two probabilities")
    notes = () if abs(yes + no - 1) <= _TOLERANCE else (NOT_NORMALISED,)
    extra = {"meta.no_prob": as_text(log["no_prob"])}
    if yes == no:
        return {"p_yes": yes, "status": Status.UNPARSED, "rule": "tie", "extra": extra}, notes
    return {"p_yes": yes, "answer": "yes" if yes > no else "no", "rule": "argmax", "extra": extra}, notes


def _replies(log: Mapping[str, Any], question: _Question, where: str) -> tuple[list[Response], tuple[str, ...]]:
    replies = log.get("responses")
    if not isinstance(replies, list) or not replies:
        raise LogError(where, "no replies in the file")
    texts = []
    for number, reply in enumerate(replies, start=1):
        if not isinstance(reply, dict) or not isinstance(reply.get("content"), (str, type(None))):
            raise LogError(where, f"reply {number} has no text")
        texts.append(reply.get("content"))
    classes = log.get("prompt_classes")
    if classes is None:
        return [_response(question, where, at, {"output": text}) for at, text in enumerate(texts)], ()
    if not isinstance(classes, list) or not classes or not all(isinstance(name, str) for name in classes):
        raise LogError(where, "prompt_classes is no list of patterns")
    parts = [part for at, text in enumerate(texts) for part in _parts(question, where, at, text, classes)]
    return parts, (SEVERAL,)


def _parts(question: _Question, where: str, sample: int, text: str | None, classes: list[str]) -> list[Response]:
    """Answers to several questions; a reply that does not have one for each is one unread response, never a yes."""
    answers = [part.strip() for part in text.split(",")] if text else []
    if len(answers) != len(classes):
        detail = f"{len(answers)} answers to {len(classes)} questions"
        unread = {"output": text, "status": Status.UNPARSED, "rule": "answer_count", "status_detail": detail}
        return [_response(question, where, sample, unread)]
    shared = {"unit": question.item, "extra": {"meta.reply": text or ""}}
    return [
        _response(question, where, sample, shared | _part(question, at, name, answer))
        for at, (name, answer) in enumerate(zip(classes, answers, strict=True), start=1)
    ]


def _part(question: _Question, at: int, pattern: str, answer: str) -> dict[str, Any]:
    return {
        "item": f"{question.item}:{at}:{pattern}",
        "template": pattern,
        "output": answer,
        "prompt_hash": content_digest([question.columns["prompt_hash"], at]),
    }
