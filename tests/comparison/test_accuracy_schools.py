"""Accuracies and differences of both schools beside each other."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.bayes.accuracy import fit_accuracy
from analysis.bayes.accuracy_sampling import accuracy_settings
from analysis.comparison.accuracy_schools import accuracy_schools
from analysis.frequentist.model_measures import model_units, rate_measure, tidy
from tests.bayes.accuracy_answers import answers_table


def both(level):
    """A quick fit, items and frequentist estimates of the same answers."""
    items = answers_table(len(level), 150 if len(level) > 1 else 30, level=np.array(level))
    items = items.assign(score=items["n_right"] / items["n_samples"], n_set_aside=0)
    known = model_units(items)
    n, y = known.sums(np.ones(len(items)))[..., 0], known.sums(items["score"].to_numpy(float))[..., 0]
    measure = rate_measure("accuracy", n, y, ci_level=0.95, nothing="")
    estimates = tidy(known.models, [measure], target="these", ci_level=0.95, unit="unit", task="")
    return fit_accuracy(items, settings=accuracy_settings(fast=True, cores=1)), items, estimates


def test_differences_are_best_minus_other_in_both_columns():
    """Catches a pair turned in one column only: signs, and estimates within a standard error of each other."""
    fit, items, estimates = both([1.5, -0.5, 0.3])
    found = accuracy_schools(fit, items, estimates)
    rows = found.comparison[found.comparison["measure"] == "accuracy_difference"]
    assert list(rows["model"]) == ["m00 − m02", "m00 − m01"]
    assert (rows["estimate"] > 0).all()
    assert (rows["pooled_ci_low"] < rows["pooled_estimate"]).all()
    assert (rows["difference_se"].abs() < 1).all()
    by_hand = items.groupby("model")["score"].mean()
    assert list(rows["estimate"]) == pytest.approx([by_hand["m00"] - by_hand["m02"], by_hand["m00"] - by_hand["m01"]])
    # Shrinking makes differences smaller, never larger.
    assert (rows["expected_se"] <= 0).all()
    assert list(rows["decision"]) == list(rows["pooled_decision"]) == ["above", "above"]


def test_nothing_is_decided_about_accuracies_themselves():
    """Catches an accuracy near one half that counts as undecided, and a number of a failed fit."""
    fit, items, estimates = both([0.0, 0.1, 0.0])
    rows = accuracy_schools(fit, items, estimates).comparison
    rows = rows[rows["measure"] == "accuracy"]
    assert list(rows["decision"]) == list(rows["pooled_decision"]) == ["above"] * 3
    broken = accuracy_schools(replace(fit, status="failed", reason="R-hat"), items, estimates).comparison
    assert broken["pooled_estimate"].isna().all()
    assert set(broken["verdict"]) == {"not shown"}
    assert set(broken["code"]) == {"MCMC"}


def test_one_model_has_an_accuracy_and_no_difference():
    """Catches a report on one model that ends in a traceback for want of a second one."""
    fit, items, estimates = both([0.5])
    found = accuracy_schools(fit, items, estimates)
    assert list(found.comparison["measure"]) == ["accuracy"]
    assert found.comparison["pooled_estimate"].between(0.3, 0.9).all()
    assert found.differences.empty
