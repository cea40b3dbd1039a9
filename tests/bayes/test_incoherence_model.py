"""The PyMC density against scipy on raw residuals, exact draws against quadrature, and calibration in small."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import expit
from scipy.stats import beta, multivariate_normal, norm

from analysis.bayes.incoherence_data import (
    ROUNDING,
    SHARED_ROUNDING,
    Instances,
    checked_instances,
    model_instances,
    observed_arrays,
)
from analysis.bayes.incoherence_priors import IncoherencePriors, prior_draws, prior_vector
from analysis.bayes.incoherence_quantities import instance_quantities, population_quantities
from analysis.bayes.incoherence_sampling import means_given_rest, sample_instances, unit_effects
from analysis.bayes.models.incoherence import incoherence_model
from analysis.bayes.sampling import SamplerSettings
from benchmarks.rank_uniformity import rank_of, uniformity_p_values
from tests.bayes.incoherence_tables import paired_names, residual_table

UNIT, IDENTITY = paired_names(20, 3)
RESIDUALS = np.random.default_rng(11).normal(0.1, 0.3, size=(43, 3))


def instances(residuals: np.ndarray = RESIDUALS) -> Instances:
    return model_instances(checked_instances(residual_table(residuals, unit=UNIT, identity=IDENTITY)))[0]


def raw_rows(one: Instances) -> np.ndarray:
    """Raw residuals in the order of the instances."""
    given = [u + i for u, i in zip(UNIT, IDENTITY, strict=True)]
    return RESIDUALS[[given.index(name) for name in one.rows["unit"].str.cat(one.rows["identity"])]]


def covariance_of_means(one: Instances, tau: float, rho: float) -> np.ndarray:
    """Covariance (n, n) of the instances' means under the normal model."""
    same = one.paired[:, None] & one.paired & (one.unit_at[:, None] == one.unit_at)
    return tau**2 * np.where(np.eye(one.size, dtype=bool), 1.0, rho * same)


def exact_normal(point: dict[str, np.ndarray]) -> float:
    """Log density of N: hyper-parameters and all raw residuals as one multivariate normal."""
    one = instances()
    delta, tau, level, rho = (float(point[name]) for name in ("delta", "tau", "l", "rho"))
    total = norm.logpdf(delta, 0, 0.1) + norm.logpdf(tau, 0, 0.375) + norm.logpdf(level, np.log(0.2), 1)
    alike = covariance_of_means(one, tau, rho) + SHARED_ROUNDING**2 * np.eye(one.size)
    covariance = np.kron(alike, np.ones((3, 3)))
    covariance += (np.exp(2 * level) + ROUNDING**2) * np.eye(3 * one.size)
    density = multivariate_normal.logpdf(raw_rows(one).ravel(), np.full(3 * one.size, delta), covariance)
    return float(total + beta.logpdf(rho, 2, 2) + density)


def exact_linked(point: dict[str, np.ndarray]) -> float:
    """Log density of SSL: hyper-parameters, z, g and raw residuals, with distributions of scipy alone."""
    one = instances()
    arrays = observed_arrays(one, size=one.size)
    delta, tau, level, rho, z = (point[name] for name in ("delta", "tau", "l", "rho", "z"))
    a, b, omega, g = (point[name] for name in ("a", "b", "omega", "g"))
    total = norm.logpdf(delta, 0, 0.1) + norm.logpdf(tau, 0, 0.375) + norm.logpdf(level, np.log(0.2), 1)
    total += beta.logpdf(rho, 2, 2) + norm.logpdf(z).sum()
    total += norm.logpdf(a, -2, 1.5) + norm.logpdf(b, 0, 1.5) + norm.logpdf(omega, 0, 1)
    v = arrays["log_scale_variance"]
    weight = omega**2 / (omega**2 + v)
    h = (weight * (arrays["log_scale"] - level) + np.sqrt(weight * v) * g) / omega
    total += (norm.logpdf(h) + np.log(np.sqrt(weight * v) / omega)).sum()
    rows = raw_rows(one)
    for i in range(one.size):
        common = rho if one.paired[i] else 0.0
        centre = delta + tau * np.sqrt(common) * z[one.unit_at[i]]
        noise = (np.exp(2 * (level + omega * h[i])) + ROUNDING**2) * np.eye(3) + SHARED_ROUNDING**2
        slab = multivariate_normal.logpdf(rows[i], np.full(3, centre), noise + tau**2 * (1 - common))
        spike = multivariate_normal.logpdf(rows[i], np.zeros(3), noise)
        share = expit(a + b * h[i])
        total += np.logaddexp(np.log(share) + slab, np.log1p(-share) + spike)
    return float(total)


@pytest.mark.parametrize("linked", [True, False])
def test_density_is_that_of_the_raw_residuals(linked: bool) -> None:
    """Catches a wrong sufficient statistic, power of the variance, Jacobian, mixture weight or unit index."""
    one = instances()
    model = incoherence_model(
        observed_arrays(one, size=one.size), prior_vector(IncoherencePriors()), linked=linked, shared_units=20
    )
    log_density = model.compile_logp(jacobian=False, mode="FAST_COMPILE")
    rng = np.random.default_rng(2)
    points = []
    for shift in (0.0, 0.4):
        point = {
            "delta": 0.05 - shift,
            "tau": 0.3 + shift,
            "l": -1.2 - shift,
            "rho": 0.4 + shift,
        }
        if linked:
            point["z"] = rng.normal(size=20)
            point |= {"a": -1.0 + shift, "b": 0.5 + shift, "omega": 0.6 + shift, "g": rng.normal(size=43)}
        points.append({name: np.asarray(value, float) for name, value in point.items()})

    def transformed(point: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        inner = dict(point)
        for name in ("tau", "omega"):
            if name in inner:
                inner[f"{name}_log__"] = np.log(inner.pop(name))
        rho = inner.pop("rho")
        return {**inner, "rho_logodds__": np.log(rho / (1 - rho))}

    found = [float(log_density(transformed(point))) for point in points]
    exact = [exact_linked(point) if linked else exact_normal(point) for point in points]
    assert found[0] - found[1] == pytest.approx(exact[0] - exact[1], rel=1e-8)


def test_means_are_drawn_from_their_conditional() -> None:
    """Catches a slab without its noise, a share that ignores the data, or a variance for a sd."""
    rng = np.random.default_rng(3)
    one = instances()
    size = (60_000, one.size)
    centre, slab, variance, share = 0.1, 0.25, 0.09, 0.3
    full = [np.full(size, x) for x in (centre, slab, variance, share)]
    mu, incoherent, _ = means_given_rest(one, *full, rng)
    grid = np.linspace(-4, 4, 8001)
    for i in (0, 7, 42):
        of_mean = np.sqrt(variance / one.k[i] + SHARED_ROUNDING**2)
        likelihood = norm.pdf(one.mean[i], grid, of_mean)
        density = share * norm.pdf(grid, centre, np.sqrt(slab)) * likelihood
        on = trapezoid(density, grid)
        off = (1 - share) * norm.pdf(one.mean[i], 0, of_mean)
        first, second = (trapezoid(density * grid**power, grid) / (on + off) for power in (1, 2))
        error = 5 / np.sqrt(size[0])
        assert incoherent[:, i].mean() == pytest.approx(on / (on + off), abs=error)
        assert mu[:, i].mean() == pytest.approx(first, abs=error)
        assert (mu[:, i] ** 2).mean() == pytest.approx(second, abs=error)


def test_means_of_the_normal_model_are_drawn_from_theirs() -> None:
    """Catches unit effects drawn without the instances' own variance, or means that forget their unit."""
    rng = np.random.default_rng(6)
    one = instances()
    size = (1, 40_000)
    delta, tau, rho, variance = 0.1, 0.4, 0.6, 0.09
    hyper = {name: np.full(size, x) for name, x in {"delta": delta, "tau": tau, "rho": rho}.items()}
    noise = np.full((*size, one.size), variance)
    z = unit_effects(hyper, one, noise, 20, rng)
    shared = np.where(one.paired, rho, 0.0)
    centre = delta + tau * np.sqrt(shared) * z[..., one.unit_at]
    slab = np.broadcast_to(tau**2 * (1 - shared), noise.shape)
    mu = means_given_rest(one, centre, slab, noise, np.ones_like(noise), rng)[0][0]
    prior = covariance_of_means(one, tau, rho)
    gain = prior @ np.linalg.inv(prior + (variance / 3 + SHARED_ROUNDING**2) * np.eye(one.size))
    exact = delta + gain @ (one.mean - delta)
    covariance = prior - gain @ prior
    np.testing.assert_allclose(mu.mean(axis=0), exact, atol=5 * np.sqrt(covariance.max() / size[1]))
    np.testing.assert_allclose(np.cov(mu.T), covariance, atol=6 * covariance.max() / np.sqrt(size[1]))


def test_uniform_ranks_pass_and_biased_ones_fail() -> None:
    """Catches a test of ranks that cannot fail, or that rejects uniform ranks too often."""
    rng = np.random.default_rng(4)
    uniform = rng.integers(0, 100, size=(300, 100))
    p = uniformity_p_values(uniform, 100, rng, simulations=2000)
    assert 0.02 < (p <= 0.05).mean() < 0.09
    shifted = np.minimum(rng.integers(0, 100, size=(1, 100)) + rng.integers(0, 40, size=(1, 100)), 99)
    narrow = (100 * rng.beta(3, 3, size=(1, 100))).astype(int)
    assert uniformity_p_values(np.concatenate([shifted, narrow]), 100, rng, simulations=2000).max() < 0.01
    assert rank_of(0.5, np.array([0.1, 0.4, 0.9]), rng) == 2


@pytest.mark.parametrize("linked", [True, False])
def test_ranks_of_the_truth_are_uniform_in_small(linked: bool) -> None:
    """Catches a posterior that is not the one of the model that simulates, and draws that depend on threads.

    ``make calibrate`` has the large version.
    """
    priors, place = IncoherencePriors(), instances()
    settings = SamplerSettings(chains=2, draws=500, tune=500, target_accept=0.9, cores=1)
    simulations, kept = 20, 39
    ranks: dict[str, list[int]] = {}
    for at in range(simulations):
        rng = np.random.default_rng([7, at])
        truth = prior_draws(priors, rng, unit_at=place.unit_at, paired=place.paired, draws=1, linked=linked)
        noise = np.sqrt(truth.variance[0])[:, None] * rng.standard_normal((place.size, 3))
        rounded = SHARED_ROUNDING * rng.standard_normal((place.size, 1))
        table = residual_table(
            truth.mu[0][:, None] + rounded + noise, unit=list(place.rows["unit"]), identity=list(place.rows["identity"])
        )
        one = model_instances(checked_instances(table))[0]
        draws = sample_instances(one, priors, settings, linked=linked, seed=at)
        found = instance_quantities(draws.mu, draws.variance, draws.incoherent)
        exact = instance_quantities(truth.mu, truth.variance, truth.incoherent)
        found |= {f"population {name}": x for name, x in population_quantities(draws.hyper).items()} | dict(draws.hyper)
        exact |= {f"population {name}": x for name, x in population_quantities(truth.hyper).items()} | dict(truth.hyper)
        for name, values in found.items():
            thinned = values.reshape(-1)[:: values.size // kept][:kept]
            ranks.setdefault(name, []).append(rank_of(float(exact[name][0]), thinned, rng))
    again = sample_instances(one, priors, replace(settings, cores=2), linked=linked, seed=simulations - 1)
    np.testing.assert_array_equal(again.mu, draws.mu)
    p = uniformity_p_values(np.array(list(ranks.values())), kept + 1, np.random.default_rng(9))
    worst = list(ranks)[int(p.argmin())]
    assert p.min() * len(p) > 0.01, f"{worst}: p = {p.min():.5f} over {len(p)} quantities"
