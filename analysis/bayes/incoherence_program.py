"""Both densities of incoherence as nutpie samples them, and the parameters that a sampled point stands for.

As in ``callback``, the density is a C function called without Python, compiled once for all sets of instances.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numba import carray, cfunc
from numpy.typing import NDArray
from nutpie.compile_pymc import CompiledPyMCModel
from scipy.special import expit

from analysis.bayes.density_program import DENSITY, density_program, pointer_at
from analysis.bayes.incoherence_data import Instances, observed_arrays
from analysis.bayes.incoherence_density import DensityData, incoherence_density
from analysis.bayes.incoherence_priors import IncoherencePriors, prior_vector

Floats = NDArray[np.float64]

_ROWS: Final = ("mean", "ss", "k", "paired", "log_scale", "log_scale_variance")
_PRIORS: Final = 9
_SLOTS: Final = 6


@cfunc(DENSITY, cache=True, error_model="numpy")
def _density(size, z, gradient, value, packed):  # type: ignore[no-untyped-def]
    """Value and gradient at z; 0 where both are finite, else a number that nutpie counts as a divergence."""
    p = carray(packed, (_SLOTS,), np.int64)
    data = DensityData(
        carray(pointer_at(p[0]), (6, p[3]), np.float64),
        carray(pointer_at(p[1]), (p[3],), np.int64),
        carray(pointer_at(p[2]), (_PRIORS,), np.float64),
        p[4],
        p[5],
    )
    slope = carray(gradient, (size,))
    found = incoherence_density(carray(z, (size,)), data, slope)
    carray(value, (1,))[0] = found
    return 0 if np.isfinite(found) and np.isfinite(slope).all() else 3


def density_data(instances: Instances, priors: IncoherencePriors, *, linked: bool) -> DensityData:
    """Arrays of the density of one set of instances; units share a part of the slab where they are paired."""
    observed = observed_arrays(instances, size=instances.size)
    units = int(instances.unit_at.max()) + 1 if instances.paired.any() else 0
    rows = np.array([observed[name] for name in _ROWS], float)
    return DensityData(rows, np.ascontiguousarray(instances.unit_at), prior_vector(priors), units, int(linked))


def point_size(data: DensityData) -> int:
    """Number of unconstrained parameters."""
    own = 6 + data.rows.shape[1] + data.units if data.linked else 3
    return own + (1 if data.units else 0)


def incoherence_program(data: DensityData) -> CompiledPyMCModel:
    """A density as ``nutpie.sample`` takes it, with the one variable ``point``.

    Chains start within 1 of the priors' centres, in the coordinates of the density.
    """
    size, prior = point_size(data), data.prior
    centre = np.zeros(size)
    centre[1:3] = np.log(prior[1]), prior[5]
    if data.linked:
        centre[3], centre[5] = prior[2], np.log(prior[7])
    addresses = [part.ctypes.data for part in (data.rows, data.unit_at, data.prior)]

    def start(seed: int) -> Floats:
        return centre + np.random.default_rng(seed).uniform(-1, 1, size)

    return density_program(
        _density,
        size=size,
        start=start,
        kept={"rows": data.rows, "unit_at": data.unit_at, "prior": data.prior},
        packed=np.array([*addresses, data.rows.shape[1], data.units, data.linked], np.int64),
    )


def parameters(point: Floats, data: DensityData) -> Mapping[str, Any]:
    """Parameters by name from points (..., size): hyper-parameters (...), and of SSL h (..., n) and z (..., units)."""
    found = {"delta": point[..., 0], "tau": np.exp(point[..., 1]), "l": point[..., 2]}
    at = 3
    if data.linked:
        found |= {"a": point[..., 3], "b": point[..., 4], "omega": np.exp(point[..., 5])}
        at = 6
    if data.units:
        found["rho"] = expit(point[..., at])
        at += 1
    if data.linked:
        n = data.rows.shape[1]
        omega, (x, v) = found["omega"][..., None], data.rows[4:6]
        spread = omega**2 + v
        found["h"] = omega * (x - point[..., 2, None]) / spread + np.sqrt(v / spread) * point[..., at : at + n]
        if data.units:
            found["z"] = point[..., at + n :]
    return found
