"""What a reader makes of one text: an answer or none, the rule that said so, and the status."""

from dataclasses import dataclass
from functools import lru_cache

from analysis.schema.status import Status


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of reading one text.

    ``answer`` is None where no rule reads one; ``rule`` is then the reason. ``probability`` lies in
    [0, 1] and is filled by the probability reader alone.
    """

    answer: str | None
    rule: str
    status: Status
    probability: float | None = None


@lru_cache(maxsize=4096)
def answered(answer: str, rule: str) -> Reading:
    """Reading of a text that holds an answer."""
    return Reading(answer, rule, Status.ANSWERED)


@lru_cache(maxsize=256)
def unanswered(rule: str, status: Status = Status.UNPARSED) -> Reading:
    """Reading of a text that holds none."""
    return Reading(None, rule, status)
