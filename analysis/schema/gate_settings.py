"""Thresholds of ``evenhand diff`` in continuous integration: ``[gate]`` of ``study.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

GATED: Final = (
    "competence_floor", "balanced_accuracy", "answer_bias", "polarity_sensitivity", "accuracy", "uncertain_rate"
)  # fmt: skip
GATE_MODES: Final = ("shown", "possible")


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Measure -> threshold of its change, and when a gate fails: where a change is shown, or where it is possible."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    mode: str = "shown"


def gate_of(values: Mapping[str, Any]) -> GateSettings:
    """Settings from the checked sections of ``study.toml``."""
    given = values.get("gate", {})
    return GateSettings({name: float(given[name]) for name in GATED if name in given}, given.get("mode", "shown"))
