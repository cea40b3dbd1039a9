"""Rows of LightEval details as samples of one shape, whichever layout wrote them."""

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.importers.json_text import as_text
from analysis.importers.likelihood_choices import number
from analysis.importers.logged_texts import conversation

#: Longest stringified list that is taken apart.
_MAX_LITERAL = 16 << 20
_WORD_NUMBER = re.compile(r"\b(nan|inf)\b")
_ONLY_NUMBERS = re.compile(r"[\[\](),\s\w.+-]*")


@dataclass(frozen=True, slots=True)
class Sample:
    """One document with what the model gave.

    ``item`` is None in the layout without ids. ``loglikelihoods`` are those of ``choices`` (NaN: no number),
    ``texts`` the generated replies, with ``finished`` (after post-processing) and ``reasoning`` beside them.
    """

    item: str | None
    task: str | None
    query: str | None
    prompt: str | None
    choices: tuple[str, ...]
    gold: tuple[int, ...]
    gold_texts: tuple[str, ...]
    texts: tuple[Any, ...]
    finished: tuple[Any, ...]
    reasoning: tuple[Any, ...]
    loglikelihoods: tuple[float, ...]
    metrics: dict[str, Any]
    tokens_in: tuple[int | None, ...]
    tokens_out: tuple[int | None, ...]
    specific: Any


def new_sample(row: Mapping[str, Any]) -> Sample | None:
    """Sample of the layout with ``doc``, ``model_response`` and ``metric``; None where one of them is no object."""
    doc, response, metric = row.get("doc"), row.get("model_response"), row.get("metric")
    if not isinstance(doc, dict) or not isinstance(response, dict):
        return None
    identity, task, query = doc.get("id"), doc.get("task_name"), doc.get("query")
    choices = tuple(as_text(choice) for choice in _list(doc.get("choices")))
    gold = _indices(doc.get("gold_index"), len(choices))
    return Sample(
        item=None if identity is None else as_text(identity),
        task=task if isinstance(task, str) and task else None,
        query=None if query is None else as_text(query),
        prompt=conversation(response.get("input")),
        choices=choices,
        gold=gold,
        gold_texts=tuple(choices[at] for at in gold),
        texts=tuple(_list(response.get("text"))),
        finished=tuple(_list(response.get("text_post_processed"))),
        reasoning=tuple(_list(response.get("reasonings"))),
        loglikelihoods=tuple(number(value) for value in _list(response.get("logprobs"))),
        metrics=metric if isinstance(metric, dict) else {},
        tokens_in=_lengths(response.get("input_tokens")),
        tokens_out=_lengths(response.get("output_tokens")),
        specific=doc.get("specific"),
    )


def old_sample(row: Mapping[str, Any]) -> Sample | None:
    """Sample of the flat layout, whose lists may be Python texts; None where there are no predictions."""
    predictions = literal(row.get("predictions"))
    if not isinstance(predictions, list):
        return None
    choices = tuple(as_text(choice) for choice in _list(literal(row.get("choices"))))
    gold = _indices(literal(row.get("gold_index")), len(choices))
    golds = tuple(as_text(text) for text in _list(literal(row.get("gold"))))
    query, prompt = row.get("example"), literal(row.get("full_prompt"))
    metrics = literal(row.get("metrics"))
    values = _loglikelihoods(predictions)
    return Sample(
        item=None,
        task=None,
        query=None if query is None else as_text(query),
        prompt=conversation(prompt if isinstance(prompt, (str, list)) else row.get("full_prompt")),
        choices=choices,
        gold=gold,
        gold_texts=golds or tuple(choices[at] for at in gold),
        texts=tuple(_flat(predictions)) if values is None else (),
        finished=(),
        reasoning=(),
        loglikelihoods=values or (),
        metrics=metrics if isinstance(metrics, dict) else {},
        tokens_in=_lengths(literal(row.get("input_tokens"))),
        tokens_out=_lengths(literal(row.get("cont_tokens"))),
        specific=literal(row.get("specifics")),
    )


def plain(value: Any) -> Any:
    """A value of a Parquet column as JSON has it: bytes, times and decimals as texts."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def literal(value: Any) -> Any:
    """A list, object or number that was written as a Python text; everything else as it is.

    Only literals are taken apart: nothing is evaluated.
    """
    if not isinstance(value, str) or not value[:1] or value[0] not in "[({-0123456789" or len(value) > _MAX_LITERAL:
        return value
    text = value
    if _ONLY_NUMBERS.fullmatch(text):
        text = _WORD_NUMBER.sub(lambda word: "1e999" if word[0] == "inf" else "None", text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return value
    return plain(parsed)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _flat(values: list[Any]) -> list[Any]:
    return [inner for value in values for inner in (value if isinstance(value, (list, tuple)) else [value])]


def _loglikelihoods(predictions: list[Any]) -> tuple[float, ...] | None:
    """Log-likelihoods of the options: pairs with a flag (greedy or not) or bare numbers; None for texts."""
    if predictions and all(_is_flagged(value) for value in predictions):
        return tuple(number(value[0]) for value in predictions)
    values = _flat(predictions)
    known = bool(values) and all(value is None or isinstance(value, (int, float)) for value in values)
    return tuple(number(value) for value in values) if known else None


def _is_flagged(value: Any) -> bool:
    # Parquet has no pairs of a number and a truth value: the flag comes back as 0 or 1.
    is_pair = isinstance(value, (list, tuple)) and len(value) == 2
    return is_pair and not isinstance(value[0], (str, bool)) and value[1] in (0, 1)


def _indices(value: Any, count: int) -> tuple[int, ...]:
    found = value if isinstance(value, (list, tuple)) else [value]
    return tuple(int(at) for at in map(number, found) if at.is_integer() and 0 <= at < count)


def _lengths(value: Any) -> tuple[int | None, ...]:
    """Number of tokens of each reply; one number where the tokens are one list."""
    tokens = _list(value)
    if not tokens:
        return ()
    if all(isinstance(entry, (list, tuple)) for entry in tokens):
        return tuple(len(entry) for entry in tokens)
    return (len(tokens),) if all(isinstance(entry, int) for entry in tokens) else ()
