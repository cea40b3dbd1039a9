"""A sentence for tables in which an interval and the p-value beside it do not say the same."""

import numpy as np
import pandas as pd


def disagreement_note(
    rows: pd.DataFrame, *, ci_level: float, low: str = "ci_low", high: str = "ci_high", p: str = "p_value"
) -> tuple[str, ...]:
    """Which of the two to believe, where some row's interval leaves out 0 and its p-value shows nothing, or reversed.

    Parameters
    ----------
    rows : DataFrame
    ci_level : float
    low, high, p : str
        Columns of the limits and of the p-value of a difference from 0 that is not adjusted.

    Returns
    -------
    tuple of str
        One sentence, or none where all rows agree.
    """
    limits = rows[[low, high, p]].to_numpy(float)
    known = ~np.isnan(limits).any(axis=1)
    without_zero = (limits[:, 0] > 0) | (limits[:, 1] < 0)
    disagree = int((known & (without_zero != (limits[:, 2] <= 1 - ci_level))).sum())
    if not disagree:
        return ()
    return (
        f"In {disagree} {'row' if disagree == 1 else 'rows'} the interval and the p-value do not say the same about 0: "
        "they are made in different ways, the interval by an approximation that is too narrow with few units. "
        "Whether there is a difference is decided by the p-value; the interval shows its size.",
    )
