"""Tables written as CSV and Parquet into a folder of their own, whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from analysis.new_folder import new_folder
from analysis.report.write import frame_csv, write_parquet


def write_export(tables: Mapping[str, pd.DataFrame], files: Mapping[str, str | bytes], out: Path) -> Path:
    """Write tables by stem, as CSV and as Parquet, and other files by name; return the folder.

    Raises
    ------
    AnalysisError
        The folder holds something, or cannot be written.
    """
    with new_folder(out) as fresh:
        for stem, table in tables.items():
            (fresh / f"{stem}.csv").write_bytes(frame_csv(table).encode("utf-8"))
            write_parquet(table, fresh / f"{stem}.parquet")
        for name, held in files.items():
            (fresh / name).write_bytes(held if isinstance(held, bytes) else held.encode("utf-8"))
    return out
