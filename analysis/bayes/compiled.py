"""The decorator of the functions that densities are made of."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled[**P, R](*fastmath: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function and keep the machine code; ``fastmath`` names liberties with floating-point arithmetic.

    Notes
    -----
    The function becomes a part of whatever compiled function calls it. Otherwise there are several machine codes of
    it, alone and with each caller, and a process that compiles uses another one than a process that loads what was
    kept. They may round differently in the last place: draws of one seed would depend on which process was first.
    """
    found: Any = njit(cache=True, nogil=True, error_model="numpy", fastmath=set(fastmath), forceinline=True)
    return found
