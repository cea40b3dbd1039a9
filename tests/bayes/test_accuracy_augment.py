"""Fitted answers by model and item: effects of items drawn given their answers, units included."""

import numpy as np
import pytest
from scipy.special import expit

from analysis.bayes.accuracy import fit_accuracy
from analysis.bayes.accuracy_augment import drawn_effects, fitted_answers
from analysis.bayes.accuracy_data import answer_set
from analysis.bayes.accuracy_posterior import posterior_of
from analysis.bayes.accuracy_priors import AccuracyPriors
from analysis.bayes.accuracy_sampling import AccuracyDraws, accuracy_settings
from tests.bayes.accuracy_answers import answers_table

Z = np.linspace(-7, 7, 281)
NORMAL = np.exp(-0.5 * Z**2) / np.exp(-0.5 * Z**2).sum()
LEVEL, SD, SHARE = np.array([-0.4, 0.9]), 1.6, 0.45


def effects(table, *, share, phi=np.inf, draws=4000):
    answers = answer_set(table)
    posterior, rng = posterior_of(answers, AccuracyPriors()), np.random.default_rng(1)
    units = int(answers.unit.max()) + 1
    found = drawn_effects(
        np.tile(LEVEL, (draws, 1)), *(np.full(draws, x) for x in (SD, share, phi)), posterior.patterns,
        posterior.sizes, answers.unit, rng.random((draws, len(answers.items))), rng.random((draws, units)),
    )  # fmt: skip
    return answers, found


def likelihood(answers, i, effect):
    """Of the answers to one item, at effects of any shape, each answer by itself."""
    p = expit(LEVEL.reshape(2, *(1 for _ in effect.shape)) + SD * effect)
    y, n = (x[:, i].reshape(2, *(1 for _ in effect.shape)) for x in (answers.right, answers.n))
    return (p**y * (1 - p) ** (n - y)).prod(axis=0)


def test_effects_without_units_follow_their_posterior():
    """Catches an item that is given the effect of another pattern, and a wrong weight: mean and sd by quadrature."""
    answers, found = effects(answers_table(2, 5, seed=2), share=0.0)
    for i in range(5):
        weight = likelihood(answers, i, Z) * NORMAL
        mean = (weight @ Z) / weight.sum()
        sd = np.sqrt((weight @ Z**2) / weight.sum() - mean**2)
        assert found[:, i].mean() == pytest.approx(mean, abs=4 * sd / np.sqrt(len(found)))
        assert found[:, i].std() == pytest.approx(sd, rel=0.05)


def test_effects_of_one_unit_inform_each_other():
    """Catches units that are drawn without their items, or items without their unit: nested sums over both effects."""
    answers, found = effects(answers_table(2, 6, units=2, seed=5), share=SHARE)
    own = np.sqrt(SHARE) * Z[:, None] + np.sqrt(1 - SHARE) * Z[None]
    for j in range(2):
        items = np.flatnonzero(answers.unit == j)
        at = {i: likelihood(answers, i, own) * NORMAL for i in items}
        of_unit = NORMAL * np.prod([at[i].sum(axis=1) for i in items], axis=0)
        for i in items:
            mean_given = (at[i] * own).sum(axis=1) / at[i].sum(axis=1)
            mean = (of_unit @ mean_given) / of_unit.sum()
            assert found[:, i].mean() == pytest.approx(mean, abs=4 / np.sqrt(len(found)))


def test_fitted_values_by_hand_for_one_model_without_effects():
    """Catches counts of another model, a residual with the wrong sign, and limits that are not those of the draws."""
    answers = answer_set(answers_table(1, 4, sd=0.0, seed=1))
    posterior = posterior_of(answers, AccuracyPriors())
    points = np.linspace(-1, 1, 201)[None, :, None]
    table = fitted_answers(answers, AccuracyDraws(posterior, points, 1, 0, 0), np.random.default_rng(0), ci_level=0.9)
    chosen = expit(points.ravel()[np.linspace(0, 200, 200).astype(int)])
    assert table["fitted"].to_numpy() == pytest.approx(np.full(4, chosen.mean()))
    assert table["fitted_low"].to_numpy() == pytest.approx(np.full(4, np.quantile(chosen, 0.05)))
    spread = np.sqrt(chosen.mean() * (1 - chosen.mean()))
    assert table["residual"].to_numpy() == pytest.approx((answers.right[0] - chosen.mean()) / spread)


def test_a_fit_has_one_row_for_each_model_and_item_asked():
    """Catches rows lost or invented, and fitted values of another item: they follow the answers."""
    table = answers_table(3, 40, samples=4, phi=3.0, sd=2.0, seed=3).drop(index=[5, 50])
    fit = fit_accuracy(table, settings=accuracy_settings(fast=True, cores=1))
    rows = fit.augment
    assert len(rows) == 118
    assert rows["n"].sum() == 4 * 118 == fit.glance["n"]
    assert ((rows["fitted_low"] <= rows["fitted"]) & (rows["fitted"] <= rows["fitted_high"])).all()
    assert np.corrcoef(rows["observed"], rows["fitted"])[0, 1] > 0.7
