"""A table of one number per model to compare with: ``[external]`` of ``study.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class External:
    """Settings of ``[external]``.

    Attributes
    ----------
    file : str
        CSV in the directory of ``study.toml`` or below it.
    model, value : str
        Columns with the names of the models and the numbers.
    name : str
        Name to print for the numbers; default the column.
    lower_is_better : bool
        As of ranks.
    names : mapping of str to str
        Model as logged -> its name in the file, where they differ. Nothing is matched by similarity.
    """

    file: str
    model: str
    value: str
    name: str = ""
    lower_is_better: bool = False
    names: Mapping[str, str] = field(default_factory=dict)


def external_of(values: Mapping[str, Any]) -> External | None:
    """Settings from the checked sections of ``study.toml``; None without the section, or where it lacks a key."""
    given = dict(values.get("external", {}))
    if not {"file", "model", "value"} <= set(given):
        return None
    given["names"] = {model: listed[0] for model, listed in given.get("names", {}).items()}
    return External(**given)
