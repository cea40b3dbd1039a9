"""The compiled density of the endorsement model is the PyMC model, value and gradient."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm

from analysis.bayes.belief_bias_arrays import Endorsement, endorsement_of
from analysis.bayes.belief_bias_density import endorsement_density
from analysis.bayes.belief_bias_design import BeliefDesign, belief_design
from analysis.bayes.belief_bias_priors import BeliefPriors
from analysis.bayes.belief_bias_program import parameters
from analysis.bayes.density_terms import binomial_log_likelihood, binomial_terms
from analysis.bayes.models.belief_bias import endorsement_model
from tests.bayes.endorsement_counts import small_counts

PRIORS = BeliefPriors(lean_sd=1.3, discrimination_mean=0.7, belief_mean=0.2, item_sd=1.1, version_sd=0.8, level_sd=0.4)
DESIGNS = {
    "models, items and versions": {},
    "one model": {"models": 1},
    "items of one question": {"versions": ("N",)},
    "versions asked once": {"strategies": ("a",), "votes": 1},
    "nothing asked again": {"strategies": ("a",), "votes": 1, "versions": ("N",)},
}


def design_of(name: str) -> BeliefDesign:
    counts = small_counts(np.random.default_rng(1), **DESIGNS[name])
    if name.startswith("models"):  # unequal: a model that lacks an item, a configuration in part
        counts = counts[~((counts["model"] == "m2") & (counts["unit"] == "u03"))]
        counts = counts[~((counts["strategy"] == "b") & (counts["item"] == "u05_X"))]
    return belief_design(counts, conditions=("strategy",))


def scale(about: np.ndarray, sd: np.ndarray | float) -> np.ndarray:
    """Scale of a coordinate, from its definition: sqrt(r v) with r = s^2 / (s^2 + v)."""
    return np.sqrt(sd**2 * about[1] / (sd**2 + about[1]))


def slopes_of_log_sds(z: np.ndarray, model: Endorsement) -> np.ndarray:
    """Derivatives of the log sds by their own coordinates, from the sds that points stand for."""
    step, found = 1e-5, []
    for h, name in enumerate(model.sds):
        up, down = z.copy(), z.copy()
        up[h], down[h] = z[h] + step, z[h] - step
        found.append(np.log(parameters(up, model).sd[name] / parameters(down, model).sd[name]) / (2 * step))
    return np.array(found)


def from_pymc(z: np.ndarray, model: Endorsement, design: BeliefDesign, own: np.ndarray) -> tuple[dict, float]:
    """The point as PyMC names it with effects ``own`` of items on models, and the log density that this adds."""
    found, d = parameters(z, model), model.data
    named = {}
    spread = np.exp(d.mean_prior[1]).copy()
    mean_spread = spread.copy()
    for f, name in enumerate(np.array(design.groups)[design.group]):
        if d.sd_at[f] >= 0:
            spread[f] = found.sd[f"sd: {name}"]
            named[f"sd_{name}_log__"] = np.log(spread[f])
        if d.mean_sd_at[f] >= 0:
            mean_spread[f] = found.sd[f"tau: {name}"]
            named[f"tau_{name}_log__"] = np.log(mean_spread[f])
    for g, name in enumerate(design.groups):
        named[name] = found.coefficient[:, design.group == g]
        if d.pooled:
            named[f"mean_{name}"] = found.mean[design.group == g]
    added = -np.log(scale(d.about_coefficient, spread)).sum() - np.log(slopes_of_log_sds(z, model)).sum()
    if d.pooled:
        added -= np.log(scale(d.about_mean, mean_spread)).sum()
    if not design.has_units:
        return named, added
    named["sd_model_item_log__"] = np.log(found.sd["sd: model × item"])
    item = np.zeros(own.shape[1])
    if d.pooled:
        item = named["item"] = found.item
        named["sd_item_log__"] = np.log(found.sd["sd: item"])
        added -= np.log(scale(d.about_item, found.sd["sd: item"])).sum()
    away = found.effect - found.coefficient @ d.of_effect - item[d.unit]
    common, version = found.sd["sd: model × item"] ** 2, 0.0
    if design.has_versions:
        version = found.sd["sd: version"] ** 2
        named["sd_version_log__"] = np.log(found.sd["sd: version"])
        named["version"] = away - own[:, d.unit]
        named["model_item"] = own
        place = np.eye(own.shape[1])[d.unit]
        precision = place.sum(axis=0) / version + 1 / common
        added += norm.logpdf(own, (away @ place) / version / precision, 1 / np.sqrt(precision)).sum()
    else:
        named["model_item"] = away
    rotated_sd = np.sqrt(version + np.where(d.head, d.size * common, 0.0))
    added -= np.log(scale(d.about_effect, rotated_sd)).sum()
    return named, added


@pytest.mark.parametrize("name", list(DESIGNS))
def test_density_and_gradient_are_those_of_pymc(name: str) -> None:
    """Catches a wrong term, a missing Jacobian, a wrong integral over items, or a slope in another's place."""
    design = design_of(name)
    model = endorsement_of(design, PRIORS)
    log_density = endorsement_model(design, PRIORS).compile_logp(sum=False, mode="FAST_COMPILE")
    rng, gap = np.random.default_rng(5), []
    for _ in range(3):
        z = rng.normal(0, 0.7, model.starts[-1])
        slope = np.empty_like(z)
        value = endorsement_density(z, model.data, slope)
        own = rng.normal(size=(len(design.models), int(design.unit.max()) + 1))
        named, added = from_pymc(z, model, design, own)
        gap.append(value - (sum(np.sum(part) for part in log_density(named)) - added))
        step, spare = 1e-6, np.empty_like(z)
        for j in range(len(z)):
            up, down = z.copy(), z.copy()
            up[j], down[j] = z[j] + step, z[j] - step
            numeric = endorsement_density(up, model.data, spare) - endorsement_density(down, model.data, spare)
            assert slope[j] == pytest.approx(numeric / (2 * step), rel=5e-5, abs=5e-5), j
    np.testing.assert_allclose(gap, gap[0], rtol=0, atol=1e-7)


def test_binomial_terms_are_exact_at_any_log_odds() -> None:
    """Catches an approximation of exp or log that shows: against scipy from -60 to 60, and its slope."""
    base = np.linspace(-60, 60, 241)
    n = np.full_like(base, 7.0)
    yes = np.arange(241) % 8.0
    by_base = np.zeros_like(base)
    work, logs = np.empty_like(base), np.empty_like(base)
    value, by_shift = binomial_terms(base, 0.3, np.exp(base), np.exp(0.3), yes, n, by_base, work, logs)
    eta = base + 0.3
    exact = (yes * eta - n * np.logaddexp(0, eta)).sum()
    assert value == pytest.approx(exact, rel=1e-12)
    assert binomial_log_likelihood(eta[None], yes, n) == pytest.approx(exact, rel=1e-12)
    np.testing.assert_allclose(by_base, yes - n * expit(eta), rtol=0, atol=1e-10)
    assert by_shift == pytest.approx(by_base.sum(), rel=1e-12)


def test_density_does_not_depend_on_names_or_order() -> None:
    """Catches counts placed by position: rows shuffled, and the models' names reversed."""
    counts = small_counts(np.random.default_rng(2))
    design = belief_design(counts, conditions=("strategy",))
    shuffled = belief_design(counts.sample(frac=1, random_state=3), conditions=("strategy",))
    pd.testing.assert_frame_equal(design.questions, shuffled.questions)
    np.testing.assert_array_equal(design.yes, shuffled.yes)
    renamed = counts.assign(model=counts["model"].map({"m0": "m2", "m1": "m1", "m2": "m0"}))
    np.testing.assert_array_equal(belief_design(renamed, conditions=("strategy",)).yes, design.yes[::-1])
