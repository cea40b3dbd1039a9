"""Persistent incoherence of several language models at once, over instances that all of them answered (prototype).

For model m at instance i, r_mi its residuals in k wordings, mean and sum of squared deviations sufficient for

    r_miw ~ N(mu_mi + c_mi, s_mi^2)   s_mi^2 = exp(2 lambda_mi) + .01^2    c_mi ~ N(0, .02^2)
    mu_mi = 0 with probability 1 - pi_mi, else delta_m + tau_m (sqrt(phi) d_i + sqrt(1 - phi) z_mi)
    lambda_mi = l_m + omega_m h_mi    h_mi = sqrt(c) e_i + sqrt(1 - c) h'_mi
    logit pi_mi = a_m + b_m h_mi      d_i, e_i, z_mi, h'_mi ~ N(0, 1)

This is SSL of ``models.incoherence`` for every model, with two difficulties of an instance that models share: d of what
persists, e of noise. Pooling: l, log tau, log omega, a, b and delta of the models are normal around common means.
mu is integrated out. phi and c are uniform: with 0 the instances of different models have nothing in common.

References
----------
Gelman and Hill (2007), Data Analysis Using Regression and Multilevel/Hierarchical Models, ch. 13 (crossed effects).
"""

from collections.abc import Mapping

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

from analysis.bayes.incoherence_data import ROUNDING, SHARED_ROUNDING

#: Parameters of a model whose values are pooled, beside delta.
POOLED = ("log_tau", "a", "b", "l", "log_omega")


def hierarchy_model(
    observed: Mapping[str, NDArray[np.float64]], pooled: Mapping[str, tuple[float, float, float]], lean: float
) -> pm.Model:
    """PyMC model; arrays are ``pm.Data``, so that others of the same size can replace them.

    Parameters
    ----------
    observed : mapping of str to ndarray (M, n)
        ``mean, ss, k, log_scale, log_scale_variance``.
    pooled : mapping of str to (centre, sd of the centre, half-normal scale of the sd between models)
        Of every name in POOLED.
    lean : float
        Half-normal scale of the sd of delta between models.

    Returns
    -------
    pymc.Model
        With ``log_noise`` (M, n), ``d`` (n,), the parameters (M,), ``phi`` and ``c``.
    """
    models, size = observed["mean"].shape
    with pm.Model() as model:
        data = {name: pm.Data(name, np.ascontiguousarray(values, float)) for name, values in observed.items()}
        own = {name: _pooled(name, *pooled[name], models) for name in POOLED}
        delta = pm.Deterministic(
            "delta", pm.HalfNormal("delta_sd", lean) * pm.Normal("delta_z", 0.0, 1.0, shape=models)
        )
        phi, c = pm.Beta("phi", 1.0, 1.0), pm.Beta("c", 1.0, 1.0)
        d, e = pm.Normal("d", 0.0, 1.0, shape=size), pm.Normal("e", 0.0, 1.0, shape=size)
        tau, omega = pt.exp(own["log_tau"])[:, None], pt.exp(own["log_omega"])[:, None]
        level = own["l"][:, None]
        log_noise = _log_noise(data, level + omega * pt.sqrt(c) * e, omega * pt.sqrt(1 - c), (models, size))
        h = (log_noise - level) / omega
        variance = pt.exp(2 * log_noise) + ROUNDING**2
        eta = own["a"][:, None] + own["b"][:, None] * h
        noise = variance / data["k"] + SHARED_ROUNDING**2
        centre = delta[:, None] + tau * pt.sqrt(phi) * d
        on = _log_normal(data["mean"], centre, tau**2 * (1 - phi) + noise) - pt.softplus(-eta)
        off = _log_normal(data["mean"], 0.0, noise) - pt.softplus(eta)
        deviations = -0.5 * ((data["k"] - 1) * pt.log(variance) + data["ss"] / variance)
        pm.Potential("likelihood", pt.sum(pt.logaddexp(on, off) + deviations))
    return model


def _pooled(name: str, centre: float, centre_sd: float, scale: float, models: int) -> pt.TensorVariable:
    """One parameter of every model around a common mean; log noise is centred, since data locate it sharply."""
    mean, sd = pm.Normal(f"{name}_mean", centre, centre_sd), pm.HalfNormal(f"{name}_sd", scale)
    if name == "l":
        return pm.Normal(name, mean, sd, shape=models)
    return pm.Deterministic(name, mean + sd * pm.Normal(f"{name}_z", 0.0, 1.0, shape=models))


def _log_noise(
    data: Mapping[str, pt.TensorVariable], middle: pt.TensorVariable, sd: pt.TensorVariable, shape: tuple[int, int]
) -> pt.TensorVariable:
    """Log noise ~ N(middle, sd^2), in coordinates that the deviations locate; the Jacobian is part of the density."""
    g = pm.Flat("g", shape=shape)
    weight = sd**2 / (sd**2 + data["log_scale_variance"])
    width = pt.sqrt(weight * data["log_scale_variance"])
    found = pm.Deterministic("log_noise", middle + weight * (data["log_scale"] - middle) + width * g)
    pm.Potential("noise_density", pt.sum(-0.5 * ((found - middle) / sd) ** 2 + pt.log(width / sd)))
    return found


def _log_normal(
    x: pt.TensorVariable, mean: pt.TensorVariable | float, variance: pt.TensorVariable
) -> pt.TensorVariable:
    """Normal log density up to its constant."""
    return -0.5 * (pt.log(variance) + (x - mean) ** 2 / variance)
