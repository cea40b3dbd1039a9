"""`evenhand diff` of two reports with kept fits: posterior contrasts, and a reason where there are none."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.cache import keep_fit
from analysis.bayes.result import COUNTS, AnswerBiasFit
from analysis.bayes.summaries import accuracy_table
from analysis.cli.main import main

BEFORE = {"a": (0.85, 0.55), "b": (0.7, 0.7)}
AFTER = {"b": (0.7, 0.7), "a": (0.6, 0.9)}


def write_logs(folder: Path, models: dict[str, tuple[float, float]], seed: int, *, items: int = 80) -> Path:
    """Models with the given accuracy where yes and where no is right, each question asked once."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    rows = [
        {"model": model, "item": f"{gold}{i}", "gold": gold, "answer": gold if rng.random() < rate else other}
        for model, rates in models.items()
        for gold, other, rate in (("yes", "no", rates[0]), ("no", "yes", rates[1]))
        for i in range(items)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def keep_written_fit(report: Path, seed: int) -> None:
    """A fit with beta posteriors of the counts as its draws, kept as the report would keep one."""
    data = report / "data"
    counts = pd.read_parquet(data / "unit_sums.parquet").groupby(["model", "cell"])[["n_planned", "n_correct"]].sum()
    right = counts["n_correct"].unstack("cell")[["gold_yes", "gold_no"]]
    wrong = counts["n_planned"].unstack("cell")[["gold_yes", "gold_no"]] - right
    accuracy = np.random.default_rng(seed).beta(right + 0.5, wrong + 0.5, size=(4, 400, *right.shape))
    table = accuracy_table(accuracy, tuple(right.index), ("gold_yes", "gold_no"))
    table = table.assign(task="", target="these", uncertain="incorrect", likelihood=COUNTS, headline=True)
    key, empty = f"written{seed}", pd.DataFrame({"stage": []})
    glance = {"task": "", "headline": COUNTS, "fast": True, "key": key}
    draws = {f"accuracy: {COUNTS}, these, incorrect": accuracy, "hyper: yes": np.zeros((4, 400, 1))}
    fit = AnswerBiasFit(*("", "ok", "", table, empty, glance, empty, empty, empty, empty, ()), draws)
    keep_fit(data / "fits", key, fit)
    pd.DataFrame([{**glance, "status": "ok", "reason": ""}]).to_parquet(data / "bayesian_fits.parquet")
    table.to_parquet(data / "bayesian_estimates.parquet")
    manifest = json.loads((report / "manifest.json").read_text(encoding="utf-8"))
    manifest["settings"]["bayes"] = "fast"
    files = ("bayesian_fits.parquet", "bayesian_estimates.parquet", f"fits/{key}/fit.json")
    manifest["outputs"] |= {f"data/{name}": "" for name in files}
    (report / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two reports with written fits: model `a` leans to yes before and to no after, `b` stays."""
    place = tmp_path_factory.mktemp("contrasts")
    made = []
    for name, models, seed in (("before", BEFORE, 1), ("after", AFTER, 2)):
        logs, out = write_logs(place / f"{name}_logs", models, seed), place / name
        assert main(["report", "--no-pdf", "--quiet", "--no-bayes", str(logs), "--out", str(out)]) == 0
        keep_written_fit(out, seed)
        made.append(out)
    return made[0], made[1]


def diff(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    capsys.readouterr()
    assert main(["diff", *map(str, args)]) == 0
    return capsys.readouterr().out


def test_differences_are_those_of_both_reports_beside_paired_tests(
    reports: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a model's draws taken for another's, before minus after, and tests of other quantities."""
    found = json.loads(diff(capsys, *reports, "--json"))
    rows = {(row["before_model"], row["measure"]): row for row in found["contrasts"]}
    assert set(rows) == {(m, q) for m in "ab" for q in ("competence_floor", "balanced_accuracy", "answer_bias")}
    tables = [pd.read_parquet(r / "data" / "bayesian_estimates.parquet") for r in reports]
    sides = [table[table["headline"]].set_index(["model", "measure"]) for table in tables]
    plain = [pd.read_parquet(r / "data" / "estimates.parquet").set_index(["model", "measure"]) for r in reports]
    for key, row in rows.items():
        assert (row["before"], row["after"]) == (sides[0].loc[key, "estimate"], sides[1].loc[key, "estimate"])
        assert row["estimate"] == pytest.approx(row["after"] - row["before"], abs=0.02)
        variance = sum(side.loc[key, "posterior_sd"] ** 2 for side in sides)
        assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * 1.96 * variance**0.5, rel=0.15)
        assert row["paired_estimate"] == pytest.approx(plain[1].loc[key, "estimate"] - plain[0].loc[key, "estimate"])
    bias = rows["a", "answer_bias"]
    assert (bias["posterior_says"], bias["paired_says"], bias["agreement"]) == ("lower", "lower", "agree")
    assert bias["p_after_higher"] < 0.001
    assert rows["b", "answer_bias"]["posterior_says"] == "open"
    assert any("independent" in note for note in found["notes"])
    assert any("quick look" in note for note in found["notes"])


def test_the_terminal_has_the_table_and_the_same_every_time(
    reports: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches contrasts in one form of output alone, and a pairing of draws without a seed."""
    first = diff(capsys, *reports)
    assert "Posterior differences beside paired tests" in first
    assert "P(beyond ±0.02)" in first
    assert "P(beyond ±0.2)" in diff(capsys, *reports, "--rope", "0.2")
    assert "what items share between both sides is not used" in first
    assert first == diff(capsys, *reports)
    assert first != diff(capsys, *reports, "--seed", "1")


def without_bayes(report: Path) -> None:
    path = report / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["settings"]["bayes"] = "none"
    manifest["outputs"] = {k: v for k, v in manifest["outputs"].items() if "bayesian" not in k and "fits" not in k}
    path.write_text(json.dumps(manifest), encoding="utf-8")


def other_version(report: Path) -> None:
    path = report / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["versions"]["evenhand"] = "0.0.9"
    path.write_text(json.dumps(manifest), encoding="utf-8")


def failed(report: Path) -> None:
    path = report / "data" / "bayesian_fits.parquet"
    pd.read_parquet(path).assign(status="failed", reason="R-hat 1.2 (limit 1.01)").to_parquet(path)


def damaged(report: Path) -> None:
    [table] = (report / "data" / "fits").glob("*/table.parquet")
    table.write_bytes(b"changed")


def other_weights(report: Path) -> None:
    path = report / "data" / "estimates.parquet"
    pd.read_parquet(path).assign(uncertain="excluded").to_parquet(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without_bayes, "after, the report was made without Bayesian columns (--no-bayes)"),
        (other_version, "after, its fit was kept by version 0.0.9"),
        (failed, "after, its fit is not shown, R-hat 1.2 (limit 1.01)"),
        (damaged, "after, its kept fit is missing or damaged"),
        (other_weights, "the treatment of uncertain answers is incorrect before and excluded after"),
    ],
)
def test_without_a_kept_fit_there_is_the_reason(
    change: Callable[[Path], None],
    reason: str,
    reports: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Catches a traceback, a contrast of a failed or foreign fit, and its silent absence."""
    after = Path(shutil.copytree(reports[1], tmp_path / "after"))
    change(after)
    found = json.loads(diff(capsys, reports[0], after, "--json"))
    assert found["contrasts"] == []
    [note] = [note for note in found["notes"] if "No posterior contrasts" in note]
    assert reason.split("is incorrect")[0] in note
    assert reason.rsplit(" ", 1)[1].strip("'") in note
    out = diff(capsys, reports[0], after)
    assert "No posterior contrasts" in out
    assert "Posterior differences" not in out


def test_one_fit_is_not_contrasted_with_itself(reports: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Catches the same responses counted twice as independent ones."""
    assert "both reports keep the same fit" in diff(capsys, reports[0], reports[0])


def test_logs_say_that_they_hold_no_fit(reports: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a missing half of the comparison without a word."""
    logs = [report.with_name(f"{report.name}_logs") for report in reports]
    assert "No posterior contrasts: logs hold no fits" in diff(capsys, *logs)
    assert any("hold no fits" in note for note in json.loads(diff(capsys, *logs, "--json"))["notes"])
