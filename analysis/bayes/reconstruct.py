"""From whitened draws to hyper-parameters and coefficients, model by model."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.model_arrays import Coordinates, ModelArrays, picked
from analysis.bayes.sampling import Draws

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class HyperDraws:
    """Draws of the hyper-parameters, S = chains × draws in order of chain.

    Attributes
    ----------
    z : ndarray (S, dimension)
        Whitened draws, views of the sampler's.
    value, shift : ndarray (S, H)
        Hyper-parameters, and the same minus their mode.
    """

    z: Floats
    value: Floats
    shift: Floats

    def thinned(self, most: int) -> "HyperDraws":
        """At most so many draws, equally spaced."""
        chosen = np.linspace(0, len(self.value) - 1, min(most, len(self.value))).astype(int)
        return HyperDraws(self.z[chosen], self.value[chosen], self.shift[chosen])

    def group_variance(self, d: ModelArrays) -> Floats:
        """Variance (S, G) of each group between models."""
        return np.exp(2 * picked(self.value, d.log_sd_at, d.log_sd))

    def phi(self, d: ModelArrays) -> Floats | None:
        """Concentration (S,), None for binomial cells."""
        return np.exp(self.value[:, d.log_phi_at]) if d.log_phi_at >= 0 else None


def hyper_draws(draws: Draws, d: ModelArrays, at: Coordinates) -> HyperDraws:
    """Hyper-parameters from whitened draws."""
    z = draws.z.reshape(-1, draws.z.shape[-1])
    local = z[:, : len(at.hyper)] @ at.scale.T
    shift = local.copy()
    for i in np.flatnonzero(d.prior_sd_at >= 0):
        x = np.exp(2 * local[:, d.prior_sd_at[i]])
        q = 1 + at.hyper_told[i] * (x - 1)
        shift[:, i] = (1 - at.hyper_told[i]) * at.hyper[i] * (x - 1) / q + np.sqrt(x / q) * local[:, i]
    return HyperDraws(z, at.hyper + shift, shift)


def coefficient_draws(m: int, hyper: HyperDraws, d: ModelArrays, at: Coordinates) -> Floats:
    """Coefficients (S, P) of model ``m``; see ``log_density`` for the map."""
    size = len(d.group)
    start = len(at.hyper) + m * size
    own = hyper.z[:, start : start + size]
    x = np.exp(2 * picked(hyper.shift, d.log_sd_at, 0.0))[:, d.group]
    q = 1 + at.told[m] * (x - 1)
    mean_shift = picked(hyper.shift, d.mean_at, 0.0)
    moved = (mean_shift + at.offset[m] * (x - 1)) / q
    ratio = x / q
    crossed = (moved * at.precision) @ at.cross[m]
    return at.coefficients[m] + (1 - at.told[m]) * moved + ratio * crossed + np.sqrt(ratio) * (own @ at.factor[m].T)
