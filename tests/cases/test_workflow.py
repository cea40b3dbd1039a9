"""What a user meets at the edges: nothing to read, damage, and real logs whose accuracy hides the lean."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.cli.main import main
from analysis.reduction.intake import IntakeSettings


def archive(write, logs_of) -> bytes:
    log = logs_of.inspect_log("m", [logs_of.inspect_sample(i, "Yes", "Yes", "C") for i in range(3)])
    return logs_of.inspect_archive(write("about", "made/README.md") / "made" / "run.eval", log).read_bytes()


def header_only(logs_of) -> str:
    return json.dumps({k: v for k, v in logs_of.inspect_log("m", []).items() if k != "samples"})


DAMAGE: dict[str, tuple[str, Callable, str]] = {
    "nothing that is a log": ("notes.txt", lambda write, logs_of: "shopping list", "no logs found"),
    "random bytes": ("run.eval", lambda write, logs_of: bytes(range(256)) * 40, "no logs found"),
    "truncated archive": ("run.eval", lambda write, logs_of: archive(write, logs_of)[:900], "truncated or damaged zip"),
    "header without samples": ("run.json", lambda write, logs_of: header_only(logs_of), "header only, no samples"),
    "no model column": ("log.csv", lambda write, logs_of: "item,gold,output\n1,yes,Yes\n", "model"),
    "no answer column": ("log.csv", lambda write, logs_of: "model,item,gold\nm,1,yes\n", "answer"),
    "empty file": ("log.jsonl", lambda write, logs_of: "", "empty"),
    "half a line": ("log.jsonl", lambda write, logs_of: '{"model": "m", "item": "1", "output": "Ye', "log.jsonl"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_nothing_readable_is_one_message_and_no_report(write, logs_of, tmp_path, capsys, kind):
    """Catches a traceback, an exit status of 0, an empty report, or a message that does not name the file."""
    name, content, words = DAMAGE[kind]
    logs = write(content(write, logs_of), f"mine/{name}") / "mine"
    assert main(["report", str(logs), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("evenhand: ")
    assert words in said
    assert name in said
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()


def test_a_damaged_file_stops_the_run_unless_told_to_go_on(write, report, logs_of, tmp_path, capsys):
    """Catches a damaged log left out in silence: with --keep-going the report says so first."""
    cut = archive(write, logs_of)[:900]
    write(logs_of.judged("m", {"yes": "Yes", "no": "No"}), "mine/good.jsonl")
    logs = write(cut, "mine/bad.eval") / "mine"
    assert main(["report", str(logs), "--out", str(tmp_path / "out")]) == 2
    assert "bad.eval" in capsys.readouterr().err
    content = report(logs, intake=IntakeSettings(keep_going=True))
    assert content.data["statuses"]["rows"].tolist() == [24]
    assert any("bad.eval" in sentence for sentence in content.attention)


def test_real_logs_whose_accuracy_hides_that_yes_is_hardly_ever_right(shared: Path, report):
    """Catches a report on two real logs (52 % and 57 % right) that misses, or turns round, their lean to No."""
    content = report(shared / "logs" / "inspect_eval" / "UKGovernmentBEIS+inspect_ai" / "log-sets" / "set")
    found = content.data["estimates"].set_index(["model", "measure"])
    models = ("openai/gpt-5", "anthropic/claude-sonnet-4-20250514")
    for model, yes, no in zip(models, (5, 7), (47, 50), strict=True):
        assert found.loc[(model, "acc_yes"), "estimate"] == pytest.approx(yes / 50)
        assert found.loc[(model, "acc_no"), "estimate"] == pytest.approx(no / 50)
        assert found.loc[(model, "answer_bias"), "ci_high"] < -0.5
    assert not content.attention
    (leaning,) = [sentence for sentence in content.summary if "eaning to" in sentence]
    assert "eaning to No" in leaning
    assert all(model in leaning for model in models)
    assert any("few answers are right where Yes is right" in sentence for sentence in content.summary)
