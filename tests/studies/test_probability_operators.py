"""Every part of a report on simulated probability operators: what prints, what is recovered, small designs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.report.content import ReportContent
from analysis.report.formatted import format_table
from analysis.simulation.operator_settings import model_sizes
from analysis.simulation.probability_operators import ProbabilityOperators, simulate_probability_operators
from analysis.simulation.responders import responder_population
from analysis.simulation.write_logs import write_logs
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

FEW = Resampling(flips=400, resamples=200)
#: Tables and figures of the published design, by the start of their names.
PRINTED = (
    "design_templates", "design_forms", "cells", "levels_form", "by_form", "contrast_negation", "by_activity",
    "baseline_nationality", "baseline_gender", "contrast_two_wordings_of_part", "contrast_two_wordings_of_conjoined",
    "templates", "model_sizes", "size_correlations", "weightings_accuracy", "restricted_floors", "model_ranks",
    "associations", "numbering",
)  # fmt: skip


@pytest.fixture(scope="module")
def simulated(tmp_path_factory) -> tuple[ReportContent, dict]:
    """A report on ten responders and 40 surfaces, and what is true of them."""
    rng = np.random.default_rng(4)
    settings = ProbabilityOperators(
        responder_population(rng, 10), sizes=model_sizes(10), surfaces=40, valid_templates=7, answers=True
    )
    folder = tmp_path_factory.mktemp("logs")
    write_logs(simulate_probability_operators(rng, settings), folder, fmt="parquet", seed=4)
    truth = json.loads((folder / "truth.json").read_text())["models"]
    return run_report([folder], RunSettings(resampling=FEW)), truth


def test_every_table_and_figure_of_the_design_prints(simulated) -> None:
    """Catches a part that gives up silently, and a value without a reason."""
    content, _ = simulated
    names = [table.spec.name for table in content.tables]
    assert [start for start in PRINTED if not any(name.startswith(start) for name in names)] == []
    figures = [figure.name for figure in content.figures]
    for start in ("floor_bias", "scaling", "heat_map", "unit_ladder"):
        assert any(name.startswith(start) for name in figures), start
    numbering = next(t for t in content.tables if t.spec.name.startswith("numbering"))
    assert numbering.rows["here"].notna().all()
    for table in content.tables:
        assert "give no reason" not in " ".join(s for _, s in format_table(table).notes), table.spec.name


def test_truth_is_recovered(simulated) -> None:
    """Catches levels, sides or templates exchanged: intervals hold the population truth about as often as they say.

    30 contrasts and 50 levels at 95 %: fewer than 3 sd below 95 % (.93 - 3 * .024, surfaces shared) is an error.
    """
    content, truth = simulated
    contrasts = content.data["paired_contrasts"]
    rows = contrasts[contrasts["factor"] == "negation"]
    held = []
    for row in rows.itertuples():
        own = truth[row.model]["parts"]["population"]["negation"]
        held.append(row.ci_low <= own["prefix"] - own["not"] <= row.ci_high)
        assert abs(row.estimate - (own["prefix"] - own["not"])) < 0.1
    levels = content.data["level_estimates"]
    forms = levels[(levels["factor"] == "form") & (levels["measure"] == "accuracy")]
    for row in forms.itertuples():
        held.append(row.ci_low <= truth[row.model]["parts"]["population"]["form"][row.level] <= row.ci_high)
    assert len(held) == 60
    assert np.mean(held) > 0.85


def test_factors_without_effect_stay_undecided(simulated) -> None:
    """Catches tests that take responses as independent: activities, nationalities and genders do nothing here."""
    content, _ = simulated
    ranges = content.data["level_ranges"]
    nothing = ranges[ranges["factor"].isin(["factor.activity", "factor.nationality", "factor.gender"])]
    assert (nothing["p_adjusted"] <= 0.05).sum() <= 2
    assert (content.data["baseline_largest"]["p_adjusted"] <= 0.05).sum() <= 1


def test_affirmative_restriction_is_the_affirmative_floor(simulated) -> None:
    """Catches a part of the items whose classes are made of other cells than it has."""
    content, _ = simulated
    rows = content.data["restrictions"]
    part = rows[rows["part"] == "affirmative only"].set_index("model")["estimate"]
    estimates = content.data["estimates"]
    own = estimates[estimates["measure"] == "affirmative_floor"].set_index("model")["estimate"]
    np.testing.assert_allclose(part, own.loc[part.index])
    full = rows[rows["part"] == "all items"].set_index("model")["estimate"]
    change = rows[rows["part"] == "affirmative only"].set_index("model")["change"]
    np.testing.assert_allclose(change, part - full, atol=1e-12)


def row(model: str, item: int, answer: str, **more: str) -> dict:
    gold = "yes" if item % 2 else "no"
    polarity = {"polarity": "affirmative" if item % 4 < 2 else "negated"}
    valid = (gold == "yes") == (polarity["polarity"] == "affirmative")
    own = {"unit": f"u{item // 4}", "gold": gold, "validity": "valid" if valid else "invalid"}
    return {"model": model, "item": f"i{item}", "answer": answer, **own, **polarity, **more}


def reported(folder: Path, rows: list[dict], study: str = "") -> ReportContent:
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rows))
    (folder / "study.toml").write_text(study)
    return run_report([folder], RunSettings(resampling=FEW))


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_one_model_that_never_varies(tmp_path, answer) -> None:
    """Catches a crash, or p = NaN without a reason, where nothing varies and nothing can be compared."""
    rows = [row("m", i, answer, template=f"t{i // 16}", form="truth") for i in range(64)]
    content = reported(tmp_path, rows)
    names = [table.spec.name for table in content.tables]
    assert not any(name.startswith(("model_ranks", "by_form", "associations", "model_sizes")) for name in names)
    for table in content.tables:
        assert "give no reason" not in " ".join(s for _, s in format_table(table).notes), table.spec.name


def test_a_level_seen_in_one_model_only(tmp_path) -> None:
    """Catches a level that another model is given numbers for."""
    rows = [row(m, i, "yes", form=("odd" if m == "a" and i < 8 else "truth")) for m in "ab" for i in range(32)]
    for i, line in enumerate(rows):
        line["item"] = f"{line['model']}{i}"
    content = reported(tmp_path, rows)
    levels = content.data["level_estimates"]
    own = levels[(levels["model"] == "b") & (levels["level"] == "odd") & (levels["measure"] == "accuracy")]
    assert own["estimate"].isna().all()
    assert own["reason"].ne("").all()
    assert any("not compared" in said for said in content.limits)


def test_contrasts_that_cannot_be_made_are_said(tmp_path) -> None:
    """Catches a misspelt level that makes a contrast disappear."""
    rows = [row("m", i, "yes", form="truth" if i < 16 else "follow") for i in range(32)]
    study = '[[contrast]]\nfactor = "form"\nlevels = ["truth", "folow"]\n'
    content = reported(tmp_path, rows, study)
    assert any("folow" in said for said in content.attention)


def test_preset_that_does_not_fit_is_said(tmp_path) -> None:
    """Catches a preset that is ignored."""
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row("m", i, "yes")) + "\n" for i in range(16)))
    content = run_report([tmp_path], replace(RunSettings(resampling=FEW), preset="probability-operators"))
    assert any("does not fit" in said and "template" in said for said in content.attention)
