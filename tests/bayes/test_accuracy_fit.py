"""Fits of the accuracy model: known accuracies, order of rows, kept fits, gates, ranks under the priors."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy.stats import beta, binom, kstest

from analysis.bayes.accuracy import fit_accuracy
from analysis.bayes.accuracy_checks import adjusted_tails, predictive_checks
from analysis.bayes.accuracy_data import answer_set
from analysis.bayes.accuracy_frame import frame_of
from analysis.bayes.accuracy_posterior import posterior_of
from analysis.bayes.accuracy_priors import AccuracyPriors, mean_accuracy
from analysis.bayes.accuracy_sampling import (
    AccuracyDraws,
    accuracy_settings,
    integration_error,
    sample_accuracy,
    sampler_gates,
)
from analysis.bayes.accuracy_simulation import drawn_parameters, simulated_right
from analysis.bayes.sampling import SamplerSettings
from tests.bayes.accuracy_answers import answers_table

QUICK = accuracy_settings(fast=True, cores=1)


def test_known_accuracies_are_recovered_with_every_gate_passed():
    """Catches a wrong transformation of draws: truths by quadrature over the items' distribution."""
    level = np.array([-0.5, 0.4, 1.5])
    fit = fit_accuracy(answers_table(3, 3000, level=level), settings=accuracy_settings(cores=1))
    assert fit.status == "ok", fit.reason
    rows = fit.table[(fit.table["measure"] == "accuracy") & (fit.table["target"] == "these")]
    new = fit.table[fit.table["target"] == "new_models"].squeeze()
    assert new["ci_low"] < rows["estimate"].min() < rows["estimate"].max() < new["ci_high"]
    truth = mean_accuracy(level, np.array(1.5))
    assert (np.abs(rows["estimate"] - truth) < 4 * rows["posterior_sd"]).all()
    assert list(rows["rank"]) == [3, 2, 1]
    sd = fit.table.set_index("measure").loc["sd_items"]
    assert sd["ci_low"] < 1.5 < sd["ci_high"]
    pair = fit.contrasts.iloc[0]
    assert pair["estimate"] == pytest.approx(rows["estimate"].iloc[0] - rows["estimate"].iloc[1], abs=2e-3)
    # Shared items: the difference is surer than two independent accuracies.
    apart = np.hypot(*rows["posterior_sd"].iloc[:2])
    assert pair["posterior_sd"] < 0.9 * apart


def test_order_of_rows_changes_nothing_and_a_kept_fit_is_read_again(tmp_path):
    """Catches dependence on row order, and a fit read from elsewhere than its own data."""
    table = answers_table(3, 30, units=6)
    first = fit_accuracy(table, settings=QUICK, cache=tmp_path)
    said = []
    again = fit_accuracy(table.sample(frac=1, random_state=1), settings=QUICK, cache=tmp_path, progress=said.append)
    assert_frame_equal(first.table, again.table)
    assert said == ["the fit of the accuracy model is kept from an earlier run"]
    fresh = fit_accuracy(table.sample(frac=1, random_state=2), settings=QUICK)
    assert_frame_equal(first.table, fresh.table)
    assert first.glance["effects"] == "items, units, models × units"


def test_one_model_asked_once_is_a_beta_posterior_but_for_the_prior():
    """Catches a sampler that does not target its density: one coordinate, against scipy's quadrature of it."""
    table = answers_table(1, 40, sd=0.0, level=np.array([0.8]))
    posterior = posterior_of(answer_set(table), AccuracyPriors())
    draws = sample_accuracy(answer_set(table), AccuracyPriors(), accuracy_settings(cores=1), seed=1)
    grid = np.linspace(-4, 8, 4001)[:, None]
    log_density = posterior.log_density(grid)
    density = np.exp(log_density - log_density.max())
    exact = np.interp([0.1, 0.5, 0.9], np.cumsum(density) / density.sum(), grid[:, 0])
    assert np.quantile(draws.points, [0.1, 0.5, 0.9]) == pytest.approx(exact, abs=0.04)


def test_draws_equal_importance_sampling_from_the_prior():
    """Catches coordinates, folding or acceptance that miss the posterior: prior draws weighted by the likelihood."""
    answers, p = answer_set(answers_table(3, 20, seed=4)), AccuracyPriors()
    draws = sample_accuracy(answers, p, accuracy_settings(cores=1), seed=1)
    found, rng, size = draws.parameters(), np.random.default_rng(5), 20_000
    sd_level = p.level_sd * np.abs(rng.normal(size=size))
    mean = p.level_mean + p.level_mean_sd * rng.normal(size=size)
    level = mean[:, None] + sd_level[:, None] * rng.normal(size=(size, 3))
    sd = p.item_sd * np.abs(rng.normal(size=size))
    log_weight = draws.posterior.log_likelihood(np.column_stack([level, sd, np.log(sd_level)]))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    effective = 1 / (weight**2).sum()
    assert effective > 300
    accuracy = mean_accuracy(level, sd[:, None])
    pairs = {"sd": (sd, found["sd"]), "sd_level": (np.log(sd_level), found["log_sd_level"])}
    pairs |= {"accuracy": (accuracy[:, 0], found["accuracy"][..., 0])}
    for name, (prior, chain) in pairs.items():
        for probability in (0.1, 0.5, 0.9):
            # Share of weight below the chain's quantile: its standard error is that of both samples.
            below = weight[prior < np.quantile(chain, probability)].sum()
            assert below == pytest.approx(probability, abs=3.5 * np.sqrt(0.25 / effective)), (name, probability)


def test_unpooled_column_is_jeffreys():
    """Catches another prior or a weight of samples: by hand."""
    table = answers_table(2, 25)
    fit = fit_accuracy(table, settings=QUICK)
    right = table.groupby("model")["n_right"].sum().to_numpy()
    assert fit.unpooled["ci_low"].to_numpy() == pytest.approx(beta.ppf(0.025, right + 0.5, 25.5 - right))


def test_frame_and_its_inverse():
    """Catches a proposal density that is not that of its draws."""
    posterior = posterior_of(answer_set(answers_table(3, 20)), AccuracyPriors())
    frame, _ = frame_of(posterior, posterior.start())
    rng = np.random.default_rng(1)
    log_sd = frame.drawn_log_sd(rng, 50)
    z = rng.normal(size=(50, posterior.inner))
    x = frame.placed(z, log_sd)
    back, log_det = frame.standardised(x, log_sd)
    assert back == pytest.approx(z)
    steps = [frame.standardised(x + 1e-6 * e, log_sd)[0] for e in np.eye(posterior.inner)]
    jacobian = (np.stack(steps, axis=2) - back[..., None]) / 1e-6
    assert np.linalg.slogdet(jacobian)[1] == pytest.approx(log_det, abs=1e-4)
    # Under the density of log sds a uniform histogram of its own distribution function.
    assert kstest(_cdf(frame, frame.drawn_log_sd(rng, 2000)), "uniform").pvalue > 1e-3


def _cdf(frame, values):
    mass = np.concatenate([[0.0], np.cumsum(np.exp(frame.log_mass))])
    return np.interp(values, frame.log_sd, mass)


def test_gates_of_the_sampler_can_fail():
    """Catches gates that pass whatever the chains did."""
    posterior = posterior_of(answer_set(answers_table(2, 5)), AccuracyPriors())
    points = np.zeros((4, 10, posterior.size))
    passed = [g.passed for g in sampler_gates(AccuracyDraws(posterior, points, 0.1, 0.9, 1.0))]
    assert passed == [False, False, False]
    assert all(g.passed for g in sampler_gates(AccuracyDraws(posterior, points, 0.7, 0.1, 0.0)))


def test_a_fit_that_fails_says_so():
    """Catches numbers of a failed fit shown as results: too few draws for the printed probabilities, twice."""
    short = SamplerSettings(draws=30, tune=10, cores=1)
    fit = fit_accuracy(answers_table(2, 20), settings=short)
    assert fit.status == "failed"
    failed = fit.gates[~fit.gates["passed"]]
    assert set(failed["name"]) & {"R-hat", "bulk ESS", "tail ESS", "MCSE of an interval end / width"}
    assert all(name in fit.reason for name in failed["name"])


def test_adjusted_tails_by_hand():
    """Catches an adjustment over one check alone, and a data set that is not counted among its replicates."""
    sets = np.array([[4.0, 0.0], [0.0, 1.0], [1.0, -1.0], [-1.0, 9.0]])
    # Standardised by all four sets, the largest of each are 1.60, .53, .82 and 1.70; the first has 1.60 and .57.
    assert adjusted_tails(sets).tolist() == [0.5, 0.75]
    assert adjusted_tails(np.array([[1.0], [1.0]])).tolist() == [1.0]


@pytest.mark.parametrize("name", ["sd", "share"])
def test_the_gate_of_integration_looks_at_the_draws_with_the_largest_sd_and_share(name):
    """Catches a gate that checks other draws: a density that is wrong for one draw alone, that with the largest."""

    class Coarse:
        def named(self, points):
            return {"sd": points[:, 0], "share": points[:, 1]}

        def log_density(self, points, *, finer=1.0):
            return np.where(self.named(points)[name] > 0.9, 0.3 / finer, 0.0)

    points = np.random.default_rng(1).uniform(0, 0.8, (4, 250, 2))
    assert integration_error(Coarse(), points) == 0.0
    points[1, 3] = 0.95
    assert integration_error(Coarse(), points) == pytest.approx(0.15)


def test_a_model_that_reacts_to_units_in_its_own_way_is_noticed():
    """Catches a predictive check that cannot see what the model leaves out: models that differ by unit."""
    table = answers_table(2, 400, units=20, seed=3)
    unit = table["unit"].str[1:].astype(int) % 2
    odd = (table["model"] == "m00") == (unit == 1)
    table["n_right"] = np.where(odd, 1, table["n_right"] * 0)
    fit = fit_accuracy(table, settings=QUICK)
    check = fit.predictive.set_index("check").loc["variance of units in single models"]
    assert check["observed"] > check["high"]
    assert check["p_adjusted"] < 0.05


@pytest.mark.parametrize(("design", "simulations"), [("items", 30), ("samples", 16), ("units", 10)])
def test_ranks_of_truths_drawn_from_the_priors_are_uniform(design, simulations):
    """Catches a posterior that is too narrow, too wide or shifted: Bonferroni over quantities, seeded."""
    options = {"items": {}, "samples": {"samples": 2}, "units": {"units": 5}}[design]
    empty = answer_set(answers_table(3, 15, **options))
    priors, rng, ranks, warned = AccuracyPriors(), np.random.default_rng(7), [], 0
    for at in range(simulations):
        truth = drawn_parameters(empty, priors, rng)
        known = (truth[name] for name in ("level", "sd", "share", "log_phi"))
        right = simulated_right(empty, *known, rng, reaction_sd=truth["reaction_sd"])
        settings = SamplerSettings(chains=1, draws=200, tune=20, cores=1)
        own_answers = empty._replace(right=right)
        draws = sample_accuracy(own_answers, priors, settings, seed=at)
        found = draws.parameters()
        new = mean_accuracy(truth["level"], np.hypot(truth["sd"], truth["reaction_sd"]))
        own = {"sd": truth["sd"], "accuracy": new[0]}
        own["log_sd_level"] = np.log(truth["sd_level"])
        drawn = {"sd": found["sd"], "accuracy": found["accuracy"][..., 0], "log_sd_level": found["log_sd_level"]}
        ranks.append({name: (drawn[name] < value).mean() for name, value in own.items()})
        checks = predictive_checks(own_answers, draws, np.random.default_rng(at))
        warned += bool((checks["p_adjusted"] < 0.05).any())
    # Of so many right models one in twenty may be warned about: exceeded by chance in one of a thousand.
    assert warned <= binom.ppf(0.999, simulations, 0.05)
    table = pd.DataFrame(ranks)
    assert min(kstest(table[name], "uniform").pvalue for name in table) > 0.01 / len(table.columns)
