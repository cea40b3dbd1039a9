"""A change between two conditions under every choice of the independent unit, and without each model."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.multiplicity import holm
from analysis.frequentist.unit_ladder import leave_one_out, unit_ladder
from analysis.reduction.matched_levels import MatchedLevels

Pair = tuple[str, str]


def ladders(
    matched: MatchedLevels, pairs: Sequence[Pair], *, rng: np.random.Generator, flips: int = 20_000, unit: str = "unit"
) -> pd.DataFrame:
    """Net change between two levels under every choice of the independent unit, from rows to model × base item.

    ``p_adjusted`` is Holm's over the pairs, each kind of unit by itself.
    """
    tables = []
    for first, second in pairs:
        rows = matched.complete((first, second))
        a, b = matched.at((first, second))
        change = matched.values[rows, a] - matched.values[rows, b]
        units = _ladder_units(matched, rows, unit)
        both = ("model", unit) if len(matched.models) > 1 else None
        found = unit_ladder(change, units, rng=rng, two_way=both, flips=flips)
        table = pd.DataFrame([asdict(rung) for rung in found]).rename(columns={"unit": "rung"})
        table = table.assign(
            first=first,
            second=second,
            first_only=int((change > 0).sum()),
            second_only=int((change < 0).sum()),
            mean_change=float(change.mean()) if len(change) else np.nan,
        )
        tables.append(table)
    steps = pd.concat(tables, ignore_index=True).assign(factor=matched.factor)
    by_rung = steps.groupby("rung", sort=False)["p_value"]
    return steps.assign(
        p_adjusted=by_rung.transform(lambda p: holm(p.to_numpy(float))),
        p_adjust_method="holm",
        family_size=by_rung.transform("count"),
    )


def without_each_model(
    matched: MatchedLevels, pairs: Sequence[Pair], *, rng: np.random.Generator, flips: int = 20_000
) -> pd.DataFrame:
    """Net change between two levels without each model in turn, tested over base items."""
    tables = []
    for first, second in pairs:
        rows = matched.complete((first, second))
        a, b = matched.at((first, second))
        change = matched.values[rows, a] - matched.values[rows, b]
        names = np.array(matched.models)[matched.model[rows]]
        found = leave_one_out(change, names, matched.unit[rows], rng=rng, flips=flips)
        table = pd.DataFrame([asdict(one) for one in found]).rename(columns={"level": "model"})
        tables.append(table.assign(first=first, second=second))
    return pd.concat(tables, ignore_index=True).assign(factor=matched.factor)


def _ladder_units(matched: MatchedLevels, rows: NDArray[np.bool_], unit: str) -> dict[str, NDArray[np.int64]]:
    """Units from fine to coarse; those that coincide with a finer one are left out."""
    item, group, model = matched.item[rows], matched.unit[rows], matched.model[rows]
    units: dict[str, NDArray[np.int64]] = {}
    if len(matched.others) > 1:
        units["model × item"] = model * len(matched.items) + item
    if len(np.unique(item)) > len(np.unique(group)):
        units["item"] = item
    units[unit] = group
    if len(matched.models) > 1:
        units["model"] = model
    return units
