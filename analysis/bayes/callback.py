"""The compiled log-density as a C function that nutpie calls without Python: chains share no lock.

The arrays of a model travel as addresses and shapes, so that one compiled function serves every model.
"""

from typing import Any, Final

import numpy as np
from numba import carray, cfunc
from numpy.typing import NDArray
from nutpie.compile_pymc import CompiledPyMCModel

from analysis.bayes.density_program import DENSITY, density_program, pointer_at
from analysis.bayes.log_density import whitened_log_density
from analysis.bayes.model_arrays import Coordinates, ModelArrays

Floats = NDArray[np.float64]

#: Address and at most three lengths of an array, or a number in the first place.
_SLOT: Final = 4
_SLOTS: Final = len(ModelArrays._fields) + len(Coordinates._fields)


@cfunc(DENSITY, cache=True, error_model="numpy")
def _density(size, z, gradient, value, packed):  # type: ignore[no-untyped-def]
    """Value and gradient at z; 0 where both are finite, else a number that nutpie counts as a divergence."""
    p = carray(packed, (_SLOTS, _SLOT), np.int64)
    arrays = ModelArrays(
        carray(pointer_at(p[0, 0]), (p[0, 1], p[0, 2]), np.int64),
        carray(pointer_at(p[1, 0]), (p[1, 1], p[1, 2]), np.float64),
        carray(pointer_at(p[2, 0]), (p[2, 1], p[2, 2]), np.float64),
        carray(pointer_at(p[3, 0]), (p[3, 1], p[3, 2]), np.float64),
        carray(pointer_at(p[4, 0]), (p[4, 1], p[4, 2], p[4, 3]), np.float64),
        carray(pointer_at(p[5, 0]), (p[5, 1],), np.float64),
        carray(pointer_at(p[6, 0]), (p[6, 1],), np.float64),
        carray(pointer_at(p[7, 0]), (p[7, 1],), np.float64),
        carray(pointer_at(p[8, 0]), (p[8, 1],), np.int64),
        carray(pointer_at(p[9, 0]), (p[9, 1],), np.int64),
        carray(pointer_at(p[10, 0]), (p[10, 1],), np.float64),
        carray(pointer_at(p[11, 0]), (p[11, 1],), np.int64),
        carray(pointer_at(p[12, 0]), (p[12, 1],), np.float64),
        carray(pointer_at(p[13, 0]), (p[13, 1],), np.float64),
        carray(pointer_at(p[14, 0]), (p[14, 1],), np.float64),
        carray(pointer_at(p[15, 0]), (p[15, 1],), np.int64),
        carray(pointer_at(p[16, 0]), (p[16, 1],), np.bool_),
        p[17, 0],
        p[18, 0],
        carray(pointer_at(p[19, 0]), (p[19, 1], p[19, 2]), np.int64),
    )
    at = Coordinates(
        carray(pointer_at(p[20, 0]), (p[20, 1],), np.float64),
        carray(pointer_at(p[21, 0]), (p[21, 1],), np.float64),
        carray(pointer_at(p[22, 0]), (p[22, 1],), np.float64),
        carray(pointer_at(p[23, 0]), (p[23, 1],), np.float64),
        carray(pointer_at(p[24, 0]), (p[24, 1], p[24, 2]), np.float64),
        carray(pointer_at(p[25, 0]), (p[25, 1],), np.float64),
        carray(pointer_at(p[26, 0]), (p[26, 1],), np.int64),
        carray(pointer_at(p[27, 0]), (p[27, 1], p[27, 2], p[27, 3]), np.float64),
        carray(pointer_at(p[28, 0]), (p[28, 1], p[28, 2]), np.float64),
        carray(pointer_at(p[29, 0]), (p[29, 1], p[29, 2]), np.float64),
        carray(pointer_at(p[30, 0]), (p[30, 1], p[30, 2]), np.float64),
        carray(pointer_at(p[31, 0]), (p[31, 1], p[31, 2], p[31, 3]), np.float64),
    )
    found, slope = whitened_log_density(carray(z, (size,)), arrays, at)
    carray(value, (1,))[0] = found
    carray(gradient, (size,))[:] = slope
    return 0 if np.isfinite(found) and np.isfinite(slope).all() else 3


def compiled_density(arrays: ModelArrays, coordinates: Coordinates) -> CompiledPyMCModel:
    """A model as ``nutpie.sample`` takes it; chains start at standard normal points."""
    size = coordinates.dimension
    packed, kept = _packed(arrays, coordinates)

    def start(seed: int) -> Floats:
        return np.random.default_rng(seed).normal(size=size)

    return density_program(_density, size=size, start=start, kept=kept, packed=packed, nearly_normal=True)


def _packed(arrays: ModelArrays, coordinates: Coordinates) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
    """Addresses, lengths and numbers in the order of the fields, and the arrays that must outlive them."""
    packed = np.zeros((_SLOTS, _SLOT), np.int64)
    kept: dict[str, NDArray[Any]] = {}
    for i, (name, part) in enumerate((arrays._asdict() | coordinates._asdict()).items()):
        if np.ndim(part) == 0:
            packed[i, 0] = part
            continue
        kept[name] = np.ascontiguousarray(part)
        packed[i, 0] = kept[name].ctypes.data
        packed[i, 1 : 1 + kept[name].ndim] = kept[name].shape
    return packed, kept
