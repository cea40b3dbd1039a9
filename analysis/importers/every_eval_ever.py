"""Every Eval Ever instances (JSON Lines), the rows of one reply's metrics merged into one response.

Written against schema versions 0.2.0 to 0.3.0.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.every_eval_ever_aggregate import Aggregate, aggregate_beside
from analysis.importers.every_eval_ever_rows import object_at, replies, row_columns, scores
from analysis.importers.json_text import as_text, decode, open_log, read_lines, top_level_keys
from analysis.importers.lm_eval_rows import REPEATS
from analysis.importers.named_scores import UNSCORED, absent_scorer, main_score, score_columns
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "Every Eval Ever"
VERSIONS = "instances of schema 0.2.0-0.3.0"
AGGREGATE = "aggregate only"
MERGED = "another metric of a response that is read already (its score is kept)"
_KNOWN = frozenset({"0.2.0", "0.2.1", "0.2.2", "0.3.0"})
_INSTANCE = {"schema_version", "evaluation_id", "sample_id", "interaction_type"}
_AGGREGATE = {"schema_version", "source_metadata", "evaluation_results"}
_VERSION = re.compile(r"(\d+\.\d+\.\d+)$")
_HEAD_BYTES = 64 << 10


def sniff(probe: Probe) -> Claim:
    """Say whether a file holds instances, or an aggregate."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    keys = set(top_level_keys(probe.text))
    if keys >= _INSTANCE:
        return Claim.LOG
    return Claim.COMPANION if keys >= _AGGREGATE else Claim.NO


@dataclass(slots=True)
class _Metrics:
    """Scores of one response over its rows, by metric."""

    scores: dict[str, Any] = field(default_factory=dict)
    tasks: set[str] = field(default_factory=set)
    sample: str = "0"


@dataclass(slots=True)
class _Contents:
    """First pass over a file: which rows are metrics of one response, and which ids and metrics there are."""

    metrics: dict[bytes, _Metrics] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    id_types: dict[str, set[type]] = field(default_factory=dict)
    versions: dict[str, None] = field(default_factory=dict)
    rows: int = 0


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per line, in file order; the response stands at the first line of its metrics.

    Raises
    ------
    LogError
        The file is an aggregate, holds no instances, or is damaged.
    """
    where = relative_name(path, options.root)
    _refuse_aggregate(path, where, options)
    aggregate = aggregate_beside(path, options)
    contents = _contents(path, where, aggregate, options)
    known = [name for name in aggregate.metrics.values() if name in contents.names]
    main = main_score(known or sorted(contents.names), options.scorer)
    notes = _notes(contents, aggregate, main, options.scorer)
    emitted: set[bytes] = set()
    for number, value, odd in read_lines(path, options):
        row = _checked(value, where, number)
        key, source = _key(row), f"{where}:{number}"
        if key in emitted:
            yield Record(source, set_aside=MERGED, notes=odd)
            continue
        emitted.add(key)
        metrics = contents.metrics[key]
        own = main if main in metrics.scores or options.scorer is not None else min(metrics.scores)
        responses, more = _responses(row, contents, metrics, aggregate, own, (source, where))
        yield Record(source, responses, notes=notes + odd + more)
        notes = ()


def _refuse_aggregate(path: Path, where: str, options: ReadOptions) -> None:
    with open_log(path, options) as stream:
        head, _ = decode(stream.read(_HEAD_BYTES))
    keys = set(top_level_keys(head))
    if keys >= _AGGREGATE and not keys >= _INSTANCE:
        raise LogError(where, AGGREGATE, hint="give the instances (JSON Lines) that belong to it")


def _checked(value: Any, where: str, number: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LogError(where, "no JSON object", line=number)
    identity, model = value.get("sample_id"), value.get("model_id")
    if not isinstance(identity, (str, int, float)) or isinstance(identity, bool):
        raise LogError(where, 'no instance: it lacks "sample_id"', line=number)
    if not isinstance(model, str) or not model:
        raise LogError(where, 'no instance: it lacks "model_id"', line=number)
    return value


def _key(row: Mapping[str, Any]) -> bytes:
    """Digest of all that two rows of one response share: run, model, item, question and reply."""
    parts = [row.get(name) for name in ("evaluation_id", "model_id", "sample_id", "input", "output", "error")]
    parts += [row.get("messages") or row.get("interactions"), _epoch(row)]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="replace")).digest()[:16]


def _epoch(row: Mapping[str, Any]) -> str | None:
    epoch = object_at(row, "metadata").get("epoch")
    return as_text(epoch) if isinstance(epoch, (str, int)) and not isinstance(epoch, bool) else None


def _metric_name(row: Mapping[str, Any], aggregate: Aggregate) -> str:
    for name in (row.get("evaluation_result_id"), row.get("evaluation_name")):
        if isinstance(name, str) and name:
            return aggregate.metrics.get(name, name)
    return "score"


def _contents(path: Path, where: str, aggregate: Aggregate, options: ReadOptions) -> _Contents:
    contents = _Contents()
    samples: dict[tuple[str, str, str], int] = {}
    for number, value, _ in read_lines(path, options):
        row = _checked(value, where, number)
        contents.rows += 1
        identity = row["sample_id"]
        contents.id_types.setdefault(as_text(identity), set()).add(type(identity))
        version = _VERSION.search(as_text(row.get("schema_version", "")))
        contents.versions.setdefault(version[1] if version else as_text(row.get("schema_version")))
        key = _key(row)
        found = contents.metrics.get(key)
        if found is None:
            found = contents.metrics[key] = _Metrics()
            place = (row["model_id"], as_text(row.get("evaluation_name", "")), repr(identity))
            repeat = samples.setdefault(place, 0)
            samples[place] += 1
            found.sample = _epoch(row) or str(repeat)
        found.tasks.add(as_text(row.get("evaluation_name") or ""))
        _add_scores(found, _metric_name(row, aggregate), row, contents)
    if not contents.rows:
        raise LogError(where, "no instances in the file")
    return contents


def _add_scores(found: _Metrics, metric: str, row: Mapping[str, Any], contents: _Contents) -> None:
    values = scores(row)
    name = metric
    repeat = 1
    while name in found.scores:
        repeat += 1
        name = f"{metric}.{repeat}"
    found.scores[name] = values.get("score", values.get("is_correct"))
    contents.names.setdefault(name)
    if "is_correct" in values and "score" in values:
        found.scores[f"{name}.is_correct"] = values["is_correct"]


def _notes(contents: _Contents, aggregate: Aggregate, main: str | None, asked: str | None) -> tuple[str, ...]:
    notes = aggregate.notes + absent_scorer(contents.names, asked)
    unknown = sorted(set(contents.versions) - _KNOWN)
    if unknown:
        notes += (f"schema version {', '.join(unknown)} is not one this was written against (0.2.0-0.3.0)",)
    others = [name for name in contents.names if name != main]
    if main is not None and others:
        notes += (f'score "{main}"; others are kept as score.<name>: {", ".join(others)}',)
    if aggregate.total_rows is not None and aggregate.total_rows != contents.rows:
        notes += (f"the aggregate announces {aggregate.total_rows:,} rows, the file has {contents.rows:,}",)
    return notes


def _responses(
    row: Mapping[str, Any],
    contents: _Contents,
    metrics: _Metrics,
    aggregate: Aggregate,
    main: str | None,
    at: tuple[str, str],
) -> tuple[tuple[Response, ...], tuple[str, ...]]:
    source, where = at
    columns, extra = row_columns(row)
    score, score_extra, notes = _score_columns(metrics.scores, main, source)
    found = replies(row)
    if len(found) > 1:
        notes += (REPEATS,)
    if not score and columns["status"] is not Status.ERRORED:
        notes += (UNSCORED,)
    run = row.get("evaluation_id")
    named = isinstance(run, str) and run and not run.startswith("None")
    responses = []
    for place, (own, own_extra) in enumerate(found):
        first = place == 0
        status = {name: own.get(name) or columns[name] for name in ("status", "status_detail")}
        responses.append(
            Response(
                model=row["model_id"],
                item=_item(row["sample_id"], contents),
                task=min(metrics.tasks),
                sample=metrics.sample if len(found) == 1 else f"{metrics.sample}.{place}",
                run=as_text(run) if named else where,
                temperature=aggregate.temperature,
                harness=_harness(row, aggregate),
                source=source,
                extra=extra | own_extra | (score_extra if first else {}),
                **columns | own | status | (score if first else {}),
            )
        )
    return tuple(responses), notes


def _score_columns(
    scores_by_name: Mapping[str, Any], main: str | None, source: str
) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...]]:
    """Columns of the scores; the correctness beside the main one is ``score.is_correct``."""
    renamed = {"is_correct" if name == f"{main}.is_correct" else name: v for name, v in scores_by_name.items()}
    return score_columns(renamed, main, source)


def _item(identity: Any, contents: _Contents) -> str:
    text = as_text(identity)
    return (
        json.dumps(text, ensure_ascii=False) if len(contents.id_types[text]) > 1 and isinstance(identity, str) else text
    )


def _harness(row: Mapping[str, Any], aggregate: Aggregate) -> str:
    version = _VERSION.search(as_text(row.get("schema_version", "")))
    own = f"{NAME} {version[1]}" if version else NAME
    return f"{aggregate.library} ({own})" if aggregate.library else own
