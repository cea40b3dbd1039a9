"""One result of a promptfoo evaluation as a response."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.importers.content_digest import content_digest, content_name
from analysis.importers.inspect_scores import as_number
from analysis.importers.json_text import as_object, as_text
from analysis.importers.logged_factors import count, metadata_columns, seconds
from analysis.importers.promptfoo_eval import Evaluation, assertions_of, template_of, variables_of
from analysis.schema.responses import Response
from analysis.schema.status import Status

UNSCORED = 'no assertions: "success" means only that the call worked, it is no score'
CACHED = "answered from promptfoo's cache: a copy of an earlier call"
CACHED_REPEAT = "a repeat answered from the cache is a copy, not an independent sample"
ESCAPED = "the logged prompt has HTML entities, as versions of 2023 sent it"
_ERROR = 2
_ENTITY = re.compile(r"&(#\d+|[a-z]+);")
_EXPECTED_KIND = re.compile(r"^[a-z-]+(\([^)]*\))?:")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which model was asked which question, how often before, and notes on how that is known."""

    model: str
    item: str
    sample: int
    notes: tuple[str, ...] = ()


def result_response(
    result: Mapping[str, Any], evaluation: Evaluation, asked: Asked, source: str, *, scorer: str | None
) -> tuple[Response, tuple[str, ...]]:
    """Response of one result, and notes.

    Parameters
    ----------
    result : mapping
        Entry of ``results``, of any generation.
    evaluation : Evaluation
        Facts of the whole file.
    asked : Asked
        Which model was asked what.
    source : str
        Place of the result.
    scorer : str or None
        ``success`` (the default), ``score``, or the name of a named score.
    """
    notes = asked.notes
    variables = variables_of(result)
    extra = {f"meta.vars.{key}": value for key, value in variables.items()}
    factors, more = metadata_columns(as_object(result.get("testCase")).get("metadata"), prefix="meta.")
    extra |= {key: value for key, value in more.items() if key not in extra}
    columns: dict[str, Any] = dict(factors)
    columns.setdefault("unit", content_name(variables) if variables else asked.item)
    columns |= _reply_columns(result, extra) | _prompt_columns(result, extra)
    if columns["status"] != Status.ERRORED:
        scores, more_notes = _score_columns(result, evaluation, extra, scorer)
        columns |= scores
        notes += more_notes
    notes += _reply_notes(extra, columns, asked.sample)
    columns["gold"] = _gold(assertions_of(result))
    response = Response(
        model=asked.model,
        item=asked.item,
        sample=str(asked.sample),
        run=evaluation.run,
        timestamp=evaluation.timestamp,
        temperature=evaluation.temperature(asked.model),
        harness=evaluation.harness,
        source=source,
        extra=extra,
        **columns,
    )
    return response, notes


def _reply_columns(result: Mapping[str, Any], extra: dict[str, str]) -> dict[str, Any]:
    reply = as_object(result.get("response"))
    output = reply.get("output") if "response" in result else result.get("output")
    text = None if output is None else as_text(output)
    usage = as_object(reply.get("tokenUsage"))
    cached = reply.get("cached") is True
    if cached:
        extra["meta.cached"] = "true"
    if isinstance(reply.get("finishReason"), str):
        extra["meta.stop_reason"] = reply["finishReason"]
    milliseconds = None if cached else seconds(result.get("latencyMs"))
    return {
        "output": text,
        "tokens_in": count(usage.get("prompt")),
        "tokens_out": count(usage.get("completion")),
        "tokens_reasoning": count(as_object(usage.get("completionDetails")).get("reasoning")),
        "latency": None if milliseconds is None else milliseconds / 1000,
        **_status_columns(result, reply, text),
    }


def _status_columns(result: Mapping[str, Any], reply: Mapping[str, Any], text: str | None) -> dict[str, Any]:
    """A call that failed is no wrong answer; the text of a failed assertion is no failed call."""
    error = result.get("error") or reply.get("error")
    reason = result.get("failureReason")
    failed = reason == _ERROR if type(reason) is int else bool(error) and not text
    if failed or (reply.get("error") and text is None):
        return {"status": Status.ERRORED, "status_detail": _first_line(error) or "failed call without a message"}
    if reply.get("isRefusal") is True:
        return {"status": Status.REFUSED, "status_detail": "isRefusal"}
    return {"status": None, "status_detail": None}


def _first_line(error: Any) -> str:
    lines = as_text(error).strip().splitlines() if error else []
    return lines[0] if lines else ""


def _prompt_columns(result: Mapping[str, Any], extra: dict[str, str]) -> dict[str, Any]:
    prompt = result.get("prompt")
    raw = as_object(prompt).get("raw")
    template = template_of(result)
    if template and template != raw:
        extra["meta.prompt"] = template
    if not isinstance(raw, str):
        # The oldest lists hold the template alone: what was sent is not in the file.
        return {"prompt": None, "prompt_hash": content_digest([template, variables_of(result)])}
    return {"prompt": raw, "prompt_hash": content_digest(raw)}


def _score_columns(
    result: Mapping[str, Any], evaluation: Evaluation, extra: dict[str, str], scorer: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    grading = as_object(result.get("gradingResult"))
    success = result.get("success")
    values = _scores(result)
    if isinstance(grading.get("reason"), str):
        extra["meta.reason"] = grading["reason"]
    if not _has_assertions(result, evaluation):
        extra |= {f"meta.{name}": as_text(value) for name, value in values.items() if name in ("success", "score")}
        return {}, (UNSCORED if isinstance(success, bool) else "no score of its own in the log",)
    extra["meta.assertions"] = as_text(_kinds(assertions_of(result)))
    main = scorer if scorer is not None else "success"
    extra |= {f"score.{name}": as_text(value) for name, value in values.items() if name != main}
    if main not in values:
        has = ", ".join(values) or "none"
        return {}, (f'no score "{main}" in the log (there is: {has})',)
    number = as_number(values[main])
    odd = () if number is not None else (f'score "{main}": {as_text(values[main])} is no score, kept as missing',)
    return {"logged_score": as_text(values[main]), "score_value": number}, odd


def _scores(result: Mapping[str, Any]) -> dict[str, Any]:
    """Scores by name: the verdict, the weighted score, and the named ones."""
    grading = as_object(result.get("gradingResult"))
    found = {"success": result.get("success"), "score": result.get("score", grading.get("score"))}
    named = as_object(result.get("namedScores")) or as_object(grading.get("namedScores"))
    found |= {name: value for name, value in named.items() if name not in found}
    return {name: value for name, value in found.items() if isinstance(value, (bool, int, float))}


def _has_assertions(result: Mapping[str, Any], evaluation: Evaluation) -> bool:
    """Whether anything was checked: only then do verdict and score say more than that the call worked."""
    if assertions_of(result):
        return True
    grading = result.get("gradingResult")
    if as_object(result.get("testCase")) or (isinstance(grading, dict) and grading.get("reason") == "No assertions"):
        return False
    return evaluation.asserts_everywhere() or (result.get("success") is False and bool(result.get("error")))


def _kinds(assertions: list[Any]) -> list[str]:
    kinds = (as_object(assertion).get("type") for assertion in assertions)
    return [kind if isinstance(kind, str) else "unknown" for kind in kinds]


def _gold(assertions: list[Any]) -> str | None:
    """The value that a single assertion of equality asks for; other assertions are no right answer."""
    only = as_object(assertions[0]) if len(assertions) == 1 else {}
    value = only.get("value")
    if only.get("type") == "equals" and isinstance(value, (str, int, float)):
        return as_text(value).strip() or None
    if only.get("type") == "expected" and isinstance(value, str) and not _EXPECTED_KIND.match(value):
        return value.strip() or None
    return None


def _reply_notes(extra: Mapping[str, str], columns: Mapping[str, Any], sample: int) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    if extra.get("meta.cached"):
        notes += (CACHED,) + ((CACHED_REPEAT,) if sample else ())
    if "meta.prompt" in extra and columns["prompt"] and _ENTITY.search(columns["prompt"]):
        notes += () if _ENTITY.search(extra["meta.prompt"]) else (ESCAPED,)
    return notes
