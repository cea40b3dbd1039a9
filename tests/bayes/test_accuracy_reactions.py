"""What units are to single models: when it is identified, its sd, what it adds to differences, models drawn anew."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import halfnorm, norm

from analysis.bayes.accuracy_data import answer_set
from analysis.bayes.accuracy_posterior import posterior_of
from analysis.bayes.accuracy_priors import AccuracyPriors, mean_accuracy
from analysis.bayes.accuracy_reactions import Reactions, drawn_reactions, residuals_by_item, spread_of_level
from analysis.bayes.accuracy_sampling import AccuracyDraws, accuracy_settings, sample_accuracy, sampler_gates
from analysis.bayes.accuracy_simulation import answer_rows, simulated_right
from analysis.frequentist.paired_intervals import paired_difference
from tests.bayes.accuracy_answers import answers_table

PRIORS = AccuracyPriors()


def reacting(sd, *, models=3, units=30, size=6, samples=1, seed=1):
    """Answers to units that are something else to each model."""
    rng, unit = np.random.default_rng(seed), np.arange(units * size) // size
    shared = rng.normal(size=units)[unit] + rng.normal(size=units * size)
    p = expit(np.linspace(0, 1, models)[:, None] + shared + sd * rng.normal(size=(models, units))[:, unit])
    return answer_rows(rng.binomial(samples, p), samples, unit)


def drawn(answers, *, level, seed=2, careful=False):
    found = {"level": np.tile(level, (1, 400, 1)), "sd": np.full((1, 400), np.sqrt(2.0))}
    found |= {"share": np.full((1, 400), 0.5), "log_phi": np.full((1, 400), np.inf)}
    return drawn_reactions(answers, found, PRIORS, np.random.default_rng(seed), careful=careful)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (answers_table(3, 6, units=3), True),
        (answers_table(3, 6), False),
        (answers_table(3, 6, units=1), False),
        (answers_table(1, 6, units=3), False),
        (answers_table(1, 6, units=3, samples=2), False),
        (answers_table(2, 6, units=3).iloc[:8], False),
    ],
)
def test_reactions_need_two_shared_items_of_a_unit(table, expected):
    """Catches a variance that only its prior determines: one model, items alone in their unit, or not shared."""
    assert answer_set(table).has_reaction is expected


def test_spread_and_residuals_by_hand():
    """Catches pairs of an item with itself, whose covariance one answer has already, and items not asked."""
    table = answer_rows(np.array([[1, 1, 0, 1], [0, 1, 0, 0]]), 1, np.array([0, 0, 0, 1])).drop(index=[4])
    answers = answer_set(table)
    assert spread_of_level(answers).tolist() == pytest.approx([6 / 16, 2 / 9])
    # Means of models .75 and 1/3; the first item was put to the first model alone.
    away = np.array([[0.25, 0.25, -0.75, 0.25], [0.0, 2 / 3, -1 / 3, -1 / 3]])
    by_item = [0.25, 11 / 24, -13 / 24, -1 / 24]
    expected = np.where(answers.n > 0, away - by_item, 0.0)
    of_item, own = residuals_by_item(answers, answers.right)
    assert of_item == pytest.approx(by_item)
    assert own == pytest.approx(expected)


@pytest.mark.parametrize(("sd", "samples"), [(0.0, 1), (0.8, 1), (1.6, 1), (0.8, 3)])
def test_the_sd_of_reactions_is_recovered(sd, samples):
    """Catches a statistic that holds the noise of answers, and a likelihood that ignores its observed value."""
    found = drawn(answer_set(reacting(sd, units=60, samples=samples)), level=np.linspace(0, 1, 3))
    low, high = np.quantile(found.sd, (0.005, 0.995))
    assert low <= sd + 0.15
    assert high >= sd
    assert high - low < 1.25
    assert (high < 0.6) == (sd == 0)


def test_the_error_of_the_simulated_likelihood_is_that_between_seeds():
    """Catches an error of draws alone (a sixth of it), a jackknife without its factor (a third), a gate not asked."""
    answers = answer_set(reacting(0.8, models=4, units=12, size=4))
    found = [drawn(answers, level=np.linspace(0, 1, 4), seed=seed) for seed in range(8)]
    sizes = np.array([np.sqrt((one.sd**2).mean()) for one in found])
    of_draws = np.mean([(one.sd**2).std() / np.sqrt(one.sd.size) / 2 / (one.sd**2).mean() for one in found])
    between = np.sqrt((sizes.std(ddof=1) / sizes.mean()) ** 2 - of_draws**2)
    assert np.mean([one.error for one in found]) == pytest.approx(between, rel=0.6)
    careful = drawn(answers, level=np.linspace(0, 1, 4), careful=True)
    assert careful.error < 0.7 * np.mean([one.error for one in found])


@pytest.mark.parametrize(("error", "passed"), [(0.099, True), (0.101, False)])
def test_too_few_simulated_data_sets_fail_the_fit(error, passed):
    """Catches an error that is recorded and not judged."""
    posterior = posterior_of(answer_set(answers_table(3, 5)), PRIORS)
    none = np.zeros((2, 3, 3))
    draws = AccuracyDraws(posterior, np.zeros((2, 3, posterior.size)), 1, 0, 0, Reactions(none[..., 0], none, error))
    assert all(gate.passed for gate in sampler_gates(draws)) == passed


def test_answers_that_are_all_right_tell_nothing_of_reactions():
    """Catches a logarithm of 0: the prior is left, and levels are spread by it."""
    answers = answer_set(answer_rows(np.ones((3, 24), np.int64), 1, np.arange(24) // 6))
    found = drawn(answers, level=np.array([2.0, 3.0, 4.0]))
    expected = halfnorm.ppf([0.25, 0.5, 0.75])
    assert np.quantile(found.sd, [0.25, 0.5, 0.75]) == pytest.approx(expected, abs=0.13)
    assert found.error == 0


def test_shifts_have_the_spread_of_the_mean_over_units():
    """Catches shifts shared by models, which no difference would show, and a spread that does not fall with units."""
    answers = answer_set(reacting(0.8))
    found = drawn(answers, level=np.linspace(0, 1, 3))
    z = found.shift[0] / found.sd[0][:, None] / np.sqrt(spread_of_level(answers))
    assert z.std() == pytest.approx(1.0, abs=4 / np.sqrt(2 * z.size))
    assert np.abs(np.corrcoef(z.T) - np.eye(3)).max() < 4 / np.sqrt(len(z))


def test_differences_are_as_wide_as_those_by_unit_where_models_react():
    """Catches intervals of two thirds of their width where each model has its own strengths, by unit."""
    table = reacting(1.0, models=2, units=24, size=8, seed=3)
    answers = answer_set(table)
    draws = sample_accuracy(answers, PRIORS, accuracy_settings(fast=True, cores=1), seed=1)
    found = draws.parameters()
    bare = mean_accuracy(found["level"], found["sd"][..., None])
    widths = [np.ptp(np.quantile(x[..., 0] - x[..., 1], (0.025, 0.975))) for x in (bare, found["accuracy"])]
    units = [np.bincount(answers.unit, row) for row in (np.ones(len(answers.items)), *answers.right)]
    by_unit = paired_difference(*units, ci_level=0.95)
    ratios = np.array(widths) / float(by_unit.ci_high - by_unit.ci_low)
    assert ratios[0] < 0.8
    assert 0.85 < ratios[1] < 1.15


def test_simulated_reactions_have_their_variance():
    """Catches effects drawn by item or shared by models: the answers of a unit to one model move together."""
    empty = answer_set(answer_rows(np.zeros((2, 4000), np.int64), 400, np.arange(4000) // 4))
    right = simulated_right(empty, np.zeros(2), 0.0, 0.0, np.inf, np.random.default_rng(1), reaction_sd=0.5)
    effect = np.log((right + 0.5) / (400 - right + 0.5)).reshape(2, 1000, 4)
    assert effect.mean(axis=2).std() == pytest.approx(0.5, rel=0.06)
    assert effect.std(axis=2).mean() < 0.15
    assert abs(np.corrcoef(effect.mean(axis=2))[0, 1]) < 0.13


def test_a_new_model_is_drawn_around_the_mean_of_the_models():
    """Catches a mean that is known exactly, and a spread without that between models: quantiles by hand."""
    posterior = posterior_of(answer_set(answers_table(3, 5)), PRIORS)
    level, sd = np.array([-0.5, 0.4, 1.0]), 0.7
    point = np.array([*level, 0.0, np.log(sd)])
    draws = AccuracyDraws(posterior, np.tile(point, (4, 5000, 1)), 1, 0, 0)
    precision = 3 / sd**2 + 1 / PRIORS.level_mean_sd**2
    centre = (level.sum() / sd**2 + PRIORS.level_mean / PRIORS.level_mean_sd**2) / precision
    expected = expit(norm.ppf([0.1, 0.5, 0.9], centre, np.sqrt(sd**2 + 1 / precision)))
    found = draws.new_model(np.random.default_rng(1))
    assert np.quantile(found, [0.1, 0.5, 0.9]) == pytest.approx(expected, abs=0.012)
    alone = posterior_of(answer_set(answers_table(1, 5)), PRIORS)
    assert AccuracyDraws(alone, np.zeros((2, 3, alone.size)), 1, 0, 0).new_model(np.random.default_rng(1)) is None
