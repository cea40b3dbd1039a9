"""Tests of the floor and the decisions they allow."""

import numpy as np
import pytest

from analysis.frequentist.answer_bias import floor_tests
from analysis.frequentist.multiplicity import holm
from tests.frequentist.unit_tables import items, table


def of(right: int, total: int = 50) -> list[int]:
    return [1] * right + [0] * (total - right)


SUMS = table(
    items("able", of(45), of(44)),
    items("biased", of(48), of(4)),
    items("coin", of(25), of(26)),
    items("yes items only", of(40), []),
)


def test_decisions() -> None:
    found = floor_tests(SUMS)
    decided = found.groupby("model")["decision"].unique().apply(tuple).to_dict()
    assert decided == {
        "able": ("above",),
        "biased": ("below",),
        "coin": ("undecided",),
        "yes items only": ("not tested",),
    }


def test_holm_runs_over_the_tests_that_were_run() -> None:
    """Four models, three of which can be tested: a family of four would be too strict."""
    found = floor_tests(SUMS)
    assert (found["family_size"] == 3).all()
    for alternative in ("greater", "less"):
        rows = found[found["alternative"] == alternative]
        np.testing.assert_allclose(rows["p_adjusted"], holm(rows["p_value"]))
    skipped = found[found["model"] == "yes items only"]
    assert skipped["p_value"].isna().all()
    assert (skipped["reason"] == "no scored response with gold no").all()


def test_tasks_are_families_of_their_own() -> None:
    other = SUMS[SUMS["model"] == "able"].assign(task="second")
    found = floor_tests(table(SUMS.to_dict("records"), other.to_dict("records")))
    assert found.groupby("task")["family_size"].first().to_dict() == {"": 3, "second": 1}


def test_one_strong_class_is_not_competence() -> None:
    """p = max over classes; the smaller one would call a constant-Yes model competent."""
    found = floor_tests(SUMS).set_index(["model", "alternative"])
    assert found.loc[("biased", "greater"), "p_value"] > 0.999
    assert found.loc[("biased", "less"), "p_value"] < 1e-6


def test_p_values_stay_above_zero_at_any_size() -> None:
    found = floor_tests(table(items("m", of(4990, 5000), of(4990, 5000))))
    assert (found["p_value"] > 0).all()
    assert (found["p_adjusted"] > 0).all()
    assert found["p_value"].min() < 1e-300


def test_a_census_is_not_tested() -> None:
    found = floor_tests(SUMS, target="census")
    assert (found["decision"] == "not tested").all()
    assert (found["family_size"] == 0).all()
    assert found["estimate"].notna().sum() == 6


def test_the_level_decides() -> None:
    sums = table(items("m", of(33), of(36)))
    p = floor_tests(sums)["p_value"].iloc[0]
    assert 0.01 < p < 0.05
    assert floor_tests(sums, ci_level=0.95)["decision"].iloc[0] == "above"
    assert floor_tests(sums, ci_level=0.99)["decision"].iloc[0] == "undecided"


def test_other_null_values() -> None:
    """A null that reaches the statistic but not its standard error fails at .2."""
    assert floor_tests(SUMS, null=0.85).set_index("model").loc["able", "decision"].eq("undecided").all()
    assert floor_tests(SUMS, null=0.2).set_index("model").loc["coin", "decision"].eq("above").all()


@pytest.mark.parametrize("treatment", ["incorrect", "excluded", "half"])
def test_treatment_is_written_down(treatment: str) -> None:
    assert (floor_tests(SUMS, uncertain=treatment)["uncertain"] == treatment).all()
