"""`evenhand report` with the Bayesian columns: kept fits, quick looks, priors, failures, real logs."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.result import AnswerBiasFit
from analysis.cli.main import main
from analysis.report.spec import Table
from analysis.report.table_files import TABLE_FORMATS
from analysis.studies import bayesian
from analysis.studies.bayesian_settings import MOST_TASKS, bayesian_by_task
from analysis.studies.context import BayesianSettings
from analysis.studies.run import RunSettings, run_report
from tests.studies.golden_tables import assert_as_before, masked


def write_logs(folder: Path, *, items: int = 60) -> Path:
    """Four models with interior accuracies on items of their own gold answer, each asked once."""
    rng = np.random.default_rng(8)
    folder.mkdir(parents=True)
    rows = []
    for model, (yes, no) in {"a": (0.8, 0.55), "b": (0.7, 0.7), "c": (0.45, 0.75), "d": (0.6, 0.5)}.items():
        for gold, other, rate in (("yes", "no", yes), ("no", "yes", no)):
            right = rng.random(items) < rate
            rows += [
                {"model": model, "item": f"{gold}{i}", "gold": gold, "output": gold if r else other}
                for i, r in enumerate(right)
            ]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Logs, and a report on them that is a quick look."""
    place = tmp_path_factory.mktemp("fast")
    logs, out = write_logs(place / "logs"), place / "out"
    assert main(["report", "--no-pdf", str(logs), "--out", str(out), "--fast"]) == 0
    return logs, out


def files(out: Path) -> dict[str, bytes]:
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}


def copied(fast: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    return fast[0], Path(shutil.copytree(fast[1], tmp_path / "out"))


def test_a_second_report_samples_nothing_and_is_the_same(
    fast: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches kept fits lost when a report is replaced, and tables that differ between sampled and kept fits."""
    logs, out = copied(fast, tmp_path)

    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("sampled again")

    monkeypatch.setattr("analysis.bayes.attempt.sample", refuse)
    for _ in range(2):
        assert main(["report", "--no-pdf", str(logs), "--out", str(out), "--fast", "--again"]) == 0
        first, again = files(fast[1]), files(out)
        assert first.keys() == again.keys()
        assert {name for name in first if first[name] != again[name]} <= {"manifest.json"}
    assert any(name.startswith("data/fits/") for name in first)


def test_both_columns_are_in_the_report_and_a_quick_look_says_so(fast: tuple[Path, Path]) -> None:
    """Catches few draws passed off as a full fit, and a column of another quantity beside the frequentist one."""
    out = fast[1]
    table = pd.read_parquet(out / "data" / "schools.parquet").set_index(["model", "measure"])
    estimates = pd.read_parquet(out / "data" / "estimates.parquet").set_index(["model", "measure"])
    assert len(table) == 4 * 5
    for key, row in table.iterrows():
        assert row["estimate"] == estimates.loc[key, "estimate"]
        assert abs(row["pooled_estimate"] - row["estimate"]) < estimates.loc[key, "std_error"]
    assert set(table["decision"][:, "competence_floor"]) <= {"above", "below", "undecided"}
    for name in ("schools", "posterior_floor", "sampler_gates", "prior_sensitivity", "predictive_checks"):
        assert "quick look" in (out / "tables" / f"{name}.md").read_text(), name
    assert "(--fast)" in (out / "index.html").read_text()
    names = {path.stem for path in (out / "figures").glob("*.svg")}
    assert {"forest_floor", "forest_bias", "rank_plot", "predictive_check"} <= names
    assert json.loads((out / "manifest.json").read_text())["settings"]["bayes"] == "fast"


def test_a_damaged_kept_fit_is_said_and_made_again(fast: tuple[Path, Path], tmp_path: Path) -> None:
    """Catches a crash on, or trust in, a file that somebody changed."""
    logs, out = copied(fast, tmp_path)
    [table] = (out / "data" / "fits").glob("*/table.parquet")
    table.write_bytes(b"changed")
    assert main(["report", "--no-pdf", str(logs), "--out", str(out), "--fast"]) == 0
    assert "kept fit cannot be used" in (out / "index.html").read_text()
    assert (out / "tables" / "schools.csv").read_bytes() == (fast[1] / "tables" / "schools.csv").read_bytes()


def test_kept_fits_of_other_versions_are_said(
    fast: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a second run that samples for minutes without a word, since a package changed."""
    logs, out = copied(fast, tmp_path)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    manifest["versions"]["nutpie"] = "0.1"
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert main(["report", "--no-pdf", str(logs), "--out", str(out), "--fast"]) == 0
    assert "were made by other versions (nutpie 0.1, now " in capsys.readouterr().out
    assert main(["report", "--no-pdf", str(logs), "--out", str(out), "--fast", "--again"]) == 0
    assert "other versions" not in capsys.readouterr().out


def test_no_bayes_leaves_the_columns_out(fast: tuple[Path, Path], tmp_path: Path) -> None:
    """Catches a switch that still samples, or half a section."""
    logs, out = fast[0], tmp_path / "out"
    assert main(["report", "--no-pdf", str(logs), "--out", str(out), "--no-bayes"]) == 0
    assert not [name for name in files(out) if "schools" in name or "forest" in name or "fits" in name]
    assert json.loads((out / "manifest.json").read_text())["settings"]["bayes"] == "none"


def test_priors_of_the_study_reach_the_fit_and_unknown_ones_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches [priors] that are read and not used, and a misspelt one that is ignored."""
    logs = write_logs(tmp_path / "logs", items=20)
    given = []

    def stop(*args: object, priors: object, **options: object) -> AnswerBiasFit:
        given.append(priors)
        raise RuntimeError("enough")

    monkeypatch.setattr(bayesian, "fit_answer_bias", stop)
    (logs / "study.toml").write_text("[priors]\nyes_sd = 0.25\n")
    assert main(["report", "--no-pdf", str(logs), "--out", str(tmp_path / "out")]) == 0
    assert given[0].yes_sd == 0.25
    assert "no Bayesian columns, the model could not be fitted: enough" in (
        (tmp_path / "out" / "index.html").read_text().replace("No Bayesian", "no Bayesian")
    )
    (logs / "study.toml").write_text("[priors]\nyes_sdd = 0.25\n")
    assert main(["report", "--no-pdf", str(logs), "--out", str(tmp_path / "other")]) == 2
    assert "yes_sdd" in capsys.readouterr().err


def test_a_fit_that_fails_its_gates_is_shown_as_failed(
    fast: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches numbers of a failed sampler in any table or figure, and a report that dies of them."""
    real: Callable[..., AnswerBiasFit] = bayesian.fit_answer_bias
    reason = "R-hat 1.3 (limit 1.01) in answer_bias of a"
    monkeypatch.setattr(
        bayesian, "fit_answer_bias", lambda *a, **o: replace(real(*a, **o), status="failed", reason=reason)
    )
    logs, out = copied(fast, tmp_path)
    assert main(["report", "--no-pdf", str(logs), "--out", str(out), "--fast", "--again"]) == 0
    table = pd.read_parquet(out / "data" / "schools.parquet")
    assert table["pooled_estimate"].isna().all()
    assert table["unpooled_estimate"].notna().all()
    assert set(table["verdict"]) == {"not shown"}
    page = (out / "index.html").read_text()
    assert "not shown (MCMC): R-hat 1.3 (limit 1.01)" in page
    assert not (out / "tables" / "posterior_floor.md").exists()
    assert not (out / "data" / "bayesian_estimates.parquet").exists()
    assert (out / "tables" / "sampler_gates.md").exists()


def test_a_task_without_a_floor_is_not_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches minutes of sampling for a task in which nothing can be compared, and a crash of its report."""
    logs = tmp_path / "logs"
    logs.mkdir()
    rows = [{"model": "m", "item": str(i), "gold": "yes", "output": "Yes"} for i in range(9)]
    (logs / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(bayesian, "fit_answer_bias", None)
    assert main(["report", "--no-pdf", str(logs), "--out", str(tmp_path / "out")]) == 0
    assert "No Bayesian columns: no model has responses in every cell" in (tmp_path / "out" / "index.html").read_text()


def test_many_tasks_are_fitted_up_to_a_stated_number() -> None:
    """Catches an hour of sampling for fifty small tasks, and tasks left out without a word."""

    class Design:
        def __init__(self, number: int, cells: str | None) -> None:
            self.task, self.n_rows, self.cells = f"task {number:02d}", 100 + number, cells

    designs = [Design(i, "gold" if i else None) for i in range(MOST_TASKS + 4)]
    found = bayesian_by_task(BayesianSettings(), designs)  # type: ignore[arg-type]
    skipped = [task for task, settings in found.items() if settings is not None and settings.skipped]
    assert skipped == ["task 01", "task 02", "task 03"]
    assert "of 11 yes/no tasks the 8" in found["task 01"].skipped  # type: ignore[union-attr]
    plain = [Design(i, None) for i in range(MOST_TASKS + 2)]
    found_plain = bayesian_by_task(BayesianSettings(), plain)  # type: ignore[arg-type]
    assert [t for t, s in found_plain.items() if s is not None and s.skipped] == ["task 00", "task 01"]
    assert "--task" in found["task 01"].skipped  # type: ignore[union-attr]
    few = bayesian_by_task(BayesianSettings(), designs[:MOST_TASKS])  # type: ignore[arg-type]
    assert not any(settings.skipped for settings in few.values() if settings is not None)


def test_on_real_logs_the_schools_agree(shared: Path, tmp_path: Path) -> None:
    """Catches columns of different rows on two real models (accuracies .10/.94 and .14/1.00 on 100 items)."""
    logs = shared / "logs" / "inspect_eval" / "UKGovernmentBEIS+inspect_ai" / "log-sets" / "set"
    out = tmp_path / "out"
    assert main(["report", "--no-pdf", str(logs), "--out", str(out)]) == 0
    table = pd.read_parquet(out / "data" / "schools.parquet")
    shown = table[table["measure"].isin(["competence_floor", "answer_bias"])]
    assert len(shown) == 4
    assert (shown["decision"] == shown["pooled_decision"]).all()
    assert set(shown["decision"]) == {"below"}
    assert (shown["difference_se"].abs() < 0.5).all()
    differing = table[table["verdict"].isin(["explained", "differ"])]
    assert (differing["words"] != "").all()
    assert "decide alike on 4 of 4 estimates" in (out / "index.html").read_text()
    gates = pd.read_parquet(out / "data" / "bayesian_gates.parquet")
    assert gates["passed"].all()


def test_a_selected_task_is_fitted_among_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches `--task` that cannot choose a small task, because tasks outside the selection take its place."""
    logs = tmp_path / "logs"
    logs.mkdir()
    rows = [
        {"model": "m", "task": f"t{task}", "item": f"{gold}{i}", "gold": gold, "output": gold}
        for task in range(2)
        for gold in ("yes", "no")
        for i in range(2 + task)
    ]
    (logs / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = []

    def stop(*args: object, **options: object) -> AnswerBiasFit:
        asked.append(options)
        raise RuntimeError("enough")

    monkeypatch.setattr(bayesian, "fit_answer_bias", stop)
    monkeypatch.setattr("analysis.studies.bayesian_settings.MOST_TASKS", 1)
    command = ["report", "--no-pdf", str(logs), "--out", str(tmp_path / "out"), "--task", "t0"]
    assert main(command) == 0
    assert len(asked) == 1


def test_structure_of_the_tables_is_as_before(fast: tuple[Path, Path]) -> None:
    """Catches a lost column, label, unit, note or row in any format; drawn numbers are masked."""
    logs, out = fast
    settings = RunSettings(bayes=BayesianSettings(fast=True, kept=out / "data" / "fits"))
    section = next(s for s in run_report([logs], settings).sections if any(_is_posterior(t) for t in s.tables))
    for ending in TABLE_FORMATS:
        assert_as_before([masked(table) for table in section.tables], "bayesian-answer-bias", ending)


def _is_posterior(table: Table) -> bool:
    return table.spec.name.startswith("posterior_floor")
