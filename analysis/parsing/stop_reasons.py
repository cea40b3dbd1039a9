"""Why a harness says that a text ends, and what may be read from one that was cut off or held back."""

from analysis.parsing.reading import Reading, unanswered
from analysis.schema.status import Status

#: Stop reasons of the harnesses that mean: cut off before the end, and: held back by a filter.
_CUT_OFF = frozenset({"max_tokens", "length", "max_length", "model_length", "max_output_tokens", "token_limit"})
_HELD_BACK = frozenset({"content_filter", "refusal", "safety"})
#: Rules that go by where the words stand, which a text without its end does not tell.
_BY_PLACE = frozenset({"last_line", "only_one_polarity", "only_one_option", "last_number"})


def stopped(reading: Reading, stop_reason: str) -> Reading:
    """The reading of a text whose generation was cut off or held back: its last words are no conclusion."""
    reason = stop_reason.casefold()
    if reason in _CUT_OFF and (reading.status is Status.UNPARSED or reading.rule in _BY_PLACE):
        return unanswered(reading.rule, Status.TRUNCATED)
    held_back = reason in _HELD_BACK and reading.status is Status.UNPARSED
    return unanswered("refusal", Status.REFUSED) if held_back else reading
