"""Separate multiple choice in HELM runs: one request per option, one response per instance."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.importers.helm_run import Key, Run, Stats
from analysis.importers.helm_states import (
    WORST,
    checked_state,
    completions,
    is_summary,
    item_columns,
    model_name,
    outcome_columns,
    references,
    token_columns,
)
from analysis.importers.inspect_sample import HARNESS_CHOICE
from analysis.importers.json_text import as_text
from analysis.importers.likelihood_choices import Choice, highest, number
from analysis.importers.lm_eval_choices import choice_labels, yes_probability
from analysis.importers.logged_texts import single_gold
from analysis.importers.named_scores import UNSCORED, score_columns
from analysis.importers.protocol import Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

OPTION = "request for another option of the same item: one response per item"
DISAGREES = "the argmax over the options is not the harness's predicted_index: the argmax was taken"
CALIBRATION = "calibration"


@dataclass(slots=True)
class _Instance:
    """Requests of one instance: log-likelihood and tokens of each option, by mode."""

    source: str
    columns: dict[str, Any]
    extra: dict[str, str]
    texts: list[str]
    right: list[bool]
    values: dict[tuple[int, str], tuple[float, int]] = field(default_factory=dict)
    failure: dict[str, Any] = field(default_factory=dict)


def separate_records(
    states: Iterator[tuple[str, Any, tuple[str, ...]]], run: Run, stats: Stats, main: str | None, where: str
) -> Iterator[Record]:
    """Records in file order; the response stands at the first request of its instance."""
    instances: dict[Key, _Instance] = {}
    order: list[tuple[str, Key | None, tuple[str, ...]]] = []
    for source, value, odd in states:
        state, key = checked_state(value, source, where)
        if is_summary(state):
            order.append((source, None, odd))
            continue
        order.append((source, key, odd))
        instance = instances.get(key)
        if instance is None:
            instance = instances[key] = _instance(state, key, source, run)
        _add(instance, state)
    for source, known, odd in order:
        if known is None:
            yield Record(source, set_aside=WORST, notes=odd)
        elif instances[known].source != source:
            yield Record(source, set_aside=OPTION, notes=odd)
        else:
            response, notes = _response(instances[known], known, run, stats, main)
            yield Record(source, (response,), notes=odd + notes)


def _instance(state: Mapping[str, Any], key: Key, source: str, run: Run) -> _Instance:
    columns, extra = item_columns(state, key, run)
    columns["model"] = model_name(state, run)
    pairs = references(state)
    return _Instance(source, columns, extra, [text for text, _ in pairs], ["correct" in tags for _, tags in pairs])


def _add(instance: _Instance, state: Mapping[str, Any]) -> None:
    outcome, extra = outcome_columns(state, None)
    if outcome.get("status") is not None and not instance.failure:
        instance.failure = {name: outcome[name] for name in ("status", "status_detail")}
    for name in ("temperature", "latency", "timestamp"):
        if instance.columns.get(name) is None:
            instance.columns[name] = outcome[name]
    instance.extra |= {name: value for name, value in extra.items() if name not in instance.extra}
    index, mode = state.get("reference_index"), state.get("request_mode")
    if isinstance(index, int) and 0 <= index < len(instance.texts):
        found = completions(state)
        value = _span(found[0], instance.texts[index]) if found else (math.nan, 0)
        instance.values[index, CALIBRATION if mode == CALIBRATION else "original"] = value


def _span(completion: Mapping[str, Any], option: str) -> tuple[float, int]:
    """Log-likelihood and number of the last tokens, which spell the option after a blank; NaN if none do."""
    tokens = completion.get("tokens")
    text, total = "", 0.0
    wanted = option.strip()
    for used, token in enumerate(reversed(tokens if isinstance(tokens, list) else []), start=1):
        if not isinstance(token, dict) or not isinstance(token.get("text"), str):
            break
        text = token["text"] + text
        total += number(token.get("logprob"))
        if len(text.strip()) >= len(wanted):
            return (total, used) if text.strip() == wanted and wanted else (math.nan, 0)
    return math.nan, 0


def _scores(instance: _Instance, run: Run) -> tuple[float, ...]:
    """Score of each option as the harness ranks them: per token, or the gain over the calibration prompt."""
    scores = []
    for index in range(len(instance.texts)):
        total, tokens = instance.values.get((index, "original"), (math.nan, 0))
        if run.method.endswith("calibrated"):
            scores.append(total - instance.values.get((index, CALIBRATION), (math.nan, 0))[0])
        else:
            scores.append(total / tokens if tokens else math.nan)
    return tuple(scores)


def _choice(
    instance: _Instance, labels: tuple[str, ...], scores: tuple[float, ...], stats: Mapping[str, float | int]
) -> tuple[Choice, tuple[str, ...]]:
    predicted = number(stats.get("predicted_index"))
    at = int(predicted) if predicted.is_integer() else -1
    if any(math.isnan(score) for score in scores) and 0 <= at < len(labels):
        # The tokens do not spell the options; what the harness found is all there is.
        return Choice(labels[at], HARNESS_CHOICE), ()
    choice = highest(labels, scores)
    disagrees = choice.answer is not None and 0 <= at < len(labels) and labels[at] != choice.answer
    return choice, (DISAGREES,) if disagrees else ()


def _response(
    instance: _Instance, key: Key, run: Run, stats: Stats, main: str | None
) -> tuple[Response, tuple[str, ...]]:
    found = stats.by_key.get(key, {})
    labels, scores = choice_labels(tuple(instance.texts)), _scores(instance, run)
    gold, target = single_gold(label for label, right in zip(labels, instance.right, strict=True) if right)
    columns, extra, notes = score_columns(stats.scores(key), main, instance.source)
    if instance.failure:
        answer: dict[str, Any] = dict(instance.failure)
    else:
        choice, odd = _choice(instance, labels, scores, found)
        answer = choice.columns()
        totals = tuple(instance.values.get((at, "original"), (math.nan, 0))[0] for at in range(len(labels)))
        answer["p_yes"] = None if any(math.isnan(t) for t in totals) else yes_probability(labels, totals)
        notes += choice.notes + odd
    if not columns and answer.get("status") not in (Status.ERRORED, Status.MISSING):
        notes += (UNSCORED,)
    extra |= {"meta.choices": as_text(instance.texts), "meta.option_scores": as_text(list(scores))}
    response = Response(
        task=run.task,
        sample=str(key[2]),
        run=run.where,
        harness="HELM",
        source=instance.source,
        gold=gold,
        extra=instance.extra | extra | target | {"meta.run_name": run.name},
        **instance.columns,
        **token_columns(found),
        **columns,
        **answer,
    )
    return response, notes
