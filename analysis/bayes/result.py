"""What a fit of the answer-bias model gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.display import summary_html, summary_text

#: Likelihoods, in words of the result column ``likelihood``.
COUNTS: Final = "counts"
UNITS: Final = "estimates by unit"


@dataclass(frozen=True, slots=True, repr=False)
class AnswerBiasFit:
    """Result of ``fit_answer_bias``; answers tidy (``table``), glance and augment.

    Attributes
    ----------
    task : str
    status : str
        ``ok``, or ``failed`` where a gate was not passed after the retry: then nothing of the
        hierarchical rows may be read as a result.
    reason : str
        Why it failed; empty otherwise.
    table : DataFrame
        Hierarchical rows by model, measure, target and treatment of uncertain answers; ``likelihood``
        says what they were fitted to and ``headline`` which of them to compare with the frequentist rows.
    unpooled : DataFrame
        The same measures from independent cells with a Jeffreys prior.
    glance : mapping
        One row about the fit: sizes, draws, divergences, steps, seconds are left to the caller.
    gates : DataFrame
        ``stage, gate, value, limit, passed, where``.
    predictive : DataFrame
        Posterior predictive checks.
    sensitivity : DataFrame
        Power-scaling of prior and likelihood.
    augment : DataFrame
        One row per model and cell of the design: counts, fitted probability, residual.
    sentences : tuple of str
        What was simplified, and which rows are the headline and why.
    draws : mapping of str to ndarray
        Draws of what is reported, and of the hyper-parameters.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example", models=["simulated/even-hand", "simulated/no-leaning"]) as logs:
    ...     fit = eh.fit_answer_bias(logs, fast=True)
    >>> {"estimate", "ci_low", "ci_high", "measure"} <= set(fit.table.columns)
    True
    """

    task: str
    status: str
    reason: str
    table: pd.DataFrame
    unpooled: pd.DataFrame
    glance: Mapping[str, Any]
    gates: pd.DataFrame
    predictive: pd.DataFrame
    sensitivity: pd.DataFrame
    augment: pd.DataFrame
    sentences: tuple[str, ...]
    draws: Mapping[str, np.ndarray] = field(repr=False)

    def __repr__(self) -> str:
        """What was found, in short."""
        return summary_text(*self._shown())

    def _repr_html_(self) -> str:
        """The same for notebooks, with the first rows of the tables."""
        return summary_html(*self._shown())

    def _shown(self) -> tuple[str, tuple[str, ...], dict[str, pd.DataFrame]]:
        title = f"Hierarchical fit of answer bias{f' ({self.task})' if self.task else ''}: {self.status}"
        return title, (self.reason, *self.sentences), {"table": self.table, "gates": self.gates}
