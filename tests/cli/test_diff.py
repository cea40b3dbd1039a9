"""``evenhand diff``: what it says of a known change, its exit status, and one message for each impossible request."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from analysis.cli.main import main

FIELDS = ("model", "task", "item", "unit", "gold", "answer", "output")


def write(path: Path, *, accuracy: float, model: str = "m", seed: int = 1, units: int = 30, **fixed: str) -> Path:
    """A log of four items per unit, right with the given probability."""
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(units):
        for k, gold in enumerate(("yes", "no", "yes", "no")):
            right = rng.random() < accuracy
            answer = gold if right else {"yes": "no", "no": "yes"}[gold]
            rows.append({"model": model, "item": f"{unit}-{k}", "unit": f"u{unit}", "gold": gold, "answer": answer})
    return write_rows(path, [row | fixed for row in rows])


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [name for name in FIELDS if any(name in row for row in rows)])
        writer.writeheader()
        writer.writerows(rows)
    return path


def diff(capsys: pytest.CaptureFixture, *args: object) -> tuple[int, str, str]:
    status = main(["diff", *map(str, args)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_a_fall_is_found_counted_and_stopped_by_the_gate(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches changes counted the wrong way round, and a gate that never fails."""
    a, b = write(tmp_path / "a.csv", accuracy=0.95), write(tmp_path / "b.csv", accuracy=0.6, seed=2)
    status, out, _ = diff(capsys, a, b, "--json", "--gate", "competence_floor=-0.02")
    found = json.loads(out)
    assert status == 1
    assert found["gate"]["failed"] is True
    rows = {row["measure"]: row for row in found["comparisons"]}
    assert rows["accuracy"]["verdict"] == rows["competence_floor"]["verdict"] == "worse"
    (changes,) = found["changes"]
    answers = [{r["item"]: r["answer"] == r["gold"] for r in csv.DictReader(p.open())} for p in (a, b)]
    assert changes["right_wrong"] == sum(answers[0][i] and not answers[1][i] for i in answers[0])
    assert changes["wrong_right"] == sum(answers[1][i] and not answers[0][i] for i in answers[0])
    assert changes["questions"] == 120
    assert len(found["questions"]) == 120 - changes["stayed"]
    assert diff(capsys, b, a, "--gate", "competence_floor=-0.02")[0] == 0
    status, out, _ = diff(capsys, a, b)
    assert status == 0, "a change alone is no failure"
    assert "worse" in out
    assert "Right → wrong" in out


def test_the_gate_of_the_study_holds_and_its_mode(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches [gate] being ignored, and `possible` that passes what was not ruled out."""
    for name, seed in (("a", 1), ("b", 2)):
        write(tmp_path / name / "log.csv", accuracy=0.8, seed=seed, units=8)
        (tmp_path / name / "study.toml").write_text("[gate]\naccuracy = -0.01\n", encoding="utf-8")
    a, b = tmp_path / "a", tmp_path / "b"
    status, out, _ = diff(capsys, a, b)
    assert (status, "gate: passed" in out) == (0, True)
    status, out, _ = diff(capsys, a, b, "--gate-mode", "possible")
    assert (status, "gate: FAILED" in out) == (1, True)
    (b / "study.toml").write_text("[gate]\naccuracy = -0.2\n", encoding="utf-8")
    status, _, err = diff(capsys, a, b)
    assert (status, "[gate] differs between the two study.toml" in err) == (2, True)


def test_models_of_other_names_belong_together_where_said(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches names with an equals sign or markup cut or acted upon."""
    names = ["a=b", "<i>x</i>\x1b[31m"]
    logs = [write(tmp_path / f"{k}.csv", accuracy=0.8, model=name, seed=k, units=6) for k, name in enumerate(names)]
    status, out, _ = diff(capsys, *logs)
    assert status == 0
    assert "\x1b" not in out
    status, out, _ = diff(capsys, *logs, "--models", f"a=b={names[1]}", "--json")
    assert status == 0
    assert json.loads(out)["comparisons"][0]["after_model"] == names[1]
    status, _, err = diff(capsys, *logs, "--models", "a=c")
    assert (status, "write before=after" in err) == (2, True)


@pytest.mark.parametrize(
    ("before", "after", "args", "said"),
    [
        ({"task": "x"}, {"task": "y"}, (), "no task in common"),
        ({"units": 1}, {"units": 1}, ("--rope", "0"), "must lie between 0 and 1"),
        ({}, {}, ("--gate", "floor=1"), "write MEASURE=NUMBER"),
        ({}, {}, ("--gate", "accuracy=x"), "write MEASURE=NUMBER"),
        ({}, {}, ("--gate", "answer_bias=0"), "neither direction is worse"),
        ({}, {}, ("--gate-mode", "shown"), "without a gate"),
    ],
)
def test_impossible_requests_get_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture, before: dict, after: dict, args: tuple, said: str
) -> None:
    """Catches a traceback, or a comparison of nothing that ends with 0."""
    defaults = {"accuracy": 0.8, "units": 4}
    a, b = write(tmp_path / "a.csv", **(defaults | before)), write(tmp_path / "b.csv", **(defaults | after))
    status, _, err = diff(capsys, a, b, *args)
    assert (status, said in err, "Traceback" in err) == (2, True, False), err


def test_nothing_in_common_gets_one_message(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches models or questions that do not match and are compared all the same."""
    rows = [{"model": m, "item": i, "gold": "yes", "answer": "yes"} for m in ("m", "n") for i in ("1", "2")]
    a = write_rows(tmp_path / "a.csv", rows)
    b = write_rows(tmp_path / "b.csv", [row | {"model": "other " + row["model"]} for row in rows])
    status, _, err = diff(capsys, a, b)
    assert (status, "no model in common" in err) == (2, True)
    c = write_rows(tmp_path / "c.csv", [row | {"item": row["item"] + "'"} for row in rows])
    status, _, err = diff(capsys, a, c)
    assert (status, "no question was answered in both: 2 asked after only; 2 asked before only" in err) == (2, True)


def test_one_shared_item_is_compared_without_a_test(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches NaN printed, or a verdict from one item."""
    rows = [{"model": "m", "item": "1", "gold": "yes", "answer": "yes"}]
    a = write_rows(tmp_path / "a.csv", rows)
    b = write_rows(tmp_path / "b.csv", [rows[0] | {"answer": "no"}])
    status, out, _ = diff(capsys, a, b, "--json")
    assert status == 0
    assert {row["verdict"] for row in json.loads(out)["comparisons"]} <= {"not tested", "undecided", "unchanged"}
    status, out, _ = diff(capsys, a, b)
    assert (status, "nan" in out.lower()) == (0, False)
    assert diff(capsys, a, b, "--gate", "accuracy=-0.02", "--gate-mode", "possible")[0] == 1


def test_reports_are_compared_by_their_data(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches settings or inputs that differ and are not named, and a report beside logs."""
    a, b = write(tmp_path / "a.csv", accuracy=0.9, units=6), write(tmp_path / "b.csv", accuracy=0.5, units=6)
    outs = []
    for name, log, extra in (("one", a, ()), ("two", b, ("--uncertain", "excluded"))):
        outs.append(tmp_path / name)
        assert main(["report", "--no-bayes", "--no-pdf", "--quiet", str(log), "--out", str(outs[-1]), *extra]) == 0
    capsys.readouterr()
    status, out, _ = diff(capsys, outs[0], outs[0])
    assert (status, "No number changed beyond rounding" in out, "Same settings" in out) == (0, True, True)
    status, out, _ = diff(capsys, *outs, "--json")
    found = json.loads(out)
    choices = {(row["kind"], row["name"]): row for row in found["choices"]}
    assert choices["setting", "uncertain"]["after"] == "excluded"
    assert ("input", "b.csv") in choices
    assert any(row["data"] == "floor_tests" for row in found["numbers"])
    status, out, _ = diff(capsys, *outs)
    assert (status, "Reports hold no questions" in out, "--no-bayes" in out) == (0, True, True)
    status, _, err = diff(capsys, outs[0], b)
    assert (status, "is a report and" in err) == (2, True)
    status, _, err = diff(capsys, *outs, "--gate", "accuracy=-0.02")
    assert (status, "no questions" in err) == (2, True)


def test_a_gate_that_adjusts_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches `adjusted by None`, and bias printed as if it had no direction."""
    a, b = write(tmp_path / "a.csv", accuracy=0.9), write(tmp_path / "b.csv", accuracy=0.9, seed=3)
    _, out, _ = diff(capsys, a, b, "--gate", "accuracy=-0.5", "--gate-mode", "possible")
    assert "None" not in out
    assert "p: not\nadjusted for multiple tests" in out or "p: not adjusted for multiple tests" in out
    (line,) = [line for line in out.splitlines() if line.startswith("Answer bias")]
    assert {value[0] for value in line.split()[2:4]} <= {"+", "\u2212"}
    (accuracy,) = [line for line in out.splitlines() if line.startswith("Accuracy")]
    assert accuracy.split()[1][0] == "0"
    assert "tested\ntwice" in out or "tested twice" in out
    assert "Verdict worse" not in out, "a legend of what no row has"


@pytest.mark.parametrize(
    ("column", "values", "reason"),
    [("probability", ("0.2", "0.9"), "responses state probabilities"), ("logged_score", ("0.25", "0.7"), "scores")],
)
def test_tasks_without_right_and_wrong_are_refused_for_that_reason(
    column: str, values: tuple[str, str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    """Catches `no model in common` for the same model on both sides."""
    rows = [f"m,q{i},{values[i % 2]}" for i in range(12)]
    (tmp_path / "a.csv").write_text(f"model,item,{column}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    status, _, err = diff(capsys, tmp_path / "a.csv", tmp_path / "a.csv")
    assert status == 2
    assert "no model in common" not in err
    assert "diff compares tasks whose answers are right or wrong" in err
    assert reason in err
