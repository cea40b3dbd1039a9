"""``evenhand audit`` from log to printed page."""

import json
from pathlib import Path

import pytest

from analysis.cli.main import main


def write_log(directory: Path, rows: list[dict[str, object]]) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / "log.jsonl"
    path.write_text("".join(json.dumps({"model": "m", **row}) + "\n" for row in rows), encoding="utf-8")
    return path


ROWS: list[dict[str, object]] = [
    {"item": "1", "gold": "yes", "output": "Yes.", "logged_score": "0"},
    {"item": "2", "gold": "no", "output": "So the answer is no.", "logged_score": "1"},
    {"item": "3", "gold": "no", "output": "lol", "logged_score": "0"},
]


def test_counts_disagreements_and_samples_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a part of the audit that is silently empty, and a contradiction that leaves the exit status 0."""
    write_log(tmp_path / "logs", ROWS)
    status = main(["audit", str(tmp_path / "logs")])
    printed = capsys.readouterr().out
    assert status == 1
    for expected in ("m: 3 responses", "exact", "final_answer", "scored wrong, read right", "log.jsonl:1", "lol"):
        assert expected in printed


def test_agreement_exits_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches unread texts that harnesses score 0 reported as contradictions."""
    write_log(tmp_path / "logs", ROWS[1:])
    assert main(["audit", str(tmp_path / "logs"), "--samples", "0"]) == 0
    assert "nothing read" in capsys.readouterr().out


def test_hostile_texts_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches escape sequences, bidirectional overrides and line ends of a log printed as they are."""
    hostile = "Yes\x1b[2J\x1b]0;pwned\x07 \u202etxt\r\nmodels: 0 errors\x9b"
    write_log(tmp_path / "logs", [{"item": "1", "gold": "yes", "output": hostile, "task": "t\x1b[31m\nforged line"}])
    main(["audit", str(tmp_path / "logs")])
    printed = capsys.readouterr().out
    assert not set(printed) & set("\x1b\x07\r\x9b\u202e")
    assert "\\x1b" in printed
    assert not [line for line in printed.splitlines() if line.startswith(("forged", "models:"))]


def test_rereading_replaces_given_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches --reread without effect."""
    write_log(tmp_path / "logs", [{"item": "1", "gold": "yes", "output": "Yes", "answer": "no", "logged_score": "0"}])
    assert main(["audit", str(tmp_path / "logs")]) == 0
    assert "given" in capsys.readouterr().out
    assert main(["audit", str(tmp_path / "logs"), "--reread"]) == 1
    assert "exact" in capsys.readouterr().out


def test_the_same_seed_prints_the_same_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches samples drawn without the seed."""
    write_log(tmp_path / "logs", [{"item": str(i), "gold": "yes", "output": f"Yes, {i}."} for i in range(30)])
    pages = []
    for seed in ("1", "1", "2"):
        main(["audit", str(tmp_path / "logs"), "--seed", seed])
        pages.append(capsys.readouterr().out.replace(f"seed {seed}", ""))
    assert pages[0] == pages[1] != pages[2]


def test_bad_input_gives_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a traceback for an empty directory or a negative number of samples."""
    (tmp_path / "empty").mkdir()
    assert main(["audit", str(tmp_path / "empty")]) == 2
    write_log(tmp_path / "logs", ROWS)
    assert main(["audit", str(tmp_path / "logs"), "--samples", "-1"]) == 2
    assert "--samples" in capsys.readouterr().err


def test_real_yes_no_logs_are_read_to_the_counts_found_by_hand(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches misreadings of real replies: every one of the 200 is a bare yes or no, and the scores agree."""
    logs = shared / "logs/inspect_eval/UKGovernmentBEIS+inspect_ai/log-sets/set"
    assert main(["audit", str(logs), "--reread", "--samples", "0"]) == 0
    assert capsys.readouterr().out.count("100  100.0 %") == 2


def test_the_effect_on_the_estimates_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches an audit that counts disagreements and does not say what they do; worked by hand."""
    rows: list[dict[str, object]] = [
        {"item": str(i), "gold": "yes" if i < 4 else "no", "output": "Yes." if i < 4 else "No.", "logged_score": "1"}
        for i in range(8)
    ]
    rows[0]["logged_score"] = "0"
    write_log(tmp_path / "logs", rows)
    assert main(["audit", str(tmp_path / "logs"), "--samples", "0"]) == 1
    printed = capsys.readouterr().out
    assert "m: 7 of 8 (87.5 %)" in printed
    assert "answer_bias       read 0.000, scored -0.250, 0.000 to 0.000" in printed
    assert "scored wrong, read right, rule exact: 1 responses; floor -0.250, bias -0.250" in printed


def test_counts_are_printed_by_condition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches conditions under which answers were read differently, pooled into one count."""
    rows: list[dict[str, object]] = [
        {"item": str(i), "gold": "yes", "output": text, "strategy": strategy}
        for i in range(2)
        for strategy, text in (("direct", "Yes."), ("cot", "lol"))
    ]
    write_log(tmp_path / "logs", rows)
    main(["audit", str(tmp_path / "logs"), "--samples", "0"])
    printed = capsys.readouterr().out
    assert "m · strategy = direct: 2 responses" in printed
    assert "m · strategy = cot: 2 responses" in printed


def test_overrides_beside_the_logs_are_applied_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches answers of a person that are ignored, or applied without a word."""
    logs = tmp_path / "logs"
    write_log(logs, ROWS)
    (logs / "overrides.csv").write_text("source,answer,note\nlog.jsonl:3,no,means no\n", encoding="utf-8")
    main(["audit", str(logs), "--samples", "0"])
    printed = capsys.readouterr().out
    assert "1 overrides, 1 change the answer" in printed
    assert "log.jsonl:3: nothing by none, now no (means no)" in printed
    assert "scored wrong, read right, rule override: 1" in printed
    (logs / "overrides.csv").write_text("source,answer\nlog.jsonl:9,no\n", encoding="utf-8")
    assert main(["audit", str(logs)]) == 2
    assert "log.jsonl:9" in capsys.readouterr().err
