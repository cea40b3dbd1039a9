"""The accuracy model in a report: shown for choices, said to be absent for graded scores, absent without Bayes."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import analysis as eh
from analysis.cli.main import main


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("choices")
    rng = np.random.default_rng(2)
    rows = []
    for model, level in (("weak", -0.5), ("strong", 1.0)):
        for i in range(40):
            gold = "ABCD"[i % 4]
            given = gold if rng.random() < 1 / (1 + np.exp(-level)) else "ABCD"[(i + 1) % 4]
            rows.append({"model": model, "item": f"q{i:02d}", "gold": gold, "output": given, "item_kind": "choice"})
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_choices_get_both_columns_and_no_bayes_leaves_them_out(logs: Path, tmp_path: Path) -> None:
    """Catches a part that no report prints, and one that --no-bayes does not stop."""
    out = tmp_path / "out"
    assert main(["report", "--no-pdf", "--fast", str(logs), "--out", str(out)]) == 0
    page = (out / "index.html").read_text()
    assert "Accuracy by two schools" in page
    assert "quick look" in page
    table = (out / "tables" / "accuracy_schools.csv").read_text()
    assert "strong" in table
    assert (out / "data" / "accuracy_bayes_contrasts.parquet").exists()
    plain = tmp_path / "plain"
    assert main(["report", "--no-pdf", "--no-bayes", str(logs), "--out", str(plain)]) == 0
    assert "Accuracy by two schools" not in (plain / "index.html").read_text()


def test_python_gives_what_the_report_prints(logs: Path, tmp_path: Path) -> None:
    """Catches a second path to the fit that counts or draws differently, and draws of which no tree can be made."""
    out = eh.report(logs, out=tmp_path / "report", fast=True)
    with eh.read_logs(logs) as read:
        fit = eh.fit_accuracy(read, fast=True)
    kept = pd.read_parquet(out / "data" / "accuracy_bayes_contrasts.parquet")
    assert kept["estimate"].tolist() == fit.contrasts["estimate"].tolist()
    posterior = eh.draws(fit)["posterior"]
    medians = posterior["accuracy"].median(("chain", "draw"))
    own = fit.table[(fit.table["measure"] == "accuracy") & (fit.table["target"] == "these")]
    estimates = own.set_index("model")["estimate"]
    assert {m: float(medians.sel(model=m)) for m in ("weak", "strong")} == pytest.approx(estimates.to_dict())
    assert posterior["sd_items"].dims == ("chain", "draw")
    with eh.read_logs(logs, uncertain="half") as read, pytest.raises(eh.AnalysisError, match="half right"):
        eh.fit_accuracy(read, fast=True)


def test_graded_scores_get_a_sentence_instead(tmp_path: Path) -> None:
    """Catches graded scores taken for right answers, or left out without a word."""
    logs = tmp_path / "logs"
    logs.mkdir()
    rows = [{"model": "m", "item": str(i), "score_value": 0.1 * (i % 7), "output": "x"} for i in range(20)]
    (logs / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["report", "--no-pdf", "--fast", str(logs), "--out", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "index.html").read_text()
    assert "the model counts right answers, and graded scores are none" in page
