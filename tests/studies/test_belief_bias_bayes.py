"""The part of a report that sets the endorsement model beside the frequentist columns of the same votes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.bayes import gates
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.errors import AnalysisError
from analysis.report.formatted import format_table
from analysis.report.table_files import TABLE_FORMATS
from analysis.simulation.syllogisms import Syllogisms, simulate_syllogisms
from analysis.simulation.vote_files import write_vote_files
from analysis.studies.belief_bias_bayes import belief_bias_bayes_part
from analysis.studies.belief_bias_bayes_tables import belief_priors_table
from analysis.studies.context import BayesianSettings, Part, Resampling, TaskContext
from analysis.studies.prepared import RunSettings, prepared
from tests.studies.golden_tables import assert_as_before, masked

DESIGN = Syllogisms(
    models=3, base_items=12, strategies=("zero_shot", "few_shot"), temperatures=("0.0", "1.0"), votes=3, unanimous=3,
    strategy_lean=(0.0, 0.3), strategy_discrimination=(0.0, 0.0), belief=(0.8, 0.5), unreadable=0.05, long_share=0.0,
)  # fmt: skip
TABLES = {
    "belief_schools", "level_schools", "consistency_schools", "belief_posterior", "belief_gates",
    "belief_predictive", "belief_priors", "belief_sensitivity", "belief_spreads", "belief_levels_new_model",
}  # fmt: skip


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TaskContext]:
    folder = tmp_path_factory.mktemp("votes")
    write_vote_files(simulate_syllogisms(np.random.default_rng(5), DESIGN), folder / "logs", seed=5)
    kept = tmp_path_factory.mktemp("fits")
    settings = RunSettings(resampling=Resampling(flips=99, resamples=99))
    with prepared([folder / "logs"], settings) as logs:
        yield replace(logs.contexts[0], bayes=BayesianSettings(fast=True, seed=3, kept=kept))


def made(context: TaskContext) -> Part:
    part = belief_bias_bayes_part(context)
    assert part is not None
    return part


@pytest.fixture(scope="module")
def part(context: TaskContext) -> Part:
    return made(context)


def test_every_table_is_printed_and_marked(part: Part) -> None:
    """Catches a table that contradicts its columns, a figure left out, and a quick look that is not marked."""
    (section,) = part.sections
    assert {table.spec.name.removesuffix("_syllogisms") for table in section.tables} == TABLES
    for table in section.tables:
        format_table(table)
    assert [figure.data["measure"].unique().tolist() for figure in section.figures] == [["belief_bias"]]
    assert any("quick look" in words for words in part.attention)
    assert any("decide alike" in words for words in part.summary)


def test_both_columns_are_about_the_same_answers(part: Part) -> None:
    """Catches columns of other votes or a swapped sign: accuracies near each other, all models and measures there."""
    rows = part.data["belief_schools"]
    assert len(rows) == 9
    accuracy = rows[rows["measure"] == "accuracy"]
    assert (accuracy["estimate"] - accuracy["pooled_estimate"]).abs().max() < 0.1
    unpooled = rows["unpooled_estimate"] - rows["estimate"]
    assert (unpooled.abs() < np.where(rows["measure"] == "accuracy", 0.02, 0.1)).all()
    bias = rows[rows["measure"] == "belief_bias"]
    assert (np.abs(bias["difference_se"]) < 3).all()
    assert (rows["width_ratio"] > 0.05).all()
    assert set(rows["verdict"]) <= {"agree", "explained", "differ"}
    levels = part.data["level_schools"]
    assert set(levels["factor"]) == {"strategy", "temperature"}
    assert np.corrcoef(levels["estimate"], levels["pooled_estimate"])[0, 1] > 0.3
    assert (levels["unpooled_estimate"] - levels["estimate"]).abs().max() < 0.02


def test_a_second_report_does_not_sample_and_gives_the_same(context: TaskContext, part: Part) -> None:
    """Catches a fit that is made again, tables that depend on it, and kept files that are not written."""
    said: list[str] = []
    again = made(replace(context, progress=said.append))
    assert any("kept from an earlier run" in sentence for sentence in said)
    assert not any("sampling" in sentence for sentence in said)
    assert again.files == part.files
    assert {Path(name).name for name in part.files} >= {"fit.json", "table.parquet", "draws.npz"}
    for name, table in part.data.items():
        pd.testing.assert_frame_equal(again.data[name], table)


def test_without_bayes_there_is_no_part_and_a_skipped_task_says_so(context: TaskContext) -> None:
    """Catches sampling in spite of --no-bayes, and a task left out in silence."""
    assert belief_bias_bayes_part(replace(context, bayes=None)) is None
    skipped = replace(context, bayes=BayesianSettings(skipped="there are too many tasks"))
    found = belief_bias_bayes_part(skipped)
    assert found is not None
    assert not found.sections
    assert "too many tasks" in found.limits[0]


def test_the_predictive_table_is_about_the_checks_of_the_fit(part: Part) -> None:
    """Catches the checks of another model of the report, and models outside that are not counted."""
    (table,) = [t for t in part.sections[0].tables if t.spec.name.startswith("belief_predictive")]
    checks = part.data["belief_bayes_predictive"]
    assert list(table.rows["check"]) == ["share of Yes", "share of unanimous votes", "sd over questions"]
    for row in table.rows.itertuples():
        own = checks[checks["check"] == row.check]
        assert row.models == len(own) == 3
        assert row.outside == (own["tail"] < 0.05).sum()
        assert row.tail == own["tail"].min()


def test_priors_of_the_study_reach_the_fit_and_its_table(context: TaskContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a setting that is read and not used, printed defaults, and a kept fit of other priors."""
    given = {}

    def noted(counts: object, **options: object) -> None:
        given.update(options)
        raise AnalysisError("noted")

    monkeypatch.setattr("analysis.studies.belief_bias_bayes.fit_belief_bias", noted)
    study = replace(context.study, priors={"item_sd": 0.25, "belief_mean": -0.5, "template_sd": 2.0})
    part = made(replace(context, study=study))
    assert "noted" in part.limits[0]
    assert given["priors"] == BeliefPriors(item_sd=0.25, belief_mean=-0.5)
    table = belief_priors_table(context.design, given["priors"])
    assert table.rows.set_index("prior").loc["item_sd", "value"] == 0.25


def test_a_failed_fit_shows_no_number_of_it(context: TaskContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches numbers of a sampler that failed a gate, and a failure that is not said."""
    monkeypatch.setattr(gates, "MOST_R_HAT_FAST", 0.5)
    part = made(replace(context, bayes=BayesianSettings(fast=True, seed=3, kept=None)))
    assert any("MCMC" in words and "R-hat" in words for words in part.attention)
    rows = part.data["belief_schools"]
    assert rows["pooled_estimate"].isna().all()
    assert set(rows["verdict"]) == {"not shown"}
    assert "belief_bayes" not in part.data
    names = {table.spec.name.removesuffix("_syllogisms") for table in part.sections[0].tables}
    assert "belief_posterior" not in names
    for table in part.sections[0].tables:
        format_table(table)
        if table.spec.name.startswith("consistency"):
            assert table.rows["pooled_estimate"].isna().all()


def test_a_design_that_is_too_large_is_left_out_with_the_reason(
    context: TaskContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a report that waits for hours."""
    monkeypatch.setattr("analysis.bayes.belief_bias_design.MOST_COUNTS", 10)
    part = made(replace(context, bayes=BayesianSettings(fast=True, seed=9, kept=None)))
    assert not part.sections
    assert "more than are fitted" in part.limits[0]


@pytest.mark.parametrize("ending", list(TABLE_FORMATS))
def test_structure_of_the_tables_is_as_before(part: Part, ending: str) -> None:
    """Catches a lost column, label, unit, note or row in any format; drawn numbers are masked."""
    assert_as_before([masked(table) for table in part.sections[0].tables], "bayesian-belief-bias", ending)
