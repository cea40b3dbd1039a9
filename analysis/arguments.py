"""Checks of arguments that every numerical function shares."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError


def check_level(ci_level: float) -> float:
    """Return a confidence level after checking that it lies strictly between 0 and 1."""
    if not 0 < ci_level < 1:
        raise AnalysisError(f"ci_level must lie strictly between 0 and 1, not {ci_level!r}")
    return float(ci_level)


def check_counts(k: ArrayLike, n: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return event counts and trials as broadcast floats after checking 0 <= k <= n."""
    events, trials = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float))
    bad = ~((events >= 0) & (events <= trials))
    if bad.any():
        first = np.argwhere(bad)[0] if events.ndim else ()
        at = tuple(int(i) for i in first)
        raise AnalysisError(
            f"a count must lie in [0, n]: found k={events[at]:g}, n={trials[at]:g} "
            f"({int(bad.sum())} of {bad.size} pairs)"
        )
    return events, trials
