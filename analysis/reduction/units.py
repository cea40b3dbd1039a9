"""Counts summed by independent unit, with the weights that an estimate gives to its responses."""

from typing import Final, Literal

import pandas as pd

from analysis.errors import AnalysisError
from analysis.reduction.cells import COUNTS

FOUR_CELLS: Final = ("VA", "VN", "IA", "IN")
WEIGHTED: Final = ("w_scored", "w_correct", "w_uncertain", "w_answered", "w_correct_answered", "w_yes")
_KEYS: Final = ["task", "model", "cell", "stratum", "unit"]

Weighting = Literal["row", "item"]


def default_weighting(counts: pd.DataFrame) -> Weighting:
    """``row`` where the design has the four cells of validity × polarity, else ``item``."""
    return "row" if counts["cell"].isin(FOUR_CELLS).any() else "item"


def unit_sums(counts: pd.DataFrame, *, weighting: Weighting | None = None, strata: str | None = None) -> pd.DataFrame:
    """One row per task × model × cell × stratum × unit: integer sums and weighted sums.

    Parameters
    ----------
    counts : DataFrame
        As ``item_counts`` returns.
    weighting : {"row", "item"}, optional
        ``row``: every scored response weighs 1, so that the weighted sums are the counts.
        ``item``: every item weighs 1 within a cell and stratum, however often it was asked, and its
        responses share that weight. Default: see ``default_weighting``.
    strata : str, optional
        Column of ``counts`` that splits the units; without it the stratum is ``""``.

    Returns
    -------
    DataFrame
        ``task, model, cell, stratum, unit``; ``n_planned, n_answered, n_uncertain, n_set_aside,
        n_yes, n_correct``; and as floats ``w_scored`` (weight of the scored responses: answered and
        uncertain), ``w_correct``, ``w_uncertain`` and ``w_yes`` (the parts of it that were right,
        uncertain, yes), ``w_answered`` and ``w_correct_answered`` (the same for answered responses
        alone). A unit with nothing scored has weight 0.

    Raises
    ------
    AnalysisError
        Unknown weighting, or ``strata`` is no column of ``counts``.
    """
    weighting = default_weighting(counts) if weighting is None else weighting
    if weighting not in ("row", "item"):
        raise AnalysisError(f"weighting must be 'row' or 'item', not {weighting!r}")
    if strata is not None and strata not in counts.columns:
        raise AnalysisError(
            f"strata must be a column of the counts, not {strata!r}; there are {', '.join(counts.columns)}"
        )
    stratum = pd.Categorical([""] * len(counts)) if strata is None else counts[strata]
    rows = counts.assign(stratum=stratum)
    inner = _KEYS if weighting == "row" else [*_KEYS, "item"]
    sums = rows.groupby(inner, observed=True, sort=True)[list(COUNTS)].sum().astype("int64")
    weights = _row_weights(sums) if weighting == "row" else _item_weights(sums)
    both = pd.concat([sums, weights], axis=1)
    if weighting == "item":
        both = both.groupby(_KEYS, observed=True, sort=True).sum()
    return both.reset_index()


def _row_weights(sums: pd.DataFrame) -> pd.DataFrame:
    columns = {
        "w_scored": sums["n_answered"] + sums["n_uncertain"],
        "w_correct": sums["n_correct"],
        "w_uncertain": sums["n_uncertain"],
        "w_answered": sums["n_answered"],
        "w_correct_answered": sums["n_correct"],
        "w_yes": sums["n_yes"],
    }
    return pd.DataFrame(columns, dtype="float64")


def _item_weights(sums: pd.DataFrame) -> pd.DataFrame:
    """Shares within each item; an item with nothing scored (or answered) has weight 0 there."""
    scored = sums["n_answered"] + sums["n_uncertain"]
    per_scored = 1.0 / scored.clip(lower=1)
    columns = {
        "w_scored": (scored > 0).astype("float64"),
        "w_correct": sums["n_correct"] * per_scored,
        "w_uncertain": sums["n_uncertain"] * per_scored,
        "w_answered": (sums["n_answered"] > 0).astype("float64"),
        "w_correct_answered": sums["n_correct"] / sums["n_answered"].clip(lower=1),
        "w_yes": sums["n_yes"] * per_scored,
    }
    return pd.DataFrame(columns)
