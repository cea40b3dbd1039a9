"""The compiled log-density is the PyMC model, value and gradient."""

import ctypes

import numpy as np
import pytensor
import pytest
from scipy.special import betaln, digamma, expit

from analysis.bayes.beta_binomial import (
    WORK_SIZE,
    beta_binomial_block,
    binomial_block,
    log_gamma_and_slope,
    phi_terms,
)
from analysis.bayes.callback import compiled_density
from analysis.bayes.design_matrix import count_design
from analysis.bayes.log_density import whitened_log_density
from analysis.bayes.model_arrays import Coordinates, ModelArrays
from analysis.bayes.models.answer_bias import stage_arrays
from analysis.bayes.models.definition import pymc_model
from analysis.bayes.models.surface_layer import ClusterEstimates, surface_layer_arrays
from analysis.bayes.priors import Priors
from analysis.bayes.whitening import non_centred_coordinates, whitened_coordinates
from analysis.measures.yes_no_bias import FOUR_CELLS
from tests.bayes.coordinates import parameters_of
from tests.bayes.designs import gold_design, template_design


@pytest.mark.parametrize("log_phi", [-6.0, -1.0, 1.0, 4.0, 8.0])
@pytest.mark.parametrize("spread", [1.0, 8.0, 100.0])
def test_beta_binomial_equals_scipy(log_phi: float, spread: float) -> None:
    """Catches a wrong series, shift or sign, in tiles that are full, cut and empty."""
    rng = np.random.default_rng(7)
    for size in (1, 64, 131):
        eta = rng.normal(size=size) * spread
        n = rng.integers(0, 300, size).astype(float)
        yes = np.round(n * rng.beta(0.3, 0.3, size))
        phi, by_eta = np.exp(log_phi), np.empty(size)
        value, slope = beta_binomial_block(eta, phi, yes, n - yes, by_eta, np.empty(WORK_SIZE))
        sizes, cells = np.unique(n, return_counts=True)
        rest, rest_slope = phi_terms(phi, sizes, cells.astype(float))
        a, b = phi * expit(eta), phi * expit(-eta)
        expected = betaln(a + yes, b + (n - yes)) - betaln(a, b)
        by_a = digamma(a + yes) - digamma(a)
        by_b = digamma(b + (n - yes)) - digamma(b)
        both = digamma(phi + n) - digamma(phi)
        assert value + rest == pytest.approx(expected.sum(), rel=1e-10, abs=1e-9)
        np.testing.assert_allclose(by_eta, phi * expit(eta) * expit(-eta) * (by_a - by_b), atol=1e-10 * max(1, phi))
        assert slope + rest_slope == pytest.approx((a * by_a + b * by_b - phi * both).sum(), rel=1e-9, abs=1e-8)


def test_log_gamma_at_known_values() -> None:
    """Catches a wrong constant: gamma(1/2) = sqrt(pi), digamma(1) = -0.5772156649 (Euler)."""
    assert log_gamma_and_slope(0.5)[0] == pytest.approx(0.5 * np.log(np.pi), rel=1e-14)
    assert log_gamma_and_slope(1.0) == pytest.approx((0.0, -0.5772156649015329), abs=1e-14)


def test_binomial_is_stable_far_out() -> None:
    """Catches an overflow of exp: all Yes at log-odds 800 is certain, all No costs 800 each."""
    by_eta = np.empty(2)
    value = binomial_block(np.array([800.0, 800.0]), np.array([3.0, 0.0]), np.array([0.0, 2.0]), by_eta)
    assert value == pytest.approx(-1600.0)
    np.testing.assert_allclose(by_eta, [0.0, -2.0])


def _models() -> dict[str, ModelArrays]:
    rng = np.random.default_rng(11)
    full = count_design(template_design(rng))
    alone = count_design(template_design(rng, models=1))
    gold = count_design(gold_design({"a": (0.9, 0.4), "b": (1.0, 0.0), "c": (0.6, 0.7)}))
    root = rng.normal(size=(3, 4, 4)) * 0.05
    clusters = ClusterEstimates(
        ("a", "b", "c"),
        FOUR_CELLS,
        rng.uniform(0.2, 0.9, (3, 4)),
        root @ np.swapaxes(root, 1, 2) + 0.001 * np.eye(4),
        np.array([9.0, 19.0, 30.0]),
        np.full((3, 4), 20.0),
        np.full((3, 4), 400.0),
    )
    priors = Priors()
    many = count_design(template_design(rng, models=6, templates=3, forms=2))
    of_many = {"m000": "x", "m001": "x", "m002": "y", "m003": "y", "m004": "z"}
    wide = ClusterEstimates(
        tuple("abcdef"),
        FOUR_CELLS,
        rng.uniform(0.2, 0.9, (6, 4)),
        np.tile(clusters.covariance, (2, 1, 1)),
        np.tile(clusters.df, 2),
        np.full((6, 4), 20.0),
        np.full((6, 4), 400.0),
    )
    of_wide = dict(zip("abcdef", ("x", "y", "z", "z", "y", "x"), strict=True))
    return {
        "families": stage_arrays(many, priors, stage="yes", families=of_many),
        "families, estimates": surface_layer_arrays(wide, priors, families=of_wide),
        "yes": stage_arrays(full, priors, stage="yes"),
        "answered": stage_arrays(full, priors, stage="answered"),
        "one model": stage_arrays(alone, priors, stage="yes"),
        "gold": stage_arrays(gold, priors, stage="yes"),
        "estimates": surface_layer_arrays(clusters, priors),
    }


@pytest.mark.parametrize(
    "name", ["yes", "answered", "one model", "gold", "estimates", "families", "families, estimates"]
)
@pytest.mark.parametrize("coordinates", [whitened_coordinates, non_centred_coordinates])
def test_log_density_and_gradient_equal_pymc(name: str, coordinates: object) -> None:
    """Catches any term, prior, Jacobian or index that differs from the model as PyMC defines it."""
    arrays = _models()[name]
    made = coordinates(arrays)
    at: Coordinates = made if isinstance(made, Coordinates) else made.coordinates
    model = pymc_model(arrays)
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        log_p = model.compile_logp(jacobian=True)
    rng = np.random.default_rng(3)
    size = at.dimension
    differences = []
    for _ in range(3):
        z, step = rng.normal(size=size), rng.normal(size=size)
        value, gradient = whitened_log_density(z, arrays, at)
        point, log_jacobian = parameters_of(z, arrays, at)
        differences.append(float(log_p(point)) + log_jacobian - value)
        h = 1e-5
        there, back = (parameters_of(z + sign * h * step, arrays, at) for sign in (1, -1))
        slope = (float(log_p(there[0])) + there[1] - float(log_p(back[0])) - back[1]) / (2 * h)
        assert gradient @ step == pytest.approx(slope, rel=2e-5, abs=2e-4)
    np.testing.assert_allclose(differences, differences[0], atol=1e-7)


@pytest.mark.parametrize("name", ["yes", "one model", "gold", "estimates", "families"])
def test_c_callback_is_the_compiled_density(name: str) -> None:
    """Catches an address or a shape in the wrong place, and an overflow that is reported as a number."""
    arrays = _models()[name]
    at = whitened_coordinates(arrays).coordinates
    model = compiled_density(arrays, at)
    z = np.random.default_rng(6).normal(size=model.n_dim)
    gradient, value = np.empty(model.n_dim), np.empty(1)
    pointer = ctypes.POINTER(ctypes.c_double)

    def call(point: np.ndarray) -> int:
        buffers = [array.ctypes.data_as(pointer) for array in (point, gradient, value)]
        return int(model.compiled_logp_func.ctypes(len(point), *buffers, model.user_data.ctypes.data))

    expected = whitened_log_density(z, arrays, at)
    assert call(z) == 0
    assert value[0] == expected[0]
    np.testing.assert_array_equal(gradient, expected[1])
    assert call(np.full(model.n_dim, np.nan)) != 0
