"""Damage to tables in the schema, mapped and wide ones: a message, or every row of the file accounted for."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.reduction.intake import IntakeSettings, take_in
from analysis.schema.map_rules import MapRule
from analysis.schema.study import Study, Wide

FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROWS: list[dict[str, Any]] = [
    {
        "model": "m",
        "item": str(n),
        "output": ("Yes.", 'No, "no"\nat all', "", "ä")[n % 4],
        "gold": "yes",
        "score": n / 7,
    }
    for n in range(6)
]
WIDE = Study(wide=Wide(("m*",)), map={"item": MapRule("q")})
PLAIN = Study()


def _csv(rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue().to_pybytes()


LINES = "\n".join(json.dumps(row) for row in ROWS)
WIDE_ROWS = [{"q": str(n), "m1": n % 2, "m2": 1, "note": "x,y"} for n in range(5)]
#: Name of the file, its bytes undamaged, and the study that reads it.
FILES: dict[str, tuple[str, bytes, Study]] = {
    "csv": ("x.csv", _csv(ROWS).encode(), PLAIN),
    "tsv": ("x.tsv", _csv([row | {"output": "Yes"} for row in ROWS]).replace(",", "\t").encode(), PLAIN),
    "json lines": ("x.jsonl", LINES.encode(), PLAIN),
    "json": ("x.json", json.dumps(ROWS).encode(), PLAIN),
    "gzip": ("x.jsonl.gz", gzip.compress(LINES.encode(), mtime=0), PLAIN),
    "parquet": ("x.parquet", _parquet(ROWS), PLAIN),
    "wide csv": ("x.csv", _csv(WIDE_ROWS).encode(), WIDE),
    "wide json lines": ("x.jsonl", "\n".join(map(json.dumps, WIDE_ROWS)).encode(), WIDE),
}
PIECES = st.sampled_from(
    [
        b"",
        b"\0",
        b'"',
        b",",
        b"\n",
        b"\r",
        b"{",
        b"}",
        b"[",
        b"\xff",
        b"\xef\xbb\xbf",
        b"NaN",
        b"1e999",
        b"\\u0000",
        b"\\ud800",
        b"null",
    ]
)


def damaged(whole: bytes, data: st.DataObject) -> bytes:
    """The bytes cut, with pieces put in, changed or doubled."""
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(0, len(whole) - 1)))
        upto = min(len(whole), at + data.draw(st.integers(0, 12)))
        how = data.draw(st.sampled_from(["cut", "put in", "replace", "repeat"]))
        if how == "cut":
            whole = whole[:at]
        elif how == "repeat":
            whole = whole[:upto] + whole[at:]
        else:
            whole = whole[:at] + data.draw(PIECES) + whole[at if how == "put in" else upto :]
    return whole


def rows_in(name: str, content: bytes) -> int | None:
    """Records that a text holds, counted without the importers; None where that is not plain."""
    try:
        text = content.decode("utf-8-sig")
        if name.endswith(".jsonl"):
            return sum(1 for line in text.split("\n") if line.strip())
        if name.endswith(".csv") and "\0" not in text and "\r" not in text.replace("\r\n", ""):
            return sum(1 for row in csv.reader(io.StringIO(text, newline=""), strict=True) if any(row)) - 1
    except (UnicodeDecodeError, csv.Error):
        return None
    return None


def check(folder: Path, name: str, content: bytes, study: Study) -> None:
    (folder / "logs").mkdir(exist_ok=True)
    for old in (folder / "logs").iterdir():
        old.unlink()
    (folder / "logs" / name).write_bytes(content)
    try:
        intake = take_in([folder / "logs"], study, IntakeSettings(), folder / "store")
    except AnalysisError:
        return
    (row,) = intake.files.to_dict("records")
    assert row["records"] == row["used"] + row["set_aside"]
    counted = rows_in(name, content)
    if row["verdict"] == "read" and counted is not None:
        assert row["records"] == counted


@pytest.mark.parametrize("kind", list(FILES))
def test_the_tables_are_read_before_they_are_damaged(tmp_path: Path, kind: str) -> None:
    """Catches a table refused for another reason than its damage, and a count that counts nothing."""
    name, whole, study = FILES[kind]
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / name).write_bytes(whole)
    intake = take_in([tmp_path / "logs"], study, IntakeSettings(), tmp_path / "store")
    assert intake.records == rows_in(name, whole) or rows_in(name, whole) is None
    assert intake.records == (len(WIDE_ROWS) if "wide" in kind else len(ROWS))


@pytest.mark.parametrize("kind", list(FILES))
@FUZZ
@given(data=st.data())
def test_damaged_bytes(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    """Catches a traceback, and a row that is neither used nor set aside."""
    name, whole, study = FILES[kind]
    check(tmp_path, name, damaged(whole, data), study)
