"""How a compiled density is sampled: trajectories of large models follow a standard normal exactly."""

import numpy as np
import pytest
from numba import carray, cfunc
from numpy.typing import NDArray

from analysis.bayes.density_program import DENSITY, MANY_PARAMETERS, density_program
from analysis.bayes.diagnostics import convergence
from analysis.bayes.sampling import SamplerSettings, run_nuts

SETTINGS = SamplerSettings(chains=2, draws=200, tune=100, target_accept=0.8)


@cfunc(DENSITY)
def normal_density(size, z, gradient, value, packed):  # type: ignore[no-untyped-def]
    """Standard normal but for the first coordinate, which has a skewed density (a logistic factor)."""
    at, slope = carray(z, (size,)), carray(gradient, (size,))
    total = 0.0
    for i in range(size):
        total -= 0.5 * at[i] * at[i]
        slope[i] = -at[i]
    odds = np.exp(-2.0 * at[0])
    slope[0] += 2.0 * odds / (1.0 + odds)
    carray(value, (1,))[0] = total - np.log1p(odds)
    return 0


def sampled(size: int, *, nearly_normal: bool) -> tuple[NDArray[np.float64], float]:
    program = density_program(
        normal_density,
        size=size,
        start=lambda seed: np.random.default_rng(seed).normal(size=size),
        kept={},
        packed=np.zeros((1, 4), np.int64),
        nearly_normal=nearly_normal,
    )
    tree = run_nuts(program, SETTINGS, seed=3)
    return tree["posterior"]["point"].values, float(tree["sample_stats"]["n_steps"].mean())


def test_large_models_need_fewer_steps_for_the_same_target() -> None:
    """Catches a setting that nutpie ignores, and trajectories that change the target of a skewed coordinate."""
    draws, steps = sampled(MANY_PARAMETERS, nearly_normal=True)
    plain, plain_steps = sampled(MANY_PARAMETERS, nearly_normal=False)
    assert steps < 0.6 * plain_steps
    for found in (draws, plain):
        # The factor is a logistic one: its mean is that of x under phi(x) / (1 + exp(-2 x)), normalised.
        x = np.linspace(-9, 9, 20001)
        density = np.exp(-0.5 * x**2) / (1 + np.exp(-2 * x))
        mean = (x * density).sum() / density.sum()
        assert found[:, :, 0].mean() == pytest.approx(mean, abs=0.2)
        assert found[:, :, 1:].var() == pytest.approx(1.0, abs=0.02)
        # Steps of pi would keep the distance from the centre from draw to draw.
        radius = (found[:, :, 1:] ** 2).mean(axis=2)
        assert convergence(radius[:, :, None]).ess_bulk[0] > 80


def test_small_models_keep_the_plain_leapfrog() -> None:
    """Catches the exact trajectories where a few directions, far from normal, decide."""
    draws, steps = sampled(40, nearly_normal=True)
    plain, plain_steps = sampled(40, nearly_normal=False)
    np.testing.assert_array_equal(draws, plain)
    assert steps == plain_steps
