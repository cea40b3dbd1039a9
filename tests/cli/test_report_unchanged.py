"""`evenhand report` a second time: nothing is made again where nothing changed, everything where something did."""

import json
import shutil
from pathlib import Path

import pytest

from analysis.cli.main import main
from analysis.report.unchanged import circumstances

SAME = "nothing changed since this report was written"


def respond(folder: Path, answer: str = "Yes") -> Path:
    """Twelve items of each gold answer, all answered alike."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"model": "m", "item": f"{gold}-{i}", "gold": gold, "output": answer}
        for gold in ("yes", "no")
        for i in range(12)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def stamps(out: Path) -> dict[str, int]:
    """When each file was written."""
    return {p.relative_to(out).as_posix(): p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path]:
    """Logs, and a report of them."""
    logs, out = respond(tmp_path / "logs"), tmp_path / "out"
    (logs / "study.toml").write_text('[study]\nname = "Twelve items"\n', encoding="utf-8")
    assert report(logs, out) == 0
    return logs, out


def report(logs: Path, out: Path, *options: str) -> int:
    return main(["report", "--no-bayes", "--no-pdf", str(logs), "--out", str(out), *options])


def test_second_report_of_the_same_is_kept_and_says_the_same(
    made: tuple[Path, Path], capsys: pytest.CaptureFixture
) -> None:
    """Catches a report made again for nothing, and a kept one that hides what needs attention."""
    logs, out = made
    capsys.readouterr()
    assert report(logs, out, "--again") == 0
    first, before = capsys.readouterr().out, stamps(out)
    assert report(logs, out) == 0
    again = capsys.readouterr().out
    assert again.startswith(SAME)
    assert stamps(out) == before

    def told(text: str) -> list[str]:
        return [line for line in text.splitlines() if not line.startswith(SAME) and "responses read" not in line]

    assert told(again) == told(first)
    assert any("Leaning to Yes" in line for line in told(again))


def test_again_makes_the_same_report_anew(made: tuple[Path, Path], capsys: pytest.CaptureFixture) -> None:
    """Catches --again that is not heard."""
    logs, out = made
    before = stamps(out)
    assert report(logs, out, "--again") == 0
    assert SAME not in capsys.readouterr().out
    assert stamps(out)["index.html"] != before["index.html"]


@pytest.mark.parametrize(
    "change",
    ["answer", "file", "renamed", "setting", "option", "overrides", "altered", "deleted", "added", "manifest", "level"],
)
def test_any_change_makes_the_report_anew(
    made: tuple[Path, Path], capsys: pytest.CaptureFixture, change: str, tmp_path: Path
) -> None:
    """Catches a stale report: logs, settings, options and what lies in the report each count."""
    logs, out = made
    options: list[str] = []
    log = logs / "log.jsonl"
    if change == "answer":
        log.write_text(log.read_text().replace('"Yes"', '"No"', 1))
    elif change == "file":
        (logs / "notes.txt").write_text("no log")
    elif change == "renamed":
        log.rename(logs / "other.jsonl")
    elif change == "setting":
        (logs / "study.toml").write_text('[study]\nname = "Another name"\n')
    elif change == "option":
        options = ["--uncertain", "half"]
    elif change == "level":
        options = ["--ci-level", "0.9"]
    elif change == "overrides":
        elsewhere = tmp_path / "mine.csv"
        elsewhere.write_text("source,answer\nlog.jsonl:1,no\n")
        options = ["--overrides", str(elsewhere)]
    elif change == "altered":
        (out / "index.html").write_text("altered")
    elif change == "deleted":
        (out / "index.html").unlink()
    elif change == "added":
        (out / "mine.txt").write_text("mine")
    elif change == "manifest":
        (out / "manifest.json").write_text('{"format": "evenhand report"}')
    capsys.readouterr()
    status = report(logs, out, *options)
    said = capsys.readouterr()
    assert SAME not in said.out
    if change in ("added", "manifest"):
        assert status != 0
        assert "did not write" in said.err
    else:
        assert status == 0, said.err
        assert "<title>" in (out / "index.html").read_text()


def test_content_counts_and_not_the_time_of_a_file(made: tuple[Path, Path], capsys: pytest.CaptureFixture) -> None:
    """Catches reports made again after a copy or a checkout."""
    logs, out = made
    copy = logs.parent / "elsewhere" / "logs"
    shutil.copytree(logs, copy)
    (copy / "log.jsonl").touch()
    capsys.readouterr()
    assert report(copy, out) == 0
    assert capsys.readouterr().out.startswith(SAME)


def test_what_cannot_be_read_is_never_taken_for_unchanged(tmp_path: Path) -> None:
    """Catches a hash of nothing, equal to that of another nothing."""
    assert circumstances([tmp_path / "absent"], [], {}) == ""
    assert circumstances([respond(tmp_path / "logs")], [tmp_path / "absent.toml"], {}) == ""
    link = tmp_path / "logs" / "loop"
    link.symlink_to(tmp_path / "logs")
    assert circumstances([tmp_path / "logs"], [], {}) != ""
