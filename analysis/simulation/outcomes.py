"""What becomes of each simulated response, and the columns that a log holds of it."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.schema.status import Status
from analysis.simulation.answer_texts import NO, REFUSED, TRUNCATED, UNPARSED, YES, answer_texts
from analysis.simulation.responders import Responder

#: Codes beyond those of ``answer_texts``: no response exists.
ERRORED, MISSING = 5, 6
#: Kinds of uncertain answers and their shares.
UNCERTAIN_SHARES = ((UNPARSED, 0.7), (REFUSED, 0.2), (TRUNCATED, 0.1))
_STATUS = {
    NO: Status.ANSWERED,
    YES: Status.ANSWERED,
    UNPARSED: Status.UNPARSED,
    REFUSED: Status.REFUSED,
    TRUNCATED: Status.TRUNCATED,
    ERRORED: Status.ERRORED,
    MISSING: Status.MISSING,
}
#: What a harness itself records; the rest is for the reader of the texts to find.
_LOGGED = frozenset({TRUNCATED, ERRORED, MISSING})


def draw_outcomes(
    rng: np.random.Generator, p_yes: NDArray[np.float64], gold_yes: NDArray[np.bool_], responder: Responder
) -> NDArray[np.int8]:
    """Outcome codes: set aside, uncertain, else Yes with probability ``p_yes``."""
    shape = p_yes.shape
    outcome = np.where(rng.random(shape) < p_yes, YES, NO).astype(np.int8)
    uncertain = rng.random(shape) < np.where(gold_yes, responder.uncertain_yes, responder.uncertain_no)
    kinds, shares = zip(*UNCERTAIN_SHARES, strict=True)
    kind = rng.choice(np.array(kinds, dtype=np.int8), size=shape, p=shares)
    outcome = np.where(uncertain, kind, outcome)
    gone = rng.random(shape) < responder.set_aside
    return np.where(gone, np.where(rng.random(shape) < 0.5, ERRORED, MISSING), outcome).astype(np.int8)


def outcome_columns(
    rng: np.random.Generator, outcome: NDArray[np.int8], *, answers: bool, long_share: float
) -> dict[str, pa.Array]:
    """Columns ``output`` or ``answer``, and ``status`` where there is something to say.

    With ``answers`` the log gives the answer and every status; otherwise it gives the text, and a
    status only for what a harness records itself.
    """
    if answers:
        answer = np.full(outcome.shape, None, dtype=object)
        answer[outcome == YES], answer[outcome == NO] = "yes", "no"
        columns = {"answer": pa.array(answer, pa.string())}
    else:
        columns = {"output": answer_texts(rng, outcome, long_share=long_share)}
    status = np.full(outcome.shape, None, dtype=object)
    for code, name in _STATUS.items():
        if answers or code in _LOGGED:
            status[outcome == code] = str(name)
    detail = np.full(outcome.shape, None, dtype=object)
    detail[outcome == ERRORED] = "simulated time-out"
    found = {"status": pa.array(status, pa.string()), "status_detail": pa.array(detail, pa.string())}
    return columns | {name: column for name, column in found.items() if column.null_count < len(column)}
