"""The compiled densities of incoherence are the PyMC models, value and gradient."""

import numpy as np
import pytest

from analysis.bayes.incoherence_data import Instances, checked_instances, model_instances, observed_arrays
from analysis.bayes.incoherence_density import incoherence_density
from analysis.bayes.incoherence_priors import IncoherencePriors, prior_vector
from analysis.bayes.incoherence_program import density_data, parameters, point_size
from analysis.bayes.models.incoherence import incoherence_model
from tests.bayes.incoherence_tables import paired_names, residual_table

PRIORS = IncoherencePriors(lean_sd=0.2, share_mean=-1.0, noise_spread_scale=0.7, shared_shape=3.0)


def instances(pairs: int) -> Instances:
    """Instances in three wordings, one in two, one without any deviation; ``pairs`` units have two identities."""
    unit, identity = paired_names(pairs, 4)
    residuals = np.random.default_rng(3).normal(0.1, 0.3, size=(len(unit), 3))
    residuals[1] = 0.25
    table = residual_table(residuals, unit=unit, identity=identity)
    table.loc[2, "k"] = 2
    return model_instances(checked_instances(table))[0]


def named_point(z: np.ndarray, names: list[str], size: int) -> dict[str, np.ndarray]:
    """A point of the compiled density as the PyMC model names it."""
    order = ["delta", "tau_log__", "l", "a", "b", "omega_log__", "rho_logodds__", "g", "z"]
    sizes = {"g": size}
    found, at = {}, 0
    for name in (name for name in order if name in names):
        length = sizes.get(name, len(z) - at if name == "z" else 1)
        found[name] = z[at : at + length] if name in ("g", "z") else z[at]
        at += length
    return found


@pytest.mark.parametrize("pairs", [0, 20])
@pytest.mark.parametrize("linked", [True, False])
def test_density_and_gradient_are_those_of_pymc(linked: bool, pairs: int) -> None:
    """Catches a wrong term, a missing Jacobian, or a slope of one parameter in the place of another's."""
    one = instances(pairs)
    data = density_data(one, PRIORS, linked=linked)
    model = incoherence_model(
        observed_arrays(one, size=one.size), prior_vector(PRIORS), linked=linked, shared_units=data.units
    )
    names = [variable.name for variable in model.value_vars]
    log_density = model.compile_logp(mode="FAST_COMPILE")
    rng, gap = np.random.default_rng(5), []
    for _ in range(4):
        z = rng.normal(0, 0.8, point_size(data))
        slope = np.empty_like(z)
        value = incoherence_density(z, data, slope)
        gap.append(value - float(log_density(named_point(z, names, one.size))))
        step = 1e-6
        for j in range(len(z)):
            up, down = z.copy(), z.copy()
            up[j], down[j] = z[j] + step, z[j] - step
            spare = np.empty_like(z)
            numeric = (incoherence_density(up, data, spare) - incoherence_density(down, data, spare)) / (2 * step)
            assert slope[j] == pytest.approx(numeric, rel=2e-5, abs=2e-5), j
    np.testing.assert_allclose(gap, gap[0], rtol=0, atol=1e-8)


def test_parameters_are_those_of_the_point() -> None:
    """Catches h or z cut out at the wrong place: h is written out here from its definition."""
    one = instances(20)
    data = density_data(one, PRIORS, linked=True)
    z = np.random.default_rng(6).normal(size=(2, 3, point_size(data)))
    found = parameters(z, data)
    omega, level, (x, v) = np.exp(z[1, 2, 5]), z[1, 2, 2], data.rows[4:6]
    weight = omega**2 / (omega**2 + v)
    h = (weight * (x - level) + np.sqrt(weight * v) * z[1, 2, 7 : 7 + one.size]) / omega
    np.testing.assert_allclose(found["h"][1, 2], h)
    np.testing.assert_array_equal(found["z"], z[..., -20:])
    assert found["rho"][1, 2] == pytest.approx(1 / (1 + np.exp(-z[1, 2, 6])))
