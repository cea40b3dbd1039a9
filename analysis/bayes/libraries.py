"""Libraries of this stage that take seconds to load, for a thread that has nothing else to do."""

import arviz_stats
import numba
import nutpie
import pymc

__all__ = ["arviz_stats", "numba", "nutpie", "pymc"]
