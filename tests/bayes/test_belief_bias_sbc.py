"""Ranks of a few truths drawn from the priors among posterior draws; `benchmarks/calibrate_belief.py` makes many."""

from dataclasses import replace

import numpy as np
from scipy.stats import binom

from analysis.bayes.belief_bias_arrays import endorsement_of
from analysis.bayes.belief_bias_design import belief_design
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.belief_bias_sampling import sample_endorsements
from analysis.bayes.belief_bias_simulation import drawn_answers, drawn_parameters
from analysis.bayes.sampling import SamplerSettings
from tests.bayes.endorsement_counts import small_counts

SIMULATIONS = 12
SETTINGS = SamplerSettings(chains=2, draws=200, tune=400, cores=1)


def test_truths_drawn_from_the_priors_are_found() -> None:
    """Catches a density that is not that of the priors and the binomial: ranks all low, all high, or too near the ends.

    Over coefficients, items and effects of all simulations the share of truths in the central 80 % has to be .8 within
    what 12 independent simulations allow, and the shares below and above it likewise.
    """
    design = belief_design(small_counts(np.random.default_rng(1), models=3), conditions=("strategy",))
    rng, priors, ranks = np.random.default_rng(7), BeliefPriors(), []
    for _ in range(SIMULATIONS):
        truth = drawn_parameters(design, priors, rng)
        data = replace(design, yes=drawn_answers(design, priors, truth, rng).astype(float))
        draws = sample_endorsements(endorsement_of(data, priors), SETTINGS, seed=int(rng.integers(2**31)))
        found = draws.parameters()
        for name in ("coefficient", "item", "effect"):
            values, true = getattr(found, name), getattr(truth, name)
            ranks.append((name, (values < true).mean(axis=0).ravel()))
    for name in ("coefficient", "item", "effect"):
        by_simulation = [rank for of, rank in ranks if of == name]
        low = np.array([(rank < 0.1).mean() for rank in by_simulation])
        high = np.array([(rank > 0.9).mean() for rank in by_simulation])
        for share in (low, high):
            slack = 4 * max(share.std(ddof=1), 0.05) / np.sqrt(SIMULATIONS)
            assert abs(share.mean() - 0.1) < slack, (name, share)
        first = [rank[0] for rank in by_simulation]
        assert binom.sf(sum(r < 0.5 for r in first) - 1, SIMULATIONS, 0.5) > 0.001
        assert binom.cdf(sum(r < 0.5 for r in first), SIMULATIONS, 0.5) > 0.001
