"""What became of every record of every file: counted while reading, checked before anything is used."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from analysis.errors import AnalysisError
from analysis.importers.protocol import Batch, Record

#: What may become of a file.
VERDICTS = ("read", "companion", "not a log", "refused", "unreadable")


@dataclass(slots=True)
class FileAccount:
    """Count of one file.

    ``records`` are those in the file, ``used`` the ones that gave responses, ``set_aside`` the others by
    reason; ``rows`` are all responses, among them ``planned_absent`` that were planned and are not in
    the file.
    """

    file: str
    format: str = ""
    verdict: str = "read"
    reason: str = ""
    sha256: str = ""
    bytes: int = 0
    records: int = 0
    used: int = 0
    rows: int = 0
    planned_absent: int = 0
    set_aside: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    harness: set[str] = field(default_factory=set)

    def add_record(self, record: Record) -> None:
        """Count one record of a log."""
        self.notes.update(record.notes)
        self.rows += len(record.responses)
        self.harness.update(r.harness for r in record.responses if r.harness)
        if not record.in_file:
            self.planned_absent += len(record.responses)
            return
        self.records += 1
        if record.set_aside is not None:
            self.set_aside[record.set_aside] += 1
        if record.responses:
            self.used += 1

    def add_batch(self, batch: Batch) -> None:
        """Count the records of a columnar stretch: one per row, and those set aside."""
        self.notes.update(batch.notes)
        self.set_aside.update(batch.set_aside)
        self.rows += batch.rows.num_rows
        self.used += batch.rows.num_rows
        self.records += batch.rows.num_rows + sum(batch.set_aside.values())
        if "harness" in batch.rows.schema.names:
            self.harness.update(v for v in batch.rows.column("harness").unique().to_pylist() if v)

    def refuse(self, verdict: str, reason: str) -> None:
        """Forget what was counted: nothing of a refused file is used."""
        self.verdict, self.reason = verdict, reason
        self.records = self.used = self.rows = self.planned_absent = 0
        self.set_aside.clear()
        self.notes.clear()

    def check(self, written: int) -> None:
        """Raise unless every record was used or set aside, and every response written.

        Parameters
        ----------
        written : int
            Rows of this file that went into the store.
        """
        aside = sum(self.set_aside.values())
        if self.records != self.used + aside:
            raise AnalysisError(
                f"{self.file}: {self.records:,} records, but {self.used:,} used and {aside:,} set aside; "
                "the importer loses or doubles records, please report this",
                offenders=(self.file,),
            )
        if self.rows != written:
            raise AnalysisError(
                f"{self.file}: {self.rows:,} responses read, but {written:,} written; please report this",
                offenders=(self.file,),
            )


def files_table(accounts: list[FileAccount]) -> pd.DataFrame:
    """One row per file, in order of name."""
    rows = [
        {
            "file": a.file,
            "format": a.format,
            "harness": "; ".join(sorted(a.harness)),
            "verdict": a.verdict,
            "records": a.records,
            "used": a.used,
            "set_aside": sum(a.set_aside.values()),
            "rows": a.rows,
            "planned_absent": a.planned_absent,
            "reason": a.reason,
            "sha256": a.sha256,
            "bytes": a.bytes,
        }
        for a in accounts
    ]
    columns = ["file", "format", "harness", "verdict", "records", "used", "set_aside", "rows", "planned_absent"]
    return pd.DataFrame(rows, columns=[*columns, "reason", "sha256", "bytes"])


def set_aside_table(accounts: list[FileAccount]) -> pd.DataFrame:
    """Records set aside: file, reason, records."""
    rows = [(a.file, reason, count) for a in accounts for reason, count in sorted(a.set_aside.items())]
    return pd.DataFrame(rows, columns=["file", "reason", "records"])


def notes_table(accounts: list[FileAccount]) -> pd.DataFrame:
    """What the importers had to say: file, note, count."""
    rows = [(a.file, note, count) for a in accounts for note, count in sorted(a.notes.items())]
    return pd.DataFrame(rows, columns=["file", "note", "count"])


def reconciliation_lines(files: pd.DataFrame, set_aside: pd.DataFrame, notes: pd.DataFrame) -> list[str]:
    """The account as text: a sum that adds up for every log, the rest with its reason, then totals."""
    lines: list[str] = []
    for row in files.to_dict("records"):
        lines.append(_file_line(row))
        aside, said = set_aside[set_aside["file"] == row["file"]], notes[notes["file"] == row["file"]]
        lines += [f"    set aside {n:,}: {why}" for why, n in zip(aside["reason"], aside["records"], strict=True)]
        lines += [f"    note ({n:,}): {note}" for note, n in zip(said["note"], said["count"], strict=True)]
    read = files[files["verdict"] == "read"]
    lines.append(f"total, {len(read):,} of {len(files):,} files read: {_sum(read.sum(numeric_only=True).to_dict())}")
    return lines


def _file_line(row: dict[Hashable, Any]) -> str:
    if row["verdict"] == "read":
        return f"{row['file']} ({row['format']}): {_sum(row)}"
    return f"{row['file']}: {row['verdict']}" + (f": {row['reason']}" if row["reason"] else "")


def _sum(row: Mapping[Any, Any]) -> str:
    text = (
        f"{row['records']:,} records = {row['used']:,} used + {row['set_aside']:,} set aside; {row['rows']:,} responses"
    )
    return text + (f", {row['planned_absent']:,} of them planned and absent" if row["planned_absent"] else "")
