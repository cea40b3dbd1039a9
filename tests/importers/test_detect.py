"""Tests of finding logs: nothing in a directory may stop the search, and nothing is claimed by guess."""

import json
import os
import resource
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from analysis.errors import AnalysisError
from analysis.importers import standard
from analysis.importers.detect import find_logs
from analysis.importers.probe import probe
from analysis.importers.protocol import Claim, Probe, ReadOptions
from analysis.schema.map_rules import read_rules

LOG = "model,item,answer\nm,1,yes\n"


def importer(name: str, mark: bytes, claim: Claim = Claim.LOG) -> ModuleType:
    """A harness that claims what begins with ``mark``, or a directory that holds ``mark``."""

    def sniff(seen: Probe) -> Claim:
        mine = seen.head.startswith(mark) or mark.decode() in seen.members
        return claim if mine else Claim.NO

    return cast(ModuleType, SimpleNamespace(NAME=name, VERSIONS="1", sniff=sniff))


def verdicts(root: Path, *importers: ModuleType, **options: Any) -> dict[str, tuple[str, str]]:
    return {f.relative: (f.claim.name, f.reason) for f in find_logs([root], root, importers=importers, **options)}


@pytest.fixture
def make(tmp_path) -> Callable[..., Path]:
    def make_file(name: str, content: str | bytes = LOG) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make_file


def test_files_come_in_the_order_of_their_names_whatever_the_directory_says(make, tmp_path):
    """The order of os.scandir differs between machines; a report must not."""
    for name in ("b/x.csv", "a.csv", "b.csv", "B/é.csv"):
        make(name)
    found = [f.relative for f in find_logs([tmp_path], tmp_path, importers=())]
    assert found == sorted(["B/é.csv", "a.csv", "b.csv", "b/x.csv"])


def test_two_importers_on_one_file_are_an_error_that_names_both(make, tmp_path):
    """Taking the first claim would read a file in the wrong format, silently."""
    make("x.log", b"@@")
    with pytest.raises(AnalysisError, match=r"x\.log: could be a log of 2 formats \(One, Two\)"):
        find_logs([tmp_path], tmp_path, importers=(importer("One", b"@@"), importer("Two", b"@")))


def test_the_standard_schema_is_asked_last(make, tmp_path):
    """A harness whose rows happen to have our columns must not be an ambiguity."""
    make("a.csv")
    found = find_logs([tmp_path], tmp_path, importers=(importer("One", b"model"),))
    assert [cast(Any, f.importer).NAME for f in found] == ["One"]


def test_a_named_stranger_is_an_error_and_a_stray_one_is_listed(make, tmp_path):
    stranger = make("notes.json", '{"a": 1}')
    with pytest.raises(
        AnalysisError, match=r"notes\.json: not a log of any known format .*known: One, standard schema"
    ):
        find_logs([stranger], tmp_path, importers=(importer("One", b"@"),))
    assert verdicts(tmp_path) == {"notes.json": ("NO", "no known format")}


def test_a_path_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(AnalysisError, match="no such file or directory"):
        find_logs([tmp_path / "gone"], tmp_path)


def test_a_directory_that_is_a_log_is_not_searched(make, tmp_path):
    """Reading a run's own files again would count its responses twice."""
    make("run/spec.json", "{}")
    make("run/rows.csv")
    assert verdicts(tmp_path, importer("Run", b"spec.json")) == {"run": ("LOG", "")}
    inside = find_logs([tmp_path / "run"], tmp_path / "run", importers=(importer("Run", b"spec.json"),))
    assert [f.relative for f in inside] == ["run"]


def test_companions_are_known_and_not_read(make, tmp_path):
    make("study.toml", "")
    make("README.md", LOG)
    make("sum.json", "##")
    found = verdicts(tmp_path, importer("One", b"##", Claim.COMPANION))
    assert {name: claim for name, (claim, _) in found.items()} == dict.fromkeys(found, "COMPANION")


def test_a_log_and_a_companion_claim_on_one_file_make_it_a_log(make, tmp_path):
    make("x", b"@@")
    assert verdicts(tmp_path, importer("One", b"@@"), importer("Two", b"@", Claim.COMPANION)) == {"x": ("LOG", "")}


@pytest.mark.parametrize(
    ("content", "claim", "reason"),
    [
        (b"", "NO", "empty file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "REFUSED", "git lfs pull"),
        (b"\0" * 5000, "REFUSED", "zero bytes"),
        (b" \n\n", "NO", "blanks"),
        (b"<!DOCTYPE html><html>", "NO", "web page"),
        (b"\x1f\x8b\x08broken", "REFUSED", "damaged compressed file"),
        (b"PK\x03\x04broken", "NO", "no zip archive"),
        (b"PAR1broken", "REFUSED", "damaged Parquet file"),
        (b"\xff\xfe\x00", "NO", "no zip archive"),
    ],
)
def test_damage_is_recognised_whatever_the_name_says(make, tmp_path, content, claim, reason):
    """A pointer or a cut-off file that passes for "not a log" is a log lost without a word."""
    make("x.eval", content)
    found = verdicts(tmp_path)["x.eval"]
    assert found[0] == claim
    assert reason in found[1]


@pytest.mark.parametrize("name", [".DS_Store", "__MACOSX/a.csv", "._a.csv", ".git/a.csv", ".ipynb_checkpoints/a.csv"])
def test_what_other_programs_leave_is_not_read(make, tmp_path, name):
    """Checkpoints and AppleDouble files are copies: reading them doubles rows."""
    make(name)
    assert [claim for claim, _ in verdicts(tmp_path).values()] == ["NO"]


def test_hidden_files_are_logs_too(make, tmp_path):
    """One harness writes its runs into a hidden folder."""
    make(".deepeval/.latest.csv")
    assert verdicts(tmp_path) == {".deepeval/.latest.csv": ("LOG", "")}


def test_links_that_loop_end_and_no_directory_is_read_twice(make, tmp_path):
    make("a/x.csv")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "twin").symlink_to(tmp_path / "a")
    found = verdicts(tmp_path)
    assert found["a/x.csv"] == ("LOG", "")
    assert found["a/loop"][0] == found["twin"][0] == "NO"
    assert len(found) == 3


def test_broken_links_and_sockets_do_not_stop_the_search(make, tmp_path, monkeypatch):
    make("x.csv")
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.sock")
        os.mkfifo("pipe.csv")
        found = find_logs([tmp_path], tmp_path, importers=())
    by_name = {f.relative: f for f in found}
    assert by_name["s.sock"].claim is by_name["pipe.csv"].claim is Claim.NO
    assert by_name["gone.csv"].reason == "broken symbolic link"
    assert not by_name["gone.csv"].readable
    assert by_name["x.csv"].claim is Claim.LOG


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_files_without_permission_are_unreadable_and_not_strangers(make, tmp_path):
    make("x.csv").chmod(0)
    make("d/y.csv").parent.chmod(0)
    found = find_logs([tmp_path], tmp_path, importers=())
    (tmp_path / "d").chmod(0o700)
    assert [(f.relative, f.readable) for f in found] == [("d", False), ("x.csv", False)]


def test_directories_are_searched_to_a_bound(tmp_path):
    deep = tmp_path.joinpath(*["d"] * 40)
    deep.mkdir(parents=True)
    (deep / "x.csv").write_text(LOG)
    assert [claim for claim, _ in verdicts(tmp_path).values()] == ["NO"]


def test_one_file_named_twice_is_found_once(make, tmp_path):
    path = make("a.csv")
    assert len(find_logs([tmp_path, path], tmp_path, importers=())) == 1


def test_a_table_that_map_completes_is_a_log(make, tmp_path):
    make("a.csv", "model,question,reply\nm,1,yes\n")
    assert "its columns lack item, an answer" in verdicts(tmp_path)["a.csv"][1]
    rules, problems = read_rules({"item": "question", "output": "reply"}, ())
    assert problems == []
    assert verdicts(tmp_path, rules=rules) == {"a.csv": ("LOG", "")}
    rules, _ = read_rules({"item": "question", "output": "elsewhere"}, ())
    assert verdicts(tmp_path, rules=rules)["a.csv"][0] == "REFUSED"  # one column short: not a stranger


def test_a_probe_lists_the_members_of_an_archive_and_the_names_of_a_directory(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("b", "1")
        archive.writestr("a", "2")
    assert probe(tmp_path / "x.zip").members == ("b", "a")
    assert probe(tmp_path).members == ("x.zip",)


def test_many_small_files_are_looked_at_one_by_one(tmp_path):
    """A handle left open per file ends at the limit of open files."""
    for i in range(1000):
        (tmp_path / f"{i:05d}.csv").write_text(LOG if i % 100 == 0 else "x")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, before[1]))
    try:
        found = find_logs([tmp_path], tmp_path, importers=())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert len(found) == 1000
    assert sum(f.claim is Claim.LOG for f in found) == 10


def test_every_real_log_has_at_most_one_importer_and_the_standard_schema_claims_none(shared):
    """A marker that another harness writes too would take its files."""
    root = shared / "logs"
    names = {cast(Any, f.importer).NAME for f in find_logs([root], root) if f.claim is Claim.LOG}
    assert "standard schema" not in names
    assert {"Inspect AI", "lm-evaluation-harness"} <= names


ASKED = [{"model": "m", "item": "a"}, {"model": "m", "item": "b", "probability": 0.2}]


@pytest.mark.parametrize("text", ["\n".join(map(json.dumps, ASKED)), json.dumps(ASKED), json.dumps(ASKED, indent=1)])
def test_a_first_record_without_an_answer_does_not_speak_for_the_file(make, tmp_path, text):
    """Catches a log refused for having no answer column because the first model gave no answer."""
    path = make("judgments.jsonl" if text.startswith("{") else "judgments.json", text)
    assert verdicts(tmp_path) == {path.name: ("LOG", "")}
    rows = [row for batch in standard.read_batches(path, ReadOptions(tmp_path)) for row in batch.rows.to_pylist()]
    assert [(row["item"], row.get("probability")) for row in rows] == [("a", None), ("b", 0.2)]


def test_a_file_no_record_of_which_has_an_answer_is_no_log(make, tmp_path):
    """Catches keys inside of a value that count as columns."""
    make("a.jsonl", 2 * (json.dumps(ASKED[0] | {"meta": {"probability": 0.5}}) + "\n"))
    assert verdicts(tmp_path)["a.jsonl"][1].startswith("its columns lack an answer")
