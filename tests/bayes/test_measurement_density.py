"""The compiled density of single answers is the PyMC model, value and gradient."""

import numpy as np
import pytest
from scipy.stats import norm

from analysis.bayes.measurement import measurement_data
from analysis.bayes.measurement_data import MeasurementPriors, SingleAnswers, single_answers
from analysis.bayes.measurement_density import HYPER, _log_cdf, measurement_density
from analysis.bayes.models.measurement import measurement_model


def answers() -> SingleAnswers:
    """Six instances of two, three or four states in three wordings; some answers at the clip, some missing."""
    rng = np.random.default_rng(8)
    states = np.array([2, 3, 2, 4, 2, 2])
    first = np.concatenate([[0], np.cumsum(states)])
    target, latent, conditional = (rng.beta(1, 1, size=(rows, 3)) for rows in (6, first[-1], first[-1]))
    target[0, 0], latent[2, 1], conditional[3, :], conditional[5, 2] = 1.0, 0.005, 0.995, 0.0
    target[1, 2], latent[4, 0], conditional[7, 1] = np.nan, np.nan, np.nan
    truth = np.where(np.arange(first[-1]) < 4, np.nan, 0.3)
    return single_answers(target, latent, conditional, first, truth_latent=truth, truth_conditional=truth + 0.2)


def test_density_and_gradient_are_those_of_pymc() -> None:
    """Catches a wrong term, a missing Jacobian, a slope of one parameter in the place of another's, a lost answer."""
    data = measurement_data(answers(), MeasurementPriors(lean_sd=0.2, violation_scale=0.6, sum_scale=0.3))
    model = measurement_model(data)
    log_density = model.compile_logp(mode="FAST_COMPILE")
    n, states = len(data.target), len(data.latent)
    size = HYPER + n + 2 * states
    rng, gap, spare = np.random.default_rng(5), [], np.empty(size)
    for _ in range(3):
        z = rng.normal(0, 0.6, size)
        named = {"delta": z[0], "tau_log__": z[1], "tau_sum_log__": z[2], "log_sigma": z[3:6]}
        named |= {"g": z[6 : 6 + n], "g_sum": z[6 + n : 6 + 2 * n]}
        named |= {"eta": z[6 + 2 * n : 6 + n + states], "gamma": z[6 + n + states :]}
        slope, step = np.empty(size), 1e-6
        value = measurement_density(z, data, slope)
        gap.append(value - float(log_density(named)))
        for j in range(size):
            up, down = z.copy(), z.copy()
            up[j], down[j] = z[j] + step, z[j] - step
            numeric = (measurement_density(up, data, spare) - measurement_density(down, data, spare)) / (2 * step)
            assert slope[j] == pytest.approx(numeric, rel=2e-5, abs=2e-5), j
    np.testing.assert_allclose(gap, gap[0], rtol=0, atol=1e-7)


def test_log_mass_is_smooth_where_the_series_takes_over() -> None:
    """Catches a wrong asymptotic series: scipy's values on both sides of the change."""
    for x in (-35.0, -30.1, -29.9, -3.0, 0.0, 4.0):
        value, slope = _log_cdf(x)
        assert value == pytest.approx(norm.logcdf(x), rel=1e-9)
        assert slope == pytest.approx(np.exp(norm.logpdf(x) - norm.logcdf(x)), rel=1e-6)
