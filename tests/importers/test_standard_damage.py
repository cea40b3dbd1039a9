"""Tests of logs in the standard schema that are damaged, and of recognising those that are not."""

import gzip
import io
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import LogError
from analysis.importers import json_rows
from analysis.importers.detect import find_logs
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, ReadOptions
from analysis.importers.standard import read_batches, sniff

HEAD = "model,item,answer\n"
GOOD = '{"model":"m","item":"1","answer":"yes"}\n'


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [row for batch in read_batches(path, ReadOptions(path.parent)) for row in batch.rows.to_pylist()]


def notes_of(path: Path) -> list[str]:
    return [note for batch in read_batches(path, ReadOptions(path.parent)) for note in batch.notes]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "m,1,yes\nm,2\n", "a.csv:3: has 2 cells where the header has 3"),
        (HEAD + "m,1,yes\nm,2,no,no\n", "a.csv:3: has 4 cells where the header has 3"),
        (HEAD + 'm,1,"yes\nm,2,no\n', "a.csv:2: damaged CSV"),
        ("model,item,answer,answer\nm,1,yes,no\n", 'a.csv:1: has column "answer" twice'),
        ("model,item,answer,Answer\nm,1,yes,no\n", 'a.csv:1: has columns "answer" and "Answer"'),
        ("model,item,answer,\nm,1,yes,no\n", "a.csv:1: column 4 has no name"),
        (HEAD.encode() + b"m,1,yes\nm,2,\xff\n", "a.csv:3: not valid UTF-8"),
    ],
)
def test_damaged_csv_is_refused_with_its_line(tmp_path, text, message):
    """A lenient reader shifts the cells of a ragged row or swallows the rest of the file into one cell."""
    with pytest.raises(LogError) as refused:
        rows_of(write(tmp_path / "a.csv", text))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"model":"m","item":"2","ans', "a.jsonl:2: not valid JSON"),
        ('{"model":"m","item":"2","answer":"yes",}', "a.jsonl:2: not valid JSON"),
        ('{"model":"m","item":"2","answer":"yes","answer":"no"}', 'a.jsonl:2: has the key "answer" twice'),
        ('["m"]', "a.jsonl:2: not a JSON object"),
        ("null", "a.jsonl:2: not a JSON object"),
        ('{"model":"m","item":"2","answer":nan}', "a.jsonl:2: not valid JSON"),
        ('{"a":' * 100_000, "a.jsonl:2: "),
    ],
)
def test_damaged_json_lines_are_refused_with_their_line(tmp_path, line, message):
    """DuckDB takes a trailing comma, the first of two equal keys, `nan`, and null for an empty row."""
    with pytest.raises(LogError) as refused:
        rows_of(write(tmp_path / "a.jsonl", GOOD + line + "\n" + GOOD))
    assert message in str(refused.value)


def test_bad_utf8_in_json_lines_names_its_line(tmp_path):
    with pytest.raises(LogError, match=r"a\.jsonl:2: not valid UTF-8"):
        rows_of(write(tmp_path / "a.jsonl", GOOD.encode() + b'{"model":"\xff","item":"2","answer":"no"}\n'))


def test_half_a_surrogate_pair_is_replaced_and_said(tmp_path):
    path = write(tmp_path / "a.jsonl", GOOD + r'{"model":"m","item":"2","answer":"no","output":"cut \ud83d"}' + "\n")
    assert rows_of(path)[1]["output"] == "cut \ufffd"
    assert len(notes_of(path)) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" + GOOD.strip() + ",", "cut off|not valid JSON"),
        ("[" + GOOD.strip() + "] x", "cut off or damaged"),
        ("[" + GOOD.strip() + ",1]", "something else than objects"),
    ],
)
def test_damaged_json_arrays_are_refused(tmp_path, text, message):
    with pytest.raises(LogError, match=message):
        rows_of(write(tmp_path / "a.json", text))


def test_cut_parquet_and_gzip_are_refused(tmp_path):
    sink = io.BytesIO()
    pq.write_table(pa.table({"model": ["m"] * 50, "item": ["i"] * 50, "output": ["x"] * 50}), sink)
    whole = sink.getvalue()
    with pytest.raises(LogError, match="damaged Parquet"):
        rows_of(write(tmp_path / "a.parquet", whole[: len(whole) // 2]))
    packed = gzip.compress((HEAD + "m,i,yes\n" * 50_000).encode())
    with pytest.raises(LogError, match="damaged compressed file"):
        rows_of(write(tmp_path / "a.csv.gz", packed[: len(packed) // 2]))


def test_a_file_that_expands_beyond_bounds_is_refused(tmp_path):
    """A small gzip of zeros would otherwise fill the memory."""
    path = write(tmp_path / "a.csv.gz", gzip.compress((HEAD + "m,i,yes\n" * 50_000).encode()))
    with pytest.raises(LogError, match="expands to more than 100,000 bytes"):
        list(read_batches(path, ReadOptions(tmp_path, max_member_bytes=100_000)))


@pytest.mark.parametrize(
    ("name", "text", "claim"),
    [
        ("a.txt", HEAD, Claim.LOG),
        ("a.jsonl", GOOD, Claim.LOG),
        ("a.json", "[" + GOOD + "]", Claim.LOG),
        ("a.jsonl", '{"output":"' + "x" * 70_000 + '","model":"m","item":"1"}', Claim.LOG),
        ("a.csv", "model,item,score\n", Claim.NO),
        ("a.csv", "Model,Item,Answer\n", Claim.NO),
        ("a.jsonl", '{"x":{"model":"m","item":"1","answer":"yes"}}', Claim.NO),
        ("a.csv", "", Claim.NO),
        ("a.bin", b"\0\1\2model,item,answer", Claim.NO),
    ],
)
def test_only_a_header_with_model_item_and_an_answer_is_claimed(tmp_path, name, text, claim):
    assert sniff(probe(write(tmp_path / name, text))) is claim


@pytest.mark.parametrize("depth", [400, 1_500, 5_000, 200_000])
def test_nesting_that_can_be_parsed_and_not_written_out_is_one_message(tmp_path: Path, depth: int) -> None:
    """Catches a traceback where parsing manages a depth that writing the value as text does not."""
    deep = "[" * depth + "]" * depth
    path = write(tmp_path / "a.jsonl", GOOD + f'{{"model":"m","item":"2","answer":"no","x":{deep}}}\n')
    try:
        outcome = len(rows_of(path))
    except LogError as error:
        outcome = str(error)
    assert outcome in (2, "a.jsonl:2: JSON nested too deeply")


def test_a_small_file_does_not_start_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a twentieth of a second per file: ten thousand small files took ten minutes."""
    monkeypatch.setattr(json_rows.duckdb, "connect", None)
    assert len(rows_of(write(tmp_path / "a.jsonl", GOOD))) == 1


@pytest.mark.parametrize(
    ("name", "head"), [("a.jsonl", '{"model":"m","item":"1","output":"'), ("a.csv", HEAD + 'm,1,"')]
)
def test_a_record_longer_than_memory_allows_is_refused(tmp_path: Path, name: str, head: str) -> None:
    """Catches a record of some hundred megabytes that takes ten times as much memory."""
    path = write(tmp_path / name, head + "x" * (65 << 20))
    with pytest.raises(LogError, match=r"line of more than 67,108,864 bytes|field larger than field limit"):
        rows_of(path)


def test_a_file_name_that_is_not_utf_8_is_printed(tmp_path: Path) -> None:
    """Catches a traceback from a name that the file system allows and no text can hold."""
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.jsonl"))
    try:
        write(path, GOOD)
    except OSError:
        pytest.skip("this file system keeps names in UTF-8 only")
    assert [row["source"] for row in rows_of(path)] == ["a\\xff.jsonl:1"]


def test_a_csv_with_a_zero_byte_is_read(tmp_path: Path) -> None:
    """Catches a log that is passed over as no log for one odd character of an answer."""
    path = write(tmp_path / "a.csv", HEAD + "m,1,ye\0s\nm,2,no\n")
    assert sniff(probe(path)) is Claim.LOG
    assert [row["answer"] for row in rows_of(path)] == ["ye\0s", "no"]


def parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table({"model": ["m"] * len(next(iter(columns.values()))), **columns}), path)
    return path


def test_parquet_texts_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    """Catches a traceback far from the file, where the text is first looked at."""
    texts = pa.array([b"caf\xe9", b"yes"], pa.binary()).view(pa.string())
    with pytest.raises(LogError, match=r"a\.parquet: damaged Parquet file \(.*UTF8"):
        rows_of(parquet(tmp_path / "a.parquet", item=["1", "2"], output=texts))


def test_parquet_values_that_repeat_are_unfolded_in_parts(tmp_path: Path) -> None:
    """Catches a file of a few kilobytes that takes gigabytes: one long value, many times in its dictionary."""
    count = 2_000
    long = pa.DictionaryArray.from_arrays(pa.array([0, None] * (count // 2), pa.int32()), pa.array(["x" * 200_000]))
    path = parquet(tmp_path / "a.parquet", item=[str(i) for i in range(count)], output=long)
    batches = list(read_batches(path, ReadOptions(tmp_path)))
    assert max(batch.rows.nbytes for batch in batches) < 80 << 20
    assert [s for b in batches for s in b.rows["source"].to_pylist()] == [f"a.parquet#{i + 1}" for i in range(count)]
    assert [v is None for b in batches for v in b.rows["output"].to_pylist()] == [False, True] * (count // 2)


def test_a_parquet_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    """Catches a lost log that is listed among files that are no logs."""
    path = parquet(tmp_path / "a.parquet", item=["1"], answer=["yes"])
    path.write_bytes(path.read_bytes()[:-9])
    (found,) = find_logs([tmp_path], tmp_path)
    assert (found.claim, found.reason) == (Claim.REFUSED, "damaged Parquet file; copy it again")
