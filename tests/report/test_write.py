"""The folder of a report: layout, replacement, interruption, identical bytes."""

import csv
import dataclasses
import hashlib
import json
import os
import stat

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from example_reports import HOSTILE, example_report

from analysis.errors import AnalysisError
from analysis.report import write
from analysis.report.content import check_names, file_stem
from analysis.report.write import check_target, frame_csv, write_report

MODELS = ["a/one", "b/two", "c/three"]
FILES = {
    "index.html",
    "manifest.json",
    "numbers.tex",
    "references.bib",
    "report.tex",
    "data/estimates.parquet",
    *(f"tables/floors.{e}" for e in ("tex", "html", "md", "csv", "txt", "typ")),
    *(f"figures/{n}.{e}" for n in ("floor_bias", "class_accuracy") for e in ("pdf", "svg", "png", "csv")),
}


def plain_report(models=MODELS):
    """The example without figures, which take most of the time."""
    content = example_report(models)
    return dataclasses.replace(content, sections=(dataclasses.replace(content.sections[0], figures=()),))


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_layout_and_manifest_of_what_was_written(tmp_path):
    """A file is missing or extra, or the manifest's hash is of other bytes."""
    out = write_report(example_report(MODELS), tmp_path / "deep" / "report")
    assert out == tmp_path / "deep" / "report"
    found = contents(out)
    assert set(found) == FILES
    manifest = json.loads(found.pop("manifest.json"))
    assert manifest["outputs"] == {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in found.items()
    }
    assert manifest["simulated"] is True
    assert [p.name for p in out.parent.iterdir()] == ["report"]


def test_a_second_run_gives_the_same_bytes_but_for_timings(tmp_path):
    """A date, a hash seed or a timing reaches a table, a figure, the data or the page."""
    first = example_report(MODELS)
    second = dataclasses.replace(example_report(MODELS), manifest={**first.manifest, "timings": {"read": 77.0}})
    one = contents(write_report(first, tmp_path / "one"))
    two = contents(write_report(second, tmp_path / "two"))
    assert {name for name in one if one[name] != two[name]} == {"manifest.json"}
    manifests = [json.loads(c["manifest.json"]) for c in (one, two)]
    for manifest in manifests:
        del manifest["timings"]
    assert manifests[0] == manifests[1]


def test_our_report_is_replaced_whole(tmp_path):
    """Files of the earlier report stay behind."""
    out = write_report(plain_report(MODELS), tmp_path / "report")
    (out / "tables" / "old.csv").write_text("of a table that the next report does not have")
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["outputs"]["tables/old.csv"] = {}
    (out / "manifest.json").write_text(json.dumps(manifest))
    write_report(plain_report(MODELS[:2]), out)
    assert set(contents(out)) == {name for name in FILES if not name.startswith("figures/")}
    assert [p.name for p in tmp_path.iterdir()] == ["report"]


def test_a_report_that_holds_other_peoples_files_is_not_replaced(tmp_path):
    """Notes put beside the tables are deleted with the old report."""
    out = write_report(plain_report(MODELS), tmp_path / "report")
    (out / "notes.txt").write_text("mine")
    with pytest.raises(AnalysisError, match=r"notes\.txt"):
        write_report(plain_report(MODELS[:2]), out)
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("manifest", [None, "{}", "[]", "not json", '{"format": "another tool"}'])
def test_a_folder_of_something_else_is_never_replaced(tmp_path, manifest):
    """A user's folder is deleted because it has the name of the report."""
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter.txt").write_text("years of work")
    if manifest is not None:
        (out / "manifest.json").write_text(manifest)
    before = contents(out)
    with pytest.raises(AnalysisError, match="name another folder"):
        write_report(plain_report(MODELS), out)
    assert contents(out) == before
    assert [p.name for p in tmp_path.iterdir()] == ["thesis"]


def test_a_file_in_the_place_of_the_report_is_kept(tmp_path):
    """A file is overwritten, or the error is a traceback."""
    (tmp_path / "report").write_text("mine")
    with pytest.raises(AnalysisError, match="is a file"):
        check_target(tmp_path / "report")
    with pytest.raises(AnalysisError, match="report is no directory"):
        write_report(plain_report(MODELS), tmp_path / "report" / "inside")
    assert (tmp_path / "report").read_text() == "mine"


def test_an_empty_folder_is_used_with_usual_rights(tmp_path):
    """A folder made beforehand is refused, or the report can be read by its owner alone."""
    (tmp_path / "report").mkdir()
    out = write_report(plain_report(MODELS), tmp_path / "report")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(out.stat().st_mode) == 0o777 & ~mask


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, AnalysisError("a table fails")])
def test_an_interruption_leaves_no_half_report(tmp_path, monkeypatch, interruption):
    """Half a report, or a hidden folder with half a report, stays on disk."""

    def interrupted(*_):
        raise interruption

    monkeypatch.setattr(write, "render_page", interrupted)
    with pytest.raises((KeyboardInterrupt, AnalysisError)):
        write_report(plain_report(MODELS), tmp_path / "report")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("interrupted_move", [0, 1])
def test_an_interruption_while_moving_keeps_the_earlier_report(tmp_path, monkeypatch, interrupted_move):
    """The earlier report is moved away and the new one never arrives."""
    out = write_report(plain_report(MODELS), tmp_path / "report")
    before = contents(out)
    moves = []
    rename = type(out).rename

    def interrupted(self, target):
        moves.append(self)
        if len(moves) == interrupted_move + 1:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(type(out), "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(plain_report(MODELS[:2]), out)
    monkeypatch.undo()
    assert contents(out) == before
    assert [p.name for p in tmp_path.iterdir()] == ["report"]


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    """The link is replaced by a folder and its target left with an old report."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "report").symlink_to(tmp_path / "disk", target_is_directory=True)
    write_report(plain_report(MODELS), tmp_path / "report")
    assert (tmp_path / "report").is_symlink()
    assert (tmp_path / "disk" / "index.html").is_file()


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "Upper", "a b", "x" * 99, "nul\0"])
def test_unsafe_names_are_refused_before_anything_is_written(tmp_path, name):
    """A name from a log becomes a path."""
    content = dataclasses.replace(plain_report(MODELS), data={name: pd.DataFrame({"a": [1]})})
    with pytest.raises(AnalysisError, match="safe file name"):
        write_report(content, tmp_path / "report")
    assert list(tmp_path.iterdir()) == []


def test_two_figures_of_one_name_are_refused():
    """The second figure overwrites the first."""
    content = example_report(MODELS)
    twice = dataclasses.replace(content, sections=(content.sections[0], *content.sections))
    with pytest.raises(AnalysisError, match="names two"):
        check_names(twice)


@pytest.mark.parametrize("text", [*HOSTILE, "../../etc/passwd", "CON", "a" * 300, "", "\u4e2d"])
def test_a_stem_of_any_text_is_safe(text):
    """A task's name leads out of the folder, or is too long for a file system."""
    content = dataclasses.replace(plain_report(MODELS[:1]), data={file_stem(text): pd.DataFrame({"a": [1]})})
    check_names(content)
    assert file_stem("cells", "My Task/2") == "cells_my_task_2"


def test_data_come_back_as_they_were(tmp_path):
    """Parquet rounds, loses missing values, or carries metadata that differs between machines."""
    frame = pd.DataFrame(
        {"model": ["=a", None], "estimate": [0.1 + 0.2, np.nan], "n": [1, 2], "simulated": [True, False]}
    )
    content = dataclasses.replace(plain_report(), data={"mine": frame})
    path = write_report(content, tmp_path / "report") / "data" / "mine.parquet"
    table = pq.read_table(path)
    assert table["estimate"].to_pylist()[0] == 0.1 + 0.2
    assert table["model"].to_pylist() == ["=a", None]
    assert table.schema.metadata is None


def test_csv_holds_full_numbers_and_no_formula(tmp_path):
    """A name is run by a spreadsheet, a negative number is quoted as text, digits are lost."""
    frame = pd.DataFrame(
        {"model": ["=cmd()", "+1", "@x", "-y", "plain"], "estimate": [-0.1, 0.1 + 0.2, 1e-9, 1, np.nan]}
    )
    before = frame.copy()
    rows = list(csv.DictReader(frame_csv(frame).splitlines()))
    assert [row["model"] for row in rows] == ["'=cmd()", "'+1", "'@x", "'-y", "plain"]
    assert [row["estimate"] for row in rows] == ["-0.1", "0.30000000000000004", "1e-09", "1.0", ""]
    pd.testing.assert_frame_equal(frame, before)


def test_figure_data_say_that_they_are_simulated(tmp_path):
    """The CSV of a figure travels alone and no longer says that its numbers are made up."""
    out = write_report(example_report(MODELS), tmp_path / "report")
    rows = list(csv.DictReader((out / "figures" / "floor_bias.csv").read_text().splitlines()))
    assert {row["simulated"] for row in rows} == {"True"}
    assert [row["model"] for row in rows if row["number"] == "1"]


def test_hostile_names_make_a_whole_report(tmp_path):
    """A name from a log stops the report, or becomes part of a file's name."""
    out = write_report(example_report(HOSTILE, title=HOSTILE[0]), tmp_path / "report")
    assert set(contents(out)) == FILES


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    """Logs are read for a minute, and then the report has no place."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(AnalysisError, match="file is no directory"):
        check_target(tmp_path / "file" / "report")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(AnalysisError, match="loop is no directory"):
        check_target(tmp_path / "loop" / "report")
    check_target(tmp_path / "new" / "report")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_is_refused_before_any_work(tmp_path):
    """A read-only disk is noticed when the work is done."""
    tmp_path.chmod(0o500)
    with pytest.raises(AnalysisError, match="cannot be written"):
        check_target(tmp_path / "report")
