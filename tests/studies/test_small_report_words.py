"""What a report says where nothing was declared: its title, its unit, and columns that would say nothing."""

import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.frequentist.belief_bias_tests import PooledBeliefBias
from analysis.report.columns import Number
from analysis.report.notes import notes_from
from analysis.report.spec import TableSpec
from analysis.studies.belief_bias import _shown
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

SETTINGS = RunSettings(resampling=Resampling(flips=100, resamples=100))


def report_on(folder: Path, tasks: tuple[str, ...], **given):
    rows = [
        {"model": m, "task": t, "item": f"{t}{i}"} | {name: value(i) for name, value in given.items()}
        for m in ("a", "b")
        for t in tasks
        for i in range(8)
    ]
    (folder / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run_report([folder], SETTINGS)


@pytest.mark.parametrize(
    ("tasks", "title"),
    [
        (("",), "Report on model responses"),
        (("one", "two"), "Model responses: one, two"),
        (("one", "two", "three", "zwei"), "Model responses: one, three, two and 1 more"),
    ],
)
def test_the_title_names_the_tasks(tmp_path, tasks, title) -> None:
    """Catches reports that cannot be told apart by their titles."""
    content = report_on(tmp_path, tasks, gold=lambda i: ("yes", "no")[i % 2], answer=lambda i: "yes")
    assert content.title == title


def test_scores_alone_have_no_column_of_uncertain_answers(tmp_path) -> None:
    """Catches a column of zeros where nothing was read as an answer; one unread response brings it back."""
    plain = report_on(tmp_path, ("t",), logged_score=lambda i: i % 2)
    accuracy = next(table for table in plain.tables if table.spec.name == "accuracy_t")
    assert "uncertain_rate" not in [column.name for column in accuracy.columns()]
    unread = {"logged_score": lambda i: None if i == 0 else i % 2, "status": lambda i: ("answered", "refused")[i == 0]}
    read = report_on(tmp_path, ("t",), **unread)
    accuracy = next(table for table in read.tables if table.spec.name == "accuracy_t")
    assert "uncertain_rate" in [column.name for column in accuracy.columns()]


def test_the_unit_of_a_log_is_named_in_words() -> None:
    """Catches "Unit of analysis: unit", which tells a reader nothing."""
    spec = TableSpec("t", title="T", columns=(Number("estimate", "E"),))
    said = notes_from(pd.DataFrame({"estimate": [0.5], "unit": ["unit"]}), spec)
    assert "Unit of analysis: the unit that the logs name." in said


@pytest.mark.parametrize(("low", "shown"), [(0.004, False), (0.006, True), (-0.1, False)])
def test_a_limit_that_prints_as_zero_claims_no_belief_bias(low: float, shown: bool) -> None:
    """Catches a claim beside a printed interval that begins with +0.00."""
    pooled = PooledBeliefBias(
        estimate=0.1, these_low=0.0, these_high=0.2, both_low=low, both_high=0.2, ci_level=0.95, p_value=0.04,
        mc_error=0.001, n_models=5, n_clusters=40, resamples=999, reason="",
    )  # fmt: skip
    assert _shown(pooled) is shown
