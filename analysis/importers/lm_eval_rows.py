"""Rows of lm-evaluation-harness sample files as responses: generated texts, choices, single log-likelihoods."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.importers.json_text import as_text
from analysis.importers.lm_eval_choices import choice_columns, read_choice
from analysis.importers.lm_eval_files import RunInfo
from analysis.importers.lm_eval_requests import Request, competing, loglikelihood, requests
from analysis.importers.logged_factors import metadata_columns
from analysis.schema.responses import Response

#: Keys of a row that are no metrics.
ROW_KEYS = frozenset(
    {
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
        "input",
    }
)
MAIN_METRICS = ("acc", "exact_match")
REPEATS = "several replies per document: the metric, which belongs to the filtered one, stands at sample 0"


@dataclass(frozen=True, slots=True)
class Metrics:
    """Metrics of a row: scalars by name in order, and what is kept as it is (lists, texts)."""

    scalars: dict[str, float | int | bool]
    raw: dict[str, str]


def row_metrics(row: Mapping[str, Any]) -> Metrics:
    """Metrics of a row: the keys that ``metrics`` lists, else every key of its own."""
    listed = row.get("metrics")
    names = [key for key in row if key not in ROW_KEYS]
    metrics = [n for n in names if n in listed] if isinstance(listed, list) else names
    scalars = {n: row[n] for n in metrics if isinstance(row[n], (bool, int, float))}
    raw = {f"meta.{n}": as_text(row[n]) for n in names if n not in scalars and row[n] is not None}
    return Metrics(scalars, raw)


def main_metric(scalars: Mapping[str, Any], asked: str | None) -> str | None:
    """Name of the main metric: the one asked for, else acc, exact_match, or the first."""
    if asked is not None:
        return asked if asked in scalars else None
    return next((name for name in MAIN_METRICS if name in scalars), next(iter(scalars), None))


def row_responses(
    row: Mapping[str, Any], info: RunInfo, source: str, *, scorer: str | None
) -> tuple[tuple[Response, ...], tuple[str, ...]]:
    """Responses of one row, and notes.

    Parameters
    ----------
    row : mapping
        Parsed row with a ``doc_id``.
    info : RunInfo
        What holds for the whole file.
    source : str
        Place of the row.
    scorer : str or None
        Metric asked for.
    """
    found = requests(row)
    metrics = row_metrics(row)
    columns, extra = _row_columns(row, found)
    scores, score_extra, notes = _score_columns(metrics, scorer, source)
    extra |= score_extra | metrics.raw
    generated = [request for request in found if not request.is_loglikelihood]
    if generated:
        answers, more = _texts(generated, row, extra)
    elif len(found) > 1:
        choices = competing(found)
        choice = read_choice(choices, row.get("target"), metrics.scalars.get("acc"), info.task)
        answer, choice_extra = choice_columns(choice, tuple(r.continuation or "" for r in choices), row.get("target"))
        extra |= choice_extra
        answers, more = [answer], choice.notes
    else:
        answers, more = [_single(found, extra)], ()
    responses = []
    for sample, answer in enumerate(answers):
        own = columns | answer | (scores if sample == 0 else {})
        responses.append(
            Response(
                model=info.model,
                item=as_text(row["doc_id"]),
                task=info.task,
                sample=str(sample),
                run=info.run,
                timestamp=info.timestamp,
                harness=info.harness,
                source=source,
                extra=extra if sample == 0 else {k: v for k, v in extra.items() if not k.startswith("score.")},
                **own,
            )
        )
    return tuple(responses), notes + more


def _row_columns(row: Mapping[str, Any], found: tuple[Request, ...]) -> tuple[dict[str, Any], dict[str, str]]:
    factors, extra = metadata_columns(row.get("doc"), prefix="meta.doc.")
    columns: dict[str, Any] = dict(factors)
    prompt = next((request.context for request in found if request.context is not None), None)
    columns["prompt"] = prompt
    columns["prompt_hash"] = _prompt_hash(row, prompt)
    target = row.get("target")
    columns["gold"] = (as_text(target).strip() or None) if target is not None else None
    temperature = next((r.options["temperature"] for r in found if "temperature" in r.options), None)
    columns["temperature"] = None if temperature is None else as_text(temperature)
    if isinstance(row.get("filter"), str):
        extra["meta.filter"] = row["filter"]
    return columns, extra


def _prompt_hash(row: Mapping[str, Any], prompt: str | None) -> str | None:
    # Chat templates differ between models; the document does not.
    if isinstance(row.get("doc_hash"), str):
        return str(row["doc_hash"])
    return None if prompt is None else hashlib.sha256(prompt.encode()).hexdigest()


def _score_columns(
    metrics: Metrics, scorer: str | None, source: str
) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...]]:
    main = main_metric(metrics.scalars, scorer)
    extra = {f"score.{name}": as_text(value) for name, value in metrics.scalars.items() if name != main}
    notes = tuple(
        f'metric "{name}": {as_text(value)} is no score, kept as missing ({source})'
        for name, value in metrics.scalars.items()
        if _number(value) is None
    )
    if main is None:
        has = ", ".join(metrics.scalars) or "none with a single value"
        notes += (
            f'no metric "{scorer}" (there is: {has})' if scorer is not None else "no score of its own in the log",
        )
        return {}, extra, notes
    value = metrics.scalars[main]
    return {"logged_score": as_text(value), "score_value": _number(value)}, extra, notes


def _number(value: float | int | bool) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _texts(
    generated: list[Request], row: Mapping[str, Any], extra: dict[str, str]
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    replies = generated[0].replies
    filtered = row.get("filtered_resps")
    if filtered is not None:
        single = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
        extra["meta.filtered"] = as_text(single)
    notes: tuple[str, ...] = (REPEATS,) if len(replies) > 1 else ()
    if len(generated) > 1:
        notes += (f"{len(generated)} generation requests per document: the first was read",)
    return [{"output": None if reply is None else as_text(reply)} for reply in replies], notes


def _single(found: tuple[Request, ...], extra: dict[str, str]) -> dict[str, Any]:
    """A single log-likelihood has no competing choice: there is a score and no answer."""
    if found and found[0].replies:
        reply = found[0].replies[0]
        extra["meta.loglikelihood"] = as_text(loglikelihood(reply))
        if isinstance(reply, list) and len(reply) == 2:
            extra["meta.greedy"] = as_text(reply[1]).lower()
    return {}
