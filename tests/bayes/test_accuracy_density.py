"""The integrated density of the accuracy model: equal to PyMC's, slopes, priors, rules of the design."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betaln

from analysis.bayes.accuracy_data import answer_set
from analysis.bayes.accuracy_density import log_likelihood
from analysis.bayes.accuracy_patterns import patterns_of
from analysis.bayes.accuracy_points import points_for, sizes_of
from analysis.bayes.accuracy_posterior import posterior_of
from analysis.bayes.accuracy_priors import AccuracyPriors, mean_accuracy, prior_predictive
from analysis.bayes.models.accuracy import accuracy_model
from analysis.errors import AnalysisError
from tests.bayes.accuracy_answers import answers_table

PRIORS = AccuracyPriors()
DESIGNS = {
    "shared items": answers_table(3, 4, seed=1),
    "samples": answers_table(2, 3, samples=4, phi=1.5, seed=2),
    "one model, samples": answers_table(1, 4, samples=3, seed=3),
    "units": answers_table(2, 4, units=2, seed=4),
    "some not asked": answers_table(3, 5, seed=5).drop(index=[1, 7, 13]),
}
STEPS = np.linspace(-14, 14, 561)


def by_pymc(name, level, sd, share, log_phi, sd_level):
    """Log density of PyMC's model with mean, items and units integrated over equally spaced points, item by item.

    In units of the sd of each: given a unit's effect its items are independent, given the levels all units are.
    """
    answers = answer_set(DESIGNS[name])
    model = accuracy_model(answers, PRIORS)
    variables = model.unobserved_value_vars
    density = model.compile_fn(model.logp(vars=None, jacobian=False), inputs=model.value_vars, on_unused_input="ignore")
    known = {
        "level": level,
        "sd_level_log__": np.log(sd_level),
        "sd_item_log__": np.log(sd),
        "unit_share_logodds__": np.log(share / (1 - share)) if share else 0.0,
        "log_phi": log_phi,
        "mean": 0.3,
        "item": np.zeros(len(answers.items)),
        "unit": np.zeros(int(answers.unit.max()) + 1),
    }
    assert variables
    at = {v.name: known[v.name] for v in model.value_vars}
    base = float(density(at))
    step = STEPS[1] - STEPS[0]

    def change(**replaced):
        return float(density(at | replaced)) - base

    def integral(i, unit, j):
        effects = []
        for x in STEPS * 0.5 * sd + (unit if unit is not None else 0.0):
            item = np.zeros(len(answers.items))
            item[i] = x
            if unit is None:
                effects.append(change(item=item))
                continue
            units = np.zeros(int(answers.unit.max()) + 1)
            units[j] = unit
            effects.append(change(item=item, unit=units) - change(unit=units))
        return np.log(np.exp(effects).sum() * step * 0.5 * sd)

    total = base
    if not answers.has_unit:
        total += sum(integral(i, None, 0) for i in range(len(answers.items)))
    if "mean" in at:
        # The mean acts through the levels alone.
        means = [np.exp(change(mean=np.float64(x))) for x in np.linspace(-40, 40, 4001)]
        total += np.log(np.sum(means) * 0.02)
    return answers, total


@pytest.mark.parametrize("name", ["shared items", "samples", "one model, samples", "some not asked"])
def test_density_equals_pymc_with_items_and_mean_integrated(name):
    """Catches a likelihood, prior or Jacobian that is not the defined one; compared are differences of two points."""
    answers = answer_set(DESIGNS[name])
    posterior = posterior_of(answers, PRIORS)
    found = []
    for k, (sd, log_phi, sd_level) in enumerate([(1.3, 0.4, 0.7), (0.5, 1.6, 1.9)]):
        level = np.linspace(-0.6 + k, 0.9, len(answers.models))
        values = {"sd": sd, "log_phi": log_phi, "log_sd_level": np.log(sd_level)}
        point = np.array([[*level, *(values[n] for n in posterior.names)]])
        _, defined = by_pymc(name, level, sd, 0.0, log_phi, sd_level)
        own = float(posterior.log_density(point)[0]) - (np.log(sd_level) if len(answers.models) > 1 else 0.0)
        found.append((own, defined))
    (a, b), (c, d) = found
    assert a - c == pytest.approx(b - d, abs=1e-6)


def test_units_equal_nested_quadrature():
    """Catches effects of units integrated with another kernel than that of their share: scipy's adaptive quadrature."""
    answers = answer_set(DESIGNS["units"])
    posterior = posterior_of(answers, PRIORS)
    level, sd, share = np.array([0.4, -0.2]), 1.2, 0.4
    point = np.array([[*level, sd, np.arcsin(np.sqrt(share)), 0.0]])
    normal = lambda x: np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)  # noqa: E731

    def likelihood(i, effect):
        p = 1 / (1 + np.exp(-(level + effect)))
        return np.prod(np.where(answers.right[:, i] == 1, p, 1 - p))

    def of_item(i, v):
        inner = lambda u: likelihood(i, sd * (np.sqrt(share) * v + np.sqrt(1 - share) * u)) * normal(u)  # noqa: E731
        return quad(inner, -9, 9, epsabs=1e-12)[0]

    total = 0.0
    for j in range(2):
        own = np.flatnonzero(answers.unit == j)
        total += np.log(quad(lambda v, own=own: np.prod([of_item(i, v) for i in own]) * normal(v), -9, 9)[0])
    assert float(posterior.log_likelihood(point)[0]) == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("name", list(DESIGNS))
def test_gradient_is_that_of_differences(name):
    """Catches a slope that is not that of the density."""
    posterior = posterior_of(answer_set(DESIGNS[name]), PRIORS)
    point = posterior.start() + 0.1
    models = len(posterior.answers.models)

    def value(x):
        full = np.concatenate([x, point[posterior.inner :]])[None]
        rest = posterior.log_density(full)[0]
        return rest - (posterior.log_prior(full)[0] - own_prior(full))

    def own_prior(full):
        silent = full.copy()
        silent[:, :models] = point[:models]
        return posterior.log_prior(silent)[0]

    inner = posterior.inner
    steps = 1e-5 * np.eye(inner)
    numeric = [(value(point[:inner] + s) - value(point[:inner] - s)) / 2e-5 for s in steps]
    assert posterior.gradient(point) == pytest.approx(np.array(numeric), abs=1e-5)


@pytest.mark.parametrize("sd", [0.3, 2.0, 7.0])
@pytest.mark.parametrize("name", ["shared items", "samples", "some not asked"])
def test_points_of_integration_suffice_at_any_sd(name, sd):
    """Catches points too far apart where items differ much, which shifts a density by .3: scipy's quadrature."""
    answers = answer_set(DESIGNS[name])
    posterior = posterior_of(answers, PRIORS)
    level, log_phi = np.linspace(-1.0, 1.5, len(answers.models)), 0.4
    values = {"sd": sd, "log_phi": log_phi, "log_sd_level": 0.0}
    point = np.array([[*level, *(values[n] for n in posterior.names)]])
    phi = np.exp(log_phi)

    def log_likelihood(i, effect):
        p = 1 / (1 + np.exp(-(level + effect)))
        y, r = answers.right[:, i], (answers.n - answers.right)[:, i]
        if answers.has_residual:
            q = 1 / (1 + np.exp(level + effect))
            return (betaln(y + phi * p, r + phi * q) - betaln(phi * p, phi * q)).sum()
        return (y * np.log(p) + r * np.log1p(-p)).sum()

    def integral(i):
        inner = lambda z: np.exp(log_likelihood(i, sd * z) - z * z / 2) / np.sqrt(2 * np.pi)  # noqa: E731
        return quad(inner, -5, 5, points=np.linspace(-4, 4, 9), epsabs=1e-13, limit=200)[0]

    total = sum(np.log(integral(i)) for i in range(len(answers.items)))
    assert float(posterior.log_likelihood(point)[0]) == pytest.approx(total, abs=1e-5)


def test_many_answers_to_an_item_are_resolved():
    """Catches too coarse a grid where an item's answers leave its effect little room: half the spacing must agree."""
    answers = answer_set(answers_table(14, 60, samples=10, phi=1.5))
    posterior = posterior_of(answers, PRIORS)
    for sd in (1.0, 7.0):
        point = posterior.start()[None]
        point[0, 14] = sd
        assert posterior.log_density(point)[0] == pytest.approx(posterior.log_density(point, finer=2)[0], abs=1e-3)


@pytest.mark.parametrize("name", ["shared items", "some not asked", "units", "one model, samples"])
def test_sums_of_right_answers_say_all_that_each_answer_does(name):
    """Catches a likelihood by sums that is not the one by answers: value and slopes of both reductions."""
    answers = answer_set(DESIGNS[name])
    by_sum = patterns_of(answers)
    by_answer = patterns_of(answers._replace(has_residual=True))
    assert len(by_sum.score)
    assert not len(by_answer.score)
    models, share = len(answers.models), 0.4 if answers.has_unit else 0.0
    points = points_for(sizes_of(answers), 1.7, share, 1.0)
    found = []
    for patterns in (by_sum, by_answer):
        slope = np.zeros(models + 1)
        level = np.linspace(-0.7, 1.1, models)
        found.append((log_likelihood(level, 1.7, share, np.inf, patterns, points, slope), *slope))
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_priors_pass_their_gate_and_narrow_ones_do_not():
    """Catches priors that exclude weak or strong models, and a gate that cannot fail."""
    assert prior_predictive(PRIORS, np.random.default_rng(0)).passed
    assert not prior_predictive(AccuracyPriors(level_mean_sd=0.3), np.random.default_rng(0)).passed
    assert not prior_predictive(AccuracyPriors(level_mean_sd=8.0), np.random.default_rng(0)).passed
    assert not prior_predictive(AccuracyPriors(level_sd=0.05), np.random.default_rng(0)).passed
    with pytest.raises(AnalysisError, match="prior item_sd"):
        AccuracyPriors(item_sd=0.0)


def test_mean_accuracy_over_items_equals_quadrature():
    """Catches an accuracy that is that of a typical item instead of the mean over items."""
    for level, sd in ((1.0, 0.0), (1.0, 2.0), (-3.0, 5.0)):
        exact = quad(lambda z, a=level, s=sd: np.exp(-z * z / 2) / np.sqrt(2 * np.pi) / (1 + np.exp(-a - s * z)), -9, 9)
        assert mean_accuracy(np.array(level), np.array(sd)) == pytest.approx(exact[0], abs=1e-7)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (answers_table(3, 5), (True, False, False, False)),
        (answers_table(1, 5), (False, False, False, False)),
        (answers_table(1, 5, samples=2), (True, False, False, False)),
        (answers_table(3, 5, samples=2), (True, True, False, False)),
        (answers_table(3, 6, units=3), (True, False, True, False)),
        (answers_table(1, 6, units=3), (True, False, False, True)),
        (answers_table(3, 6, units=1), (True, False, False, False)),
    ],
)
def test_effects_that_a_design_does_not_identify_are_left_out(table, expected):
    """Catches an effect that only its prior determines: item, samples, unit, units in the place of items."""
    found = answer_set(table)
    assert (found.has_item, found.has_residual, found.has_unit, found.units_as_items) == expected


def test_answers_that_are_not_as_described_are_refused():
    """Catches graded scores counted as right answers, doubled rows, and an item in two units."""
    table = answers_table(2, 3)
    with pytest.raises(AnalysisError, match="counts answers that are right or wrong"):
        answer_set(table.assign(n_right=0.5))
    with pytest.raises(AnalysisError, match="two rows of item"):
        answer_set(table.iloc[[0, 0, 1]])
    with pytest.raises(AnalysisError, match="two units"):
        answer_set(table.assign(unit=[f"u{k}" for k in range(6)]))
    with pytest.raises(AnalysisError, match="no answer counts"):
        answer_set(table.assign(n_samples=0, n_right=0))
