"""Columns of a comparison come from the right draws, target and treatment."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.bayes.fit import fit_answer_bias
from analysis.bayes.result import AnswerBiasFit
from analysis.bayes.sampling import SamplerSettings
from analysis.comparison.columns import compare_columns, headline_rows
from analysis.comparison.schools import REFERENCE, Thresholds
from analysis.comparison.shared_input import cluster_estimates, comparison_facts, weighted_facets
from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.cell_covariance import cell_covariances
from analysis.frequentist.floor_tests import floor_tests
from analysis.reduction.units import unit_sums

QUICK = SamplerSettings(draws=500, tune=200)


@pytest.fixture(scope="module")
def study() -> tuple[AnswerBiasFit, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Five models on 300 items of each gold answer, each asked once; interior accuracies."""
    rng = np.random.default_rng(11)
    rows = []
    for m, (yes, no) in enumerate([(0.8, 0.6), (0.7, 0.72), (0.6, 0.4), (0.35, 0.75), (0.55, 0.8)]):
        for gold, rate in (("yes", yes), ("no", no)):
            right = rng.random(300) < rate
            rows += [
                {"task": "t", "model": f"m{m}", "item": f"{gold}{i}", "unit": f"{gold}{i}", "cell": f"gold_{gold}"}
                | {"n_planned": 1, "n_answered": 1, "n_uncertain": 0, "n_set_aside": 0, "n_yes": 0, "n_correct": int(r)}
                for i, r in enumerate(right)
            ]
    counts = pd.DataFrame(rows)
    sums = unit_sums(counts)
    clusters = cell_covariances(sums)
    assert not cluster_estimates(clusters).reused
    fit = fit_answer_bias(weighted_facets(counts), clusters=cluster_estimates(clusters), settings=QUICK)
    return fit, answer_bias_estimates(sums), floor_tests(sums), comparison_facts(clusters)


def test_interior_columns_agree(study: tuple) -> None:
    """Catches draws of another model, measure or treatment beside an estimate."""
    fit, estimates, tests, facts = study
    found = compare_columns(fit, estimates, tests, facts)
    assert len(found) == 5 * len(set(found["measure"]))
    assert set(found["measure"]) <= set(REFERENCE)
    assert found["software_ok"].dropna().all()
    smooth = found[~found["measure"].str.endswith("floor")]
    assert (smooth["difference_se"].abs() < 0.5).all()
    assert (found["decision"] == found["pooled_decision"]).mean() >= 0.9


def test_probabilities_are_those_of_the_draws_beyond_the_rope(study: tuple) -> None:
    """Catches a rope on one side only, or a probability of the wrong sign: .8 against .6 leans to Yes."""
    fit, estimates, tests, facts = study
    wide = compare_columns(fit, estimates, tests, facts, thresholds=Thresholds(rope=0.19)).set_index(
        ["model", "measure"]
    )
    plain = compare_columns(fit, estimates, tests, facts).set_index(["model", "measure"])
    assert plain.loc[("m0", "answer_bias"), "pooled_decision"] == "above"
    assert wide.loc[("m0", "answer_bias"), "pooled_decision"] == "undecided"
    assert plain.loc[("m3", "answer_bias"), "pooled_decision"] == "below"
    assert wide.loc[("m1", "answer_bias"), "pooled_decision"] == "equivalent"


def test_a_failed_fit_shows_no_number_and_says_which_gate(study: tuple) -> None:
    """Catches numbers of a failed sampler in print."""
    fit, estimates, tests, facts = study
    failed = replace(fit, status="failed", reason="R-hat 1.2 (limit 1.01) in answer_bias of m0")
    found = compare_columns(failed, estimates, tests, facts)
    assert found["pooled_estimate"].isna().all()
    assert set(found["verdict"]) == {"not shown"}
    assert set(found["code"]) == {"MCMC"}
    assert found["reason"].str.contains("R-hat").all()
    assert found["unpooled_estimate"].notna().all()


def test_new_templates_are_compared_with_new_templates_where_the_fit_has_them(study: tuple) -> None:
    """Catches a claim about new templates beside a column about these without a word."""
    fit, estimates, tests, facts = study
    assert headline_rows(fit, "these") == (fit.glance["headline"], "these")
    new = compare_columns(fit, estimates.assign(target="new_templates"), tests, facts)
    assert headline_rows(fit, "new_templates")[1] == "these"
    differing = new[~new["verdict"].isin(["agree", "not compared"])]
    assert set(differing["code"]) <= {"TARGET"}
