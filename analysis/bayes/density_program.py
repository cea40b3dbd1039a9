"""A compiled log-density as nutpie samples it: a C function called without Python, with the one variable ``point``.

The coordinates of large models make their posterior nearly standard normal. Trajectories then follow the standard
normal exactly and correct for the rest: they need about half the steps of the plain leapfrog for the same acceptance,
and the target is the same, since the integrator is as reversible and keeps volumes as well.

References
----------
Shahbaba, Lan, Johnson and Neal (2014), Statistics and Computing 24:339-349, doi:10.1007/s11222-012-9373-1
(split Hamiltonian Monte Carlo).
"""

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
#: From this many parameters on the many nearly normal directions, not a few others, decide what trajectories cost.
MANY_PARAMETERS: Final = 500
#: Name of the trajectories that are exact for a standard normal density in nutpie's settings.
_EXACT_NORMAL: Final = "ExactNormal"
#: Longest step of theirs. A step of pi, which a standard normal density would accept, turns a point into its mirror
#: image: means are known at once, and the distance from the centre hardly changes.
_LONGEST_STEP: Final = 1.0


class _NearlyNormal(CompiledPyMCModel):
    """A model whose trajectories are exact for a standard normal density."""

    # nutpie.sample has no argument for it; its settings do.
    def _make_sampler(self, settings: Any, *others: Any) -> Any:
        chosen = settings.as_dict()["settings"] | {"trajectory_kind": _EXACT_NORMAL}
        chosen["adapt_options"]["step_size_settings"]["adapt_options"]["dual_average"]["max_step_size"] = _LONGEST_STEP
        settings.update_settings(chosen)
        return super()._make_sampler(settings, *others)


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
    nearly_normal: bool = False,
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
    nearly_normal : bool
        Whether the density is close to a standard normal one if it has MANY_PARAMETERS.
    """
    kind = _NearlyNormal if nearly_normal and size >= MANY_PARAMETERS else CompiledPyMCModel
    return kind(
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
