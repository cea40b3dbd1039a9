"""``manifest.json``: what was read, with which settings and versions, and what became of every row."""

import json
import math
import os
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.provenance import file_digest, package_versions, platform_name, python_version
from analysis.schema.responses import SCHEMA_VERSION

MANIFEST_NAME: Final = "manifest.json"
FORMAT: Final = "evenhand report"
FORMAT_VERSION: Final = 1


def report_manifest(
    *,
    inputs: Iterable[Mapping[str, Any]],
    settings: Mapping[str, Any],
    rows: Mapping[str, Any],
    seeds: Mapping[str, int] | None = None,
    timings: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The manifest of a report, made of plain JSON values.

    Parameters
    ----------
    inputs : iterable of mappings
        Files read, as ``input_entries`` lists them.
    settings : mapping
        Every choice that shaped the numbers.
    rows : mapping
        Row accounting: records read, rows made of them, set aside by reason, used.
    seeds : mapping, optional
        Seed of everything random, by purpose.
    timings : mapping, optional
        Seconds by stage. The only entry that differs between two runs on the same input.

    Raises
    ------
    AnalysisError
        A value is not finite, has no JSON form, or is an absolute path.
    """
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "schema_version": SCHEMA_VERSION,
        "versions": package_versions(),
        "python": python_version(),
        "platform": platform_name(),
        "inputs": list(inputs),
        "settings": settings,
        "seeds": seeds or {},
        "rows": rows,
        "timings": timings or {},
    }
    return {key: _plain(value, key) for key, value in manifest.items()}


def input_entries(paths: Iterable[Path], root: Path) -> list[dict[str, Any]]:
    """``path`` relative to ``root``, ``bytes`` and ``sha256`` of each file; a folder stands for the files in it.

    Raises
    ------
    AnalysisError
        A file lies outside ``root`` or cannot be read.
    """
    files: set[Path] = set()
    for path in paths:
        files.update(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else files.add(path)
    entries = [{"path": _relative(f, root), "sha256": file_digest(f), "bytes": f.stat().st_size} for f in files]
    return sorted(entries, key=lambda entry: str(entry["path"]))


def manifest_json(manifest: Mapping[str, Any]) -> str:
    """The manifest as JSON text: two-space indent, ASCII, one final newline.

    Raises
    ------
    AnalysisError
        A value is not finite or has no JSON form.
    """
    return json.dumps(_plain(manifest, ""), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def changed_versions(folder: Path) -> tuple[str, ...]:
    """Packages whose version is another than when the report in ``folder`` was made, as ``numpy 2.4.0, now 2.5.5``.

    Empty where there is no report of ours. Fits that it keeps were made with the former versions.
    """
    if not holds_our_manifest(folder):
        return ()
    before = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8")).get("versions")
    if not isinstance(before, dict):
        return ()
    return tuple(
        f"{name} {before[name]}, now {now}"
        for name, now in package_versions().items()
        if isinstance(before.get(name), str) and before[name] != now
    )


def holds_our_manifest(folder: Path) -> bool:
    """Whether a folder holds a manifest that this project wrote."""
    try:
        found = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


def written_files(folder: Path) -> frozenset[str]:
    """Files that a report's manifest says it wrote, relative to its folder."""
    outputs = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8")).get("outputs", {})
    return frozenset(outputs) if isinstance(outputs, dict) else frozenset()


def read_inputs(folder: Path) -> frozenset[str]:
    """Names of the logs that a report was made from; empty where there is no report."""
    if not holds_our_manifest(folder):
        return frozenset()
    inputs = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8")).get("inputs", [])
    return frozenset(str(entry["path"]) for entry in inputs if isinstance(entry, dict) and "path" in entry)


def document_problem(folder: Path) -> str:
    """Why a report has no PDF; empty where it has one or none was asked for."""
    found = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8")).get("document", {})
    return str(found.get("problem", "")) if isinstance(found, dict) else ""


def _relative(path: Path, root: Path) -> str:
    try:
        return Path(os.path.abspath(path)).relative_to(os.path.abspath(root)).as_posix()
    except ValueError as error:
        message = f"{path.name} lies outside the directory given; the manifest names files relative to it"
        raise AnalysisError(message, offenders=(path.name,)) from error


def _plain(value: Any, key: str) -> Any:
    """The value in JSON types; ``key`` is its dotted place, for messages."""
    if isinstance(value, Mapping):
        return {_name(k): _plain(v, f"{key}.{k}" if key else str(k)) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, f"{key}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(v, key) for v in value)
    return _scalar(value, key)


def _scalar(value: Any, key: str) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if value is None or value is pd.NA:
        return None
    if isinstance(value, PurePath):
        if value.is_absolute():
            raise AnalysisError(f"manifest: {key} is an absolute path; give it relative to the directory of the logs")
        return value.as_posix()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise AnalysisError(f"manifest: {key} is {value}; leave an undefined number out or write null")
    if isinstance(value, (str, bool, int, float)):
        return value
    raise AnalysisError(f"manifest: {key} is a {type(value).__name__}, which has no JSON form")


def _name(key: Any) -> str:
    return str(key.value if isinstance(key, Enum) else key)
