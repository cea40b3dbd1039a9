"""A compiled log-density as nutpie samples it: a C function called without Python, with the one variable ``point``."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numba import carray, cfunc, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray
from nutpie.compile_pymc import CompiledPyMCModel

Floats = NDArray[np.float64]

DENSITY: Final = types.int64(
    types.uint64,
    types.CPointer(types.double),
    types.CPointer(types.double),
    types.CPointer(types.double),
    types.voidptr,
)
_EXPAND: Final = types.int64(
    types.uint64, types.uint64, types.CPointer(types.double), types.CPointer(types.double), types.voidptr
)


@intrinsic
def pointer_at(typing_context: Any, address: Any) -> Any:
    """An address as a pointer."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), code


@cfunc(_EXPAND, cache=True)
def _expand_nothing(size, expanded, z, out, packed):  # type: ignore[no-untyped-def]
    """Draws are kept as they are."""
    carray(out, (size,))[:] = carray(z, (size,))
    return 0


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
        Of the signature ``DENSITY``.
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
        compiled_expand_func=_expand_nothing,
        initial_point_func=start,
        shared_data=dict(kept),
        shared_var_keys={},
        user_data=packed,
        n_expanded=size,
        shape_info=(["point"], [slice(0, size)], [(size,)]),
        logp_func=None,
        expand_func=None,
    )
