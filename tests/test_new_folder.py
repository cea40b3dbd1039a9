"""Folders of results: whole or not there, and never among the logs that they are made from."""

import errno
import os

import pytest

from analysis.cli import schema
from analysis.cli.main import main
from analysis.errors import AnalysisError
from analysis.new_folder import check_outside, new_folder
from analysis.simulation import vote_files, write_logs


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), ValueError()])
def test_what_ends_early_leaves_nothing(tmp_path, error):
    """Catches half a folder after Ctrl-C, on a full disk or after an error, and a hidden one beside it."""

    def begun(folder):
        (folder / "first").write_text("x")
        raise error

    with pytest.raises((KeyboardInterrupt, AnalysisError, ValueError)), new_folder(tmp_path / "deep" / "out") as fresh:
        begun(fresh)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == []


def test_places_that_hold_something_or_cannot_be_are_refused(tmp_path):
    """Catches files that are overwritten, and a message of the system in place of one that names the culprit."""
    (tmp_path / "file").write_text("x")
    for out, said in ((tmp_path, "holds files"), (tmp_path / "file", "is a file"), (tmp_path / "file" / "x", "no dir")):
        with pytest.raises(AnalysisError, match=said), new_folder(out):
            pytest.fail("the block was entered")
    (tmp_path / "empty").mkdir()
    with new_folder(tmp_path / "empty") as fresh:
        (fresh / "a").write_text("x")
    assert (tmp_path / "empty" / "a").is_file()


@pytest.mark.parametrize("study", ["yes-no", "syllogisms"])
def test_simulated_logs_are_whole_or_not_there(tmp_path, monkeypatch, capsys, study):
    """Catches logs without their truth on a disk that is full at the end."""

    def full(*args, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(write_logs, "write_truth", full)
    monkeypatch.setattr(vote_files, "write_truth", full)
    size = ["--items", "4"] if study == "yes-no" else ["--base-items", "4"]
    assert main(["simulate", str(tmp_path / "out"), "--study", study, "--models", "2", *size]) == 2
    assert f"out: cannot be written ({os.strerror(errno.ENOSPC)})" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_the_engine_cannot_write_gets_one_message(tmp_path, monkeypatch, capsys):
    """Catches a traceback of the database that writes simulated logs."""
    monkeypatch.setattr(write_logs, "_by_slug", lambda logs: [("no/such/folder", logs.tables[0][1])])
    assert main(["simulate", str(tmp_path / "out"), "--study", "yes-no", "--items", "4", "--format", "jsonl"]) == 2
    assert "out: cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_results_are_not_written_among_the_logs(tmp_path, capsys):
    """Catches an export that the next report reads as a log, and a store that repeats every response."""
    assert main(["simulate", str(tmp_path / "logs"), "--study", "yes-no", "--items", "4", "--models", "2"]) == 0
    logs = str(tmp_path / "logs")
    for command in (["export", logs, "-o", f"{logs}/out"], ["import", logs, "-o", f"{logs}/all.parquet"]):
        assert main(command) == 2
        assert "lies inside of the logs" in capsys.readouterr().err
    check_outside(tmp_path / "out", [tmp_path / "logs"])


def test_a_full_disk_is_said_to_be_one(monkeypatch, capsys):
    """Catches the words of a library in place of what happened."""

    def full(args):
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28]")

    monkeypatch.setattr(schema, "run", full)
    assert main(["schema"]) == 2
    assert capsys.readouterr().err == "evenhand: no space left on the disk; nothing was written\n"
