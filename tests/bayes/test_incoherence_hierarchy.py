"""Model of incoherence over several models: its density against scipy's, its simulator, and what it refuses."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2, norm

from analysis.bayes.incoherence_data import (
    ROUNDING,
    SHARED_ROUNDING,
    Instances,
    checked_instances,
    model_instances,
    observed_arrays,
)
from analysis.bayes.incoherence_hierarchy import HierarchyPriors, compiled_hierarchy, hierarchy_prior_draw
from analysis.bayes.models.incoherence_hierarchy import POOLED, hierarchy_model
from analysis.errors import AnalysisError
from tests.bayes.incoherence_tables import residual_table

MODELS, SIZE = 3, 4


def one_model(seed: int, size: int = SIZE) -> Instances:
    return model_instances(checked_instances(residual_table(np.random.default_rng(seed).normal(size=(size, 3)))))[0]


def test_density_is_that_of_spike_slab_and_noise() -> None:
    """Catches a slab of another model, shared parts that do not add up, and a Jacobian left out.

    Differences of log densities between two points, where constants cancel: the likelihood from scipy's normal
    and chi-square, the density of log noise with the derivative of its coordinates taken numerically.
    """
    arrays = [observed_arrays(one_model(seed), size=SIZE) for seed in range(MODELS)]
    observed = {
        name: np.stack([one[name] for one in arrays]).astype(float)
        for name in ("mean", "ss", "k", "log_scale", "log_scale_variance")
    }
    priors = HierarchyPriors()
    model = hierarchy_model(observed, priors.pooled, priors.lean_scale)
    names = ("likelihood", "noise_density", "log_noise", "delta", *POOLED)
    wanted = model.replace_rvs_by_values([*(model[name] for name in names), model["phi"], model["c"], model["e"]])
    evaluate = model.compile_fn([*wanted, *model.replace_rvs_by_values([model["d"]])], mode="FAST_COMPILE")
    rng = np.random.default_rng(5)
    unread = ("l_mean", "l_sd_log__")  # log noise is centred: the likelihood reads l itself
    first = {n: rng.normal(0, 0.5, np.shape(value)) for n, value in model.initial_point().items() if n not in unread}
    second = {name: rng.normal(0, 0.5, np.shape(value)) for name, value in first.items()}
    found, expected = [], []
    for point in (first, second):
        likelihood, density, log_noise, delta, *rest = evaluate(point)
        own, (phi, c, e, d) = dict(zip(POOLED, rest, strict=False)), rest[len(POOLED) :]
        tau, omega = np.exp(own["log_tau"])[:, None], np.exp(own["log_omega"])[:, None]
        sd = np.sqrt(np.exp(2 * log_noise) + ROUNDING**2)
        share = expit(own["a"][:, None] + own["b"][:, None] * (log_noise - own["l"][:, None]) / omega)
        of_mean, k = np.sqrt(sd**2 / observed["k"] + SHARED_ROUNDING**2), observed["k"]
        slab = np.sqrt(tau**2 * (1 - phi) + of_mean**2)
        on = share * norm.pdf(observed["mean"], delta[:, None] + tau * np.sqrt(phi) * d, slab)
        off = (1 - share) * norm.pdf(observed["mean"], 0, of_mean)
        deviations = chi2.logpdf(observed["ss"] / sd**2, k - 1) - 2 * np.log(sd)
        moved = evaluate({**point, "g": point["g"] + 1e-5})[2]
        middle = own["l"][:, None] + omega * np.sqrt(c) * e
        noise = norm.logpdf(log_noise, middle, omega * np.sqrt(1 - c)) + np.log((moved - log_noise) / 1e-5)
        found.append((float(likelihood), float(density)))
        expected.append(((np.log(on + off) + deviations).sum(), noise.sum()))
    assert np.subtract(found[0], found[1]) == pytest.approx(np.subtract(expected[0], expected[1]), rel=1e-6)


def test_simulator_shares_what_it_says() -> None:
    """Catches phi and c that do not correlate models: with own parts alone, or on the wrong axis."""
    pooled = {name: (centre, 1e-9, 1e-9) for name, (centre, _, _) in HierarchyPriors().pooled.items()}
    priors = HierarchyPriors(pooled | {"a": (20.0, 1e-9, 1e-9)}, 1e-9)
    rng = np.random.default_rng(3)
    draws = [hierarchy_prior_draw(priors, rng, models=2, size=4000) for _ in range(4)]
    for one in draws:
        assert one.incoherent.all()
        assert np.corrcoef(*one.mu)[0, 1] == pytest.approx(one.hyper["phi"], abs=0.06)
        assert np.corrcoef(np.log(one.variance))[0, 1] == pytest.approx(one.hyper["c"], abs=0.06)
        assert one.mu.std() == pytest.approx(0.25, rel=0.06)


def test_models_with_other_instances_are_refused() -> None:
    """Catches the instances of one model taken for those of another."""
    with pytest.raises(AnalysisError, match="all of them have"):
        compiled_hierarchy([one_model(1), one_model(2, SIZE + 1)], HierarchyPriors())
