"""Whitened coordinates mapped to the values of the PyMC model, written without the compiled code."""

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.model_arrays import Coordinates, ModelArrays


def parameters_of(
    z: NDArray[np.float64], d: ModelArrays, at: Coordinates
) -> tuple[dict[str, NDArray[np.float64]], float]:
    """Point of ``models.definition.pymc_model``, and the log of the Jacobian that depends on z."""
    n = len(at.hyper)
    k = len(at.linear)
    low, high = np.minimum(z[:n], 0), np.maximum(z[:n], 0)
    taper = np.maximum(at.taper, 1e-12)
    shift = at.scale * (low + np.log1p(taper * high) / taper) - at.bend * low**2 / 2
    steep = at.scale / (1 + taper * high) - at.bend * low
    tau = d.prior_sd_at[:k]
    prior_sd = np.exp(np.where(tau >= 0, (at.hyper + shift)[tau], d.prior_log_sd[:k]))
    factor = np.linalg.cholesky(at.known + np.diag(prior_sd**-2))
    centre = np.linalg.solve(factor @ factor.T, at.linear)
    shift[:k] = centre + np.linalg.solve(factor.T, z[:k]) - at.hyper[:k]
    log_jacobian = np.log(steep[k:]).sum() - np.log(np.diag(factor)).sum()
    hyper = at.hyper + shift
    x = np.array([np.exp(2 * shift[g]) if g >= 0 else 1.0 for g in d.log_sd_at])[d.group][at.order]
    shared = np.array([hyper[k] if k >= 0 else d.mean[j] for j, k in enumerate(d.mean_at)])
    b = np.empty_like(at.told)
    for m, own in enumerate(z[n:].reshape(b.shape)):
        family = d.family_at[m] if len(d.family_at) else np.full(len(own), -1)
        mean = (shared + [hyper[k] if k >= 0 else 0.0 for k in family])[at.order]
        share = x / (1 + at.told[m] * (x - 1))
        root = np.linalg.solve(
            np.eye(len(own)) - share[:, None] * at.regressions[m], np.diag(np.sqrt(share * at.spread[m]))
        )
        b[m, at.order] = mean + root @ (root.T @ (at.data[m] - at.known_of_model[m] @ mean) + own)
        log_jacobian += 0.5 * np.log(share).sum()
    sds = d.log_sd_at[d.log_sd_at >= 0]
    taus = np.setdiff1d(np.flatnonzero(d.is_log_sd), sds)
    means = np.flatnonzero(~d.is_log_sd & (np.arange(n) != d.log_phi_at))
    point = {"coefficient": b}
    named = {"sd_log__": sds, "tau_log__": taus, "mean": means}
    point |= {name: hyper[index] for name, index in named.items() if len(index)}
    if d.log_phi_at >= 0:
        point["log_phi"] = hyper[d.log_phi_at]
    return point, float(log_jacobian)
