"""The option that a model finds likeliest, where every option was scored: argmax, ties, values that are no number."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.importers.lm_eval_choices import ARGMAX, NO_NUMBER, TIE
from analysis.schema.status import Status

TIED = "options tie at the top: no answer (the harness takes the first of them)"


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen: ``answer`` is None and ``status`` unparsed for a tie or a value that is no number."""

    answer: str | None
    rule: str | None = ARGMAX
    status: str | None = None
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, Any]:
        """Columns of the schema; the words of the note are the detail of an unreadable answer."""
        detail = self.notes[0] if self.status is not None and self.notes else None
        return {"answer": self.answer, "rule": self.rule, "status": self.status, "status_detail": detail}


def highest(labels: Sequence[str], values: Sequence[float]) -> Choice:
    """The label of the highest value.

    Parameters
    ----------
    labels : sequence of str
    values : sequence of float, same length
        Scores of which more is likelier; NaN where there is none.
    """
    if not values or any(math.isnan(value) for value in values):
        return Choice(None, None, Status.UNPARSED, (NO_NUMBER,))
    top = [at for at, value in enumerate(values) if value == max(values)]
    if len(top) > 1:
        return Choice(None, TIE, Status.UNPARSED, (TIED,))
    return Choice(labels[top[0]])


def number(value: Any) -> float:
    """A logged number as a float; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
