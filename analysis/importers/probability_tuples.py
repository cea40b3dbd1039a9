"""Probability tuples: JSON Lines, one tuple of related questions per line, each with a forecast probability.

Written against dpaleka/consistency-forecasting of 2024: the question with ``elicited_prob``, and the question
beside ``forecast.prob``; the tuple under ``line`` or at the top. The model is no part of the file.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.content_digest import content_digest, content_name
from analysis.importers.file_names import folder, stem
from analysis.importers.json_text import as_object, as_text, is_id, read_lines, top_level_keys
from analysis.importers.logged_factors import seconds
from analysis.importers.probability_clusters import Query, clusters, item_names, schema_roles
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "probability tuples"
VERSIONS = "tuple files of 2024"
FOLDER_MODEL = "model named after the folder, task after the file: the tuples name neither"
CLUSTERED = "questions that share tuples are one unit, found within this file"
REPEATED = "every probability of this tuple stands in an earlier one"
NO_FORECAST = "no probability for a question: missing"
_ROLE = re.compile(r"(?:(?:not|para|cons)_)?[P-S](?:_(?:and|or|given|not|[P-S]))*\Z")
_ANSWERS = ("elicited_prob", "prob", "probability")
#: Line number, queries, violation numbers beside them, and what was odd.
_Tuple = tuple[int, list[Query], dict[str, str], tuple[str, ...]]
_KEPT = ("title", "question_type", "data_source", "resolution_date", "resolution")


def sniff(probe: Probe) -> Claim:
    """Say whether a file holds tuples of probabilities."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    if not any(f'"{key}"' in probe.text for key in _ANSWERS):
        return Claim.NO
    keys = top_level_keys(probe.text)
    if "line" in keys:
        inside = top_level_keys(probe.text[probe.text.index('"line"') + 6 :].lstrip(": \t\r\n"))
        keys = inside
    return Claim.LOG if len([key for key in keys if _ROLE.match(key)]) > 1 else Claim.NO


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per tuple, with a response for every probability that no earlier tuple gave.

    A question that stands in several tuples with one probability is one response that serves all of them
    (column ``identity``); with another probability it is another sample.

    Raises
    ------
    LogError
        The file holds no tuples, a line is none, or it is damaged.
    """
    where = relative_name(path, options.root)
    tuples: list[_Tuple] = [
        (number, *_queries(row, where, number), odd) for number, row, odd in read_lines(path, options)
    ]
    if not tuples:
        raise LogError(where, "no tuples in the file")
    questions = [queries for _, queries, _, _ in tuples]
    units, names = clusters(questions), item_names(questions)
    identities, samples = _places(stem(path), tuples)
    notes: tuple[str, ...] = (FOLDER_MODEL, CLUSTERED)
    given: set[Query] = set()
    for number, queries, extra, odd in tuples:
        source = f"{where}:{number}"
        new = [query for query in dict.fromkeys(queries) if query not in given]
        given.update(new)
        responses = tuple(
            Response(
                model=folder(path) or "unknown",
                task=stem(path),
                item=names[query.item, query.role],
                unit=units[query.item],
                sample=str(samples[query]),
                run=where,
                identity=";".join(dict.fromkeys(identities[query])),
                harness="probability tuples",
                source=source,
                **_columns(query, extra),
            )
            for query in new
        )
        notes += (NO_FORECAST,) * sum(query.probability is None for query in new)
        yield Record(source, responses, set_aside=None if responses else REPEATED, notes=notes + odd)
        notes = ()


def _places(file: str, tuples: list[_Tuple]) -> tuple[dict[Query, list[str]], dict[Query, int]]:
    """Tuples that every query serves, and how many other probabilities its question had before."""
    identities: dict[Query, list[str]] = {}
    samples: dict[Query, int] = {}
    seen: dict[tuple[str, str], int] = {}
    for number, queries, _, _ in tuples:
        for query in queries:
            identities.setdefault(query, []).append(f"{file}:{number}")
            if query not in samples:
                samples[query] = seen.get((query.item, query.role), 0)
                seen[query.item, query.role] = samples[query] + 1
    return identities, samples


def _columns(query: Query, extra: Mapping[str, str]) -> dict[str, Any]:
    missing = query.probability is None
    return {
        "role": query.role,
        "state": query.state,
        "probability": query.probability,
        "truth": query.truth,
        "prompt": query.text,
        "prompt_hash": content_digest(query.text),
        "status": Status.MISSING if missing else None,
        "status_detail": "no probability in the file" if missing else None,
        "extra": dict(extra) | dict(query.extra),
    }


def _queries(row: Any, where: str, number: int) -> tuple[list[Query], dict[str, str]]:
    """Queries of one line, and the violation numbers beside them."""
    whole = as_object(row)
    held = as_object(whole.get("line", whole))
    parts = {key: part for key, part in held.items() if _ROLE.match(key)}
    if len(parts) < 2 or not all(isinstance(part, dict) for part in parts.values()):
        raise LogError(where, "is no tuple of questions with probabilities", line=number)
    roles = schema_roles(tuple(parts))
    queries = [_query(part, role, *roles[role], (where, number)) for role, part in parts.items()]
    extra: dict[str, str] = {}
    for name in ("violations", "violation_data", "violation"):
        computed = whole.get(name)
        pairs = computed.items() if isinstance(computed, dict) else [("", computed)]
        extra |= {f"meta.violation{'.' if k else ''}{k}": as_text(v) for k, v in pairs if isinstance(v, (int, float))}
    return queries, extra


def _query(part: Mapping[str, Any], logged: str, role: str, state: str | None, at: tuple[str, int]) -> Query:
    question = part.get("question", part)
    held = {"title": question} if isinstance(question, str) else as_object(question)
    text = "\n".join(str(held[key]) for key in ("title", "body") if isinstance(held.get(key), str))
    name = held.get("id", part.get("id"))
    if not text and not is_id(name):
        raise LogError(at[0], f'question "{logged}" has neither id nor text', line=at[1])
    resolved = held.get("resolution")
    extra = tuple((f"meta.{key}", as_text(held[key])) for key in _KEPT if isinstance(held.get(key), (str, int, float)))
    return Query(
        item=as_text(name) if is_id(name) else content_name(text),
        probability=_probability(part, held, logged, at),
        role=role,
        state=state,
        text=text,
        truth=float(resolved) if isinstance(resolved, bool) else None,
        extra=(("meta.role", logged), *extra),
    )


def _probability(
    part: Mapping[str, Any], question: Mapping[str, Any], logged: str, at: tuple[str, int]
) -> float | None:
    forecast = part.get("forecast")
    places = [forecast if isinstance(forecast, dict) else {"prob": forecast}, part, question]
    value = next((place[key] for place in places for key in _ANSWERS if place.get(key) is not None), None)
    if value is None:
        return None
    number = seconds(value)
    if number is None:
        raise LogError(at[0], f'probability of "{logged}" is no number', line=at[1])
    return number
