"""Tests of conditions: worked by hand, nothing paired by position, and the naive tests shown to be too sure."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

from analysis.frequentist.condition_ladders import ladders, without_each_model
from analysis.frequentist.condition_tests import (
    level_accuracies,
    model_pair_tests,
    overall_tests,
    pair_tests,
    rank_comparisons,
)
from analysis.reduction.matched_levels import matched_levels

RNG = np.random.default_rng
LEVELS = ("zero", "one", "few")


def drawn(rng, *, models=6, temperatures=3, units=10, versions=4, effect=None, item_sd=0.0, model_sd=0.0):
    """Answers of models × strategies × temperatures × units × versions, temperatures nearly copies of each other.

    ``effect`` adds to the log-odds by level; ``item_sd`` and ``model_sd`` let units and models react to each
    strategy in their own way, with mean zero.
    """
    effect = effect or {}
    m, s, u, v = np.meshgrid(
        np.arange(models), np.arange(len(LEVELS)), np.arange(units), np.arange(versions), indexing="ij"
    )
    by_unit = rng.normal(0, item_sd, (len(LEVELS), units))
    by_model = rng.normal(0, model_sd, (models, len(LEVELS)))
    eta = 0.5 + by_unit[s, u] + by_model[m, s] + np.array([effect.get(name, 0.0) for name in LEVELS])[s]
    right = rng.random(eta.shape) < expit(eta)
    parts = []
    for t in range(temperatures):
        flipped = rng.random(eta.shape) < 0.03
        parts.append(
            pd.DataFrame(
                {
                    "model": np.char.add("m", m.ravel().astype(str)),
                    "strategy": np.array(LEVELS)[s.ravel()],
                    "temperature": str(t),
                    "unit": np.char.add("u", u.ravel().astype(str)),
                    "item": np.char.add(np.char.add(u.ravel().astype(str), "."), v.ravel().astype(str)),
                    "value": (right ^ flipped).ravel().astype(float),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def matched(table):
    return matched_levels(table, table["value"].to_numpy(float), "strategy", conditions=("strategy", "temperature"))


def test_pooled_tests_are_those_of_model_means():
    """Catches a test over configurations passed for one over models: scipy on the means of each model."""
    table = drawn(RNG(1), effect={"few": -1.0}, model_sd=0.5)
    found = pair_tests(matched(table), [("zero", "few"), ("zero", "one")], rng=RNG(2)).iloc[0]
    means = table.groupby(["model", "strategy"])["value"].mean().unstack()
    expected = stats.ttest_rel(means["zero"], means["few"])
    assert found["estimate"] == pytest.approx((means["zero"] - means["few"]).mean())
    assert found["p_value"] == pytest.approx(expected.pvalue)
    assert found["p_wilcoxon"] == pytest.approx(stats.wilcoxon(means["zero"], means["few"], method="exact").pvalue)
    assert (found["n_clusters"], found["n_naive"], found["family_size"]) == (6, 18, 2)
    by_configuration = table.groupby(["model", "temperature", "strategy"])["value"].mean().unstack()
    assert found["p_naive"] == pytest.approx(stats.ttest_rel(by_configuration["zero"], by_configuration["few"]).pvalue)
    overall = overall_tests(matched(table), rng=RNG(3)).set_index("unit")
    friedman = stats.friedmanchisquare(*means[list(LEVELS)].to_numpy().T)
    assert overall.loc["models", "statistic"] == pytest.approx(friedman.statistic)
    assert overall["n_clusters"].tolist() == [6, 18]
    assert len(rank_comparisons(matched(table))) == 3


def test_a_model_under_one_strategy_only_is_accounted_for():
    """Catches a model dropped in silence, or paired with another one's answers."""
    table = drawn(RNG(4))
    table = table[~((table["model"] == "m0") & (table["strategy"] != "zero"))]
    found = pair_tests(matched(table), [("zero", "few")], rng=RNG(5)).iloc[0]
    assert found["n_clusters"] == 5
    assert found["n_unmatched"] == 120
    by_model = model_pair_tests(matched(table), [("zero", "few")], rng=RNG(6)).set_index("model")
    assert by_model.loc["m0", "reason"] == "this model lacks one of the levels"
    assert np.isnan(by_model.loc["m0", "p_value"])
    assert by_model["family_size"].tolist() == [5] * 6
    assert by_model["not_run"].tolist() == [1] * 6
    levels = level_accuracies(table, table["value"].to_numpy(float), "strategy").set_index(["model", "level"])
    assert levels.loc[("m0", "few"), "reason"] == "not asked under this level"
    assert levels.loc[("m0", "zero"), "estimate"] == pytest.approx(
        table.query("model == 'm0' and strategy == 'zero'")["value"].mean()
    )


def test_the_ladder_counts_rows_by_hand():
    """Catches discordant pairs counted over unmatched rows, or rungs in the wrong order."""
    table = drawn(RNG(7))
    found = ladders(matched(table), [("zero", "few")], rng=RNG(8), unit="base item", flips=2000)
    assert found["rung"].tolist() == ["rows", "model × item", "item", "base item", "model", "model × base item"]
    assert found["n_clusters"].tolist() == [720, 240, 40, 10, 6, 6]
    wide = table.pivot_table(index=["model", "temperature", "item"], columns="strategy", values="value")
    assert found["first_only"][0] == int(((wide["zero"] == 1) & (wide["few"] == 0)).sum())
    assert found["second_only"][0] == int(((wide["zero"] == 0) & (wide["few"] == 1)).sum())
    left = without_each_model(matched(table), [("zero", "few")], rng=RNG(9), flips=500)
    assert left["net"].sum() == pytest.approx(found["estimate"][0])


def test_row_tests_reject_too_often_and_unit_tests_do_not():
    """Catches a unit that is none: base items react to strategies, which do not differ on average."""
    rejected = {"rows": 0, "base item": 0}
    per_model = 0
    for seed in range(100):
        rng = RNG(seed)
        table = drawn(rng, models=4, item_sd=1.2)
        found = ladders(matched(table), [("zero", "few")], rng=rng, unit="base item", flips=200).set_index("rung")
        for rung in rejected:
            rejected[rung] += found.loc[rung, "p_value"] <= 0.05
        tests = model_pair_tests(matched(table), [("zero", "few")], rng=rng, flips=200)
        per_model += (tests["p_value"] <= 0.05).sum()
    # Nominal 5 of 100: three binomial standard errors are 6.5.
    assert rejected["base item"] <= 11.5
    assert rejected["rows"] >= 33
    # 400 tests of models, 20 expected; models share the items, which widens the error to about 8.
    assert 3 <= per_model <= 44


def test_copies_at_other_temperatures_tell_nothing_new():
    """Catches temperatures counted as replicates."""
    table = drawn(RNG(11), temperatures=1)
    copies = pd.concat([table.assign(temperature=str(t)) for t in range(5)], ignore_index=True)
    for tests in (
        lambda m: pair_tests(m, [("zero", "few")], rng=RNG(1)),
        lambda m: model_pair_tests(m, [("zero", "few")], rng=RNG(1)),
    ):
        one, five = tests(matched(table)), tests(matched(copies))
        np.testing.assert_allclose(one["p_value"].to_numpy(float), five["p_value"].to_numpy(float))
        np.testing.assert_allclose(one["ci_high"].to_numpy(float), five["ci_high"].to_numpy(float))


def test_equal_conditions_are_not_called_different_and_may_be_called_equivalent():
    """Catches an equivalence test that takes no significance for equality."""
    table = drawn(RNG(12), models=12, units=40)
    found = pair_tests(matched(table), [("zero", "few")], rng=RNG(13)).iloc[0]
    assert found["decision"] in ("equivalent", "undecided")
    few = drawn(RNG(12), models=3, units=4, model_sd=0.5)
    assert pair_tests(matched(few), [("zero", "few")], rng=RNG(13)).iloc[0]["decision"] == "undecided"
