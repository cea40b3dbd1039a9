"""Paths of LightEval: task and time in the names, and the results file that names the model."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import JsonParser, as_text, read_text
from analysis.importers.protocol import ReadOptions

UNKNOWN = "unknown"
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?")
_DETAILS = re.compile(rf"details_(?P<task>.+)_(?P<stamp>{_STAMP.pattern})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What paths and the results file say about all rows of one details file."""

    model: str
    task: str
    run: str
    timestamp: str | None
    temperature: str | None
    harness: str
    notes: tuple[str, ...]


def run_info(path: Path, options: ReadOptions) -> RunInfo:
    """Read the names around a details file.

    The model is named by the results file of the same time below ``results/``, else by the folders
    between ``details/`` and the time; a details file that lies elsewhere has an unknown model.
    """
    named = _DETAILS.match(path.name.removesuffix(".parquet"))
    stamps = _STAMP.findall(path.name) or _STAMP.findall(path.parent.name)
    stamp = stamps[-1] if stamps else None
    results, notes = _results(path, stamp, options)
    general = _object(results, "config_general")
    settings = _object(general, "model_config")
    model, model_notes = _model(general, settings, path)
    parameters = _object(settings, "generation_parameters") or _object(general, "generation_parameters")
    temperature, version = parameters.get("temperature"), general.get("lighteval_sha")
    return RunInfo(
        model=model,
        task=named["task"] if named else path.name.removesuffix(".parquet").removeprefix("details_"),
        run=stamp or relative_name(path, options.root),
        timestamp=_iso(stamp),
        temperature=None if temperature is None else as_text(temperature),
        harness=f"LightEval {version}" if isinstance(version, str) and version not in ("", "?") else "LightEval",
        notes=notes + model_notes,
    )


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def _iso(stamp: str | None) -> str | None:
    if stamp is None:
        return None
    day, clock = stamp[:10], stamp[11:]
    return f"{day}T{clock.replace('-', ':')}"


def _below_details(path: Path) -> tuple[Path, tuple[str, ...]] | None:
    """Directory that holds ``details/``, and the folders of the model; None where the file lies elsewhere."""
    folders = path.parent.parts
    if "details" not in folders:
        return None
    at = len(folders) - 1 - folders[::-1].index("details")
    inner = folders[at + 1 :]
    if inner and _STAMP.fullmatch(inner[-1]):
        inner = inner[:-1]
    return Path(*folders[:at]), inner


def _candidates(path: Path, stamp: str) -> Iterator[Path]:
    yield path.parent / f"results_{stamp}.json"
    place = _below_details(path)
    if place is not None:
        top, model = place
        yield top.joinpath("results", *model, f"results_{stamp}.json")


def _results(path: Path, stamp: str | None, options: ReadOptions) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    for candidate in _candidates(path, stamp) if stamp is not None else ():
        if candidate.is_file():
            where = relative_name(candidate, options.root)
            try:
                value, _ = JsonParser(where).parse(read_text(candidate, options)[0])
            except LogError as error:
                return {}, (f"the results file of this run cannot be read ({error.reason})",)
            return (value, ()) if isinstance(value, dict) else ({}, ())
    return {}, ()


def _model(general: Mapping[str, Any], settings: Mapping[str, Any], path: Path) -> tuple[str, tuple[str, ...]]:
    for name in (settings.get("model_name"), general.get("model_name")):
        if isinstance(name, str) and name:
            return name, ()
    place = _below_details(path)
    if place is not None and place[1]:
        return "/".join(place[1]), ("model named after its folders: no results file of this run names it",)
    return UNKNOWN, (
        f'neither a results file nor a folder below details/ names the model: it is called "{UNKNOWN}"; '
        "keep the folders that LightEval wrote",
    )
