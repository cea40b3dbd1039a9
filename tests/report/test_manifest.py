"""Manifest and provenance: plain JSON, relative paths, nothing about the machine's user."""

import getpass
import hashlib
import itertools
import json
import socket
from pathlib import Path, PurePosixPath

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.provenance import Clock, file_digest, package_versions, platform_name, python_version
from analysis.report.manifest import changed_versions, holds_our_manifest, input_entries, manifest_json, report_manifest
from analysis.schema.status import Status


def manifest(**changes):
    parts = {"inputs": [], "settings": {}, "rows": {}}
    return report_manifest(**{**parts, **changes})


def test_values_become_plain_json():
    """numpy numbers, enumerations, paths and sets have no JSON form of their own."""
    made = manifest(
        settings={"level": np.float64(0.95), "keep": {"b", "a"}, "by": ("model",), "where": PurePosixPath("logs/x")},
        rows={Status.ANSWERED: np.int64(5), "flag": np.bool_(True)},
        seeds={"boot": 3},
        timings={"read": 0.5},
    )
    read = json.loads(manifest_json(made))
    assert read == made
    assert read["settings"] == {"level": 0.95, "keep": ["a", "b"], "by": ["model"], "where": "logs/x"}
    assert read["rows"] == {"answered": 5, "flag": True}
    assert read["seeds"] == {"boot": 3}
    assert read["timings"] == {"read": 0.5}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.nan, [1, {"x": -np.inf}]])
def test_no_number_is_undefined(value):
    """NaN is written, which is no JSON and breaks every other reader."""
    with pytest.raises(AnalysisError, match=r"manifest: rows\.bad"):
        manifest(rows={"bad": value})
    with pytest.raises(AnalysisError, match="rows"):
        manifest_json({"rows": value})


@pytest.mark.parametrize("value", [Path("/home/someone/logs"), object(), b"bytes"])
def test_absolute_paths_and_objects_are_refused(value):
    """The place of a user's files, or the printed form of an object, is published."""
    with pytest.raises(AnalysisError, match=r"settings\.bad"):
        manifest(settings={"bad": value})


def test_inputs_are_relative_sorted_and_hashed(tmp_path):
    """Absolute paths, the order of the file system, or the hash of a name instead of the content."""
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.jsonl").write_bytes(b"22")
    (tmp_path / "a.jsonl").write_bytes(b"1")
    entries = input_entries([tmp_path / "b", tmp_path / "a.jsonl", tmp_path / "b" / "two.jsonl"], tmp_path)
    assert entries == [
        {"path": "a.jsonl", "bytes": 1, "sha256": hashlib.sha256(b"1").hexdigest()},
        {"path": "b/two.jsonl", "bytes": 2, "sha256": hashlib.sha256(b"22").hexdigest()},
    ]


def test_a_link_is_named_where_it_lies(tmp_path):
    """A log that is a link to another disk is refused or named by its target."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "x.jsonl").write_bytes(b"1")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "run.jsonl").symlink_to(tmp_path / "disk" / "x.jsonl")
    assert input_entries([tmp_path / "logs"], tmp_path / "logs")[0]["path"] == "run.jsonl"


def test_input_outside_the_root_or_gone_is_one_message(tmp_path):
    """A path with .. or an absolute one is written, or a vanished file ends in a traceback."""
    (tmp_path / "x").write_bytes(b"1")
    with pytest.raises(AnalysisError, match="outside"):
        input_entries([tmp_path / "x"], tmp_path / "logs")
    with pytest.raises(AnalysisError, match="cannot be read"):
        input_entries([tmp_path / "gone"], tmp_path)


def test_our_manifest_is_recognised(tmp_path):
    """A report of ours is not recognised, or any JSON file passes for one."""
    assert not holds_our_manifest(tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(manifest_json(manifest()))
    assert holds_our_manifest(tmp_path)
    for other in ("[" * 100_000, '{"format": 1}', "\ufeff{}", "null"):
        path.write_text(other, encoding="utf-8")
        assert not holds_our_manifest(tmp_path)
    path.write_bytes(b"\xff\xfe")
    assert not holds_our_manifest(tmp_path)


def test_versions_that_changed_since_a_report_are_named(tmp_path):
    """Catches kept fits of other versions that are passed over in silence, and versions named that did not change."""
    assert changed_versions(tmp_path) == ()
    now = package_versions()
    for versions, found in (
        (now, ()),
        (now | {"numpy": "0.1"}, (f"numpy 0.1, now {now['numpy']}",)),
        ({"evenhand": "0.0.1"}, (f"evenhand 0.0.1, now {now['evenhand']}",)),
        ("all", ()),
    ):
        manifest = {"format": "evenhand report", "versions": versions}
        (tmp_path / "manifest.json").write_text(json.dumps(manifest))
        assert changed_versions(tmp_path) == found


def test_nothing_names_the_host_or_the_user():
    """A report that is passed on tells where and by whom it was made."""
    text = manifest_json(manifest())
    assert str(Path.cwd()) not in text
    assert str(Path.home()) not in text
    # Shorter names may be part of an ordinary word.
    assert not [name for name in (socket.gethostname(), getpass.getuser()) if len(name) > 4 and name in text]


def test_versions_name_what_computes():
    """The version of the numerical packages, or the project's own, is missing; an absent package is an error."""
    versions = package_versions()
    assert {"evenhand", "numpy", "pandas", "scipy", "duckdb", "matplotlib"} <= set(versions)
    assert list(package_versions(("numpy", "no-such-package-at-all"))) == ["evenhand", "numpy"]
    assert python_version().split()[1].startswith("3.")
    assert platform_name().strip()


def test_digest_is_of_the_bytes(tmp_path):
    """A known SHA-256: that of "abc" (FIPS 180-2, appendix B.1)."""
    (tmp_path / "x").write_bytes(b"abc")
    assert file_digest(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_clock_adds_up_stages_even_if_one_fails():
    """A stage that ends in an error is not counted, or its second visit replaces the first."""
    ticks = itertools.count()
    clock = Clock(now=lambda: float(next(ticks)))
    with clock.stage("read"):
        pass
    with pytest.raises(KeyError), clock.stage("read"):
        raise KeyError
    with clock.stage("fit"):
        pass
    assert clock.timings() == {"read": 2.0, "fit": 1.0, "total": 7.0}
