"""Texts of simulated responses: what models write around Yes and No, and texts that answer nothing."""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

#: Codes of what became of a response, in the order of ``TEXTS``.
NO, YES, UNPARSED, REFUSED, TRUNCATED = range(5)

_LONG_YES: Final = (
    "Yes. The second premise keeps the event at least as likely as the first one makes it, so it can be drawn.",
    "Yes, because whatever makes the premises likely makes the final statement likely to the same degree as well.",
    "**Yes** - given the premises, the probability of the last statement can only stay the same or become larger.",
    "The premises bound the probability from below, and the bound is above one half.\n\nFinal answer: Yes",
    "The first premise carries over to the second one without any loss of probability.\n\nAnswer: **Yes**",
)
_LONG_NO: Final = (
    "No. The premises leave room for cases in which the final statement is less likely than its alternative.",
    "No, because the premises bound the probability from above only, so that the event may well be a rare one.",
    "**No** - the likely event of the premises and the event asked about can differ in the greater part of cases.",
    "The premises bound the probability of the event from above and leave it open below.\n\nFinal answer: No",
    "A rare cause can have likely effects, and the premises leave open which it is here.\n\nAnswer: **No**",
)
SHORT: Final[dict[int, tuple[str, ...]]] = {
    YES: ("Yes", "yes", "Yes.", "yes.", "**Yes**", "Answer: Yes", "YES"),
    NO: ("No", "no", "No.", "no.", "**No**", "Answer: No", "NO"),
}
LONG: Final[dict[int, tuple[str, ...]]] = {YES: _LONG_YES, NO: _LONG_NO}
OTHER: Final[dict[int, tuple[str, ...]]] = {
    UNPARSED: (
        "It depends on how the word is meant here; the premises alone leave the matter open in my reading.",
        "There is insufficient information to settle this question one way or the other.",
        "Perhaps.",
        "Both readings are defensible, and the statement itself leaves open which one is intended.",
    ),
    REFUSED: ("I'm sorry, but I can't help with that request.", "I cannot assist with this question."),
    TRUNCATED: (
        "Let us take the premises one after the other. The first one says that the event is likely, which means that",
        "To decide this, we first write the premises as statements about probabilities. Let A stand for the event and",
    ),
}


def answer_texts(rng: np.random.Generator, outcome: NDArray[np.int8], *, long_share: float = 0.9) -> pa.Array:
    """One text for each outcome code.

    ``long_share`` is the share of Yes and No answers that come with an explanation of about 100
    characters. Null where the code is none of the five (no response).
    """
    texts: list[str] = []
    index = np.full(outcome.shape, -1, dtype=np.int32)
    long = rng.random(outcome.shape) < long_share
    draw = rng.random(outcome.shape)
    groups = [(code, variants, ~long) for code, variants in SHORT.items()]
    groups += [(code, variants, long) for code, variants in LONG.items()]
    groups += [(code, variants, np.ones_like(long)) for code, variants in OTHER.items()]
    for code, variants, where in groups:
        rows = (outcome == code) & where
        index[rows] = len(texts) + (draw[rows] * len(variants)).astype(np.int32)
        texts.extend(variants)
    return pa.DictionaryArray.from_arrays(pa.array(index, mask=index < 0), pa.array(texts)).cast(pa.string())
