"""Tables written as CSV and Parquet into a folder of their own, whole or not at all."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from analysis.errors import AnalysisError
from analysis.report.write import frame_csv, write_parquet


def check_new_folder(out: Path) -> None:
    """Refuse a place that holds something, before any work is done."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise AnalysisError(f"{out}: {'holds files' if out.is_dir() else 'is a file'}; name a new or empty folder")


def write_export(tables: Mapping[str, pd.DataFrame], files: Mapping[str, str | bytes], out: Path) -> Path:
    """Write tables by stem, as CSV and as Parquet, and other files by name; return the folder.

    Raises
    ------
    AnalysisError
        The folder holds something, or cannot be written.
    """
    check_new_folder(out)
    target = out.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as aside:
            fresh = Path(aside) / "export"
            fresh.mkdir()
            for stem, table in tables.items():
                (fresh / f"{stem}.csv").write_bytes(frame_csv(table).encode("utf-8"))
                write_parquet(table, fresh / f"{stem}.parquet")
            for name, held in files.items():
                (fresh / name).write_bytes(held if isinstance(held, bytes) else held.encode("utf-8"))
            if target.is_dir():
                target.rmdir()
            fresh.rename(target)
    except OSError as error:
        raise AnalysisError(f"{out}: cannot be written ({error.strerror or error})") from error
    return out
