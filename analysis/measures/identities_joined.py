"""All identities of one task joined from its answers, and the rows that none of them, and no truth, can use."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.measures.identities import Identity, check_distinct
from analysis.measures.identities_residuals import join_rule
from analysis.reduction.instances import AnswerSets, answer_sets
from analysis.reduction.probability_answers import rows_without_use


@dataclass(frozen=True, slots=True)
class ProbabilityTask:
    """Stated probabilities of one task.

    Attributes
    ----------
    answers : DataFrame
        As ``reduction.probability_answers`` gives them.
    joined : tuple of (Identity, AnswerSets)
        Identities with a complete set or an incomplete one, in order.
    unused : DataFrame
        ``task, model, reason, rows``: rows that nothing uses.
    """

    answers: pd.DataFrame
    joined: tuple[tuple[Identity, AnswerSets], ...]
    unused: pd.DataFrame

    @property
    def has_instances(self) -> bool:
        """Whether some identity has a complete set."""
        return any(sets.complete.any() for _, sets in self.joined)

    @property
    def compared(self) -> pd.DataFrame:
        """Answers whose probability and truth are both known."""
        return self.answers[self.answers["probability"].notna() & self.answers["truth"].notna()]


def probability_task(answers: pd.DataFrame, identities: Sequence[Identity], *, task: str = "") -> ProbabilityTask:
    """Join the answers of a task for every identity whose roles occur."""
    check_distinct(identities)
    present = set(answers["role"].astype(str).unique())
    joined = []
    used = np.zeros(len(answers), dtype=bool)
    for identity in identities:
        sets = answer_sets(answers, join_rule(identity)) if set(identity.roles) <= present else None
        if sets is not None:
            joined.append((identity, sets))
            used |= sets.rows_used(len(answers))
    unused = rows_without_use(answers, pd.Series(used, index=answers.index), task=task)
    return ProbabilityTask(answers, tuple(joined), unused)
