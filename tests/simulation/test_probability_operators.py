"""The simulated benchmark: its design, exact responders, agreement of frequencies with the stated truth."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from analysis.errors import AnalysisError
from analysis.simulation.probability_operators import ProbabilityOperators, simulate_probability_operators
from analysis.simulation.probability_questions import FORMS, INVALID, NOT_FORMS, VALID, clauses, question
from analysis.simulation.responders import Responder, named_responders
from analysis.simulation.truth import mean_expit

CELLS = {"valid": {"affirmative": "VA", "negated": "VN"}, "invalid": {"affirmative": "IA", "negated": "IN"}}


def simulated(settings: ProbabilityOperators, seed: int = 1):
    return simulate_probability_operators(np.random.default_rng(seed), settings)


def observed(table: pa.Table) -> dict[str, float]:
    """Accuracy of the four cells, unreadable answers wrong, from a plain loop over rows."""
    right: dict[str, list[bool]] = {}
    for row in table.to_pylist():
        if row["negation"] != "not" and row.get("status") not in ("errored", "missing"):
            right.setdefault(CELLS[row["validity"]][row["polarity"]], []).append(row["answer"] == row["gold"])
    return {cell: sum(values) / len(values) for cell, values in right.items()}


def test_full_design_has_the_counts_of_the_published_benchmark():
    """Catches a missing form, a second omitted block, or the block omitted from the wrong cell."""
    settings = ProbabilityOperators(named_responders(["coin"]), omit_block=True, answers=True)
    rows = simulated(settings).tables[0][1].to_pandas()
    assert len(rows) == 14_320
    assert rows["item"].nunique() == 14_320
    paired = rows[rows["negation"] != "not"]
    sizes = paired.groupby(["validity", "polarity"]).size().to_dict()
    assert sizes == {
        ("valid", "affirmative"): 4400,
        ("valid", "negated"): 4320,
        ("invalid", "affirmative"): 1600,
        ("invalid", "negated"): 1600,
    }
    assert (rows["negation"] == "not").sum() == 2400
    assert rows["unit"].nunique() == 80


def test_gold_is_yes_for_valid_affirmative_and_invalid_negated_only():
    """Catches the classic slip that negation leaves the gold answer as it is."""
    rows = simulated(ProbabilityOperators(named_responders(["coin"]), surfaces=2)).tables[0][1].to_pylist()
    for row in rows:
        assert (row["gold"] == "yes") == ((row["validity"] == "valid") == (row["polarity"] == "affirmative"))


@pytest.mark.parametrize("name", ["oracle", "constant-yes", "constant-no", "oracle-blind-to-negation"])
def test_responders_by_rule_reproduce_their_cells_exactly(name):
    """Catches effects of templates, forms or surfaces that leak into a responder without spread."""
    (responder,) = named_responders([name])
    logs = simulated(ProbabilityOperators((responder,), surfaces=5, answers=True))
    assert tuple(observed(logs.tables[0][1])[cell] for cell in ("VA", "VN", "IA", "IN")) == responder.cells
    truth = logs.truth[responder.name]["surfaces"]["population"]["incorrect"]
    assert tuple(truth["cells"].values()) == responder.cells


def test_observed_cells_lie_around_the_truth_of_these_surfaces():
    """Catches a truth computed for other prompts, another treatment or without the effects.

    Responses are independent given the drawn effects, so each cell is within 4 binomial standard
    errors (false alarm 8 cells × 6e-5); the stated effects are several times larger.
    """
    lean = Responder("simulated/a", 0.9, 0.3, 0.4, 0.8, 1.0, 0.1, 0.3)
    blind = Responder("simulated/b", 0.8, 0.3, 0.8, 0.3, 1.5, 0.0, 0.0, 0.2)
    logs = simulated(ProbabilityOperators((lean, blind), surfaces=100, answers=True), seed=7)
    for name, table in logs.tables:
        truth = logs.truth[name]["surfaces"]["these"]["incorrect"]["cells"]
        for cell, share in observed(table).items():
            n = 5500 if cell[0] == "V" else 2000
            assert abs(share - truth[cell]) < 4 * np.sqrt(0.25 / n), (name, cell)


def test_truth_over_surfaces_is_the_mean_of_many_surfaces():
    """Catches a population truth that ignores the surface variance (plug-in at the centre)."""
    strong = Responder("simulated/a", 0.95, 0.9, 0.9, 0.95)
    settings = ProbabilityOperators(
        (strong,), surfaces=20_000, valid_templates=1, invalid_templates=1, forms=("truth",),
        surface_yes_sd=1.5, surface_difficulty_sd=0.5,
    )  # fmt: skip
    truth = simulated(settings).truth[strong.name]["surfaces"]
    for cell, value in truth["population"]["incorrect"]["cells"].items():
        assert abs(value - truth["these"]["incorrect"]["cells"][cell]) < 4 * 0.5 / np.sqrt(20_000)
        assert value < strong.cells[0] - 0.02 or cell in ("VN", "IA", "IN")


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 1.0), (2.5, 0.5), (-4.0, 2.0)])
def test_mean_of_the_logistic_of_a_normal_agrees_with_numerical_integration(mean, sd):
    """Catches wrong quadrature weights; 1e-8 is the error stated in the docstring."""
    exact = quad(lambda z: expit(mean + sd * z) * norm.pdf(z), -12, 12, epsabs=1e-12, epsrel=1e-12)[0]
    assert abs(float(mean_expit(np.array(mean), sd)) - exact) < 1e-8


def test_mean_of_the_logistic_keeps_certainties():
    """Catches NaN from infinite log-odds of rule-following responders."""
    assert mean_expit(np.array([np.inf, -np.inf]), 0.5).tolist() == [1.0, 0.0]


def test_uncertain_answers_and_set_aside_rows_come_at_the_rates_asked_for():
    """Catches the two uncertain rates swapped between gold answers (.05 against .35, 4 standard errors)."""
    responder = Responder("simulated/a", 0.5, 0.5, 0.5, 0.5, 0.0, 0.05, 0.35, 0.1)
    logs = simulated(ProbabilityOperators((responder,), surfaces=60, answers=True))
    rows = logs.tables[0][1].to_pandas()
    gone = rows["status"].isin(["errored", "missing"])
    assert abs(gone.mean() - 0.1) < 4 * np.sqrt(0.09 / len(rows))
    for gold, rate in (("yes", 0.05), ("no", 0.35)):
        scored = rows[~gone & (rows["gold"] == gold)]
        uncertain = scored["status"].isin(["unparsed", "refused", "truncated"])
        assert abs(uncertain.mean() - rate) < 4 * np.sqrt(rate * (1 - rate) / len(scored))
        assert scored.loc[uncertain, "answer"].isna().all()


def test_every_prompt_is_a_question_of_its_own():
    """Catches two items with one prompt, or a placeholder left unfilled."""
    settings = ProbabilityOperators(named_responders(["coin"]), surfaces=61, prompts=True)
    prompts = simulated(settings).tables[0][1]["prompt"].to_pylist()
    assert len(set(prompts)) == len(prompts)
    assert not [p for p in prompts if "{" in p]
    wordings = [w for form in FORMS.values() for w in form[:2]] + list(NOT_FORMS.values())
    assert len({question(VALID[0], wording, 0) for wording in wordings}) == 12
    assert len({tuple(clauses(i).values()) for i in range(300)}) == 300


@pytest.mark.parametrize(
    "change",
    [{"surfaces": 0}, {"valid_templates": len(VALID) + 1}, {"invalid_templates": len(INVALID) + 1}, {"responders": ()},
     {"forms": ("truth", "rhyme")}, {"forms": ()}, {"surface_shared": 1.5}],
)  # fmt: skip
def test_impossible_settings_are_refused(change):
    """Catches sizes that would silently give a smaller design."""
    with pytest.raises(AnalysisError):
        ProbabilityOperators(**({"responders": named_responders(["coin"])} | change))


def test_activity_nationality_and_gender_are_crossed_over_eighty_surfaces():
    """Catches factors that move together, and names that have a gender without a nationality."""
    rows = simulated(ProbabilityOperators(named_responders(["coin"]), answers=True)).tables[0][1].to_pandas()
    units = rows.drop_duplicates("unit")
    assert units.groupby("factor.activity").size().tolist() == [16] * 5
    assert set(units.groupby(["factor.activity", "factor.nationality", "factor.gender"]).size()) == {1, 2}
    assert units.groupby("factor.gender").size().to_dict() == {"female": 35, "letters": 10, "male": 35}


def test_stated_parts_agree_with_the_observed_ones():
    """Catches a truth by form or negation that mixes in the other questions: 4 binomial standard errors."""
    lean = Responder("simulated/a", 0.9, 0.4, 0.4, 0.8, 1.0, 0.1, 0.2)
    logs = simulated(ProbabilityOperators((lean,), answers=True, activity_sd=0.8), seed=3)
    rows = logs.tables[0][1].to_pandas()
    rows["right"] = rows["answer"] == rows["gold"]
    truth = logs.truth["simulated/a"]["parts"]["these"]
    paired = rows[rows["negation"] != "not"]
    for factor in ("form", "template"):
        for level, part in paired.groupby(factor):
            assert abs(part["right"].mean() - truth[factor][level]) < 4 * 0.5 / np.sqrt(len(part)), level
    both = rows[rows["form"].isin(NOT_FORMS)]
    for kind in ("prefix", "not"):
        part = both[both["negation"] == kind]
        assert abs(part["right"].mean() - truth["negation"][kind]) < 4 * 0.5 / np.sqrt(len(part)), kind


def test_settings_declare_only_what_the_arguments_allow():
    """Catches a contrast of two wordings of which one was left out."""
    small = simulated(ProbabilityOperators(named_responders(["coin"]), surfaces=2, invalid_templates=1))
    assert "Two wordings of part of conjunction" in small.study_toml
    assert "conjoined" not in small.study_toml.split("[[restriction]]")[0]
