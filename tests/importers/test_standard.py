"""Tests of reading the standard schema: text stays text, numbers are numbers, damage names its line."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import AnalysisError, LogError
from analysis.importers import json_rows
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.importers.standard import read_batches, sniff
from analysis.schema.map_rules import read_rules
from analysis.schema.study import Study

HEAD = "model,item,answer\n"


def rows_of(path: Path, study: Study | None = None) -> list[dict[str, Any]]:
    """Every row of a log, missing values left out."""
    options = ReadOptions(path.parent, study=study or Study())
    rows = [row for batch in read_batches(path, options) for row in batch.rows.to_pylist()]
    return [{k: v for k, v in row.items() if v is not None} for row in rows]


def notes_of(path: Path) -> list[str]:
    return [note for batch in read_batches(path, ReadOptions(path.parent)) for note in batch.notes]


def without_source(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "source"} for row in rows]


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def mapped(**rules: Any) -> Study:
    read, problems = read_rules(rules, ())
    assert problems == []
    return Study(map=read)


# ---- text stays text (a reader that infers types turns these into missing values, booleans or numbers)

LITERALS = [
    "None",
    "NA",
    "N/A",
    "nan",
    "null",
    "001",
    "True",
    "FALSE",
    "1.0",
    "1e5",
    "-0",
    " yes ",
    "yes\nno",
    '"',
    "名",
    "#N/A",
]


def test_words_that_other_readers_take_for_missing_or_boolean_stay_text_in_csv(tmp_path):
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerows([["model", "item", "output"], *(["m", value, value] for value in LITERALS)])
    rows = rows_of(write(tmp_path / "a.csv", table.getvalue()))
    assert [row["item"] for row in rows] == LITERALS
    assert [row["output"] for row in rows] == LITERALS


@pytest.mark.parametrize(
    "literal",
    ["1.0", "1.50", "1e5", "1E5", "0.00001", "12345678901234567890123", "-0", "0.1000000000000000055", "0.30", "7"],
)
def test_json_numbers_in_text_columns_keep_their_literal(tmp_path, literal):
    """DuckDB prints 1.50 as 1.5 and 1e5 as 100000.0, and would merge items that differ."""
    line = f'{{"model": "m", "item": {literal}, "answer": "yes"}}\n'
    assert rows_of(write(tmp_path / "a.jsonl", line))[0]["item"] == literal
    assert rows_of(write(tmp_path / "a.json", f"[{line}]"))[0]["item"] == literal


def test_json_booleans_null_and_nested_values_become_text(tmp_path):
    line = '{"model": "m", "item": true, "answer": null, "output": "x", "doc": {"a": [1.50, "é", null, false]}}\n'
    row = rows_of(write(tmp_path / "a.jsonl", line))[0]
    assert row["item"] == "true"
    assert "answer" not in row
    assert row["meta.doc"] == '{"a":[1.50,"é",null,false]}'


def test_an_empty_cell_is_missing_and_an_empty_json_text_is_not(tmp_path):
    assert "answer" not in rows_of(write(tmp_path / "a.csv", HEAD + 'm,i,""\n'))[0]
    assert rows_of(write(tmp_path / "a.jsonl", '{"model":"m","item":"i","output":""}'))[0]["output"] == ""


# ---- the three formats agree

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
_ROWS = st.lists(
    st.fixed_dictionaries(
        {"model": _TEXT, "item": _TEXT},
        optional={
            "output": _TEXT,
            "probability": st.floats(0, 1),
            "tokens_in": st.integers(0, 2**40),
            "simulated": st.booleans(),
            "temperature": _TEXT,
            "meta.note": _TEXT,
        },
    ),
    min_size=1,
    max_size=6,
)
_COLUMNS = ("model", "item", "output", "probability", "tokens_in", "simulated", "temperature", "meta.note")
_TYPES = {"probability": pa.float64(), "tokens_in": pa.int64(), "simulated": pa.bool_()}


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, _COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue().encode()


def as_lines(rows: list[dict[str, Any]], *, ascii_only: bool) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows).encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    schema = pa.schema([pa.field(name, _TYPES.get(name, pa.string())) for name in _COLUMNS])
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), sink)
    return sink.getvalue()


@settings(max_examples=25, deadline=None)
@given(_ROWS)
def test_csv_json_lines_json_arrays_and_parquet_give_the_same_rows(tmp_path_factory, rows):
    """Catches any format that loses, alters, reorders or retypes a value."""
    folder = tmp_path_factory.mktemp("formats")
    files = {
        "a.csv": as_csv(rows),
        "a.jsonl": as_lines(rows, ascii_only=True),
        "b.jsonl": as_lines(rows, ascii_only=False),
        "a.json": json.dumps(rows).encode(),
        "a.parquet": as_parquet(rows),
        "a.csv.gz": gzip.compress(as_csv(rows)),
        "a.jsonl.zst": zstandard.compress(as_lines(rows, ascii_only=True)),
        "a.parquet.gz": gzip.compress(as_parquet(rows)),
    }
    for name, content in files.items():
        assert without_source(rows_of(write(folder / name, content))) == rows, name


@settings(max_examples=25, deadline=None)
@given(_ROWS, st.integers(1, 4))
def test_the_fast_and_the_exact_path_agree(tmp_path_factory, rows, size):
    """Catches a stretch of lines that DuckDB reads differently from Python and that was not recognised."""
    path = write(tmp_path_factory.mktemp("paths") / "a.jsonl", as_lines(rows, ascii_only=False))
    with path.open("rb") as stream, mock.patch.object(json_rows, "SMALL_BYTES", 0):
        usual = [row for batch in json_rows.json_line_batches(stream, "a") for row in batch.rows.to_pylist()]
    lines = path.read_bytes().split(b"\n")[:-1]
    exact = json_rows._exact(list(range(1, len(lines) + 1)), lines, "a").rows.to_pylist()
    names = {name for row in exact for name in row}
    assert [_numbers({n: row.get(n) for n in names}) for row in usual] == [_numbers(row) for row in exact]


def _numbers(row: dict[str, Any]) -> dict[str, Any]:
    # Number columns are cast afterwards, so their literals may differ (0.00001, 1e-05).
    return {
        name: float(value) if name in _TYPES and value not in (None, "true", "false") else value
        for name, value in row.items()
    }


def test_keys_that_appear_late_are_read(tmp_path, monkeypatch):
    """A reader that samples the first lines drops columns that begin later."""
    monkeypatch.setattr(json_rows, "CHUNK_BYTES", 64)
    lines = [{"model": "m", "item": str(i), "output": "x", **({"gold": "yes"} if i == 199 else {})} for i in range(200)]
    rows = rows_of(write(tmp_path / "a.jsonl", as_lines(lines, ascii_only=True)))
    assert len(rows) == 200
    assert rows[199]["gold"] == "yes"
    assert [row["source"] for row in rows] == [f"a.jsonl:{i}" for i in range(1, 201)]


def test_lines_end_at_newline_only(tmp_path):
    """str.splitlines() also cuts at U+2028 and U+0085, which stand unescaped inside strings."""
    text = '{"model":"m","item":"a\u2028b\u0085c","output":"x"}\r\n\r\n   \n{"model":"m","item":"2","output":"y"}'
    rows = rows_of(write(tmp_path / "a.jsonl", text))
    assert [row["item"] for row in rows] == ["a\u2028b\u0085c", "2"]
    assert [row["source"] for row in rows] == ["a.jsonl:1", "a.jsonl:4"]


def test_source_is_the_line_on_which_a_record_begins(tmp_path):
    """Counting records instead of lines points to the wrong place after a quoted newline or a blank line."""
    rows = rows_of(write(tmp_path / "a.csv", HEAD + 'm,i1,"yes\nor\nno"\r\n\r\nm,i2,no\n'))
    assert [row["source"] for row in rows] == ["a.csv:2", "a.csv:6"]
    assert rows[0]["answer"] == "yes\nor\nno"


def test_a_source_that_the_log_states_is_kept(tmp_path):
    """Importing an imported file must not hide where a row first came from."""
    rows = rows_of(write(tmp_path / "a.csv", "model,item,answer,source\nm,i,yes,orig.eval:3\nm,j,no,\n"))
    assert [row["source"] for row in rows] == ["orig.eval:3", "a.csv:3"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom"])
@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", HEAD + "m,é😀,yes\n"), ("a.jsonl", '{"model":"m","item":"é😀","answer":"yes"}\n')]
)
def test_byte_order_marks_and_utf16_are_read(tmp_path, encoding, name, text):
    raw = b"\xff\xfe" + text.encode("utf-16-le") if encoding == "utf-16-le-bom" else text.encode(encoding)
    rows = rows_of(write(tmp_path / name, raw))
    assert without_source(rows) == [{"model": "m", "item": "é😀", "answer": "yes"}]
    assert sniff(probe(tmp_path / name)) is Claim.LOG


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_tabs_and_semicolons_delimit_too(tmp_path, delimiter):
    text = (HEAD + "m,i,yes\n").replace(",", delimiter)
    assert without_source(rows_of(write(tmp_path / "a.tsv", text))) == [{"model": "m", "item": "i", "answer": "yes"}]


def test_long_cells_are_read(tmp_path):
    """The csv module refuses cells over 131,072 characters unless told otherwise."""
    before = csv.field_size_limit()
    rows = rows_of(write(tmp_path / "a.csv", HEAD.replace("answer", "output") + "m,i," + "x" * 200_000 + "\n"))
    assert len(rows[0]["output"]) == 200_000
    assert csv.field_size_limit() == before


# ---- columns


def test_other_columns_are_kept_as_meta_and_prefixed_or_declared_ones_keep_their_names(tmp_path):
    path = write(tmp_path / "a.csv", "model,item,answer,colour,surface,factor.depth,score.f1\nm,i,yes,red,s1,2,.5\n")
    row = rows_of(path, Study(unit="surface"))[0]
    assert {k: row[k] for k in row if k not in ("model", "item", "answer", "source")} == {
        "meta.colour": "red",
        "surface": "s1",
        "factor.depth": "2",
        "score.f1": ".5",
    }


def test_scores_that_are_numbers_get_a_value_and_words_get_none(tmp_path):
    rows = rows_of(write(tmp_path / "a.csv", "model,item,logged_score\nm,1,0.5\nm,2,C\nm,3,1\nm,4,\nm,5,1_0\n"))
    assert [(row.get("logged_score"), row.get("score_value")) for row in rows] == [
        ("0.5", 0.5), ("C", None), ("1", 1.0), (None, None), ("1_0", None),
    ]  # fmt: skip


@pytest.mark.parametrize("bare", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinity_are_no_scores_and_are_reported_with_their_line(tmp_path, bare):
    """Accepting NaN as a score poisons every mean; dropping it silently hides it."""
    lines = f'{{"model":"m","item":"1","logged_score":1}}\n{{"model":"m","item":"2","logged_score":{bare}}}\n'
    path = write(tmp_path / "a.jsonl", lines * 2)
    rows = rows_of(path)
    assert [row.get("score_value") for row in rows] == [1.0, None, 1.0, None]
    assert rows[1]["logged_score"] == bare
    assert notes_of(path) == [f"invalid score {bare} (no number is kept), first at a.jsonl:2"] * 2


def test_nan_in_a_number_column_is_missing_and_reported(tmp_path):
    path = write(tmp_path / "a.csv", "model,item,probability\nm,1,nan\nm,2,.25\n")
    assert [row.get("probability") for row in rows_of(path)] == [None, 0.25]
    assert notes_of(path) == ["invalid probability NaN (no number is kept), first at a.csv:2"]


@pytest.mark.parametrize(
    ("column", "value", "wanted"),
    [
        ("probability", "about 70%", "a number"),
        ("latency", "fast", "a number"),
        ("tokens_in", "1.5", "a whole number"),
        ("simulated", "perhaps", "true or false"),
        ("truth", "1_000", "a number"),
    ],
)
def test_text_where_a_number_belongs_is_refused_with_its_line(tmp_path, column, value, wanted):
    path = write(tmp_path / "a.csv", f"model,item,answer,{column}\nm,1,yes,\nm,2,yes,{value}\n")
    with pytest.raises(LogError, match=f"a.csv:3: {column} must be {wanted}, found .*{value}"):
        rows_of(path)


def test_records_without_model_or_item_are_counted_over_the_whole_file(tmp_path):
    lines = "".join("m,,yes\n" if i in (3, 9) else f"m,{i},yes\n" for i in range(12))
    with pytest.raises(LogError, match=r'2 of 12 records lack "item" \(5, 11\)'):
        rows_of(write(tmp_path / "a.csv", HEAD + lines))


# ---- [map]


def test_map_reads_dotted_paths_constants_and_translations(tmp_path):
    study = mapped(
        item="doc.id",
        task={"value": "t1"},
        answer={"from": "pred", "values": {"correct": "yes", "incorrect": "no"}},
        polarity={"from": "doc.id", "regex": "-(aff|neg)", "values": {"aff": "affirmative", "neg": "negated"}},
    )
    lines = (
        '{"model":"m","doc":{"id":"7-aff"},"pred":"correct"}\n{"model":"m","doc":{"id":"8-neg"},"pred":"incorrect"}\n'
    )
    rows = rows_of(write(tmp_path / "a.jsonl", lines), study)
    assert [(r["item"], r["task"], r["answer"], r["polarity"]) for r in rows] == [
        ("7-aff", "t1", "yes", "affirmative"),
        ("8-neg", "t1", "no", "negated"),
    ]
    assert rows[0]["meta.pred"] == "correct"


def test_map_refuses_a_source_that_no_record_has_and_a_value_it_does_not_translate(tmp_path):
    path = write(tmp_path / "a.csv", "model,item,pred\nm,1,good\n")
    with pytest.raises(LogError, match='no record has "prod"'):
        rows_of(path, mapped(answer="prod"))
    with pytest.raises(AnalysisError, match=r"a\.csv: study\.toml, \[map\] answer: .*good"):
        rows_of(path, mapped(answer={"from": "pred", "values": {"ok": "yes"}}))


def test_map_takes_a_source_that_only_later_lines_have(tmp_path, monkeypatch):
    """Judging by one stretch of lines would refuse the file, or lose the column."""
    monkeypatch.setattr(json_rows, "CHUNK_BYTES", 64)
    lines = [{"model": "m", "item": str(i), **({"reply": "yes"} if i > 20 else {})} for i in range(30)]
    rows = rows_of(write(tmp_path / "a.jsonl", as_lines(lines, ascii_only=True)), mapped(answer="reply"))
    assert [row.get("answer") for row in rows] == [None] * 21 + ["yes"] * 9
