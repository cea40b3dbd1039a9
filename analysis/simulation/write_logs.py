"""Simulated logs on disk: one file per model, the truth, and the settings of the study."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa

from analysis import __version__
from analysis.errors import AnalysisError

FORMATS: Final = {"jsonl": "FORMAT json", "csv": "FORMAT csv, HEADER", "parquet": "FORMAT parquet, COMPRESSION zstd"}


@dataclass(frozen=True, slots=True)
class SimulatedLogs:
    """Rows of each model in the standard schema, the truth about it, and the settings behind both.

    ``study_toml`` is how the logs are to be analysed.
    """

    study: str
    tables: tuple[tuple[str, pa.Table], ...]
    truth: dict[str, Any]
    settings: dict[str, Any]
    study_toml: str

    @property
    def rows(self) -> int:
        """Number of rows over all models."""
        return sum(table.num_rows for _, table in self.tables)


def write_logs(logs: SimulatedLogs, out: Path, *, fmt: str, seed: int) -> tuple[Path, ...]:
    """Write one log per model, ``truth.json`` and ``study.toml`` to a new or empty directory.

    Every row carries ``simulated = true``.

    Raises
    ------
    AnalysisError
        ``out`` holds something already, or ``fmt`` is none of ``FORMATS``.
    """
    if fmt not in FORMATS:
        raise AnalysisError(f"format must be one of {', '.join(FORMATS)}, not {fmt!r}")
    check_new(out)
    out.mkdir(parents=True, exist_ok=True)
    paths = [_write_table(table, out / f"{slug}.{fmt}", fmt) for slug, table in _by_slug(logs)]
    write_truth(out, logs.study, logs.truth, logs.settings, seed=seed)
    (out / "study.toml").write_text(logs.study_toml, encoding="utf-8")
    return tuple(paths)


def write_truth(out: Path, study: str, truth: dict[str, Any], settings: dict[str, Any], *, seed: int) -> None:
    """Write ``truth.json``: what is true of each model, and how the logs were generated."""
    content = {
        "simulated": True,
        "generator": f"evenhand {__version__} simulate",
        "study": study,
        "seed": seed,
        "settings": settings,
        "models": truth,
    }
    (out / "truth.json").write_text(json.dumps(_rounded(content), indent=1) + "\n", encoding="utf-8")


def check_new(out: Path) -> None:
    """Raise unless ``out`` does not exist or is an empty directory."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise AnalysisError(f"{out} exists and is not an empty directory; name a new one, or empty it first")


def _by_slug(logs: SimulatedLogs) -> list[tuple[str, pa.Table]]:
    slugs = [re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.") or "model" for model, _ in logs.tables]
    if len(set(slugs)) < len(slugs):
        slugs = [f"{k:03d}-{slug}" for k, slug in enumerate(slugs)]
    return [(slug, table) for slug, (_, table) in zip(slugs, logs.tables, strict=True)]


def _write_table(table: pa.Table, path: Path, fmt: str) -> Path:
    flagged = table.append_column("simulated", pa.array(np.ones(table.num_rows, dtype=bool)))
    with duckdb.connect() as con:
        con.register("simulated_rows", flagged)
        con.execute(f"COPY (SELECT * FROM simulated_rows) TO ? ({FORMATS[fmt]})", [str(path)])
    return path


def _rounded(value: Any) -> Any:
    """Numbers to 12 digits, so that the last bits of a platform's arithmetic change no file."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.12g}")
    return value
