"""Answers to one question under every level of a condition, matched by name and averaged to the unit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MatchedLevels:
    """Values of N matched rows (model × other conditions × question) by level of one condition.

    Attributes
    ----------
    factor : str
    levels : tuple of str
        L of them.
    values : (N, L)
        NaN where the row lacks the level, or nothing of it counts.
    model, unit, item, other : (N,) of int
        Codes; ``other`` is the combination of the other conditions.
    models, units, items, others : tuple of str
    """

    factor: str
    levels: tuple[str, ...]
    values: Floats
    model: NDArray[np.int64]
    unit: NDArray[np.int64]
    item: NDArray[np.int64]
    other: NDArray[np.int64]
    models: tuple[str, ...]
    units: tuple[str, ...]
    items: tuple[str, ...]
    others: tuple[str, ...]

    def complete(self, levels: Sequence[str]) -> NDArray[np.bool_]:
        """Rows that have all of these levels."""
        return ~np.isnan(self.values[:, self.at(levels)]).any(axis=1)

    def at(self, levels: Sequence[str]) -> list[int]:
        """Positions of levels."""
        missing = [level for level in levels if level not in self.levels]
        if missing:
            raise AnalysisError(
                f"{self.factor} has no level {missing[0]!r}; there are {', '.join(self.levels)}", offenders=missing
            )
        return [self.levels.index(level) for level in levels]

    def unit_means(self, levels: Sequence[str]) -> Floats:
        """Means (M, len(levels), U): other conditions averaged within questions, then questions within units.

        Only rows that have all of the levels enter; NaN where a model has none of a unit.
        """
        rows = self.complete(levels)
        values = self.values[np.ix_(rows, self.at(levels))]
        question = self.model[rows] * len(self.items) + self.item[rows]
        present, first, inverse = np.unique(question, return_index=True, return_inverse=True)
        by_question = _means(values, inverse, len(present))
        model, unit = self.model[rows][first], self.unit[rows][first]
        shape = (len(self.models), len(self.units))
        by_unit = _means(by_question, model * shape[1] + unit, shape[0] * shape[1])
        return by_unit.reshape(*shape, len(levels)).transpose(0, 2, 1)

    def configuration_means(self, levels: Sequence[str]) -> tuple[Floats, NDArray[np.int64]]:
        """Means (C, len(levels)) of each model × other conditions over matched rows, and the model of each."""
        rows = self.complete(levels)
        values = self.values[np.ix_(rows, self.at(levels))]
        key = self.model[rows] * max(len(self.others), 1) + self.other[rows]
        present, inverse = np.unique(key, return_inverse=True)
        return _means(values, inverse, len(present)), present // max(len(self.others), 1)


def matched_levels(
    answers: pd.DataFrame, values: NDArray[np.float64], factor: str, *, conditions: Sequence[str]
) -> MatchedLevels:
    """Rows of a table of answers matched over the levels of one condition.

    Parameters
    ----------
    answers : DataFrame
        As ``reduction.votes`` gives them: one row per model, question and configuration.
    values : ndarray
        Number of each row, NaN where nothing counts.
    factor : str
        The condition compared; rows without a level of it are left out.
    conditions : sequence of str
        All conditions; those besides ``factor`` must be the same in matched rows.
    """
    level = answers[factor].astype(str).to_numpy()
    use = level != ""
    table = answers[use]
    columns = {name: table[name].astype(str).to_numpy() for name in ("model", "unit", "item")}
    columns |= {"other": _joined(table, [n for n in conditions if n != factor]), "level": level[use].astype(str)}
    coded = {name: np.unique(column, return_inverse=True) for name, column in columns.items()}
    codes = {name: found[1].astype(np.int64) for name, found in coded.items()}
    names = {name: tuple(map(str, found[0])) for name, found in coded.items()}
    sizes = (len(names["item"]), max(len(names["other"]), 1))
    key = (codes["model"] * sizes[0] + codes["item"]) * sizes[1] + codes["other"]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    wide = np.full((len(first), len(names["level"])), np.nan)
    wide[inverse, codes["level"]] = values[use]
    picked = {name: codes[name][first] for name in ("model", "unit", "item", "other")}
    return MatchedLevels(
        factor=factor,
        levels=names["level"],
        values=wide,
        model=picked["model"],
        unit=picked["unit"],
        item=picked["item"],
        other=picked["other"],
        models=names["model"],
        units=names["unit"],
        items=names["item"],
        others=names["other"],
    )


def _joined(table: pd.DataFrame, conditions: Sequence[str]) -> NDArray[np.str_]:
    """One text per row for the combination of its levels."""
    found = np.full(len(table), "", dtype=np.str_)
    for at, name in enumerate(conditions):
        levels = table[name].astype(str).to_numpy().astype(np.str_)
        found = np.char.add(np.char.add(found, " / "), levels) if at else levels
    return found


def _means(values: Floats, group: NDArray[np.int64], groups: int) -> Floats:
    """Means (groups, L) of rows; NaN where a group has none."""
    count = np.bincount(group, minlength=groups).astype(float)
    sums = np.stack([np.bincount(group, column, minlength=groups) for column in values.T], axis=-1)
    return np.divide(sums, count[:, None], out=np.full(sums.shape, np.nan), where=count[:, None] > 0)
