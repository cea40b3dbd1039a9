"""`evenhand report` from a directory of logs to a folder on disk, as a user runs it."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from analysis.cli.main import main
from analysis.cli.report import default_logs, report_name

YES, NO = ("yes", "no")


def write_log(folder: Path, rows: list[dict], name: str = "log.jsonl") -> Path:
    """JSON Lines in the standard schema."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def responses(model: str, answers: dict[str, str], *, n: int = 12) -> list[dict]:
    """n items of each gold answer, answered by ``answers[gold]``."""
    return [
        {"model": model, "item": f"{gold}-{i}", "gold": gold, "output": answers[gold]}
        for gold in (YES, NO)
        for i in range(n)
    ]


def estimates(out: Path) -> pd.DataFrame:
    """Estimates of a report: one row per model, one column per measure."""
    table = pd.read_parquet(out / "data" / "estimates.parquet")
    return table.pivot(index="model", columns="measure", values="estimate")


def test_a_model_that_always_says_yes_is_told_from_a_coin(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches accuracy alone being reported: both models are right on half of the items."""
    coin = [
        {"model": "coin", "item": f"{gold}-{i}", "gold": gold, "output": "Yes." if i % 2 else "No."}
        for gold in (YES, NO)
        for i in range(12)
    ]
    logs = write_log(tmp_path / "logs", responses("always yes", {YES: "Yes", NO: "**Yes**"}) + coin)
    out = tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 0
    found = estimates(out)
    assert found["accuracy"].tolist() == [0.5, 0.5]
    assert found.loc["always yes", ["answer_bias", "competence_floor", "yes_rate"]].tolist() == [1.0, 0.0, 1.0]
    assert found.loc["coin", ["answer_bias", "competence_floor"]].tolist() == [0.0, 0.5]
    said = capsys.readouterr().out
    assert "Leaning to Yes" in said
    assert "always yes (+1.00)" in said
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["rows"]["responses"] == manifest["rows"]["used"] == 48
    assert {p.suffix for p in (out / "tables").iterdir()} == {".tex", ".html", ".md", ".csv", ".txt", ".typ"}
    assert {p.suffix for p in (out / "figures").iterdir()} == {".pdf", ".svg", ".png", ".csv"}


def test_reports_of_the_same_logs_are_byte_identical_but_for_timings(tmp_path: Path) -> None:
    """Catches a clock, a random order or an unseeded draw in tables, figures or data."""
    logs = write_log(tmp_path / "logs", responses("a", {YES: "Yes", NO: "No"}) + responses("b", {YES: "No", NO: "no"}))
    outs = [tmp_path / name for name in ("one", "two")]
    for out in outs:
        assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 0
    files = sorted(p.relative_to(outs[0]) for p in outs[0].rglob("*") if p.is_file())
    assert files == sorted(p.relative_to(outs[1]) for p in outs[1].rglob("*") if p.is_file())
    differ = [str(f) for f in files if (outs[0] / f).read_bytes() != (outs[1] / f).read_bytes()]
    assert set(differ) <= {"manifest.json"}
    manifests = [json.loads((out / "manifest.json").read_text()) for out in outs]
    for manifest in manifests:
        manifest.pop("timings")
    assert manifests[0] == manifests[1]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"model": "m", "gold": "yes", "output": "Yes"}], "item"),
        ([{"model": "m", "item": "1"}], "answer"),
        ([{"model": "m", "item": "1", "gold": "yes", "output": "Yes"}] * 2, "duplicate"),
    ],
    ids=["no item", "nothing answered", "the same key twice"],
)
def test_bad_logs_give_one_message_and_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture, rows: list[dict], words: str
) -> None:
    """Catches a traceback, a zero exit, or half a report on disk."""
    logs, out = write_log(tmp_path / "logs", rows), tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.err.startswith("evenhand: ")
    assert not out.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["logs"]


def test_an_empty_directory_and_a_missing_one_are_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches an empty report and a traceback where nothing can be read."""
    (tmp_path / "empty").mkdir()
    for name in ("empty", "absent"):
        assert main(["report", "--no-bayes", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 2
        assert name in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_degenerate_designs_say_what_cannot_be_estimated(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches NaN, infinity or silence for one item, one gold answer, and all unreadable answers."""
    logs = write_log(
        tmp_path / "logs",
        [
            {"model": "m", "task": "one item", "item": "1", "gold": "yes", "output": "Yes"},
            *({"model": "m", "task": "only yes", "item": str(i), "gold": "yes", "output": "Yes"} for i in range(9)),
            *(
                {"model": "m", "task": "noise", "item": str(i), "gold": g, "output": "%%"}
                for i, g in enumerate([YES, NO] * 5)
            ),
        ],
    )
    out = tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 0
    capsys.readouterr()
    page = (out / "index.html").read_text()
    assert "no floor for m" in page
    for path in (out / "tables").iterdir():
        text = path.read_text()
        assert not re.search(r"\b(nan|inf|NaN)\b", text), path.name
    table = pd.read_parquet(out / "data" / "estimates.parquet")
    undefined = table[table["estimate"].isna()]
    assert len(undefined) > 0
    assert (undefined["reason"] != "").all()
    noise = table[(table["task"] == "noise") & (table["measure"] == "uncertain_rate")]
    assert noise["estimate"].tolist() == [1.0]


def test_selection_is_counted_as_set_aside(tmp_path: Path) -> None:
    """Catches filtered rows that leave without a trace."""
    logs = write_log(tmp_path / "logs", responses("a", {YES: "Yes", NO: "No"}) + responses("b", {YES: "No", NO: "No"}))
    out = tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out), "--model", "a"]) == 0
    rows = json.loads((out / "manifest.json").read_text())["rows"]
    assert (rows["responses"], rows["used"]) == (48, 24)
    assert sum(rows["set_aside"].values()) == 24
    assert estimates(out).index.tolist() == ["a"]


@pytest.mark.parametrize(("mode", "used", "n"), [("latest", 24, 12), ("all", 48, 24)])
def test_runs_that_repeat_each_other_are_settled_and_counted(tmp_path: Path, mode: str, used: int, n: int) -> None:
    """Catches rows of a superseded run that vanish from the account, or enter the estimates twice."""
    for run in (1, 2):
        rows = [
            {**row, "run": f"r{run}", "timestamp": f"2026-01-0{run}T00:00:00"}
            for row in responses("m", {YES: "Yes", NO: "No" if run == 2 else "Yes"})
        ]
        write_log(tmp_path / "logs", rows, f"{run}.jsonl")
    out = tmp_path / "out"
    assert main(["report", "--no-bayes", str(tmp_path / "logs"), "--out", str(out)]) == 2
    assert main(["report", "--no-bayes", str(tmp_path / "logs"), "--out", str(out), "--runs", mode]) == 0
    rows = json.loads((out / "manifest.json").read_text())["rows"]
    assert (rows["responses"], rows["used"]) == (48, used)
    assert sum(rows["set_aside"].values()) == 48 - used
    page = (out / "index.html").read_text()
    assert f"{used} enter the estimates, {48 - used} do not" in page
    table = pd.read_parquet(out / "data" / "estimates.parquet")
    assert table.loc[table["measure"] == "acc_no", "n"].tolist() == [n]
    assert estimates(out)["acc_no"].tolist() == [1.0 if mode == "latest" else 0.5]


def test_a_folder_that_is_no_report_is_never_replaced(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches an --out that wipes somebody's directory."""
    logs = write_log(tmp_path / "logs", responses("a", {YES: "Yes", NO: "No"}))
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("mine")
    assert main(["report", "--no-bayes", str(logs), "--out", str(precious)]) == 2
    assert "precious" in capsys.readouterr().err
    assert (precious / "thesis.tex").read_text() == "mine"


def test_tables_have_the_same_content_in_every_format(tmp_path: Path) -> None:
    """Catches a model that one format loses; the CSV keeps full precision."""
    logs = write_log(tmp_path / "logs", responses("a", {YES: "Yes", NO: "No"}) + responses("b", {YES: "No", NO: "No"}))
    out = tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 0
    with (out / "tables" / "cells.csv").open(newline="") as stream:
        rows = {row["model"]: row for row in csv.DictReader(stream)}
    assert set(rows) == {"a", "b"}
    assert float(rows["b"]["answer_bias"]) == -1.0
    for kind in ("tex", "html", "md"):
        text = (out / "tables" / f"cells.{kind}").read_text()
        assert "1.00" in text


def test_the_example_is_left_out_once_other_logs_are_there(tmp_path: Path) -> None:
    """Catches simulated rows mixed into a user's first report."""
    folder = tmp_path / "logs"
    write_log(folder / "example", responses("simulated", {YES: "Yes", NO: "No"}))
    (folder / "README.md").write_text("about")
    assert default_logs(folder) == [folder / "example"]
    write_log(folder / "mine", responses("m", {YES: "Yes", NO: "No"}))
    assert default_logs(folder) == [folder / "mine"]


def test_the_report_is_named_after_the_log_directory(tmp_path: Path) -> None:
    """Catches reports that overwrite each other under one name."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "run.eval").write_text("")
    assert report_name([tmp_path / "mine"]) == "mine"
    assert report_name([tmp_path / "mine" / "run.eval"]) == "run"
    assert report_name([tmp_path / "mine", tmp_path / "mine" / "run.eval"]) == "mine+run"


def test_two_directories_of_one_name_do_not_share_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Catches the report of one study lost to that of another."""
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "x" / "logs1", responses("a", {YES: "Yes", NO: "No"}), "first.jsonl")
    write_log(tmp_path / "y" / "logs1", responses("b", {YES: "Yes", NO: "No"}), "second.jsonl")
    assert main(["report", "--no-bayes", "x/logs1"]) == 0
    assert main(["report", "--no-bayes", "x/logs1"]) == 0
    assert main(["report", "--no-bayes", "y/logs1"]) == 2
    assert "first.jsonl" in capsys.readouterr().err
    assert estimates(tmp_path / "reports" / "logs1").index.tolist() == ["a"]


def test_files_put_into_a_report_are_not_deleted(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches notes that a second run wipes out with the old report."""
    logs, out = write_log(tmp_path / "logs", responses("a", {YES: "Yes", NO: "No"})), tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 0
    (out / "tables" / "my_notes.txt").write_text("mine")
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 2
    assert "my_notes.txt" in capsys.readouterr().err
    assert (out / "tables" / "my_notes.txt").read_text() == "mine"


def test_a_selection_that_leaves_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches an empty report with a zero exit: two conditions on one column exclude each other."""
    rows = [{**r, "form": f} for f in ("truth", "direct") for r in responses(f, {YES: "Yes", NO: "No"})]
    rows = [{**r, "item": f"{r['item']}-{r['form']}"} for r in rows]
    logs = write_log(tmp_path / "logs", rows)
    command = ["report", "--no-bayes", str(logs), "--out", str(tmp_path / "out")]
    assert main([*command, "--where", "form=truth", "--where", "form=direct"]) == 2
    assert "none of the 48 responses is left" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_rows_of_a_task_without_estimates_are_no_used_rows(tmp_path: Path) -> None:
    """Catches `N enter the estimates` for scores outside [0, 1], which give no estimate."""
    graded = [{"model": "m", "task": "graded", "item": str(i), "logged_score": i} for i in range(10)]
    yes_no = [{**r, "task": "yes or no"} for r in responses("m", {YES: "Yes", NO: "No"})]
    logs, out = write_log(tmp_path / "logs", graded + yes_no), tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 0
    rows = json.loads((out / "manifest.json").read_text())["rows"]
    assert (rows["responses"], rows["used"]) == (34, 24)
    assert any(reason.startswith("no estimate: ") for reason in rows["set_aside"])


def test_answers_of_a_person_are_applied_and_said(tmp_path: Path) -> None:
    """Catches an overrides.csv that is ignored, or applied without a word."""
    logs = write_log(tmp_path / "logs", responses("m", {YES: "Yes", NO: "Hm"}))
    sources = [f"log.jsonl:{line}" for line in range(13, 25)]
    (logs / "overrides.csv").write_text("source,answer\n" + "".join(f"{s},no\n" for s in sources))
    out = tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 0
    assert estimates(out)["acc_no"].tolist() == [1.0]
    assert "12 answers come from overrides.csv" in (out / "index.html").read_text()


def test_yes_no_lean_that_plain_accuracy_hides_on_real_logs(shared: Path, tmp_path: Path) -> None:
    """Catches a wrong reading, pairing or floor on two real logs of 100 items (accuracy .52 and .57)."""
    logs = shared / "logs" / "inspect_eval" / "UKGovernmentBEIS+inspect_ai" / "log-sets" / "set"
    out = tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 0
    found = estimates(out)
    gpt, claude = found.loc["openai/gpt-5"], found.loc["anthropic/claude-sonnet-4-20250514"]
    assert gpt[["accuracy", "acc_yes", "acc_no", "competence_floor"]].tolist() == pytest.approx([0.52, 0.1, 0.94, 0.1])
    assert claude[["accuracy", "acc_yes", "acc_no", "competence_floor"]].tolist() == pytest.approx(
        [0.57, 0.14, 1, 0.14]
    )
    tests = pd.read_parquet(out / "data" / "floor_tests.parquet")
    assert set(tests["decision"]) == {"below"}
    assert main(["crosscheck", str(out)]) == 0


def test_epochs_of_one_item_are_not_independent(shared: Path, tmp_path: Path) -> None:
    """Catches rows taken as the unit: 50 responses of a model are 10 items asked five times."""
    logs = shared / "logs" / "inspect_eval" / "UKGovernmentBEIS+inspect_ai" / "log-sets" / "set2"
    out = tmp_path / "out"
    assert main(["report", "--no-bayes", str(logs), "--out", str(out)]) == 0
    table = pd.read_parquet(out / "data" / "estimates.parquet")
    floor = table[table["measure"] == "competence_floor"].set_index("model")
    assert floor["n"].tolist() == [50, 50]
    assert floor["n_clusters"].tolist() == [10, 10]
    width = floor["ci_high"] - floor["ci_low"]
    assert (width > 0.5).all(), "five items per class cannot give a narrow interval"


def test_what_reads_logs_does_not_wait_for_what_estimates() -> None:
    """Catches samplers imported by the stages that read: they are loaded while reading, and would be before it."""
    code = (
        "import sys, analysis.report.write, analysis.studies.prepared\n"
        "print(sorted({'pymc', 'pytensor', 'nutpie', 'arviz_stats', 'scipy.stats'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
