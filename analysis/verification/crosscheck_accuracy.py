"""Accuracies, their paired differences and the Holm families of a report, recomputed with scipy and statsmodels."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

#: Data file, prefix of its columns of p-values, and columns within whose levels p-values are adjusted.
FAMILIES: Final = (
    ("leaderboard", "", ("task", "measure")),
    ("model_pairs", "", ("task", "measure")),
    ("option_floors", "", ("task",)),
    ("option_floors", "below_", ("task",)),
    ("option_floors", "lean_", ("task",)),
    ("persistent_tests", "", ("task",)),
)
#: Sign flips are enumerated up to this many differing units, beyond that drawn.
ENUMERATED: Final = 14
_DRAWN: Final = 20_000
_EXACT: Final = 1e-9
_HOLM: Final = 1e-12
#: Share of an uncertain answer that counts as right, by treatment.
_CREDIT: Final = {"incorrect": 0.0, "excluded": 0.0, "half": 0.5}


def family_rows(data: Mapping[str, pd.DataFrame]) -> Iterator[tuple]:
    """Holm-adjusted p-values of every family that a report names, by statsmodels.

    A family is checked where the report says that all of it stands in its data (``family_size``).
    """
    for name, prefix, by in FAMILIES:
        table = data.get(name)
        needed = {f"{prefix}p_value", f"{prefix}p_adjusted"}
        if table is None or not needed <= set(table.columns):
            continue
        method = f"{prefix}p_adjust_method" if f"{prefix}p_adjust_method" in table.columns else "p_adjust_method"
        size = f"{prefix}family_size" if f"{prefix}family_size" in table.columns else "family_size"
        known = table[table[f"{prefix}p_adjusted"].notna() & (table[method] == "holm")]
        for _, family in known.groupby([column for column in by if column in known.columns], sort=False, dropna=False):
            if len(family) != int(family[size].iloc[0]):
                continue
            theirs = multipletests(family[f"{prefix}p_value"].to_numpy(float), method="holm")[1]
            for row, value in zip(family.to_dict("records"), theirs, strict=True):
                yield (
                    row["task"], _who(row), row.get("measure") or name, f"{prefix}p_adjusted",
                    row[f"{prefix}p_adjusted"], float(value), _HOLM, "statsmodels Holm",
                )  # fmt: skip


def difference_rows(data: Mapping[str, pd.DataFrame], rng: np.random.Generator) -> Iterator[tuple]:
    """Differences of mean accuracy to the best model and their sign-flip p-values, from sums by unit, by scipy.

    Only tasks without cells, whose models answered the same questions, can be recomputed from what a report keeps.
    """
    board, sums, estimates = (data.get(name) for name in ("leaderboard", "unit_sums", "estimates"))
    if board is None or sums is None or estimates is None:
        return
    for row in board.to_dict("records"):
        task = sums[(sums["task"] == row["task"]) & (sums["cell"] == "")]
        treatments = estimates.loc[estimates["task"] == row["task"], "uncertain"]
        if np.isnan(row["difference"]) or row["n_unshared"] or task.empty or treatments.iloc[0] == "excluded":
            continue
        best, own = (
            _by_unit(task[task["model"] == row[key]], _CREDIT[treatments.iloc[0]]) for key in ("best", "model")
        )
        if not best.index.equals(own.index) or not best["scored"].equals(own["scored"]):
            continue
        values = (best["right"] - own["right"]).to_numpy(float) / best["scored"].sum()
        key = (row["task"], f"{row['best']} - {row['model']}", row["measure"])
        yield (*key, "difference", row["difference"], float(values.sum()), _EXACT, "numpy means by unit")
        theirs, error = _sign_flips(values, rng)
        yield (*key, "p_value", row["p_value"], theirs, error, "scipy sign flips")


def _by_unit(rows: pd.DataFrame, credit: float) -> pd.DataFrame:
    found = rows.set_index("unit").sort_index()
    return pd.DataFrame({"scored": found["w_scored"], "right": found["w_correct"] + credit * found["w_uncertain"]})


def _sign_flips(values: NDArray[np.float64], rng: np.random.Generator) -> tuple[float, float]:
    """Two-sided p of a sum of 0, and how far two Monte-Carlo values of it may lie apart."""
    differing = values[np.abs(values) > _EXACT]
    if len(differing) < 2:
        return 1.0, _EXACT
    exact = len(differing) <= ENUMERATED
    found = permutation_test(
        (differing,),
        lambda x, axis: np.abs(x.sum(axis=axis)).round(12),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf if exact else _DRAWN,
        vectorized=True,
        rng=rng,
    )
    p = float(found.pvalue)
    return p, _EXACT if exact else 5 * float(np.sqrt(2 * p * (1 - p) / _DRAWN)) + 2 / _DRAWN


def _who(row: Mapping) -> str:
    return row["model"] if "model" in row else f"{row['model_a']} - {row['model_b']}"
