"""Every table that reports and differences print, in every format, on small logs."""

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import pytest

from analysis.report.spec import Table
from analysis.report.table_files import TABLE_FORMATS
from analysis.studies.context import Resampling
from analysis.studies.difference import logs_difference
from analysis.studies.difference_tables import difference_tables
from analysis.studies.prepared import RunSettings, prepared
from analysis.studies.run import run_report
from tests.studies.golden_tables import assert_as_before
from tests.studies.preset_reports import SIMULATED, preset_report

SETTINGS = RunSettings(resampling=Resampling(flips=200, resamples=200))
STRATEGIES = """
[[contrast]]
factor = "strategy"
levels = ["cot", "plain"]
"""
Rows = list[dict[str, object]]


def choice_rows(rng: np.random.Generator) -> Rows:
    """Two tasks with options A to D: one model that knows, one that answers B, one that mostly guesses."""
    rows: Rows = []
    for task, item in ((task, item) for task in ("botany", "law") for item in range(40)):
        gold = "ABCD"[item % 4]
        guess = str(rng.choice(list("ABCD")))
        for model, given in (("knows", gold if item % 7 else guess), ("says B", "B"), ("guesses", guess)):
            read = {"output": "It depends."} if (model, item) == ("guesses", 5) else {"answer": given}
            rows.append({"task": task, "model": model, "item": f"q{item}", "gold": gold} | read)
    return rows


def scored_rows(rng: np.random.Generator) -> Rows:
    """Scores of a binary and of a graded task under two strategies, some of them missing, asked twice."""
    rows: Rows = []
    for task in ("binary", "graded"):
        for model, item in ((m, q) for m in range(3) for q in range(24)):
            base = rng.random() < 0.4 + 0.1 * model
            for strategy, right in (("plain", base), ("cot", base or item % 4 == 0)):
                score = int(right) if task == "binary" else 0.25 + 0.5 * right
                row = {"task": task, "model": f"m{model}-{8 * (model + 1)}b", "item": f"q{item}", "strategy": strategy}
                rows += [row | {"sample": str(s), "logged_score": score} for s in range(2)]
    rows[3] = {k: v for k, v in rows[3].items() if k != "logged_score"} | {"status": "errored"}
    return rows


def token_rows(rng: np.random.Generator) -> Rows:
    """Probabilities of the token yes beside answers, one of them missing; templates, forms and sizes."""
    rows: Rows = []
    for item in range(48):
        gold = ("yes", "no")[item % 2]
        z = rng.normal(1.0 if gold == "yes" else -1.0, 1.0)
        for model, lean in (("even-7b", 0.0), ("even-13b", 0.5), ("leaning", 2.0)):
            p = float(1 / (1 + np.exp(-z - lean)))
            row = {"model": model, "item": f"q{item}", "gold": gold, "form": f"form {item // 2 % 3}"}
            rows.append(row | {"answer": "yes" if p > 0.5 else "no", "p_yes": p})
    rows[0].pop("p_yes")
    return rows


def probability_rows(rng: np.random.Generator) -> Rows:
    """Stated probabilities with the truth beside them: calibration alone."""
    truth = [int(rng.random() < 0.6) for _ in range(40)]
    return [
        {"model": m, "item": f"q{q}", "probability": round(float(rng.uniform(0.2, 0.9)), 2), "truth": truth[q]}
        for m in ("a", "b")
        for q in range(40)
    ]


def written(rows: Rows, folder: Path, study: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if study:
        (folder / "study.toml").write_text(study, encoding="utf-8")
    return folder


def reported(make: Callable[[np.random.Generator], Rows], study: str = "") -> tuple[Table, ...]:
    with TemporaryDirectory(prefix="evenhand-tables-") as folder:
        logs = written(make(np.random.default_rng(4)), Path(folder) / "logs", study)
        return run_report([logs], SETTINGS).tables


def compared() -> tuple[Table, ...]:
    """Before and after: one strategy of each model against another log of it."""
    with TemporaryDirectory(prefix="evenhand-tables-") as folder:
        sides = (written(token_rows(np.random.default_rng(seed)), Path(folder) / f"logs{seed}") for seed in (4, 5))
        before, after = sides
        with prepared([before], SETTINGS) as first, prepared([after], SETTINGS) as second:
            return difference_tables(logs_difference(first, second), str)


#: Name of the golden files -> the tables in order.
REPORTS: Final[dict[str, Callable[[], tuple[Table, ...]]]] = {
    **{preset: partial(lambda name: preset_report(name).tables, preset) for preset in SIMULATED},
    "choice": partial(reported, choice_rows),
    "scores": partial(reported, scored_rows, STRATEGIES),
    "token-probabilities": partial(reported, token_rows),
    "calibration": partial(reported, probability_rows),
    "census": partial(reported, token_rows, '[study]\ntarget = "census"\n'),
    "difference": compared,
}


@cache
def tables_of(name: str) -> tuple[Table, ...]:
    return REPORTS[name]()


@pytest.mark.parametrize("ending", list(TABLE_FORMATS))
@pytest.mark.parametrize("name", list(REPORTS))
def test_tables_are_rendered_as_before(name: str, ending: str) -> None:
    """Catches any change of what a reader sees in any table, in any format."""
    assert_as_before(tables_of(name), name, ending)
