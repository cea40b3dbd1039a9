"""Position bias in a report on multiple choice: what is said, what is printed, and when nothing is."""

import json

import numpy as np
import pytest

from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

SETTINGS = RunSettings(resampling=Resampling(flips=500, resamples=200))


def write(folder, rows) -> None:
    (folder / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """One model that knows, one that answers B; some replies of the first cannot be read."""
    folder = tmp_path_factory.mktemp("options")
    rng = np.random.default_rng(6)
    rows = []
    for item in range(120):
        gold = "ABCD"[item % 4]
        given = gold if rng.random() < 0.8 else str(rng.choice(list("ABCD")))
        unread = {"output": "It depends on what is meant."} if item < 3 else {"answer": given}
        rows.append({"model": "knows", "item": f"q{item}", "gold": gold} | unread)
        rows.append({"model": "says B", "item": f"q{item}", "gold": gold, "answer": "B"})
    write(folder, rows)
    return run_report([folder], SETTINGS)


def test_floor_and_lean_are_said(content) -> None:
    section = next(s for s in content.sections if s.title.endswith("position bias"))
    assert section.lead == (
        "120 questions with the options A, B, C, D. Chance is 0.250.",
        "The accuracy of the worst option is shown above chance for 1 of 2 models, below for 1; 0 are undecided.",
        "Answers are shown to name some options more often than these are right for 1 of 2 models.",
    )
    assert "Answers lean to an option: says B (B +75 points)." in content.summary


def test_accuracy_is_that_of_the_report(content) -> None:
    """Balanced right answers: the mean over options is the accuracy. Catches unread replies left out."""
    accuracy = content.data["estimates"].query("measure == 'accuracy'").set_index("model")["estimate"]
    floors = content.data["option_floors"].set_index("model")
    for model in ("knows", "says B"):
        assert floors.loc[model, "balanced_accuracy"] == pytest.approx(accuracy[model])
    assert floors["n_items"].tolist() == [120, 120]


def test_words_are_no_options(tmp_path) -> None:
    """Catches a table of a hundred rows for answers that are names."""
    names = [f"word{i}" for i in range(30)]
    write(tmp_path, [{"model": "m", "item": f"q{i}", "gold": w, "answer": names[i - 1]} for i, w in enumerate(names)])
    study = tmp_path / "study.toml"
    study.write_text('[study]\nkind = "choice"\n')
    found = run_report([tmp_path], SETTINGS)
    assert any("no position bias is estimated: there are 30 labels" in said for said in found.limits)
    assert "option_bias" not in found.data


def test_f1_of_options_is_printed(content) -> None:
    """One that always answers B has the F1 of a constant. Catches rows of the wrong model, and options out of order."""
    table = next(t for t in content.tables if t.spec.name.startswith("option_f1"))
    rows = table.rows.set_index("model")
    assert [rows.loc["says B", f"f1_{k}"] for k in range(4)] == pytest.approx([0, 2 * 30 / (120 + 30), 0, 0])
    assert rows.loc["says B", "macro_f1"] == pytest.approx(0.1)
    assert rows.loc["knows", "micro_f1"] > 0.75


def test_lean_is_drawn_with_its_numbers_and_words(content) -> None:
    """Catches a figure without data, or of other numbers than the table's."""
    (figure,) = next(s for s in content.sections if s.title.endswith("position bias")).figures
    kept = content.data["option_bias"].set_index(["model", "option"])["estimate"].to_dict()
    assert figure.data.set_index(["model", "option"])["estimate"].to_dict() == kept
    assert "The largest lean is +0.75 to B (says B)" in figure.alt
