"""File names of lm-evaluation-harness: the task in them, and the results file that names the model."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import JsonParser, as_text, read_text
from analysis.importers.protocol import ReadOptions

UNKNOWN = "unknown"
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d)[-:](\d\d)[-:](\d\d(?:\.\d+)?)")
_SAMPLES = re.compile(rf"samples_(?P<task>.+)_(?P<stamp>{_STAMP.pattern})", re.DOTALL)
_MODEL_ARGUMENT = re.compile(r"(?:^|,)\s*(?:pretrained|model|model_name|engine|deployment_id)=([^,]+)")
_SUFFIXES = (".gz", ".zst", ".jsonl", ".json", ".ndjson")


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What file names and the results file say about all rows of one sample file."""

    model: str
    task: str
    run: str
    timestamp: str | None
    harness: str
    notes: tuple[str, ...]


def run_info(path: Path, options: ReadOptions) -> RunInfo:
    """Read the names around a sample file.

    The task is the text between ``samples_`` and the last date. The model is named by the results file
    of the same time stamp in the same folder, else by the folder (``org__model``), else unknown.
    """
    stem = _stem(path.name)
    named = _SAMPLES.match(stem)
    results, notes = _results_beside(path, options)
    model, model_notes = _model(results, path, options)
    version = results.get("lm_eval_version")
    stamp = _iso(named["stamp"]) if named else None
    task, task_notes = (named["task"], ()) if named else _old_task(stem, results)
    return RunInfo(
        model=model,
        task=task,
        run=stamp or relative_name(path, options.root),
        timestamp=stamp,
        harness=f"lm-eval {version}" if isinstance(version, str) else "lm-eval",
        notes=notes + model_notes + task_notes,
    )


def _stem(name: str) -> str:
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def _iso(stamp: str) -> str:
    return _STAMP.sub(r"\1T\2:\3:\4", stamp)


def _results_beside(path: Path, options: ReadOptions) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The results file of the same time stamp (or without any, for a sample file without one); empty if none."""
    wanted = _stamp_of(path.name)
    try:
        beside = sorted(entry for entry in path.parent.iterdir() if entry.name.startswith("results"))
    except OSError:
        return {}, ()
    for candidate in beside:
        if candidate.name.endswith(".json") and _stamp_of(candidate.name) == wanted and candidate.is_file():
            return _read_results(candidate, options)
    return {}, ()


def _stamp_of(name: str) -> str | None:
    found = list(_STAMP.finditer(name))
    return _iso(found[-1].group()) if found else None


def _read_results(path: Path, options: ReadOptions) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    where = relative_name(path, options.root)
    try:
        text, _ = read_text(path, options)
        value, _ = JsonParser(where).parse(text)
    except LogError as error:
        return {}, (f"results file beside the samples cannot be read ({error.reason})",)
    return (value, ()) if isinstance(value, dict) else ({}, ())


def model_name(results: Mapping[str, Any]) -> str | None:
    """Model that a results file names: ``model_name``, else the model argument, else ``config.model``."""
    name = results.get("model_name")
    if isinstance(name, str) and name:
        return name
    config = results.get("config")
    config = config if isinstance(config, dict) else {}
    arguments = config.get("model_args")
    if isinstance(arguments, dict):
        arguments = ",".join(f"{key}={as_text(value)}" for key, value in arguments.items())
    found = _MODEL_ARGUMENT.search(arguments) if isinstance(arguments, str) else None
    name = found.group(1).strip() if found else config.get("model")
    return name if isinstance(name, str) and name else None


def _model(results: Mapping[str, Any], path: Path, options: ReadOptions) -> tuple[str, tuple[str, ...]]:
    name = model_name(results)
    if name is not None:
        return name, ()
    folder = path.parent.name
    # The harness writes characters that no file name may have as "__"; other folders are anybody's.
    if "__" in folder and path.parent.is_relative_to(options.root):
        return folder, ("model named after its folder: no results file beside the samples names it",)
    return UNKNOWN, (
        f'no results file and no model folder names the model: it is called "{UNKNOWN}"; '
        "put its results_*.json beside the samples",
    )


def _old_task(stem: str, results: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Task of a file named ``<model arguments>_<task>`` (0.4.0-0.4.2), by the tasks of the results file."""
    tasks = results.get("results")
    fits = [task for task in tasks if stem.endswith(f"_{task}")] if isinstance(tasks, dict) else []
    if fits:
        return max(fits, key=len), ()
    return stem, (f"the file name does not tell the task: it is called {json.dumps(stem, ensure_ascii=False)}",)
