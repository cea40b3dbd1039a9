"""The density of the endorsement model as nutpie samples it, and the parameters that a sampled point stands for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numba import carray, cfunc
from numpy.typing import NDArray
from nutpie.compile_pymc import CompiledPyMCModel

from analysis.bayes.belief_bias_arrays import Endorsement, EndorsementData
from analysis.bayes.belief_bias_density import endorsement_density
from analysis.bayes.belief_bias_rough import rotation
from analysis.bayes.density_program import DENSITY, density_program, pointer_at

Floats = NDArray[np.float64]

_FIELDS: Final = 26
_SLOT: Final = 4
#: Chains start within this of the rough fit, in the coordinates of the density.
_NEAR: Final = 0.5


@cfunc(DENSITY, cache=True, error_model="numpy")
def _density(size, z, gradient, value, packed):  # type: ignore[no-untyped-def]
    """Value and gradient at z; 0 where both are finite, else a number that nutpie counts as a divergence."""
    p = carray(packed, (_FIELDS, _SLOT), np.int64)
    data = EndorsementData(
        carray(pointer_at(p[0, 0]), (p[0, 1], p[0, 2], p[0, 3]), np.float64),
        carray(pointer_at(p[1, 0]), (p[1, 1], p[1, 2], p[1, 3]), np.float64),
        carray(pointer_at(p[2, 0]), (p[2, 1], p[2, 2]), np.float64),
        carray(pointer_at(p[3, 0]), (p[3, 1], p[3, 2]), np.float64),
        carray(pointer_at(p[4, 0]), (p[4, 1], p[4, 2], p[4, 3]), np.float64),
        carray(pointer_at(p[5, 0]), (p[5, 1], p[5, 2]), np.float64),
        carray(pointer_at(p[6, 0]), (p[6, 1], p[6, 2]), np.float64),
        carray(pointer_at(p[7, 0]), (p[7, 1],), np.int64),
        carray(pointer_at(p[8, 0]), (p[8, 1],), np.int64),
        carray(pointer_at(p[9, 0]), (p[9, 1],), np.bool_),
        carray(pointer_at(p[10, 0]), (p[10, 1],), np.float64),
        carray(pointer_at(p[11, 0]), (p[11, 1],), np.float64),
        carray(pointer_at(p[12, 0]), (p[12, 1], p[12, 2]), np.float64),
        carray(pointer_at(p[13, 0]), (p[13, 1], p[13, 2]), np.float64),
        carray(pointer_at(p[14, 0]), (p[14, 1],), np.int64),
        carray(pointer_at(p[15, 0]), (p[15, 1],), np.int64),
        carray(pointer_at(p[16, 0]), (p[16, 1], p[16, 2]), np.float64),
        carray(pointer_at(p[17, 0]), (p[17, 1], p[17, 2], p[17, 3]), np.float64),
        carray(pointer_at(p[18, 0]), (p[18, 1], p[18, 2], p[18, 3]), np.float64),
        carray(pointer_at(p[19, 0]), (p[19, 1], p[19, 2]), np.float64),
        carray(pointer_at(p[20, 0]), (p[20, 1], p[20, 2], p[20, 3]), np.float64),
        p[21, 0],
        p[22, 0],
        p[23, 0],
        p[24, 0],
        p[25, 0],
    )
    slope = carray(gradient, (size,))
    found = endorsement_density(carray(z, (size,)), data, slope)
    carray(value, (1,))[0] = found
    return 0 if np.isfinite(found) and np.isfinite(slope).all() else 3


def endorsement_program(model: Endorsement) -> CompiledPyMCModel:
    """The density with the one variable ``point``; chains start near the rough fit."""
    size = model.starts[-1]
    kept: dict[str, NDArray[Any]] = {}
    packed = np.zeros((_FIELDS, _SLOT), np.int64)
    for i, (name, part) in enumerate(model.data._asdict().items()):
        if np.ndim(part) == 0:
            packed[i, 0] = part
            continue
        kept[name] = np.ascontiguousarray(part)
        packed[i, 0] = kept[name].ctypes.data
        packed[i, 1 : 1 + kept[name].ndim] = kept[name].shape

    def start(seed: int) -> Floats:
        return np.random.default_rng(seed).uniform(-_NEAR, _NEAR, size)

    return density_program(_density, size=size, start=start, kept=kept, packed=packed, nearly_normal=True)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of points (..., size).

    Attributes
    ----------
    sd : mapping of str to ndarray (...)
        Standard deviations by ``Endorsement.sds``.
    mean : ndarray (..., F)
        Means of the coefficients; their prior's with one model.
    coefficient : ndarray (..., M, F)
    item : ndarray (..., J)
    effect : ndarray (..., M, G)
    """

    sd: Mapping[str, Floats]
    mean: Floats
    coefficient: Floats
    item: Floats
    effect: Floats

    def taken(self, which: slice) -> "Parameters":
        """Those of some draws, the first axis."""
        sd = {name: values[which] for name, values in self.sd.items()}
        return Parameters(sd, self.mean[which], self.coefficient[which], self.item[which], self.effect[which])


def parameters(point: Floats, model: Endorsement) -> Parameters:
    """What points stand for; the inverse of the coordinates of ``density_terms.placed``."""
    d, (at_mean, at_coefficient, at_item, at_effect, size) = model.data, model.starts
    log_sd = _log_sd(point[..., :at_mean], d.marginal)
    shape = point.shape[:-1]
    fixed = np.broadcast_to(d.mean_prior[1], (*shape, len(d.sd_at)))
    mean = np.broadcast_to(d.mean_prior[0], fixed.shape)
    if d.pooled:
        spread = np.where(d.mean_sd_at >= 0, log_sd[..., np.maximum(d.mean_sd_at, 0)], fixed)
        mean = _placed(point[..., at_mean:at_coefficient], mean, spread, d.about_mean)
    spread = np.where(d.sd_at >= 0, log_sd[..., np.maximum(d.sd_at, 0)], fixed)[..., None, :]
    own = point[..., at_coefficient:at_item].reshape(*shape, len(d.yes), len(d.sd_at))
    coefficient = np.zeros(own.shape)
    for f in range(own.shape[-1]):
        told = (coefficient[..., :f] - d.about_coefficient[0, :, :f]) * d.regression[:, f, :f]
        about = np.stack(
            np.broadcast_arrays(d.about_coefficient[0, :, f] + told.sum(axis=-1), d.about_coefficient[1, :, f])
        )
        coefficient[..., f] = _placed(own[..., f], mean[..., None, f], spread[..., f], about)
    item = np.zeros((*shape, 0))
    if d.item_sd_at >= 0:
        item = _placed(point[..., at_item:at_effect], 0.0, log_sd[..., [d.item_sd_at]], d.about_item) @ d.item_basis.T
    added = item @ d.of_item.T
    mean, coefficient = mean - added, coefficient - added[..., None, :]
    effect = point[..., at_effect:size].reshape(*shape, len(d.yes), len(d.unit))
    if len(d.unit):
        turn = rotation(d.unit)
        centre = coefficient @ d.of_effect
        if item.shape[-1]:
            centre = centre + item[..., None, d.unit]
        variance = np.exp(2 * log_sd[..., [d.model_item_sd_at]]) * np.where(d.head, d.size, 0.0)
        if d.version_sd_at >= 0:
            variance = variance + np.exp(2 * log_sd[..., [d.version_sd_at]])
        effect = _placed(effect, centre @ turn, 0.5 * np.log(variance)[..., None, :], d.about_effect) @ turn
    sd = {name: np.exp(log_sd[..., i]) for i, name in enumerate(model.sds)}
    return Parameters(sd, mean, coefficient, item, effect)


def _log_sd(z: Floats, marginal: Floats) -> Floats:
    centre, scale, bend, taper = marginal
    above = np.maximum(z, 0.0)
    tapered = np.where(taper > 0, np.log1p(taper * above) / np.where(taper > 0, taper, 1.0), above)
    below = np.minimum(z, 0.0)
    return np.asarray(centre + scale * (below + tapered) - 0.5 * bend * below**2, float)


def _placed(g: Floats, mean: Floats | float, log_sd: Floats, about: Floats) -> Floats:
    r = 1 / (1 + about[1] * np.exp(-2 * log_sd))
    return np.asarray((1 - r) * mean + r * about[0] + np.sqrt(r * about[1]) * g, float)
