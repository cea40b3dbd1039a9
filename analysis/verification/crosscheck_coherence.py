"""Means of incoherence, recomputed from the residuals that a report keeps, with pandas alone."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import pandas as pd

_INSTANCE: Final = ["unit", "identity"]
_EXACT: Final = 1e-9


def coherence_rows(data: Mapping[str, pd.DataFrame]) -> Iterator[tuple]:
    """Mean size and direction of the residuals over instances, and the mean product over pairs of wordings.

    A report of one sample per wording holds every residual behind them; others are left out.
    """
    residuals, instances = data.get("residuals"), data.get("instances")
    if residuals is None or instances is None or residuals["sample"].nunique() > 1:
        return
    kept = residuals.merge(instances[["task", "model", *_INSTANCE]], on=["task", "model", *_INSTANCE])
    theirs = {
        (task, model): _means(rows)
        for (task, model), rows in kept.groupby(["task", "model"], sort=False, observed=True, dropna=False)
    }
    for name, measures in (("incoherence", ("mean_abs_residual", "direction")), ("persistent_tests", ("squared",))):
        for row in data.get(name, pd.DataFrame()).to_dict("records"):
            measure = row.get("measure", "squared")
            own = row["squared"] if measure == "squared" else row["estimate"]
            if measure in measures and not np.isnan(own) and (row["task"], row["model"]) in theirs:
                value = theirs[row["task"], row["model"]][measure]
                yield (row["task"], row["model"], measure, "estimate", own, value, _EXACT, "pandas means")


def _means(rows: pd.DataFrame) -> dict[str, float]:
    """Means over the instances of a model, every one of which weighs the same.

    Direction and persistent part rest on instances with several wordings, the mean size on all.
    """
    grouped = rows.groupby(_INSTANCE, sort=False, observed=True)["residual"]
    k, total, squares = grouped.size(), grouped.sum(), grouped.agg(lambda r: float((r**2).sum()))
    pairs = k > 1
    products = (total[pairs] ** 2 - squares[pairs]) / (k[pairs] * (k[pairs] - 1))
    return {
        "mean_abs_residual": float(grouped.agg(lambda r: float(r.abs().mean())).mean()),
        "direction": float((total / k)[pairs].mean()),
        "squared": float(products.mean()) if pairs.any() else float("nan"),
    }
