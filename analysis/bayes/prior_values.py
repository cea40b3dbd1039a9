"""What numbers priors may have."""

import math
from collections.abc import Set
from dataclasses import fields
from numbers import Real
from typing import Any

from analysis.errors import AnalysisError


def check_values(priors: Any, locations: Set[str]) -> None:
    """Refuse what is no finite number, and scales that are not above 0.

    Parameters
    ----------
    priors : dataclass
        Of numbers.
    locations : set of str
        Names of those that may be negative.

    Raises
    ------
    AnalysisError
        Names the first prior that is something else.
    """
    for field in fields(priors):
        name, value = field.name, getattr(priors, field.name)
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not number or (name not in locations and value <= 0):
            kind = "a finite number" if name in locations else "a finite number above 0"
            raise AnalysisError(f"prior {name}: must be {kind}, not {value!r}")
