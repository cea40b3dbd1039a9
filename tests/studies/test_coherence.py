"""Report on stated probabilities: what it prints, what it uses, and what a design does not allow."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError, StudyError
from analysis.report.content import ReportContent
from analysis.report.formatted import format_table
from analysis.report.table_files import TABLE_FORMATS
from analysis.simulation.latent_coherence import LatentCoherence, simulate_latent_coherence
from analysis.simulation.latent_responders import CoherenceResponder
from analysis.simulation.write_logs import write_logs
from analysis.studies.context import Resampling
from analysis.studies.run import RunSettings, run_report
from analysis.studies.wide_table import UNEXPLAINED

QUICK = Resampling(flips=999, resamples=499)
RESPONDERS = (
    CoherenceResponder("simulated/coherent", spread=0.0, noise=0.1),
    CoherenceResponder("simulated/leaning", spread=0.5, lean=0.5, noise=0.2, missing=0.01, unparsed=0.02),
    CoherenceResponder("simulated/noisy", spread=0.0, noise=0.5),
)
#: Stem of a table -> what it shows of the design.
TABLES = {
    "families", "incoherence", "persistent_tests", "residual_sizes", "associations", "settings_cost",
    "families_levels", "noise_levels", "role_errors", "direct_and_implied", "residual_differences", "residual_ranks",
    "difference_companions", "persistent_differences", "robustness", "wording_effects", "identities",
    "causal_answers", "rewording", "queries_at_fault", "calibration",
}  # fmt: skip


def reported(folder: Path, study: str = "") -> ReportContent:
    if study:
        (folder / "study.toml").write_text(study)
    return run_report([folder], RunSettings(resampling=QUICK))


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> ReportContent:
    """Report on simulated logs of the whole design."""
    folder = tmp_path_factory.mktemp("logs") / "latent"
    settings = LatentCoherence(RESPONDERS, units=40, causal=3, reworded=30)
    write_logs(simulate_latent_coherence(np.random.default_rng(4), settings), folder, fmt="jsonl", seed=4)
    return reported(folder)


def rows_of(content: ReportContent, stem: str):
    return next(t for t in content.tables if t.spec.name.removesuffix("-1") == stem).rows


def test_every_table_of_the_design_is_printed(content: ReportContent) -> None:
    """Catches a part that returns nothing, and a table whose values contradict its columns."""
    assert {t.spec.name for t in content.tables} >= TABLES
    assert {f.name for f in content.figures} >= {"persistent", "tokens", "reliability"}
    for table in content.tables:
        format_table(table)


def test_the_design_is_recognised_and_its_tables_numbered(content: ReportContent) -> None:
    """Catches a number of the published study that names no table or figure of the report."""
    numbering = rows_of(content, "numbering")
    assert numbering["here"].notna().all()
    assert {f"Table {n}" for n in range(1, 11)} | {"Figure 1", "Figure 2"} <= set(numbering["number"])


def test_what_is_simulated_is_found(content: ReportContent) -> None:
    """Persistent and direction of .7 and .5 for one model, none for the others: catches models mixed up."""
    estimates = content.data["incoherence"].set_index(["model", "measure"])
    for model, persistent in (("simulated/leaning", 0.7), ("simulated/coherent", 0.0), ("simulated/noisy", 0.0)):
        row = estimates.loc[(model, "persistent")]
        assert row["ci_low"] <= persistent + 0.05
        assert row["ci_high"] >= persistent - 0.05
    assert estimates.loc[("simulated/leaning", "direction"), "ci_low"] > 0.2
    decided = content.data["persistent_tests"].set_index("model")["decision"]
    assert decided["simulated/leaning"] == "detected"


def test_rows_in_are_rows_used_and_set_aside(content: ReportContent) -> None:
    """Catches used probabilities that the accounting calls set aside, and unparsed ones that it calls used."""
    rows = content.manifest["rows"]
    assert rows["used"] + sum(rows["set_aside"].values()) == rows["responses"]
    assert rows["set_aside"]["no readable probability: unparsed"] > 0
    assert not [reason for reason in rows["set_aside"] if "no estimate" in reason]


def log(folder: Path, rows: list[dict]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def answers(unit: str, wordings: int = 2, model: str = "m", **changed) -> list[dict]:
    rng = np.random.default_rng(len(unit) + sum(map(ord, unit)))
    return [
        {"model": model, "item": f"{unit}/{k}/{role}/{state}", "unit": unit, "wording": f"w{k}", "role": role,
         "state": state, "probability": round(float(rng.uniform(0.1, 0.9)), 2)} | changed
        for k in range(wordings)
        for role, state in (("target", ""), *((r, s) for r in ("latent", "conditional") for s in "ab"))
    ]  # fmt: skip


@pytest.mark.parametrize(("units", "wordings"), [(1, 2), (12, 1), (1, 1)])
def test_small_designs_give_reasons(tmp_path: Path, units: int, wordings: int) -> None:
    """One model, one unit, one wording, no truth: every undefined number says why."""
    rows = [row for u in range(units) for row in answers(f"u{u}", wordings)]
    content = reported(log(tmp_path / "logs", rows))
    printed = [format_table(t) for t in content.tables]
    assert not [note for table in printed for _, note in table.notes if "the data give no reason" in note]
    said = " ".join(content.limits).lower()
    assert "no answer has a known truth" in said
    assert ("one wording only" in said) == (wordings == 1)


def test_declared_identities_replace_the_built_in_ones(tmp_path: Path) -> None:
    """Catches a declaration that is read and then ignored."""
    study = '[[identity]]\nname = "first state"\nleft = "target"\nright = "latent[a] * conditional[a]"\n'
    rows = [row for u in range(8) for row in answers(f"u{u}")]
    content = reported(log(tmp_path / "logs", rows), study)
    assert content.data["instances"]["identity_name"].unique().tolist() == ["first state"]
    with pytest.raises(StudyError, match=r"identity 'first state', right = .*column 8"):
        reported(tmp_path / "logs", study.replace("latent[a] * conditional[a]", "latent ^ 2"))


def test_plain_probabilities_have_calibration_and_say_what_is_missing(tmp_path: Path) -> None:
    """Catches a claim on coherence without roles, and a task called unestimated that has a truth."""
    rng = np.random.default_rng(0)
    rows = [
        {"model": "m", "item": f"q{i}", "probability": round(float(p), 2), "truth": float(rng.random() < p)}
        for i, p in enumerate(rng.random(40))
    ]
    content = reported(log(tmp_path / "logs", rows))
    assert "calibration" in {t.spec.name for t in content.tables}
    assert any("have no roles" in said for said in content.limits)
    assert content.manifest["rows"]["used"] == 40


def test_mixed_scales_are_refused(tmp_path: Path) -> None:
    """Percent beside fractions: catches 40 read as a probability."""
    rows = answers("u") + answers("v", probability=40.0)
    with pytest.raises(Exception, match="mixed scales"):
        reported(log(tmp_path / "logs", rows))


def stated(values: dict[str, float], jitter: float, model: str = "m", units: int = 12) -> list[dict]:
    """Answers of one model around given probabilities (role and state: value), moved in two wordings of each unit."""
    rng = np.random.default_rng(3)
    return [
        {"model": model, "item": f"u{u}/{k}/{query}", "unit": f"u{u}", "wording": f"w{k}", "role": query.split()[0],
         "state": query.partition(" ")[2], "probability": round(p + float(rng.uniform(-jitter, jitter)), 4)}
        for u in range(units) for k in range(2) for query, p in values.items()
    ]  # fmt: skip


COHERENT = {"target": 0.4, "latent z": 0.5, "latent not z": 0.5, "conditional z": 0.6, "conditional not z": 0.2}


def test_sets_without_the_complement_give_no_claim_but_a_reason(tmp_path: Path) -> None:
    """Catches a strong false claim of incoherence from logs that asked only half of a sum."""
    half = {query: p for query, p in COHERENT.items() if "not" not in query}
    content = reported(log(tmp_path / "logs", stated(half, 0.02)))
    assert not [said for said in content.summary if "residual" in said]
    assert any("24 only one state of the latent was asked: its complement is missing" in s for s in content.limits)


def test_the_summary_says_of_every_model_whether_incoherence_persists(tmp_path: Path) -> None:
    """Catches a headline of mean |r| alone, which noise fills too, and models that were not detected left out."""
    rows = stated(COHERENT, 0.1) + stated(COHERENT | {"target": 0.7}, 0.02, model="n")
    content = reported(log(tmp_path / "logs", rows))
    first, second, third = content.summary[:3]
    assert first.startswith("A residual that persists over rewordings is detected for n 1.2")
    assert second.startswith("A residual that persists over rewordings is not detected (which does not show")
    assert "for m " in second
    assert "mixes rewording noise with incoherence" in third


def test_what_was_not_logged_is_the_reason_and_gives_no_empty_table(tmp_path: Path) -> None:
    """Catches complete sets called incomplete where truth and tokens are missing, and tables of blank cells."""
    content = reported(log(tmp_path / "logs", stated(COHERENT, 0.05)))
    reasons = content.data["incoherence"].set_index("measure")["reason"]
    assert reasons["error_direct"] == reasons["error_implied"] == "no truth is logged"
    assert reasons["reasoning_tokens"] == "no reasoning tokens are logged"
    assert not {t.spec.name for t in content.tables} & {"families", "settings_cost"}


@pytest.mark.parametrize(("latent", "said"), [(0.5, False), (0.2, True)])
def test_states_that_do_not_add_up_are_said(tmp_path: Path, latent: float, said: bool) -> None:
    """Catches a latent of which a state was never asked, whose gap reads as incoherence; and a false alarm."""
    content = reported(log(tmp_path / "logs", stated(COHERENT | {"latent not z": latent}, 0.02)))
    warned = [words for words in content.attention if "should add up to 1" in words]
    assert bool(warned) == said
    assert not said or "m (0.70)" in warned[0]


def test_numbers_with_a_percent_sign_are_shares(tmp_path: Path) -> None:
    """Catches ``38%`` read as 38, or refused."""
    rows = [row | {"probability": round(row["probability"], 2)} for row in stated(COHERENT, 0.02)]
    signed = [row | {"probability": f"{100 * row['probability']:.0f}%"} for row in rows]
    plain, percent = (reported(log(tmp_path / name, found)) for name, found in (("plain", rows), ("signed", signed)))
    assert percent.manifest["rows"]["used"] == len(rows)
    estimates = [found.data["incoherence"].select_dtypes("number").to_numpy(float) for found in (plain, percent)]
    np.testing.assert_allclose(*estimates, rtol=1e-9, atol=1e-12)


def test_the_advice_on_decimal_commas_works(tmp_path: Path) -> None:
    """Catches an error on ``0,38`` in JSON that does not say how to have it read, or whose advice fails."""
    rows = [row | {"probability": f"{row['probability']:.2f}".replace(".", ",")} for row in stated(COHERENT, 0.02)]
    folder = log(tmp_path / "logs", rows)
    with pytest.raises(AnalysisError, match=r'output = "probability" .* and probability = \{ value = "" \}'):
        reported(folder)
    study = '[study]\nkind = "probability"\n[map]\noutput = "probability"\nprobability = { value = "" }\n'
    assert reported(folder, study).manifest["rows"]["used"] == len(rows)


def test_percent_is_the_same_report_as_fractions(tmp_path: Path) -> None:
    """Catches a declared scale that only some of the parts use."""
    truth = {"target": 0.4, "latent": 0.5, "conditional": 0.6}
    rows = [row | {"truth": truth[row["role"]]} for row in stated(COHERENT, 0.05)]
    percent = [row | {"probability": round(100 * row["probability"], 2)} for row in rows]
    kind = '[study]\nkind = "probability"\n'
    plain = reported(log(tmp_path / "plain", rows), kind)
    scaled = reported(log(tmp_path / "scaled", percent), kind + 'probability_scale = "percent"\n')
    for stem in ("incoherence", "calibration"):
        one, other = (found.data[stem].select_dtypes("number") for found in (plain, scaled))
        np.testing.assert_allclose(one.to_numpy(float), other.to_numpy(float), rtol=1e-9, atol=1e-12)
    assert plain.summary == scaled.summary


def test_truths_in_percent_are_refused(tmp_path: Path) -> None:
    """Catches a truth of 40 beside answers in percent that is clipped to .99 and called the truth."""
    rows = [row | {"probability": 100 * row["probability"], "truth": 40} for row in stated(COHERENT, 0.05)]
    study = '[study]\nkind = "probability"\nprobability_scale = "percent"\n'
    with pytest.raises(AnalysisError, match=r"truth of 120 rows lies outside \[0, 1\]"):
        reported(log(tmp_path / "logs", rows), study)


def test_fractions_in_a_log_declared_as_percent_are_said(tmp_path: Path) -> None:
    """Catches a mixture that a declared scale lets through in silence: .4 read as two fifths of one percent."""
    rows = [row | {"probability": 100 * row["probability"]} for row in answers("u")] + answers("v")
    study = '[study]\nkind = "probability"\nprobability_scale = "percent"\n'
    content = reported(log(tmp_path / "logs", rows), study)
    assert any("10 of 20 probabilities lie between 0 and 1" in said for said in content.attention)


def test_causal_items_have_a_row_and_a_column_of_their_own(content: ReportContent) -> None:
    """Catches a family that was asked and stands in no table by family, and residuals of another identity."""
    families = rows_of(content, "families").set_index("item_family")
    assert families.loc["causal", "units"] == 3
    table = next(t for t in content.tables if t.spec.name == "families_levels")
    assert table.spec.spanners[0].header == "causal"
    other = rows_of(content, "identities").query("identity_name == 'back-door adjustment'").set_index("model")
    first = table.rows.set_index("model")["g0_mean_abs_residual"]
    np.testing.assert_allclose(first[other.index], other["log_odds"], rtol=1e-12)


def test_what_is_not_compared_enters_no_column(tmp_path: Path) -> None:
    """Catches answers at the clip and sums of an instance that the other model lacks, among those of both."""
    rows = [row for name in "mn" for row in stated(COHERENT, 0.02, model=name)]
    ends = stated({query: float("not" in query) for query in COHERENT} | {"latent z": 1.0}, 0.0, units=20)
    content = reported(log(tmp_path / "logs", rows + [row for row in ends if row["unit"] in ("u14", "u15", "u16")]))
    robust = rows_of(content, "robustness").set_index("model")
    assert robust.loc["m", "answers_at_clip"] == 0
    own = pd.DataFrame([r for r in rows if r["model"] == "m" and r["role"] == "latent"])
    sums = own.groupby(["unit", "wording"])["probability"].sum()
    assert robust.loc["m", "sum_gap"] == pytest.approx((sums - 1).abs().median())


def test_what_is_missing_is_not_called_unasked(tmp_path: Path) -> None:
    """Two wordings asked, one answered; and a model without an answer.

    Catches "one wording only" of logs with two, a model that leaves the tables in silence, and advice on comparing
    models where there is one.
    """
    rows = [r for r in stated(COHERENT, 0.05) if (r["wording"], r["role"]) != ("w1", "target")]
    silent = [r | {"probability": None, "status": "unparsed"} for r in stated(COHERENT, 0.05, model="n")]
    content = reported(log(tmp_path / "logs", rows + silent))
    limits = " ".join(content.limits)
    assert "No instance has complete answers in two wordings: incoherence cannot be told" in limits
    assert "another's" not in limits
    words = "No complete set of answers to total probability, hence no estimate of its residual, for n."
    assert words in content.attention
    lead = next(part.lead for part in content.sections if part.title == "Coherence of probabilities")
    assert "12 instances that every model with complete answers has" in lead[0]


def test_models_with_other_instances_have_no_ranks(tmp_path: Path) -> None:
    """Catches an order of models that were asked different questions, beside the words that it is no comparison."""
    rows = stated(COHERENT, 0.05, units=20)
    own = [r | {"model": "mn"[r["unit"] > "u14"]} for r in rows]
    content = reported(log(tmp_path / "logs", own))
    assert any("their order is no comparison (hence no ranks" in said for said in content.attention)
    stems = {t.spec.name for t in content.tables}
    assert "residual_differences" in stems
    assert "residual_ranks" not in stems


def test_degenerate_answers_give_results_or_reasons_in_every_format(tmp_path: Path) -> None:
    """Answers of 0 and 1, all alike, two and three states, repeated queries, a model that answers one family.

    Catches NaN or infinity that a reader sees, a number without its reason, and rows that are lost or counted twice.
    """
    three = {"target": 0.4, **{f"{role} {s}": p for role in ("latent", "conditional") for s, p in
             (("a", 0.3), ("b", 0.3), ("c", 0.4))}}  # fmt: skip
    ends = {query: float(query in ("latent not z", "conditional not z")) for query in COHERENT}
    rows = stated(COHERENT, 0.05, model="plain", units=6) + stated(dict.fromkeys(COHERENT, 0.5), 0, "alike", units=6)
    for values, first, model in ((three, 6, "plain"), (ends, 9, "plain"), (three, 6, "alike"), (ends, 9, "alike")):
        for row in stated(values, 0, model, units=3):
            unit = f"u{first + int(row['unit'][1:])}"
            rows.append(row | {"unit": unit, "item": row["item"].replace(row["unit"], unit, 1)})
    rows += [row | {"item": f"{row['item']} again"} for row in rows if row["unit"] == "u0"]
    rows = [row | {"item_family": "few" if row["unit"] < "u4" else "many", "truth": 0.5} for row in rows]
    rows += [row | {"model": "half"} for row in rows if row["model"] == "plain" and row["item_family"] == "few"]
    content = reported(log(tmp_path / "logs", rows))
    for table in content.tables:
        for ending in ("csv", "html", "tex"):
            text = TABLE_FORMATS[ending](table)
            assert not re.search(r"(?<![\w/.-])(nan|NaN|inf|None|NaT|<NA>)(?![\w/.-])", text), table.spec.name
            assert UNEXPLAINED not in text
    counted = content.manifest["rows"]
    assert counted["used"] + sum(counted["set_aside"].values()) == counted["responses"] == len(rows)
    assert any("two items for one query" in words for part in content.sections for words in part.lead)
