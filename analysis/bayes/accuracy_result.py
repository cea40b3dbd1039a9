"""What a fit of the accuracy model gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.display import summary_html, summary_text

TABLES: Final = ("table", "contrasts", "unpooled", "gates", "predictive", "augment")
#: In the place of a model where a row speaks of all.
ALL: Final = "all models"
#: Name of the effects that are not integrated in the density (``accuracy_reactions``).
REACTIONS: Final = "models × units"
#: Pseudo-model of the target ``new_models``: one drawn from the distribution of the models.
NEW_MODEL: Final = "a new model"
NEW_MODELS: Final = "new_models"


@dataclass(frozen=True, slots=True, repr=False)
class AccuracyFit:
    """Result of ``fit_accuracy``; answers tidy (``table``, ``contrasts``), glance and augment.

    Attributes
    ----------
    task : str
    status : str
        ``ok``, or ``failed`` where a gate was not passed after the retry: then no number may be read as a result.
    reason : str
        Why it failed; empty otherwise.
    table : DataFrame
        One row per model of ``accuracy`` on new items (``target`` these: these models), with ``rank, rank_low,
        rank_high`` (1 the best) and ``p_first``; rows of ALL for ``sd_items`` (units included), ``sd_models``,
        ``share_units``, ``sd_reactions`` (of what units are to single models) and ``log_concentration``, those that
        are free; with several models ``accuracy`` of NEW_MODEL, ``target`` NEW_MODELS.
    contrasts : DataFrame
        ``accuracy_difference`` of each pair of models, ``first`` minus ``second``, with ``p_rope`` (within .02).
    unpooled : DataFrame
        Accuracy of each model by itself, Jeffreys prior.
    glance : mapping
        One row about the fit.
    gates : DataFrame
        ``group, name, value, limit, passed, where``.
    predictive : DataFrame
        Posterior predictive checks: ``check, observed, expected, low, high, tail, p_adjusted``.
    augment : DataFrame
        One row per model and item: ``n, k, observed, fitted, fitted_low, fitted_high, residual``.
    sentences : tuple of str
    draws : mapping of str to ndarray (chains, draws, Q)
        ``accuracy`` by model, in the order of the table; ``sd_items`` and so on.

    Examples
    --------
    The fit of two simulated models to forty multiple-choice questions, with few draws:

    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import analysis as eh
    >>> rows = [
    ...     {"model": model, "item": f"q{i:02d}", "item_kind": "choice", "gold": "AB"[i % 2], "simulated": True}
    ...     | {"output": "AB"[(i + (i % 4 < wrong)) % 2]}
    ...     for model, wrong in (("often right", 1), ("often wrong", 3))
    ...     for i in range(40)
    ... ]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = "".join(json.dumps(row) + "\\n" for row in rows)
    ...     written = Path(folder, "log.jsonl").write_text(text, encoding="utf-8")
    ...     with eh.read_logs(folder) as logs:
    ...         fit = eh.fit_accuracy(logs, fast=True)
    >>> accuracy = fit.table[fit.table["measure"] == "accuracy"].set_index("model")["estimate"]
    >>> len(fit.augment), fit.glance["items"]
    (80, 40)
    >>> bool(accuracy["often right"] > 0.6 > 0.4 > accuracy["often wrong"])
    True
    """

    task: str
    status: str
    reason: str
    table: pd.DataFrame
    contrasts: pd.DataFrame
    unpooled: pd.DataFrame
    glance: Mapping[str, Any]
    gates: pd.DataFrame
    predictive: pd.DataFrame
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
        title = f"Fit of accuracy{f' ({self.task})' if self.task else ''}: {self.status}"
        return title, (self.reason, *self.sentences), {"table": self.table, "gates": self.gates}
