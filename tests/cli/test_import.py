"""Tests of ``evenhand import`` as a user calls it."""

import argparse
from pathlib import Path

import duckdb
import pytest

from analysis.cli import import_logs
from analysis.errors import AnalysisError

LOG = "model,item,output,gold\nm,q1,Yes.,yes\nm,q2,No.,yes\nn,q1,hm,yes\n"


def call(*arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    import_logs.add_parser(parser.add_subparsers())
    args = parser.parse_args(["import", *map(str, arguments)])
    return int(args.run(args))


@pytest.fixture
def logs(tmp_path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.csv").write_text(LOG)
    return folder


def test_import_writes_the_standard_schema_and_an_account(logs, tmp_path, capsys):
    assert call(logs, "-o", tmp_path / "out.parquet") == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.csv (standard schema): 3 records = 3 used + 0 set aside; 3 responses",
        "total, 1 of 1 files read: 3 records = 3 used + 0 set aside; 3 responses",
        f"written: {tmp_path / 'out.parquet'}",
    ]
    rows = duckdb.sql(
        f"SELECT item, answer FROM '{tmp_path / 'out.parquet'}' WHERE model = 'm' ORDER BY item"
    ).fetchall()
    assert rows == [("q1", "yes"), ("q2", "no")]


def test_the_study_beside_the_logs_is_used(logs, tmp_path):
    """A [map] that is ignored makes a readable log a stranger."""
    (logs / "a.csv").write_text(LOG.replace("item", "question"))
    (logs / "study.toml").write_text('[map]\nitem = "question"\n')
    assert call(logs, "-o", tmp_path / "out.parquet") == 0


def test_explain_shows_how_every_response_to_an_item_was_read(logs, tmp_path, capsys):
    assert call(logs, "-o", tmp_path / "out.parquet", "--explain", "q1") == 0
    out = capsys.readouterr().out
    assert out.count("status: ") == 2
    assert "source: a.csv:2" in out
    assert "status: unparsed" in out
    with pytest.raises(AnalysisError, match="no response to an item 'q9'; items are, for example, q1, q2"):
        call(logs, "-o", tmp_path / "out.parquet", "--explain", "q9")


def test_keep_going_is_needed_for_damaged_files(logs, tmp_path, capsys):
    (logs / "b.csv").write_text(LOG + "cut\n")
    with pytest.raises(AnalysisError, match="--keep-going"):
        call(logs, "-o", tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
    assert call(logs, "-o", tmp_path / "out.parquet", "--keep-going") == 0
    assert "b.csv: refused: line 5: has 1 cell where the header has 4" in capsys.readouterr().out


def test_names_from_logs_cannot_steer_the_terminal(logs, tmp_path, capsys):
    (logs / "a.csv").rename(logs / "\x1b[31mred.csv")
    call(logs, "-o", tmp_path / "out.parquet", "--explain", "q1")
    assert "\x1b" not in capsys.readouterr().out


def test_an_output_of_another_kind_is_refused(logs, tmp_path):
    with pytest.raises(AnalysisError, match=r"let its name end in \.parquet"):
        call(logs, "-o", tmp_path / "out.csv")


def test_responses_that_will_stop_a_report_are_named(logs, tmp_path, capsys):
    """Catches an import without a word whose store no report accepts."""
    (logs / "b.csv").write_text(LOG.replace("hm", "No."))
    assert call(logs, "-o", tmp_path / "out.parquet") == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert "a.csv:2 and b.csv:2" in line
    assert "--runs latest" in line


def test_directories_are_not_made_by_import(logs, tmp_path):
    """Catches a misspelt output path that quietly becomes a directory."""
    with pytest.raises(AnalysisError, match="no such directory; make it first"):
        call(logs, "-o", tmp_path / "nope" / "out.parquet")
    assert not (tmp_path / "nope").exists()
