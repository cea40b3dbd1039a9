"""The aggregate beside a file of Every Eval Ever instances: metrics by name, library, settings, number of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import JsonParser, as_text, read_text
from analysis.importers.logged_factors import count
from analysis.importers.protocol import ReadOptions

_ENDINGS = ("_samples.jsonl", ".jsonl")


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What an aggregate says about its instances; empty where there is none.

    ``metrics`` names the metric of an ``evaluation_result_id``, ``total_rows`` is the announced number of instances.
    """

    model: str | None = None
    library: str | None = None
    temperature: str | None = None
    metrics: Mapping[str, str] = field(default_factory=dict)
    total_rows: int | None = None
    notes: tuple[str, ...] = ()


def aggregate_beside(path: Path, options: ReadOptions) -> Aggregate:
    """Read ``<name>.json`` beside ``<name>_samples.jsonl`` or ``<name>.jsonl``; damage is a note."""
    stem = next((path.name.removesuffix(end) for end in _ENDINGS if path.name.endswith(end)), None)
    candidate = path.parent / f"{stem}.json"
    if stem is None or not candidate.is_file():
        return Aggregate()
    where = relative_name(candidate, options.root)
    try:
        value, _ = JsonParser(where).parse(read_text(candidate, options)[0])
    except LogError as error:
        return Aggregate(notes=(f"the aggregate beside the instances cannot be read ({error.reason})",))
    if not isinstance(value, dict) or not isinstance(value.get("evaluation_results"), list):
        return Aggregate()
    return _aggregate(value)


def _aggregate(value: Mapping[str, Any]) -> Aggregate:
    metrics, temperatures = {}, set()
    for result in value["evaluation_results"]:
        identity, name = _text(result, "evaluation_result_id"), _metric(result)
        if identity is not None and name is not None:
            metrics[identity] = name
        arguments = _object(_object(result, "generation_config"), "generation_args")
        if arguments.get("temperature") is not None:
            temperatures.add(as_text(arguments["temperature"]))
    library = _object(value, "eval_library")
    parts = [part for part in (_text(library, "name"), _text(library, "version")) if part not in (None, "unknown")]
    # Two results may share a metric's name: then their own ids tell them apart.
    unique = {identity: name for identity, name in metrics.items() if list(metrics.values()).count(name) == 1}
    return Aggregate(
        model=_text(_object(value, "model_info"), "id"),
        library=" ".join(part for part in parts if part is not None) or None,
        temperature=temperatures.pop() if len(temperatures) == 1 else None,
        metrics=unique,
        total_rows=count(_object(value, "detailed_evaluation_results").get("total_rows")),
    )


def _metric(result: Any) -> str | None:
    settings = _object(result, "metric_config")
    return _text(settings, "metric_id") or _text(settings, "metric_name")


def _object(value: Any, key: str) -> Mapping[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _text(value: Any, key: str) -> str | None:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, str) and inner else None
