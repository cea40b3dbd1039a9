"""How repeated responses become one answer, and a second label of the items: ``[votes]`` of ``study.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Votes:
    """Settings of ``[votes]``.

    Attributes
    ----------
    tie : str
        What a tie for the most votes is: ``uncertain``, ``aside``, or an answer.
    label_column : str
        Column with a second label of the item, empty where there is none.
    label_yes : str
        Its value where yes would be right by that label.
    """

    tie: str = "uncertain"
    label_column: str = ""
    label_yes: str = "believable"


def votes_of(values: Mapping[str, Any]) -> Votes:
    """Settings from the checked sections of ``study.toml``."""
    return Votes(**values.get("votes", {}))
