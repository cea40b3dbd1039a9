"""A whole report on simulated votes: truth recovered, everything accounted for, nothing paired by position."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.simulation.syllogisms import Syllogisms, simulate_syllogisms
from analysis.simulation.vote_files import write_vote_files
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report

SETTINGS = RunSettings(resampling=Resampling(flips=300, resamples=300))
DESIGN = Syllogisms(
    models=4,
    base_items=24,
    strategies=("zero_shot", "few_shot"),
    strategy_lean=(0.0, 0.3),
    strategy_discrimination=(0.0, 0.0),
    belief=(0.8, 0.5),
    votes=6,
    unanimous=3,
    failed=0.01,
    interrupted=1,
    long_share=0.0,
)
ARENA = """
[external]
file = "arena.csv"
model = "Name"
value = "Rank"
lower_is_better = true
names = { "simulated/model-01" = "One" }
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("votes") / "logs"
    write_vote_files(simulate_syllogisms(np.random.default_rng(5), DESIGN), folder, seed=5)
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + ARENA)
    (folder / "arena.csv").write_text(
        "Name,Rank\nOne,3\nsimulated/model-02,1\nsimulated/model-03,9\nsimulated/other,2\n"
    )
    return folder


@pytest.fixture(scope="module")
def content(logs):
    return run_report([logs], SETTINGS)


@pytest.fixture(scope="module")
def truth(logs):
    return json.loads((logs / "truth.json").read_text())["models"]


def estimates(content, table: str, measure: str):
    rows = content.data[table]
    return rows[rows["measure"] == measure].set_index("model")["estimate"]


@pytest.mark.parametrize(
    ("table", "measure", "key"),
    [
        ("classification_gold", "accuracy", "accuracy"),
        ("classification_gold", "recall", "recall"),
        ("classification_gold", "specificity", "specificity"),
        ("classification_gold", "yes_rate", "yes_rate"),
        ("belief_bias", "belief_bias", "belief_bias"),
        ("consistency", "consistency_all", "consistency_all"),
    ],
)
def test_truth_is_recovered(content, truth, table, measure, key) -> None:
    """Catches an estimand other than the one named: items are those drawn, so that votes alone are random.

    Three models have all 576 answers; a share of half of them has standard error .029 at most, a belief bias
    .058 (four cells of 72); the interrupted model lacks half of one configuration.
    """
    found = estimates(content, table, measure)
    error = [found[name] - truth[name]["majority"][key] for name in truth]
    assert np.abs(error).max() < (0.16 if key == "belief_bias" else 0.08)
    assert abs(np.mean(error)) < (0.08 if key == "belief_bias" else 0.04)


def test_votes_as_nested_samples_are_recovered_too(content, truth) -> None:
    """Catches the two ways of counting votes exchanged."""
    found = content.data["vote_accuracy"].set_index("model")
    for name, of_model in truth.items():
        assert found.loc[name, "accuracy_votes"] == pytest.approx(of_model["votes"]["accuracy"], abs=0.06)


def test_strategies_are_compared_within_models(content, truth) -> None:
    """Catches strategies in the wrong order, or a model's answers paired with another's."""
    by_model = content.data["condition_by_model"].query("factor == 'strategy'").set_index("model")
    assert set(zip(by_model["first"], by_model["second"], strict=True)) == {("zero_shot", "few_shot")}
    for name, of_model in truth.items():
        expected = of_model["strategies"]["zero_shot"] - of_model["strategies"]["few_shot"]
        assert by_model.loc[name, "estimate"] == pytest.approx(expected, abs=0.12)
    last = by_model.loc["simulated/model-04"]
    assert last["n_unmatched"] > 0
    assert last["n_matched"] + last["n_unmatched"] <= 288


def test_the_ladder_runs_from_rows_to_both_facets(content) -> None:
    """Catches a rung that is missing, or temperatures counted as units."""
    steps = content.data["condition_ladders"].query("factor == 'strategy'")
    assert steps["rung"].tolist() == ["rows", "model × item", "item", "base item", "model", "model × base item"]
    assert steps["n_clusters"].tolist()[1:5] == [384, 96, 24, 4]


def test_everything_is_accounted_for(content) -> None:
    """Catches votes lost between files and tables: votes that failed, and a run that ended halfway."""
    votes = content.data["votes"]
    aside = content.data["set_aside"]
    assert votes["votes"].sum() == content.data["statuses"]["rows"].sum()
    assert votes["failed"].sum() == aside.loc[aside["reason"] == "errored", "rows"].sum() > 0
    sets = content.data["variant_sets"].set_index("model")
    assert sets.loc["simulated/model-04", "sets"] == 5 * 24 + 12


def test_the_external_table_names_what_it_could_not_match(content) -> None:
    """Catches models dropped in silence from the correlation."""
    said = " ".join(content.attention)
    assert "no Rank for simulated/model-04" in said
    assert "rows of Rank without a model in the logs: simulated/other" in said
    assert content.data["external"]["value"].notna().sum() == 3
    note = next(table.spec.note for table in content.tables if table.spec.name == "external_values_syllogisms")
    assert "of single responses, not of the majorities of votes" in note


def test_warnings_and_labels(content) -> None:
    """Catches a report that hides how it counts: nonsense by label, early stopping, simulated data."""
    said = " ".join(content.attention)
    assert "items without believability carry the label" in said
    assert "fewer votes than others of their configuration" in said
    votes, own = (
        content.data["vote_accuracy"].set_index("model")["accuracy_votes"],
        estimates(content, "estimates", "accuracy"),
    )
    most = (votes - own).abs().idxmax()
    assert f"most for {most}, accuracy {own[most]:.3f}, but {votes[most]:.3f} where all questions weigh" in said
    assert content.simulated
    assert all(table.is_simulated for table in content.tables)
    names = {figure.name for figure in content.figures}
    assert {
        "heat_map_strategy_syllogisms",
        "belief_dumbbell_syllogisms",
        "belief_butterfly_syllogisms",
        "external_rank_syllogisms",
    } <= names


def test_a_partial_copy_of_a_finished_run_is_refused(logs, tmp_path) -> None:
    """Catches the same votes counted twice."""
    folder = tmp_path / "logs"
    source = logs / "simulated-model-01" / "zero_shot_temp0.0.json"
    folder.mkdir()
    whole, half = json.loads(source.read_text()), json.loads(source.read_text())
    whole["metadata"]["timestamp"] = "2025-12-02T10:00:00"
    (folder / source.name).write_text(json.dumps(whole))
    half["metadata"] |= {"status": "partial", "completed_instances": 48, "timestamp": "2025-12-01T10:00:00"}
    half["results"] = half["results"][:48]
    (folder / source.name.replace(".json", ".partial.json")).write_text(json.dumps(half))
    with pytest.raises(AnalysisError, match="--runs"):
        run_report([folder], SETTINGS)
    found = run_report([folder], replace(SETTINGS, runs="latest"))
    accuracy = found.data["classification_gold"].query("measure == 'accuracy'")
    assert 90 <= accuracy["n"].iloc[0] <= 96


def test_tables_render(content) -> None:
    """Catches a column that holds what it does not declare."""
    for table in content.tables:
        for row in table.rows.to_dict("records"):
            for column in table.columns():
                column.parts(row)


def test_ties_are_flagged_and_cells_with_values_carry_no_reason(content) -> None:
    """Catches ties that silently become wrong answers, and "no readable answer" at models that have them all."""
    assert any("have a tie of votes" in line for line in content.attention)
    table = next(t for t in content.tables if t.spec.name.startswith("variant_marginals"))
    shown = [column.name for column in table.spec.columns if column.name != "label"]
    for name in shown:
        assert ((table.rows[f"{name}_missing"] == "") == table.rows[name].notna()).all()
    assert "reason" not in table.rows.columns
