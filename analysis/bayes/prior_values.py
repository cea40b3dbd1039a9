"""What numbers priors may have."""

import math
from collections.abc import Set
from dataclasses import asdict
from numbers import Real
from typing import TYPE_CHECKING

from analysis.errors import AnalysisError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def check_values(priors: "DataclassInstance", locations: Set[str]) -> None:
    """Refuse what is no finite number, and scales that are not above 0.

    Raises
    ------
    AnalysisError
        Names the first prior that is something else.
    """
    for name, value in asdict(priors).items():
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not number or (name not in locations and value <= 0):
            kind = "a finite number" if name in locations else "a finite number above 0"
            raise AnalysisError(f"prior {name}: must be {kind}, not {value!r}")
