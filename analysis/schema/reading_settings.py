"""Words that mean an answer: ``[reading]`` of ``study.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

#: Pairs of verdicts by name: what stands for yes, what stands for no.
VERDICTS: Final[Mapping[str, tuple[str, str]]] = {
    "valid": ("valid", "invalid"),
    "correct": ("correct", "incorrect"),
    "true": ("true", "false"),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """Words that mean an answer, beyond those every reader knows: answer -> synonyms, declared verdicts among them."""

    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def reading_of(values: Mapping[str, Any]) -> Reading:
    """Settings from the checked sections of ``study.toml``."""
    given = values.get("reading", {})
    synonyms = {answer: tuple(words) for answer, words in given.get("synonyms", {}).items()}
    for name in given.get("verdicts", ()):
        for answer, word in zip(("yes", "no"), VERDICTS[name], strict=True):
            if word not in synonyms.get(answer, ()):
                synonyms[answer] = (*synonyms.get(answer, ()), word)
    return Reading(synonyms)
