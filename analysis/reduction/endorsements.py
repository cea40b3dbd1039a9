"""Counts of endorsements by question and configuration, as the endorsement model takes them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def endorsement_counts(answers: pd.DataFrame, *, conditions: Sequence[str]) -> pd.DataFrame:
    """Readable votes and those that say yes.

    Parameters
    ----------
    answers : DataFrame
        As ``reduction.votes.nested_answers`` gives them, with ``believability`` and, where items have versions,
        ``variant``.
    conditions : sequence of str
        Columns to keep.

    Returns
    -------
    DataFrame
        ``model, unit, item, gold, believability``, ``variant`` if there, the conditions; ``n`` readable votes, ``k`` of
        them yes. Rows without a readable vote are kept, with n = 0.
    """
    names = ["model", "unit", "item", "gold", "believability"]
    names += ["variant"] if "variant" in answers.columns else []
    table = answers[[*names, *conditions]].astype("str")
    n = answers["n_answered"].to_numpy(float)
    scored = n + answers["n_uncertain"].to_numpy(float)
    yes = np.nan_to_num(answers["endorsed"].to_numpy(float)) * scored
    return table.assign(n=n.astype(np.int64), k=np.rint(yes).astype(np.int64))
