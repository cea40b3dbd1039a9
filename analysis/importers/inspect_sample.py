"""One sample of an Inspect log as the columns of the schema that the sample alone decides."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.errors import LogError
from analysis.importers.inspect_messages import message_content, prompt_text, question_hash
from analysis.importers.inspect_scores import sample_scores
from analysis.importers.json_text import as_text
from analysis.importers.logged_factors import count, metadata_columns, seconds
from analysis.schema.status import Status

REFUSALS = frozenset({"content_filter", "refusal"})
HARNESS_CHOICE = "harness_choice"
UNSCORED = "no score of its own in the log"
_LETTER_SENT = re.compile(r"ANSWER\s*:\s*([A-Za-z])\b")
_SHUFFLED = "choices were shuffled"


@dataclass(frozen=True, slots=True)
class Draft:
    """A sample as read, before the file as a whole has decided names and scales.

    ``key`` is the id with its type (1 and "1" differ), ``columns`` and ``extra`` what a ``Response``
    takes, ``scores`` the values by scorer.
    """

    key: int | float | str
    epoch: int
    source: str
    columns: dict[str, Any]
    extra: dict[str, str]
    scores: dict[str, Any]
    notes: tuple[str, ...] = field(default=())


def read_sample(sample: Any, source: str, where: str, *, model: str | None) -> Draft:
    """Read one sample.

    Parameters
    ----------
    sample : any
        Parsed JSON; anything but an object with an id is a LogError.
    source, where : str
        Place of the sample, and name of its file in messages.
    model : str or None
        Model evaluated, whose usage is counted.
    """
    if not isinstance(sample, dict) or not isinstance(sample.get("id"), (str, int, float)):
        raise LogError(where, f"{source.removeprefix(where + ':')} is no sample: it has no id")
    stored = sample.get("attachments")
    attachments: dict[str, Any] = stored if isinstance(stored, dict) else {}
    choices = _choices(sample)
    scores = sample_scores(sample)
    factors, extra = metadata_columns(sample.get("metadata"), prefix="meta.")
    columns: dict[str, Any] = dict(factors)
    columns |= _output_columns(sample, attachments, extra) | _cost_columns(sample, model)
    columns |= _outcome_columns(sample, columns["output"], extra)
    columns["gold"] = _gold(sample.get("target"), choices, extra)
    columns["prompt"] = prompt_text(sample.get("input"), attachments)
    columns["prompt_hash"] = question_hash(sample.get("input"), choices or None, attachments)
    if choices:
        columns |= _choice_columns(sample, choices, extra)
    unscored = (UNSCORED,) if not scores and columns["status"] != Status.ERRORED else ()
    return Draft(sample["id"], count(sample.get("epoch")) or 1, source, columns, extra, scores, unscored)


def _choices(sample: Mapping[str, Any]) -> list[str]:
    choices = sample.get("choices")
    return [as_text(choice) for choice in choices] if isinstance(choices, list) else []


def _first_choice(sample: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The output of a sample and the first of its alternatives; empty where there is none."""
    output = sample.get("output")
    output = output if isinstance(output, dict) else {}
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return output, first if isinstance(first, dict) else {}


def _output_columns(sample: Mapping[str, Any], attachments: Mapping[str, Any], extra: dict[str, str]) -> dict[str, Any]:
    output, first = _first_choice(sample)
    message = first.get("message")
    content = message_content(message.get("content") if isinstance(message, dict) else None, attachments)
    completion = output.get("completion")
    text = content.text if content.text is not None else completion if isinstance(completion, str) else None
    if isinstance(first.get("stop_reason"), str):
        extra["meta.stop_reason"] = first["stop_reason"]
    model = output.get("model")
    return {
        "output": text,
        "reasoning": content.reasoning,
        "model_resolved": model if isinstance(model, str) and model else None,
    }


def _cost_columns(sample: Mapping[str, Any], model: str | None) -> dict[str, Any]:
    # The usage of the whole sample, as its time is that of the whole sample.
    by_model = sample.get("model_usage")
    usage = by_model.get(model) if isinstance(by_model, dict) and model is not None else None
    output, _ = _first_choice(sample)
    usage = usage if isinstance(usage, dict) else output.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    working, total = seconds(sample.get("working_time")), seconds(sample.get("total_time"))
    moment = next((sample[k] for k in ("completed_at", "started_at") if isinstance(sample.get(k), str)), None)
    return {
        "tokens_in": count(usage.get("input_tokens")),
        "tokens_out": count(usage.get("output_tokens")),
        "tokens_reasoning": count(usage.get("reasoning_tokens")),
        "latency": total if working is None else working,
        "timestamp": moment,
    }


def _outcome_columns(sample: Mapping[str, Any], output: str | None, extra: dict[str, str]) -> dict[str, Any]:
    limit = sample.get("limit")
    kind = as_text(limit.get("type")) if isinstance(limit, dict) else None
    if kind is not None:
        extra["meta.limit"] = kind
    failure = _failure(sample.get("error"))
    stop = extra.get("meta.stop_reason")
    call_failure = _failure(_first_choice(sample)[0].get("error"))
    if failure is not None:
        return {"status": Status.ERRORED, "status_detail": failure}
    if stop in REFUSALS:
        return {"status": Status.REFUSED, "status_detail": call_failure or stop}
    if kind is not None and not output:
        return {"status": Status.TRUNCATED, "status_detail": f"{kind} limit"}
    if call_failure is not None and not output:
        return {"status": Status.ERRORED, "status_detail": call_failure}
    return {"status": None, "status_detail": call_failure}


def _failure(error: Any) -> str | None:
    """First line of an error's message; None where there is no error."""
    if not error:
        return None
    message = error.get("message") if isinstance(error, dict) else error
    lines = as_text(message).strip().splitlines() if message else []
    return lines[0] if lines else "error without a message"


def _gold(target: Any, choices: list[str], extra: dict[str, str]) -> str | None:
    texts = [as_text(t).strip() for t in target] if isinstance(target, list) else []
    if len({text.casefold() for text in texts}) > 1:
        extra["meta.target"] = as_text(target)
        return None
    single = texts[0] if texts else as_text(target).strip() if isinstance(target, (str, int, float)) else ""
    stripped = [choice.strip() for choice in choices]
    if choices and single not in _letters(choices) and stripped.count(single) == 1:
        extra["meta.target"] = single
        return _letters(choices)[stripped.index(single)]
    return single or None


def _letters(choices: list[str]) -> list[str]:
    return [chr(ord("A") + i) for i in range(min(len(choices), 26))]


def _choice_columns(sample: Mapping[str, Any], choices: list[str], extra: dict[str, str]) -> dict[str, Any]:
    """The letter the harness recorded; the body of a sample is in the original order of the choices."""
    extra["meta.choices"] = as_text(choices)
    scores = sample.get("scores")
    score = scores.get("choice") if isinstance(scores, dict) else None
    if not isinstance(score, dict):
        return {}
    explanation = score.get("explanation")
    if isinstance(explanation, str) and explanation.lower().startswith(_SHUFFLED):
        extra["meta.choices_shuffled"] = "true"
    sent = _letter_sent(sample.get("events"))
    if sent is not None:
        extra["meta.letter_sent"] = sent
    answer = score.get("answer")
    if isinstance(answer, str) and answer.strip() in _letters(choices):
        return {"answer": answer.strip(), "rule": HARNESS_CHOICE}
    return {}


def _letter_sent(events: Any) -> str | None:
    """Letter that the model itself gave, before the harness put the choices back into order."""
    calls = [e for e in events if isinstance(e, dict) and e.get("event") == "model"] if isinstance(events, list) else []
    if not calls:
        return None
    _, first = _first_choice(calls[-1])
    message = first.get("message")
    text = message_content(message.get("content") if isinstance(message, dict) else None, {}).text
    found = _LETTER_SENT.search(text or "")
    return found.group(1).upper() if found else None
