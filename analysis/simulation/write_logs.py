"""Simulated logs on disk: one file per model, the truth, and the settings of the study."""

import errno
import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import pyarrow as pa

from analysis import __version__
from analysis.errors import AnalysisError
from analysis.new_folder import new_folder

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
        ``out`` holds something already or cannot be written, or ``fmt`` is none of ``FORMATS``.
    """
    if fmt not in FORMATS:
        raise AnalysisError(f"format must be one of {', '.join(FORMATS)}, not {fmt!r}")
    with new_folder(out) as fresh:
        names = [_written(table, fresh / f"{slug}.{fmt}", fmt) for slug, table in _by_slug(logs)]
        write_truth(fresh, logs.study, logs.truth, logs.settings, seed=seed)
        (fresh / "study.toml").write_text(logs.study_toml, encoding="utf-8")
    return tuple(out / name for name in names)


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


def _by_slug(logs: SimulatedLogs) -> list[tuple[str, pa.Table]]:
    slugs = [re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.") or "model" for model, _ in logs.tables]
    if len(set(slugs)) < len(slugs):
        slugs = [f"{k:03d}-{slug}" for k, slug in enumerate(slugs)]
    return [(slug, table) for slug, (_, table) in zip(slugs, logs.tables, strict=True)]


def _written(table: pa.Table, path: Path, fmt: str) -> str:
    """Name of the file that was written."""
    flagged = table.append_column("simulated", pa.array(np.ones(table.num_rows, dtype=bool)))
    with duckdb.connect() as con:
        con.register("simulated_rows", flagged)
        try:
            con.execute(f"COPY (SELECT * FROM simulated_rows) TO ? ({FORMATS[fmt]})", [str(path)])
        except duckdb.IOException as error:
            full = os.strerror(errno.ENOSPC)
            raise OSError(errno.EIO, full if full in str(error) else str(error).splitlines()[0]) from error
    return path.name


def _rounded(value: Any) -> Any:
    """Numbers to 12 digits, so that the last bits of a platform's arithmetic change no file."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.12g}")
    return value
