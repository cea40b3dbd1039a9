"""What a design ought to show: ``[planning]`` of ``study.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Keys of ``[planning]`` -> fields of ``PlanningSettings``.
_FIELDS = {"smallest_effect": "effect", "smallest_log_odds": "log_odds", "power": "power"}


@dataclass(frozen=True, slots=True)
class PlanningSettings:
    """Smallest effects of interest, and the power to show them with.

    Attributes
    ----------
    effect : float
        In probabilities: differences of accuracies or mean scores, biases, distances of floors.
    log_odds : float
        In log-odds: persistent incoherence.
    power : float
    """

    effect: float = 0.05
    log_odds: float = 0.10
    power: float = 0.8


def planning_of(values: Mapping[str, Any]) -> PlanningSettings:
    """Settings from the checked sections of ``study.toml``."""
    given = values.get("planning", {})
    return PlanningSettings(**{field: float(given[key]) for key, field in _FIELDS.items() if key in given})
