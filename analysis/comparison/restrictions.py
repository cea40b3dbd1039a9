"""Floors on a part of the items beside those on all of them, compared over the units that both share."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.factor_levels import TreatedLevels, treated
from analysis.frequentist.floor_difference import floor_differences
from analysis.frequentist.floor_tests import floor_tests
from analysis.measures.yes_no_bias import FOUR_CELLS, PAIR_WEIGHTS, YES_CELLS
from analysis.reduction.cells import COUNTS
from analysis.reduction.levels import level_arrays
from analysis.reduction.units import unit_sums

#: Cells that a class is left with where its other cell has no item.
_STAND_IN = {"VA": "IN", "IN": "VA", "VN": "IA", "IA": "VN"}


def restricted_floors(
    counts: pd.DataFrame,
    inside: Mapping[str, NDArray[np.bool_]],
    *,
    uncertain: str = "incorrect",
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """Floor of every model on all items and on each part of them.

    Parameters
    ----------
    counts : DataFrame
        ``item_counts`` of one task with cells.
    inside : mapping of str to ndarray of bool
        Name of a part -> rows of ``counts`` that belong to it.

    Returns
    -------
    DataFrame
        ``part`` ("all items" first), ``model, estimate, ci_low, ci_high, p_value, p_adjusted, decision`` (floor
        against .5, Holm over models), ``change`` from all items with ``change_low``, ``change_high``,
        ``change_p`` and ``change_adjusted`` (Holm over models), ``n_items, reason``. Where a part lacks one
        of the two cells of a class, the other cell stands for the class.
    """
    everything = {"all items": np.ones(len(counts), dtype=bool)} | dict(inside)
    parts = [_floors(name, counts[rows], uncertain, ci_level) for name, rows in everything.items()]
    full = _arrays(counts, everything["all items"], uncertain)
    changed = [_change(name, counts, rows, full, uncertain, ci_level) for name, rows in inside.items()]
    table = pd.concat(parts, ignore_index=True)
    if changed:
        table = table.merge(pd.concat(changed, ignore_index=True), on=["part", "model"], how="left")
        table["change_reason"] = table["change_reason"].fillna("what the parts are compared with")
    return table.assign(ci_level=ci_level, uncertain=uncertain)


def _floors(name: str, counts: pd.DataFrame, uncertain: str, ci_level: float) -> pd.DataFrame:
    cells = set(map(str, counts["cell"].unique())) & set(FOUR_CELLS)
    if cells and cells != set(FOUR_CELLS):
        classes = {cell: "gold_yes" if cell in YES_CELLS else "gold_no" for cell in FOUR_CELLS}
        counts = counts.assign(cell=counts["cell"].map(classes))
        sums = unit_sums(counts, weighting="row")
    else:
        sums = unit_sums(counts)
    estimates = answer_bias_estimates(sums, uncertain=uncertain, ci_level=ci_level)
    floor = estimates[estimates["measure"] == "competence_floor"].set_index("model")
    tests = floor_tests(sums, uncertain=uncertain, ci_level=ci_level)
    above = tests[tests["alternative"] == "greater"].set_index("model")
    rows = floor[["estimate", "ci_low", "ci_high", "ci_method", "n", "n_clusters", "reason"]]
    rows = rows.join(above[["p_value", "p_adjusted", "p_adjust_method", "family_size", "decision"]])
    return rows.reset_index().assign(part=name, n_items=counts["item"].nunique())


def _arrays(counts: pd.DataFrame, rows: NDArray[np.bool_], uncertain: str) -> TreatedLevels:
    """All models and units, with the responses outside the part counted as none."""
    emptied = counts.assign(**{name: counts[name].to_numpy() * rows for name in COUNTS})
    return treated(level_arrays(emptied, None), uncertain=uncertain)


def _change(
    name: str,
    counts: pd.DataFrame,
    rows: NDArray[np.bool_],
    full: TreatedLevels,
    uncertain: str,
    ci_level: float,
) -> pd.DataFrame:
    part = _arrays(counts, rows, uncertain)
    n, y = part.n[:, :, 0].copy(), part.y[:, :, 0].copy()
    four = full.arrays.four
    if four:
        for cell, other in _STAND_IN.items():
            at, stand_in = FOUR_CELLS.index(cell), FOUR_CELLS.index(other)
            if not part.n[:, :, 0, at].any():
                n[..., at], y[..., at] = part.n[:, :, 0, stand_in], part.y[:, :, 0, stand_in]
    models = len(full.arrays.models)
    found = floor_differences(
        np.concatenate([n, full.n[:, :, 0]]),
        np.concatenate([y, full.y[:, :, 0]]),
        PAIR_WEIGHTS["yes_no"] if four else np.eye(2),
        pairs=np.stack([np.arange(models), np.arange(models) + models], axis=1),
        ci_level=ci_level,
    )
    return pd.DataFrame(
        {
            "part": name,
            "model": list(full.arrays.models),
            "change": found.estimate,
            "change_low": found.ci_low,
            "change_high": found.ci_high,
            "change_method": "cluster t at the worse class of each",
            "change_p": found.p_value,
            "change_adjusted": found.p_adjusted,
            "change_family": found.family_size,
            "change_reason": found.reason,
        }
    )
