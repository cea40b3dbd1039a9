"""What became of a planned response."""

from enum import StrEnum


class Status(StrEnum):
    """Outcome of one planned response; never confused with being right or wrong."""

    ANSWERED = "answered"
    UNPARSED = "unparsed"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    ERRORED = "errored"
    MISSING = "missing"


#: A response exists but holds no answer that a rule could read (study P's "uncertain").
UNCERTAIN = frozenset({Status.UNPARSED, Status.REFUSED, Status.TRUNCATED})
#: No response exists: absent from estimates, present in the worst and best bounds.
SET_ASIDE = frozenset({Status.ERRORED, Status.MISSING})
