"""Whitened coordinates mapped to the values of the PyMC model, written without the compiled code."""

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.model_arrays import Coordinates, ModelArrays


def parameters_of(
    z: NDArray[np.float64], d: ModelArrays, at: Coordinates
) -> tuple[dict[str, NDArray[np.float64]], float]:
    """Point of ``models.definition.pymc_model``, and the log of the Jacobian that depends on z."""
    n = len(at.hyper)
    local = at.scale @ z[:n]
    shift, log_jacobian = local.copy(), 0.0
    for i in np.flatnonzero(d.prior_sd_at >= 0):
        x = np.exp(2 * local[d.prior_sd_at[i]])
        r = at.hyper_told[i]
        q = 1 + r * (x - 1)
        shift[i] = (1 - r) * at.hyper[i] * (x - 1) / q + np.sqrt(x / q) * local[i]
        log_jacobian += 0.5 * np.log(x / q)
    hyper = at.hyper + shift
    x = np.array([np.exp(2 * shift[g]) if g >= 0 else 1.0 for g in d.log_sd_at])[d.group]
    moved_mean = np.array([shift[k] if k >= 0 else 0.0 for k in d.mean_at])
    b = np.empty_like(at.coefficients)
    for m, own in enumerate(z[n:].reshape(b.shape)):
        q = 1 + at.told[m] * (x - 1)
        moved = (moved_mean + at.offset[m] * (x - 1)) / q
        crossed = at.cross[m] @ (moved * at.precision)
        b[m] = at.coefficients[m] + (1 - at.told[m]) * moved + x / q * crossed + np.sqrt(x / q) * (at.factor[m] @ own)
        log_jacobian += 0.5 * np.log(x / q).sum()
    sds = d.log_sd_at[d.log_sd_at >= 0]
    taus = np.setdiff1d(np.flatnonzero(d.is_log_sd), sds)
    means = np.flatnonzero(~d.is_log_sd & (np.arange(n) != d.log_phi_at))
    point = {"coefficient": b}
    named = {"sd_log__": sds, "tau_log__": taus, "mean": means}
    point |= {name: hyper[index] for name, index in named.items() if len(index)}
    if d.log_phi_at >= 0:
        point["log_phi"] = hyper[d.log_phi_at]
    return point, float(log_jacobian)
