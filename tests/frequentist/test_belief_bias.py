"""Belief bias: responders whose bias is known, what one study's definition mixes in, and refusals."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit

from analysis.frequentist.belief_bias import belief_bias_estimates, labelled_belief_bias
from analysis.frequentist.belief_bias_tests import belief_permutation_tests, pooled_belief_bias
from tests.frequentist.answer_tables import answer_table, belief_design, drawn_answers

DESIGN = belief_design()
VALID = np.array([row["gold"] == "yes" for row in DESIGN])
BELIEVED = np.array([{"believable": 1.0, "unbelievable": -1.0, "": 0.0}[row["believability"]] for row in DESIGN])


def measures(table, model="m"):
    return table[table["model"] == model].set_index("measure")


def estimates(p_yes, *, seed=0, **options):
    return measures(
        belief_bias_estimates(answer_table(drawn_answers(DESIGN, p_yes, np.random.default_rng(seed))), **options)
    )


def test_a_believer_and_an_oracle():
    """Catches a sign, and nonsense items (where the believer says no) counted as unbelievable."""
    believer = estimates((BELIEVED > 0).astype(float))
    assert believer.loc["belief_bias", "estimate"] == 1
    assert believer.loc["discrimination_difference", "estimate"] == 0
    assert believer.loc["belief_bias", "n"] == 80
    assert believer.loc["belief_bias", "ci_low"] < 1 == believer.loc["belief_bias", "ci_high"]
    oracle = estimates(VALID.astype(float))
    assert oracle.loc["belief_bias", "estimate"] == 0
    assert oracle.loc["belief_bias", "ci_low"] < 0 < oracle.loc["belief_bias", "ci_high"]


def test_saying_no_to_everything_is_no_belief_bias():
    """Catches answer bias that passes for belief bias: the cells weigh the same."""
    naysayer = estimates(np.zeros(len(DESIGN)))
    assert naysayer.loc["belief_bias", "estimate"] == 0
    assert naysayer.loc["endorsement_log_odds_shift", "estimate"] == 0


def test_the_labelled_definition_mixes_answer_bias_in():
    """Catches the published definition sold as belief bias: a responder who never believes anything gets some."""
    table = answer_table(drawn_answers(DESIGN, np.zeros(len(DESIGN)), np.random.default_rng(0)))
    assert measures(belief_bias_estimates(table)).loc["belief_bias", "estimate"] == 0
    label = (table["believability"] == "believable").to_numpy()
    found = measures(labelled_belief_bias(table, label))
    # Congruent: 20 VB rows, wrong, and 60 invalid rows labelled unbelievable, right; incongruent: 60 and 20 likewise.
    congruent = 60 / 80
    incongruent = 20 / 80
    assert found.loc["congruent_labelled", "estimate"] == pytest.approx(congruent)
    assert found.loc["incongruent_labelled", "estimate"] == pytest.approx(incongruent)
    assert found.loc["belief_bias_labelled", "estimate"] == pytest.approx(congruent - incongruent)


def test_an_empty_cell_is_refused_with_its_name():
    """Catches a contrast over the cells that happen to be there."""
    lacking = [row for row in DESIGN if not row["unit"].startswith("IB")]
    table = answer_table(drawn_answers(lacking, np.full(len(lacking), 0.5), np.random.default_rng(1)))
    found = measures(belief_bias_estimates(table))
    for name in ("belief_bias", "incongruent", "endorsement_log_odds_shift"):
        assert np.isnan(found.loc[name, "estimate"])
        assert np.isnan(found.loc[name, "ci_low"])
        assert "invalid and believable" in found.loc[name, "reason"]
    assert found.loc["congruent", "estimate"] == found.loc["congruent", "estimate"]
    tests = belief_permutation_tests(table, rng=np.random.default_rng(2), permutations=50)
    assert np.isnan(tests["p_value"][0])
    assert "no unit in cell IB" in tests["reason"][0]
    assert pooled_belief_bias(table, rng=np.random.default_rng(2)).reason == "no unit in cell IB"


def test_the_log_odds_shift_of_a_logistic_responder():
    """Catches a shift halved or doubled: log-odds a + .5 u have shift 1, whatever the discrimination."""
    design = belief_design(400)
    valid = np.array([row["gold"] == "yes" for row in design])
    believed = np.array([{"believable": 1.0, "unbelievable": -1.0, "": 0.0}[row["believability"]] for row in design])
    p_yes = expit(-0.4 + np.where(valid, 1.0, -1.0) + 0.5 * believed)
    found = measures(belief_bias_estimates(answer_table(drawn_answers(design, p_yes, np.random.default_rng(3)))))
    shift = found.loc["endorsement_log_odds_shift"]
    assert shift["ci_low"] < 1 < shift["ci_high"]
    assert abs(shift["estimate"] - 1) < 4 * shift["std_error"] < 0.6
    assert (
        abs(found.loc["endorsement_log_odds_interaction", "estimate"])
        < 4 * found.loc["endorsement_log_odds_interaction", "std_error"]
    )


def test_unreadable_answers_follow_the_treatment():
    """Catches a treatment that reaches the accuracies and not the contrast."""
    rows = [row | {"said": "?", "model": "m"} for row in DESIGN]
    by_treatment = {u: measures(belief_bias_estimates(answer_table(rows), uncertain=u)) for u in ("incorrect", "half")}
    assert by_treatment["incorrect"].loc["congruent", "estimate"] == 0
    assert by_treatment["half"].loc["congruent", "estimate"] == 0.5
    nothing = measures(belief_bias_estimates(answer_table(rows), uncertain="excluded"))
    assert "no scored item" in nothing.loc["belief_bias", "reason"]


def test_permutation_of_labels_is_valid_under_unequal_units():
    """Catches permutation over rows, or across validity: units differ in Yes-tendency, classes in accuracy."""
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        tendency = dict(zip(sorted({row["unit"] for row in DESIGN}), rng.normal(0, 2, 40), strict=True))
        p_yes = expit(np.where(VALID, 2.0, 0.0) + np.array([tendency[row["unit"]] for row in DESIGN]))
        table = answer_table(drawn_answers(DESIGN, p_yes, rng))
        rejected += belief_permutation_tests(table, rng=rng, permutations=199)["p_value"][0] <= 0.05
    # Nominal 10 of 200, three binomial standard errors 9.2.
    assert 1 <= rejected <= 19


def test_a_strong_belief_is_found_and_p_is_never_zero():
    """Catches a statistic that permutation does not change."""
    p_yes = expit(np.where(VALID, 0.5, -0.5) + 3 * BELIEVED)
    table = answer_table(drawn_answers(DESIGN, p_yes, np.random.default_rng(5)))
    tests = belief_permutation_tests(table, rng=np.random.default_rng(6), permutations=999)
    assert tests["p_value"][0] == tests["resolution"][0] == 1 / 1000


def test_permutation_p_against_enumeration():
    """Catches a wrong null distribution: with 2 units a cell all 36 labellings are counted by hand."""
    design = belief_design(2)
    table = answer_table(drawn_answers(design, np.random.default_rng(8).random(len(design)), np.random.default_rng(9)))
    believed = table[table["believability"] != ""]
    units = believed.groupby("unit")["right"].mean()
    valid, invalid = [u for u in units.index if u[0] == "V"], [u for u in units.index if u[0] == "I"]
    values = []
    for v in combinations(valid, 2):
        for i in combinations(invalid, 2):
            rest_v, rest_i = units[[u for u in valid if u not in v]], units[[u for u in invalid if u not in i]]
            values.append((units[list(v)].mean() - rest_v.mean() - units[list(i)].mean() + rest_i.mean()) / 2)
    observed = (units[["VB00", "VB01"]].mean() - units[["VU00", "VU01"]].mean()) / 2
    observed -= (units[["IB00", "IB01"]].mean() - units[["IU00", "IU01"]].mean()) / 2
    exact = np.mean(np.abs(values) >= abs(observed) - 1e-12)
    test = belief_permutation_tests(table, rng=np.random.default_rng(10), permutations=20_000)
    assert test["estimate"][0] == pytest.approx(observed)
    assert test["p_value"][0] == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))


def test_pooled_bias_is_wider_over_new_models():
    """Catches models left fixed in the interval about new models, or cells weighted by their size."""
    rng = np.random.default_rng(11)
    rows = []
    for m in range(12):
        p_yes = expit(np.where(VALID, 1.0, -1.0) + rng.normal(1, 1) * BELIEVED)
        rows += drawn_answers(DESIGN, p_yes, rng, model=f"m{m:02d}")
    table = answer_table(rows)
    found = pooled_belief_bias(table, rng=rng, resamples=2000, permutations=500)
    mean = belief_bias_estimates(table).query("measure == 'belief_bias'")["estimate"].mean()
    assert found.estimate == pytest.approx(mean)
    assert found.both_low < found.these_low < found.estimate < found.these_high < found.both_high
    assert found.p_value < 0.05
    assert (found.n_models, found.n_clusters) == (12, 40)


def test_row_order_changes_nothing():
    """Catches results that depend on the order of rows."""
    table = answer_table(drawn_answers(DESIGN, np.full(len(DESIGN), 0.6), np.random.default_rng(12)))
    shuffled = table.sample(frac=1, random_state=1)
    assert belief_bias_estimates(table).equals(belief_bias_estimates(shuffled))
    tests = [belief_permutation_tests(t, rng=np.random.default_rng(1), permutations=99) for t in (table, shuffled)]
    assert tests[0].equals(tests[1])
