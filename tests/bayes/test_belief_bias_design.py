"""What the endorsement model takes from a design, what it leaves out and says so, and its priors."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy.special import expit

from analysis.bayes import belief_bias_design
from analysis.bayes.belief_bias_design import belief_design
from analysis.bayes.belief_bias_priors import MEANINGS, BeliefPriors, prior_predictive, prior_table
from analysis.errors import AnalysisError
from tests.bayes.endorsement_counts import small_counts


def counts(**changed: object) -> object:
    return small_counts(np.random.default_rng(1), **changed)


def test_columns_of_a_whole_design() -> None:
    """Catches a term with a wrong sign, levels that do not sum to 0, or a level given to both answers alike."""
    design = belief_design(counts(), conditions=("strategy",))
    assert design.groups == (
        "lean", "discrimination", "belief", "belief_discrimination",
        "strategy_lean", "strategy_discrimination", "variant_lean", "variant_discrimination",
    )  # fmt: skip
    valid = design.questions["gold"].map({"yes": 1.0, "no": -1.0})
    believed = design.questions["believability"].map({"believable": 1.0, "unbelievable": -1.0, "": 0.0})
    np.testing.assert_array_equal(design.of_question[:, 1], valid)
    np.testing.assert_array_equal(design.of_question[:, 3], valid * believed)
    at = design.groups.index("strategy_lean")
    lean = design.of_configuration[:, :, design.group == at]
    moved = design.of_configuration[:, :, design.group == at + 1]
    np.testing.assert_allclose(lean.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(moved[:, 0], lean[:, 0])
    np.testing.assert_allclose(moved[:, 1], -lean[:, 0])
    assert design.has_units
    assert design.has_versions


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"models": 1}, "one model only"),
        ({"strategies": ("a",)}, "No condition varies"),
        ({"versions": ("N",)}, "Each unit is one question"),
        ({"strategies": ("a",), "votes": 1}, "No question is asked twice"),
        ({"strategies": ("a",), "votes": 1, "versions": ("N",)}, "No unit is asked twice"),
    ],
)
def test_what_a_design_does_not_identify_is_left_out_and_said(changed: dict[str, object], said: str) -> None:
    """Catches an effect of what never repeats, and a simplification that nobody hears of."""
    design = belief_design(counts(**changed), conditions=("strategy",))
    assert any(said in sentence for sentence in design.sentences), design.sentences


def test_without_believability_or_one_answer_terms_fall_away() -> None:
    """Catches belief fitted to an empty cell, and discrimination where all questions are valid."""
    table = counts()
    none = belief_design(table.assign(believability=""))
    assert none.groups[:2] == ("lean", "discrimination")
    assert not none.has_belief
    empty = belief_design(table[~((table["gold"] == "no") & (table["believability"] == "believable"))])
    assert not empty.has_belief
    assert any("knows no belief" in sentence for sentence in empty.sentences)
    valid = belief_design(table[table["gold"] == "yes"], conditions=("strategy",))
    assert all("discrimination" not in name for name in valid.groups)


def test_nonsense_is_told_apart_where_versions_do_not() -> None:
    """Catches a leaning on nonsense questions that passes for one on all."""
    assert "nonsense_lean" in belief_design(counts().drop(columns="variant")).groups
    assert "nonsense_lean" not in belief_design(counts()).groups


def test_bad_counts_are_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a traceback of a library, and a fit that would take hours."""
    table = counts()
    with pytest.raises(AnalysisError, match="lack gold"):
        belief_design(table.drop(columns="gold"))
    with pytest.raises(AnalysisError, match="whole number from 0 to n"):
        belief_design(table.assign(k=table["n"] + 1))
    with pytest.raises(AnalysisError, match="no readable answer"):
        belief_design(table.assign(n=0, k=0))
    twice = table.assign(gold=np.where(np.arange(len(table)) % 2, "yes", "no"))
    with pytest.raises(AnalysisError, match="several units, gold answers or versions"):
        belief_design(twice)
    monkeypatch.setattr(belief_bias_design, "MOST_COUNTS", 10)
    with pytest.raises(AnalysisError, match="more than are fitted"):
        belief_design(table)


def test_every_prior_has_a_meaning_and_defaults_pass_the_gate() -> None:
    """Catches a prior that nobody explains, and defaults that exclude real accuracies or biases."""
    assert set(MEANINGS) == set(asdict(BeliefPriors()))
    assert [name for name, _, _ in prior_table(BeliefPriors())] == list(asdict(BeliefPriors()))
    found = prior_predictive(BeliefPriors(), np.random.default_rng(1))
    assert found.passed
    assert found.extreme_cells < 0.4
    assert found.bias_low < 0 < found.bias_high


@pytest.mark.parametrize(
    "changed",
    [
        {"belief_sd": 0.1, "belief_mean_sd": 0.1, "belief_mean": 0.1},
        {"lean_sd": 20.0, "discrimination_sd": 20.0},
        {"lean_mean_sd": 0.1, "lean_sd": 0.1, "discrimination_mean_sd": 0.1, "discrimination_sd": 0.1},
    ],
)
def test_narrow_and_extreme_priors_fail_the_gate(changed: dict[str, float]) -> None:
    """Catches a gate that passes everything."""
    assert not prior_predictive(replace(BeliefPriors(), **changed), np.random.default_rng(1)).passed


def test_meanings_by_hand_and_priors_out_of_range() -> None:
    """Catches a number in words that the scale does not give, and a scale of 0."""
    assert expit([0.3, -0.3]) == pytest.approx([0.57, 0.43], abs=0.005)
    assert expit([-1.96 * 1.5, 1.96 * 1.5]) == pytest.approx([0.05, 0.95], abs=0.005)
    assert expit([0.3 - 1.96, 0.3 + 1.96]) == pytest.approx([0.16, 0.905], abs=0.005)
    assert "16-.91" in MEANINGS["belief_mean_sd"]
    with pytest.raises(AnalysisError, match="item_sd: must be a finite number above 0"):
        BeliefPriors(item_sd=0.0)
    assert BeliefPriors(belief_mean=-1.0).belief_mean == -1.0
