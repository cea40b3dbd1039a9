"""What ``study.toml`` says of identities between probabilities: texts, which ``measures.identities`` reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class IdentityEntry:
    """One ``[[identity]]``: two sides over roles of queries, how they relate, and the scale of its residual."""

    name: str
    left: str
    right: str
    relation: str = "="
    scale: str = "log_odds"


@dataclass(frozen=True, slots=True)
class Coherence:
    """Identities that the study declares (none: the built-in ones), and the clip of probabilities."""

    identities: tuple[IdentityEntry, ...] = ()
    clip: float = 0.01


def coherence_of(values: Mapping[str, Any]) -> Coherence:
    """Settings from the checked sections ``identity`` and ``coherence``."""
    entries = tuple(IdentityEntry(**entry) for entry in values.get("identity", []))
    return Coherence(entries, **values.get("coherence", {}))
