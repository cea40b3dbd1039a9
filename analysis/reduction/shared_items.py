"""Items that all compared models answered."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.reduction.cells import COUNTS


@dataclass(frozen=True, slots=True)
class SharedItems:
    """Counts of the questions for which every model has a scored response.

    ``kept`` and ``dropped`` count questions: items under each combination of conditions. ``silent`` are models
    without any scored response: they are left out, since no question would be shared with them.
    """

    counts: pd.DataFrame
    kept: int
    dropped: int
    silent: tuple[str, ...] = ()


def shared_items(counts: pd.DataFrame) -> SharedItems:
    """Questions that every model of one task answered, readably or not.

    Parameters
    ----------
    counts : DataFrame
        As ``reduction.cells.item_counts`` returns.
    """
    keys = [name for name in counts.columns if name not in (*COUNTS, "task", "model")]
    code = counts.groupby(keys, observed=True, sort=False).ngroup().to_numpy()
    scored = ((counts["n_answered"] + counts["n_uncertain"]) > 0).to_numpy()
    questions = int(code.max()) + 1 if len(code) else 0
    names = counts["model"].astype(str).to_numpy()
    answering = set(names[scored])
    having = np.bincount(code[scored], minlength=questions)
    full = having == max(len(answering), 1)
    chosen = full[code] & np.isin(names, sorted(answering))
    silent = tuple(sorted(set(names) - answering))
    return SharedItems(counts[chosen], int(full.sum()), questions - int(full.sum()), silent)
