"""A report as it lies on disk: its tables by name, read back."""

import csv
import json
import math
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import AnalysisError
from analysis.schema.responses import SCHEMA_VERSION

#: Files of the report's format, version 1.
_MANIFEST = "manifest.json"
_FORMAT = "evenhand report"
_FORMAT_VERSION = 1
#: Tables that a message names one by one.
_FEW = 8


def read_manifest(folder: Path) -> dict[str, Any]:
    """Manifest of a report.

    Raises
    ------
    AnalysisError
        The folder holds no report, or one of a format or of a standard schema that this version does not know.
    """
    try:
        found = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise AnalysisError(f"{folder}: holds no report ({_MANIFEST} is missing or damaged)") from error
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise AnalysisError(f"{folder}: holds no report ({_MANIFEST} is of something else)")
    if found.get("format_version") != _FORMAT_VERSION:
        raise AnalysisError(
            f"{folder}: a report of format {found.get('format_version')!r}, this version reads {_FORMAT_VERSION}; "
            "make the report anew from its logs"
        )
    if (schema := found.get("schema_version", SCHEMA_VERSION)) != SCHEMA_VERSION:
        raise AnalysisError(
            f"{folder}: a report whose data follow version {schema!r} of the standard schema, this version reads "
            f"{SCHEMA_VERSION}; make the report anew from its logs"
        )
    return found


def table_names(folder: Path) -> tuple[str, ...]:
    """Names of the tables that a report wrote, in order of name."""
    outputs = read_manifest(folder).get("outputs", {})
    written = [Path(str(path)) for path in outputs] if isinstance(outputs, dict) else []
    return tuple(sorted(path.stem for path in written if path.parts[:1] == ("tables",) and path.suffix == ".csv"))


def report_data(folder: Path) -> dict[str, pd.DataFrame]:
    """Data of a report by file stem, in order of name.

    Raises
    ------
    AnalysisError
        The folder holds no report, or its data cannot be read.
    """
    return {name: read_data(folder, name) for name in sorted(data_names(read_manifest(folder)))}


def data_names(manifest: Mapping[str, Any]) -> list[str]:
    """Stems of the data that a manifest lists, kept fits left out."""
    outputs = manifest.get("outputs", {})
    paths = [Path(str(path)) for path in outputs] if isinstance(outputs, dict) else []
    return [p.stem for p in paths if p.suffix == ".parquet" and len(p.parts) == 2 and p.parts[0] == "data"]


def read_data(folder: Path, name: str) -> pd.DataFrame:
    """One table of the data of a report."""
    path = folder / "data" / f"{name}.parquet"
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise AnalysisError(f"{path}: cannot be read; make the report anew from its logs") from error


def table_text(folder: Path, name: str) -> str:
    """A table as plain text for a terminal."""
    return _read(folder, name, "txt")


def table_records(folder: Path, name: str) -> list[dict[str, Any]]:
    """Rows of a table with every column of its data: numbers as numbers, an empty cell as None."""
    reader = csv.DictReader(_read(folder, name, "csv").splitlines(keepends=True))
    return [{str(key): _value(text) for key, text in row.items() if key is not None} for row in reader]


def _read(folder: Path, name: str, ending: str) -> str:
    path = folder / "tables" / f"{_table_named(folder, name)}.{ending}"
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AnalysisError(f"{path}: cannot be read; make the report anew from its logs") from error


def _table_named(folder: Path, name: str) -> str:
    """The table of that name, or the only one whose name goes on with a task: ``cells`` for ``cells_my_task``."""
    known = table_names(folder)
    if name in known:
        return name
    longer = sorted((table for table in known if table.startswith(f"{name}_")), key=len)
    if longer and (len(longer) == 1 or (_one_task(folder) and _ends_of_one_task(name, longer))):
        return longer[0]
    raise AnalysisError(f"{folder}: no table {name!r}; {_near(name, longer, known)} (without a name all are listed)")


def _ends_of_one_task(name: str, longer: list[str]) -> bool:
    """Whether what follows the name in the shortest is the end of all: the task, which ends every name of a table."""
    return all(table.endswith(longer[0].removeprefix(name)) for table in longer)


def _one_task(folder: Path) -> bool:
    path = folder / "data" / "statuses.parquet"
    return path.is_file() and read_data(folder, "statuses")["task"].nunique() == 1


def _near(name: str, longer: list[str], known: tuple[str, ...]) -> str:
    if longer:
        return f"several begin with it: {', '.join(sorted(longer))}"
    if len(known) <= _FEW:
        return f"there are {', '.join(known) or 'none'}"
    like = [table for table in known if name in table] or get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {', '.join(like[:_FEW])}?" if like else f"there are {len(known)} others"


def _value(text: str | None) -> Any:
    if not text:
        return None
    if text in ("true", "false"):
        return text == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number) or text.strip() != text or "_" in text:
        return text
    return int(text) if text.lstrip("-").isdigit() else number
