"""Bayesian part of a report on stated probabilities: what it says of clear cases, and what it leaves out."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import analysis.studies.coherence_bayes
from analysis.bayes import gates
from analysis.bayes.kept_fits import UNREADABLE
from analysis.report.content import ReportContent
from analysis.report.formatted import format_table
from analysis.report.table_files import TABLE_FORMATS
from analysis.simulation.latent_coherence import LatentCoherence, simulate_latent_coherence
from analysis.simulation.latent_responders import CoherenceResponder
from analysis.simulation.write_logs import write_logs
from analysis.studies.coherence_bayes import bayes_factor_text
from analysis.studies.context import BayesianSettings, Resampling
from analysis.studies.run import RunSettings, run_report
from tests.studies.golden_tables import assert_as_before, masked

QUICK = Resampling(flips=999, resamples=499)
COHERENT, LEANING = "simulated/coherent", "simulated/leaning"
RESPONDERS = (
    CoherenceResponder(COHERENT, spread=0.0, noise=0.1),
    CoherenceResponder(LEANING, spread=0.4, lean=0.5, noise=0.15),
)
BESIDE = {
    "coherence_schools",
    "persistent_groups",
    "persistent_posterior",
    "persistent_contrasts",
    "incoherence_fits",
}
CHECKED = {"incoherence_checks", "incoherence_priors"}


def reported(folder: Path) -> ReportContent:
    return run_report([folder], RunSettings(resampling=QUICK, bayes=BayesianSettings(True, 3, None)))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs") / "latent"
    settings = LatentCoherence(RESPONDERS, units=20, causal=0, reworded=20, identities=1)
    write_logs(simulate_latent_coherence(np.random.default_rng(8), settings), folder, fmt="jsonl", seed=8)
    return folder


@pytest.fixture(scope="module")
def content(logs: Path) -> ReportContent:
    return reported(logs)


def rows_of(content: ReportContent, stem: str) -> pd.DataFrame:
    return next(table for table in content.tables if table.spec.name == stem).rows.set_index("model")


def test_every_table_is_printed(content: ReportContent) -> None:
    """Catches a report of probabilities without its Bayesian part, and tables that contradict their columns."""
    found = {table.spec.name: table for table in content.tables if table.spec.name in BESIDE}
    assert set(found) == BESIDE
    for table in found.values():
        format_table(table)
    assert any("quick look" in words for words in content.attention)
    assert not any("MCMC" in words for words in content.attention)


def test_clear_cases_are_told_apart(content: ReportContent) -> None:
    """One responder with persistent .64, one with 0: catches models mixed up, and noise called incoherence."""
    schools = rows_of(content, "coherence_schools")
    leaning, coherent = schools.loc[LEANING], schools.loc[COHERENT]
    assert leaning["verdict"] == "both"
    assert not leaning["apart"]
    assert leaning["posterior"] == pytest.approx(leaning["moment"], abs=0.05)
    assert leaning["posterior_low"] > 0.4
    assert coherent["verdict"] in ("neither", "open")
    assert coherent["p_present"] < 0.5
    assert coherent["why"].startswith("BOUNDARY")
    said = [words for words in content.summary if "exceeds .10" in words]
    assert len(said) == 1
    assert LEANING in said[0]
    assert COHERENT not in said[0]


def test_checks_and_other_priors_are_printed(content: ReportContent) -> None:
    """Catches fits whose checks are kept and never shown, priors mixed up, and a sceptic who finds more."""
    tables = {table.spec.name: table for table in content.tables if table.spec.name in CHECKED}
    assert set(tables) == CHECKED
    for table in tables.values():
        format_table(table)
    priors, refits = rows_of(content, "incoherence_priors"), content.data["incoherence_priors"]
    assert priors.loc[LEANING, "estimate0"] == rows_of(content, "coherence_schools").loc[LEANING, "posterior"]
    wanted = refits[(refits["measure"] == "persistent") & (refits["target"] == "these")]
    wanted = wanted[wanted["model"] == LEANING].set_index("prior")["estimate"]
    assert priors.loc[LEANING, "estimate2"] == wanted["sceptic: share one prior sd lower"]
    assert priors.loc[COHERENT, "p_present2"] <= priors.loc[COHERENT, "p_present1"]
    tails = rows_of(content, "incoherence_checks")
    assert len(tails) == 2
    assert tails.drop(columns=["label", "reason"]).stack().between(0, 1).all()


def test_groups_have_both_schools_side_by_side(content: ReportContent) -> None:
    """Catches groups, schools or measures mixed up, and moments other than those of the table by level."""
    groups = content.data["persistent_groups"].set_index(["model", "grouping", "group"]).sort_index()
    assert set(groups.loc[LEANING].index.get_level_values("grouping")) == {"family", "level"}
    fitted = content.data["incoherence_bayes"].query("variant == 'SSL' and target == 'these' and level == 'full'")
    levels = rows_of(content, "noise_levels")
    for model in (COHERENT, LEANING):
        row = groups.loc[(model, "level", "full")]
        own = fitted[fitted["model"] == model].set_index("measure")["estimate"]
        assert row["persistent_posterior"] == own["persistent"]
        assert row["noise_posterior"] == own["noise"]
        assert row["persistent_moment"] == levels.loc[model, "g0_persistent"]
        assert row["noise_moment_low"] == levels.loc[model, "g0_noise_low"]
    assert groups.loc[LEANING, "persistent_posterior"].min() > groups.loc[COHERENT, "persistent_posterior"].max()
    assert groups.loc[LEANING, "p_present"].min() > 0.95


def test_difference_of_models_has_its_sign(content: ReportContent) -> None:
    """Catches a contrast read as second minus first."""
    contrasts = content.data["incoherence_contrasts"].set_index("measure").loc["persistent"]
    assert (contrasts["model_a"], contrasts["model_b"]) == (COHERENT, LEANING)
    assert contrasts["ci_high"] < -0.2
    assert contrasts["decision"] == "difference"


def test_nothing_of_a_failed_sampler_is_printed(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that no fit can pass: catches estimates, decisions or claims that survive a failed gate.

    And with more instances than are waited for: a sample called all instances, or moments of the sample.
    """
    monkeypatch.setattr(gates, "MOST_R_HAT_FAST", 0.5)
    monkeypatch.setattr(analysis.studies.coherence_bayes, "MOST_INSTANCES", 12)
    content = reported(logs)
    assert set(content.data["incoherence_fits"]["n"]) == {12}
    assert set(content.data["incoherence"].query("measure == 'mean_abs_residual'")["n"]) == {20}
    words = "random sample of whole units, the same for all models: 12 instances of a model, of 20"
    assert sum(words in said for said in content.limits) == 1
    lead = next(part.lead for part in content.sections if part.title.startswith("Persistent incoherence, Bayesian"))
    assert words in lead[0]
    schools, posterior = rows_of(content, "coherence_schools"), rows_of(content, "persistent_posterior")
    assert schools["posterior"].isna().all()
    assert schools["posterior_reason"].str.startswith("MCMC").all()
    assert (schools["verdict"] == "failed").all()
    assert schools["moment"].notna().all()
    groups = rows_of(content, "persistent_groups")
    assert groups[["noise_posterior", "persistent_posterior", "p_present"]].isna().all().all()
    assert groups["persistent_posterior_reason"].str.startswith("MCMC").all()
    assert posterior[["linked_these", "normal_these", "linked_new", "p_present"]].isna().all().all()
    assert (posterior["decision"] == "").all()
    for name in CHECKED:
        numbers = rows_of(content, name).select_dtypes("number")
        assert numbers.isna().all().all()
    contrasts = next(table.rows for table in content.tables if table.spec.name == "persistent_contrasts")
    assert contrasts[["estimate", "ci_low", "p_direction", "p_rope"]].isna().all().all()
    assert not any("exceeds .10" in words for words in content.summary)
    for model in (COHERENT, LEANING):
        assert any("MCMC" in words and model in words for words in content.attention)
    for table in content.tables:
        format_table(table)


def test_damaged_kept_fit_is_said_and_made_again_alike(logs: Path, tmp_path: Path) -> None:
    """Catches a fit remade in silence, wall time among the results, and fits of other data carried along."""
    (tmp_path / "incoherence-of-other-data").mkdir()
    (tmp_path / "incoherence-of-other-data" / "fit.json").write_text("{}", encoding="utf-8")
    settings = RunSettings(resampling=QUICK, bayes=BayesianSettings(True, 3, tmp_path))
    first = run_report([logs], settings)
    assert len({name.split("/")[1] for name in first.files}) == 1
    assert not any("other-data" in name for name in first.files)
    assert set(first.data["incoherence_fits"]["key"]) == {name.split("/")[1] for name in first.files}
    for name, data in first.files.items():
        place = tmp_path / name.removeprefix("fits/")
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
    damaged = next(path for path in tmp_path.rglob("glance.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\0")
    again = run_report([logs], settings)
    assert [words for words in again.attention if UNREADABLE in words.lower()]
    for name in ("incoherence_fits", "incoherence_bayes", "coherence_schools"):
        pd.testing.assert_frame_equal(again.data[name], first.data[name], check_exact=True)
    assert {name: data for name, data in again.files.items() if "draws" not in name} == {
        name: data for name, data in first.files.items() if "draws" not in name
    }


def test_what_a_library_cannot_do_is_a_reason(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a traceback where the sampler finds no place to start, with the moment estimates lost."""

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("All initialization points failed\nStack backtrace: ...")

    monkeypatch.setattr(analysis.studies.coherence_bayes, "fit_incoherence", fails)
    content = reported(logs)
    said = [words for words in content.limits if "no bayesian column of incoherence" in words.lower()]
    assert len(said) == 1
    assert said[0].rstrip(".").endswith("All initialization points failed")
    assert len(content.data["incoherence"]) > 0


@pytest.mark.parametrize(
    ("value", "bound", "printed"),
    [(1998.2, "at least", "≥ 1998"), (0.00042, "at most", "≤ 0.0004"), (12.34, "", "12.3"), (0.127, "", "0.13")],
)
def test_bayes_factors_are_bounds_where_all_draws_agree(value: float, bound: str, printed: str) -> None:
    """Catches a bound printed as an estimate, and small factors printed as 0.0."""
    assert bayes_factor_text({"bayes_factor": value, "bayes_factor_bound": bound}) == printed
    assert bayes_factor_text({"bayes_factor": None}) is None


@pytest.mark.parametrize("ending", list(TABLE_FORMATS))
def test_structure_of_the_tables_is_as_before(content: ReportContent, ending: str) -> None:
    """Catches a lost column, label, unit, note or row in any format; drawn numbers are masked."""
    tables = [masked(table) for table in content.tables if table.spec.name in BESIDE]
    assert_as_before(tables, "bayesian-incoherence", ending)
