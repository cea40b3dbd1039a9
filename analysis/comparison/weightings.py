"""How much an estimate depends on the weights that responses get."""

from collections.abc import Mapping
from typing import Final

import pandas as pd

#: Weights that may be asked for, in order of printing, and what they do.
WEIGHTINGS: Final = {
    "micro": "every response weighs the same",
    "prompt": "every item weighs the same, however often it was asked",
    "template": "every template weighs the same",
    "form": "every question form weighs the same",
    "cell": "every cell weighs the same",
}


def weighting_table(by_weighting: Mapping[str, pd.DataFrame], *, measure: str) -> pd.DataFrame:
    """One row per model: a measure under each weighting, and how far these lie apart.

    Parameters
    ----------
    by_weighting : mapping of str to DataFrame
        Weighting -> tidy estimates of one task.
    measure : str

    Returns
    -------
    DataFrame
        ``model``, one column per weighting with ``<weighting>_low``, ``_high`` and ``_reason``, and ``spread``
        (largest minus smallest, over the weightings that are defined).
    """
    table: pd.DataFrame | None = None
    for weighting, estimates in by_weighting.items():
        rows = estimates[estimates["measure"] == measure].set_index("model")
        part = pd.DataFrame(
            {
                weighting: rows["estimate"],
                f"{weighting}_low": rows["ci_low"],
                f"{weighting}_high": rows["ci_high"],
                f"{weighting}_reason": rows["reason"].where(rows["estimate"].isna(), ""),
            }
        )
        table = part if table is None else table.join(part, how="outer")
    if table is None:
        return pd.DataFrame(columns=["model", "measure", "spread"])
    values = table[list(by_weighting)]
    return table.assign(measure=measure, spread=values.max(axis=1) - values.min(axis=1)).reset_index()


def unlike_cells(estimates: pd.DataFrame) -> bool:
    """Whether some model has a balanced accuracy, so that weighing by cell means anything."""
    rows = estimates[estimates["measure"] == "balanced_accuracy"]
    return bool(rows["estimate"].notna().any())
