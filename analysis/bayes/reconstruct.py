"""From whitened draws to hyper-parameters and coefficients, model by model."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.coefficient_coordinates import many_coefficients
from analysis.bayes.hyper_coordinates import hyper_shifts
from analysis.bayes.model_arrays import Coordinates, ModelArrays, model_means, picked
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
    shift = hyper_shifts(np.ascontiguousarray(z[:, : len(at.hyper)]), d, at)
    return HyperDraws(z, at.hyper + shift, shift)


def coefficient_draws(m: int, hyper: HyperDraws, d: ModelArrays, at: Coordinates) -> Floats:
    """Coefficients (S, P) of model ``m``; see ``log_density`` for the map."""
    size = len(d.group)
    start = len(at.hyper) + m * size
    own = hyper.z[:, start : start + size]
    mean = np.ascontiguousarray(model_means(m, hyper.value, d))
    return many_coefficients(m, np.ascontiguousarray(own), hyper.shift, mean, d, at)
