"""Two models of persistent incoherence, fitted to the mean residual and its deviations by instance.

Instance i is an identity of a unit, asked in k_i wordings; r_iw are its residuals in log-odds, mean m_i and
sum of squared deviations SS_i sufficient for

    r_iw ~ N(mu_i + c_i, s_i^2)     s_i^2 = exp(2 lambda_i) + .01^2     c_i ~ N(0, .02^2)

where .01 and .02 are the rounding of answers printed to two decimals, by wording and in all wordings alike;

    SSL   mu_i = 0 with probability 1 - pi_i, else slab_i            lambda_i = l + omega h_i,  h_i ~ N(0, 1)
          logit pi_i = a + b h_i
    N     mu_i = slab_i                                              lambda_i = l

    slab_i = delta + tau (sqrt(rho) z_unit(i) + sqrt(1 - rho) z_i)

Pooling: instances of one model share delta, tau, a, b, l and omega; models are fitted separately. mu_i is
integrated out and drawn exactly afterwards. rho enters where enough units carry two identities, else the
slab is independent. Identification: within-instance deviations fix s_i, hence two wordings are the least.
In SSL an instance that is noisy may, by the sign of b, be more often incoherent: with free noise and no such
link, incoherence of noisy instances is explained away as noise.

Coordinates: h_i = (w (x_i - l) + sqrt(w v_i) g_i) / omega with w = omega^2 / (omega^2 + v_i), where x_i and v_i locate
log s_i from SS_i; the Jacobian is part of the density, which stays that of h_i ~ N(0, 1).

References
----------
George and McCulloch (1993), JASA 88:881-889, doi:10.1080/01621459.1993.10476353 (spike and slab).
Papaspiliopoulos, Roberts and Skoeld (2007), Statistical Science 22:59-73, doi:10.1214/088342307000000014
(partially non-centred coordinates).
"""

from collections.abc import Mapping

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

from analysis.bayes.incoherence_data import ROUNDING, SHARED_ROUNDING

#: Hyper-parameters of either model, in order.
LINKED = ("delta", "tau", "a", "b", "l", "omega")
NORMAL = ("delta", "tau", "l")


def incoherence_model(
    observed: Mapping[str, NDArray[np.generic]], priors: NDArray[np.float64], *, linked: bool, shared_units: int
) -> pm.Model:
    """PyMC model of one set of instances; arrays are ``pm.Data``, so that others of the same size can replace them.

    Parameters
    ----------
    observed : mapping of str to ndarray (n,)
        As ``incoherence_data.observed_arrays`` returns.
    priors : ndarray (9,)
        As ``incoherence_priors.prior_vector`` returns.
    linked : bool
        SSL; else N.
    shared_units : int
        Units whose instances share a part of the slab; with 0 there is no rho.

    Returns
    -------
    pymc.Model
        Variables ``delta, tau, l``, with SSL ``a, b, omega`` and ``h`` (n,), with shared units ``rho``, and with SSL
        ``z`` (units,); in N the units' effects are integrated out.
    """
    with pm.Model() as model:
        data = {name: pm.Data(name, values) for name, values in observed.items()}
        prior = pm.Data("prior", priors)
        delta = pm.Normal("delta", 0.0, prior[0])
        tau = pm.HalfNormal("tau", prior[1])
        level = pm.Normal("l", prior[5], prior[6])
        rho = pm.Beta("rho", prior[8], prior[8]) if shared_units else None
        if linked:
            log_noise, logit_share = _linked_noise(data, prior, level, len(observed["mean"]))
            variance = pt.exp(2 * log_noise) + ROUNDING**2
            centre, slab = _slab(data, delta, tau, rho, shared_units)
            noise = variance / data["k"] + SHARED_ROUNDING**2
            on = _log_normal(data["mean"], centre, slab + noise) - pt.softplus(-logit_share)
            off = _log_normal(data["mean"], 0.0, noise) - pt.softplus(logit_share)
            of_means = pt.sum(data["used"] * pt.logaddexp(on, off))
        else:
            variance = pt.exp(2 * level) + ROUNDING**2
            of_means = _normal_means(data, delta, tau, rho, variance, shared_units)
        of_deviations = -0.5 * ((data["k"] - 1) * pt.log(variance) + data["ss"] / variance)
        pm.Potential("likelihood", of_means + pt.sum(data["used"] * of_deviations))
    return model


def _slab(
    data: Mapping[str, pt.TensorVariable],
    delta: pt.TensorVariable,
    tau: pt.TensorVariable,
    rho: pt.TensorVariable | None,
    shared_units: int,
) -> tuple[pt.TensorVariable, pt.TensorVariable]:
    """Mean and variance of the slab of each instance, given what its unit shares."""
    if rho is None:
        return delta, tau**2
    z = pm.Normal("z", 0.0, 1.0, shape=shared_units)
    common = data["paired"] * tau * pt.sqrt(rho) * z[data["unit_at"]]
    return delta + common, tau**2 * (1 - data["paired"] * rho)


def _normal_means(
    data: Mapping[str, pt.TensorVariable],
    delta: pt.TensorVariable,
    tau: pt.TensorVariable,
    rho: pt.TensorVariable | None,
    variance: pt.TensorVariable,
    shared_units: int,
) -> pt.TensorVariable:
    """Log density of all means of model N, what units share integrated out (a rank-one update by unit)."""
    noise = variance / data["k"] + SHARED_ROUNDING**2
    if rho is None:
        return pt.sum(data["used"] * _log_normal(data["mean"], delta, tau**2 + noise))
    own = tau**2 * (1 - data["paired"] * rho) + noise
    weight = data["used"] * data["paired"] / own
    empty = pt.zeros(shared_units)
    weights = pt.inc_subtensor(empty[data["unit_at"]], weight)
    away = pt.inc_subtensor(empty[data["unit_at"]], weight * (data["mean"] - delta))
    common = tau**2 * rho
    of_units = 0.5 * pt.sum(common * away**2 / (1 + common * weights) - pt.log1p(common * weights))
    return pt.sum(data["used"] * _log_normal(data["mean"], delta, own)) + of_units


def _linked_noise(
    data: Mapping[str, pt.TensorVariable], prior: pt.TensorVariable, level: pt.TensorVariable, size: int
) -> tuple[pt.TensorVariable, pt.TensorVariable]:
    """Log noise of each instance, and the log-odds that it is incoherent."""
    a = pm.Normal("a", prior[2], prior[3])
    b = pm.Normal("b", 0.0, prior[4])
    omega = pm.HalfNormal("omega", prior[7])
    g = pm.Flat("g", shape=size)
    weight = omega**2 / (omega**2 + data["log_scale_variance"])
    width = pt.sqrt(weight * data["log_scale_variance"])
    h = pm.Deterministic("h", (weight * (data["log_scale"] - level) + width * g) / omega)
    pm.Potential("h_density", pt.sum(-0.5 * h**2 + pt.log(width / omega)))
    return level + omega * h, a + b * h


def _log_normal(
    x: pt.TensorVariable, mean: pt.TensorVariable | float, variance: pt.TensorVariable
) -> pt.TensorVariable:
    """Normal log density up to its constant."""
    return -0.5 * (pt.log(variance) + (x - mean) ** 2 / variance)
