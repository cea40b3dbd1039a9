"""How much the endorsement model leans on its priors: densities by hand, flags that fire and that stay quiet."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import binom, halfnorm, norm

from analysis.bayes.belief_bias import fit_belief_bias
from analysis.bayes.belief_bias_arrays import endorsement_of
from analysis.bayes.belief_bias_checks import question_log_odds
from analysis.bayes.belief_bias_design import belief_design
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.belief_bias_result import BeliefBiasFit
from analysis.bayes.belief_bias_sampling import EndorsementDraws
from analysis.bayes.belief_bias_sensitivity import log_likelihood, log_prior
from analysis.bayes.sampling import Draws, SamplerSettings
from analysis.studies.belief_bias_bayes_sensitivity import belief_sensitivity_limits
from tests.bayes.endorsement_counts import small_counts

QUICK = SamplerSettings(chains=2, draws=250, tune=150, cores=1, fast=True)


def worded(units: int, votes: int, *, seed: int = 1) -> pd.DataFrame:
    """Counts of questions with believability alone, each its own unit."""
    rng = np.random.default_rng(seed)
    return small_counts(rng, units=units, versions=("N",), strategies=("a",), votes=votes).assign(
        believability=lambda t: np.where(t["unit"].str[1:].astype(int) % 2 == 1, "believable", "unbelievable")
    )


@pytest.fixture(scope="module")
def leaning() -> BeliefBiasFit:
    """Sixteen answers a model against a prior that is sure of a large bias."""
    priors = BeliefPriors(belief_mean=1.2, belief_mean_sd=0.2, belief_sd=0.15)
    return fit_belief_bias(worded(16, 1), priors=priors, settings=replace(QUICK, draws=1000))


@pytest.fixture(scope="module")
def sure() -> BeliefBiasFit:
    """1,600 answers a model under the default priors."""
    return fit_belief_bias(worded(80, 20), settings=QUICK)


def test_densities_are_those_of_scipy() -> None:
    """Catches a likelihood of other counts, and a prior that leaves out a scale: differences between two points."""
    counts = small_counts(np.random.default_rng(3))
    design = belief_design(counts, conditions=("strategy",))
    priors = BeliefPriors()
    model = endorsement_of(design, priors)
    z = np.random.default_rng(4).normal(size=(1, 3, model.starts[-1]))
    fill = np.zeros((1, 3))
    sampler = Draws(z, fill > 0, fill.astype(np.int64), fill, 1.0, 1)
    draws = EndorsementDraws(model, sampler)
    found = draws.parameters()
    by_hand = np.zeros(3)
    for m in range(len(design.models)):
        eta = question_log_odds(m, design, draws, found)
        by_hand += binom.logpmf(design.yes[m], design.answered[m], expit(eta)).sum(axis=(1, 2))
    own = log_likelihood(design, draws, found)
    assert own - own[0] == pytest.approx(by_hand - by_hand[0], abs=1e-8)
    hand = np.zeros(3)
    for name, scale in zip(model.sds, np.exp(model.data.log_scale), strict=True):
        hand += halfnorm.logpdf(found.sd[name], scale=scale)
    terms = {"lean": (0.0, priors.lean_mean_sd), "discrimination": (1.0, priors.discrimination_mean_sd)}
    terms |= {"belief": (0.3, priors.belief_mean_sd)}
    terms |= {"belief_discrimination": (0.0, priors.belief_discrimination_mean_sd)}
    for f, at in enumerate(design.group):
        if design.groups[at] in terms:
            hand += norm.logpdf(found.mean[:, f], *terms[design.groups[at]])
    prior = log_prior(found, model)
    assert prior - prior[0] == pytest.approx(hand - hand[0], abs=1e-8)


def test_a_prior_that_decides_is_flagged(leaning: BeliefBiasFit) -> None:
    """Catches a flag that cannot fire, in the table and in the limits."""
    found = leaning.sensitivity[leaning.sensitivity["measure"] == "belief_bias"]
    assert (found["prior_sensitivity"] > 0.05).any()
    assert any("lean on its priors" in words and "bias" in words for words in belief_sensitivity_limits(leaning))


def test_many_answers_are_not_flagged(sure: BeliefBiasFit) -> None:
    """Catches a flag that always fires."""
    assert set(sure.sensitivity["diagnosis"]) == {"not sensitive to the prior"}
    assert set(sure.sensitivity["measure"]) == {"belief_bias", "discrimination_difference", "accuracy"}
    assert belief_sensitivity_limits(sure) == ()


def test_a_second_prior_moves_a_result_that_the_first_one_held(leaning: BeliefBiasFit, sure: BeliefBiasFit) -> None:
    """Catches a second prior that changes nothing, and one of a standard deviation with many coefficients."""
    few, many = (fit.spreads.set_index("term") for fit in (leaning, sure))
    term = "sd: belief"
    assert few.loc[term, "second_scale"] == 2 * few.loc[term, "prior_scale"] == pytest.approx(0.3)
    assert few.loc[term, "second_estimate"] > 1.3 * few.loc[term, "estimate"]
    assert abs(few.loc[term, "shift"]) > 3 * abs(many.loc[term, "shift"])
    assert few["second_scale"].isna().equals(few["n_levels"] >= 8)
    assert many["shift"].abs().max() < 0.5


def test_a_shift_is_said(sure: BeliefBiasFit) -> None:
    """Catches a second prior that is felt and not named."""
    moved = sure.spreads.assign(shift=np.where(sure.spreads["term"] == "sd: lean", -0.8, sure.spreads["shift"]))
    (words,) = belief_sensitivity_limits(replace(sure, spreads=moved))
    assert "models: leaning to endorse" in words
    assert "0.8 posterior standard deviations" in words
