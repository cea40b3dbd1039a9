"""Sentences of the summary: true of the tables, complete, none without its ground."""

import pandas as pd
import pytest

from analysis.studies.judgement import JudgementResults
from analysis.studies.summary import NAMED, accuracy_claims, attention, claims, excluding_zero


def results(models: dict[str, dict[str, float]], decisions: dict[str, str]) -> JudgementResults:
    """Results of one task from estimates by model; intervals are the estimate ± .05."""
    rows = [
        {"model": m, "measure": k, "estimate": v, "ci_low": v - 0.05, "ci_high": v + 0.05, "reason": "", "n": 40}
        | {"n_clusters": 40}
        for m, values in models.items()
        for k, v in values.items()
    ]
    tests = pd.DataFrame(
        [{"model": m, "alternative": a, "decision": d} for m, d in decisions.items() for a in ("greater", "less")]
    )
    flags = pd.DataFrame([("b", "many uncertain answers", 0.127, "")], columns=["model", "flag", "value", "reason"])
    empty = pd.DataFrame()
    return JudgementResults(pd.DataFrame(rows), tests, empty, flags, {})


MODELS = {
    "a": {"accuracy": 0.8, "acc_yes": 0.8, "acc_no": 0.8, "answer_bias": 0.0, "competence_floor": 0.8},
    "b": {"accuracy": 0.55, "acc_yes": 0.98, "acc_no": 0.12, "answer_bias": 0.86, "competence_floor": 0.12},
    "c": {"accuracy": 0.52, "acc_yes": 0.1, "acc_no": 0.94, "answer_bias": -0.84, "competence_floor": 0.1},
}


def test_each_claim_names_the_models_it_is_true_of() -> None:
    """Catches signs turned round, and models named without an interval that excludes 0."""
    said = claims(results(MODELS, {"a": "above", "b": "below", "c": "undecided"}), {"b": "Model B"})
    assert said[0] == "The competence floor is shown above .5 for a."
    assert said[1] == "The competence floor is shown below .5 for Model B."
    assert said[2] == "Leaning to Yes, with an interval that excludes 0: Model B (+0.86)."
    assert said[3] == "Leaning to No, with an interval that excludes 0: c (−0.84)."
    assert "where Yes is right: c (0.52 overall, 0.10 there)" in said[4]
    assert "where No is right: Model B (0.55 overall, 0.12 there)" in said[5]
    assert len(said) == 6


def test_a_floor_that_turns_on_lost_answers_is_said_with_its_condition() -> None:
    """Catches a claim "below .5" that holds only because unreadable answers count as wrong."""
    found = results(MODELS, {"b": "below", "c": "below"})
    lost = pd.DataFrame([("c", "floor turns on lost answers", 0.2, "")], columns=["model", "flag", "value", "reason"])
    found = JudgementResults(found.estimates, found.tests, found.bounds, lost, {})
    said = claims(found, {})
    assert said[0] == "The competence floor is shown below .5 for b."
    assert said[1] == "Only if unreadable answers count as wrong is the competence floor shown below .5 for c."


def test_negation_blindness_reaches_the_summary() -> None:
    """Catches a polarity effect that stands in a table only."""
    models = {"a": {**MODELS["a"], "polarity_sensitivity": 0.6}}
    said = claims(results(models, {"a": "undecided"}), {})
    assert said == (
        "More often right on affirmative than on negated questions, with an interval that excludes 0: a (+0.60).",
    )


def test_nothing_is_claimed_without_ground() -> None:
    """Catches a sentence about bias where the interval holds 0, or about a floor that is undecided."""
    assert claims(results({"a": MODELS["a"]}, {"a": "undecided"}), {}) == ()


def test_long_lists_say_how_many_they_leave_out() -> None:
    """Catches names that a list of 29 models loses without a word."""
    many = {f"m{i:02d}": MODELS["a"] for i in range(NAMED + 3)}
    said = claims(results(many, dict.fromkeys(many, "above")), {})
    assert said[0].endswith(f"m{NAMED - 1:02d} and 3 more.")


def test_flags_are_said_once_per_kind_with_their_value() -> None:
    """Catches one sentence per model, and a share printed as a proportion."""
    said = attention(results(MODELS, {"a": "above"}), {}, where="task: ")
    assert said == ("task: more than 5% of the answers in a cell are unreadable: b (12.7%).",)


@pytest.mark.parametrize("low", [0.5, float("nan")])
def test_accuracies_are_named_best_first(low: float) -> None:
    """Catches an order by name, and `nan` where a target has no interval."""
    rows = [
        {"model": m, "measure": "accuracy", "estimate": e, "ci_low": low, "ci_high": low + 0.3}
        for m, e in (("a", 0.6), ("b", 0.7))
    ]
    (said,) = accuracy_claims(pd.DataFrame(rows), {})
    assert said == (
        "Accuracy: b 0.70 [0.50, 0.80], a 0.60 [0.50, 0.80]." if low == 0.5 else "Accuracy: b 0.70, a 0.60."
    )


def test_no_claim_rests_on_a_limit_that_the_table_prints_as_zero() -> None:
    """Catches a lean "with an interval that excludes 0" whose printed interval is [0.00, +0.38]."""
    rows = pd.DataFrame({"ci_low": [0.004, 0.006, -0.3, -0.3], "ci_high": [0.38, 0.38, -0.004, -0.006]})
    above, below = excluding_zero(rows)
    assert (list(above.index), list(below.index)) == ([1], [3])
