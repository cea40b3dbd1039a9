"""Marginals of standard deviations as transformed normal variables."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from analysis.bayes.sd_marginals import Marginal, log_sd_marginal


def _value(marginal: Marginal, z: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = np.minimum(z, 0), np.maximum(z, 0)
    upper = np.log1p(marginal.taper * high) / marginal.taper if marginal.taper > 0 else high
    return marginal.centre + marginal.scale * (low + upper) - marginal.bend * low**2 / 2


def test_prior_alone_is_a_half_normal() -> None:
    """Catches a lost Jacobian, a wrong tail, a wrong quantile: without effects the sd has its prior."""
    none = np.empty(0)
    marginal = log_sd_marginal(none, none, 0.0, np.log(0.7))
    z = np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
    probability = np.array([0.0013499, 0.0227501, 0.1586553, 0.5, 0.8413447, 0.9772499, 0.9986501])
    expected = np.log(0.7 * ndtri((1 + probability) / 2))
    np.testing.assert_allclose(_value(marginal, z)[1:-1], expected[1:-1], atol=0.12)
    np.testing.assert_allclose(_value(marginal, z), expected, atol=0.35)


def test_many_known_effects_tell_their_sd() -> None:
    """Catches effects that are shrunk twice: 400 effects of sd .5 known to .1 give .5, to 1 / sqrt(800)."""
    rng = np.random.default_rng(5)
    true, noise, at = 0.5, 0.1, 0.8
    alone = rng.normal(scale=np.hypot(true, noise), size=400)
    variance = 1 / (noise**-2 + at**-2)
    marginal = log_sd_marginal(alone * variance / noise**2, np.full(400, variance), np.log(at), 0.0)
    exact = 0.5 * np.log((alone**2).mean() - noise**2)
    assert marginal.centre == pytest.approx(exact, abs=0.01)
    assert marginal.scale == pytest.approx(800**-0.5 * (true**2 + noise**2) / true**2, rel=0.1)
    assert marginal.bend < 0.01


def test_effects_of_zero_leave_a_long_lower_tail() -> None:
    """Catches a normal tail where an sd of 0 is possible: half of the mass lies over more than one log unit."""
    marginal = log_sd_marginal(np.zeros(20), np.full(20, 0.0099), np.log(0.1), 0.0)
    assert np.exp(marginal.centre) < 0.5
    assert marginal.bend > 0.3
    assert _value(marginal, np.array([-2.0]))[0] < marginal.centre - 2.5
