"""A compiled log-density as nutpie samples it: a C function called without Python, with the one variable ``point``."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from nutpie.compile_pymc import CompiledPyMCModel

from analysis.bayes.callback import expand_nothing

Floats = NDArray[np.float64]


def density_program(
    density: Any,
    *,
    size: int,
    start: Callable[[int], Floats],
    kept: Mapping[str, NDArray[Any]],
    packed: NDArray[np.int64],
) -> CompiledPyMCModel:
    """What ``nutpie.sample`` takes.

    Parameters
    ----------
    density : numba cfunc
        Of the signature ``callback.DENSITY``.
    size : int
        Length of a point.
    start : callable
        Point (size,) where a chain with a given seed begins.
    kept : mapping of str to ndarray
        Arrays that must live as long as the program.
    packed : ndarray of int
        Addresses and numbers that the density unpacks.
    """
    return CompiledPyMCModel(
        dims={},
        _n_dim=size,
        _coords={},
        _shapes={"point": (size,)},
        compiled_logp_func=density,
        compiled_expand_func=expand_nothing,
        initial_point_func=start,
        shared_data=dict(kept),
        shared_var_keys={},
        user_data=packed,
        n_expanded=size,
        shape_info=(["point"], [slice(0, size)], [(size,)]),
        logp_func=None,
        expand_func=None,
    )
