"""Counts of one task as arrays by model, unit, level of a factor and cell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import duckdb
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.reduction.units import FOUR_CELLS
from analysis.schema.quoting import quote_identifier
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign

Floats = NDArray[np.float64]
#: Item factors that make up the cells.
CELL_FACTORS: Final = ("validity", "polarity")
TWO_CLASSES: Final = ("gold_yes", "gold_no")
_COUNTED: Final = {"answered": "n_answered", "uncertain": "n_uncertain", "correct": "n_correct", "yes": "n_yes"}


@dataclass(frozen=True, slots=True)
class LevelArrays:
    """Responses of one task by level of a factor.

    Attributes
    ----------
    factor : str
    models, units, levels : tuple of str
        Sorted; levels that occur, a missing level left out.
    cells : tuple of str
        FOUR_CELLS, TWO_CLASSES, or ``("",)`` where gold answers are not yes and no.
    answered, uncertain, correct, yes : (M, G, L, C)
        Answered and uncertain responses; right and Yes answers among the answered.
    without_level : int
        Scored responses left out because the factor is missing there.
    """

    factor: str
    models: tuple[str, ...]
    units: tuple[str, ...]
    levels: tuple[str, ...]
    cells: tuple[str, ...]
    answered: Floats
    uncertain: Floats
    correct: Floats
    yes: Floats
    without_level: int

    @property
    def four(self) -> bool:
        """Whether the cells are those of validity × polarity."""
        return self.cells == FOUR_CELLS

    def at(self, levels: tuple[str, ...]) -> "LevelArrays":
        """The same with these levels only, in this order."""
        index = [self.levels.index(level) for level in levels]
        parts = {name: getattr(self, name)[:, :, index] for name in _COUNTED}
        return LevelArrays(
            self.factor, self.models, self.units, levels, self.cells, without_level=self.without_level, **parts
        )


def level_arrays(counts: pd.DataFrame, factor: str | None) -> LevelArrays:
    """Sum ``item_counts`` of one task by model, unit, level and cell.

    Parameters
    ----------
    counts : DataFrame
        As ``reduction.cells.item_counts`` returns.
    factor : str or None
        Column of ``counts``; None makes one level of all responses.

    Raises
    ------
    AnalysisError
        ``factor`` is no column of the counts.
    """
    if factor is not None and factor not in counts.columns:
        raise AnalysisError(f"the counts have no factor {factor!r}; there are {', '.join(counts.columns)}")
    labels = counts[factor] if factor is not None else pd.Series(pd.Categorical(["all"] * len(counts)))
    levels, level = _coded(labels, missing=True)
    names, cell = _coded(counts["cell"])
    cells = _cells(set(names))
    place = np.array([cells.index(name) if name in cells else -1 for name in names], dtype=np.int64)
    cell = np.zeros(len(counts), np.int64) if cells == ("",) else place[cell]
    known = level >= 0
    use = known & (cell >= 0)
    models, model = _coded(counts["model"])
    units, unit = _coded(counts["unit"])
    model, unit, level, cell = model[use], unit[use], level[use], cell[use]
    shape = (len(models), len(units), len(levels), len(cells))
    index = np.ravel_multi_index((model, unit, level, cell), shape) if use.any() else np.zeros(0, np.int64)
    size = int(np.prod(shape))
    sums = {
        name: np.bincount(index, counts[column].to_numpy(float)[use], minlength=size).reshape(shape)
        for name, column in _COUNTED.items()
    }
    lost = counts.loc[~known, ["n_answered", "n_uncertain"]].to_numpy()
    return LevelArrays(factor or "", models, units, levels, cells, without_level=int(lost.sum()), **sums)


def factors_with_levels(design: TaskDesign, counts: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Item factors with two levels or more among the counted responses, without those that make up the cells."""
    found = {}
    for name in design.item_factors:
        if name in counts.columns and name not in CELL_FACTORS:
            levels, _ = _coded(counts[name], missing=True)
            if len(levels) > 1:
                found[name] = levels
    return found


def subset(
    counts: pd.DataFrame, *, keep: Mapping[str, tuple[str, ...]], drop: Mapping[str, tuple[str, ...]]
) -> pd.DataFrame:
    """Counts of the items whose columns have one of the levels kept and none of those dropped."""
    use = np.ones(len(counts), dtype=bool)
    for column, levels in keep.items():
        use &= counts[column].isin(levels).to_numpy()
    for column, levels in drop.items():
        use &= ~counts[column].isin(levels).to_numpy()
    return counts[use]


def model_facts(con: duckdb.DuckDBPyConnection, design: TaskDesign, study: Study) -> pd.DataFrame:
    """Family and size of every model of a task: as ``study.toml`` says, else as logged.

    Returns
    -------
    DataFrame
        ``model, family, size`` (billions of parameters), one row per model in order of name; missing
        where nobody says, and a size where the logs give several.
    """
    present = {name for (name,) in con.execute("SELECT column_name FROM (DESCRIBE analysed)").fetchall()}
    logged = {
        name: f"CASE WHEN count(DISTINCT {quote_identifier(name)}) = 1 THEN min({quote_identifier(name)}) END"
        if name in present
        else "NULL"
        for name in ("model_family", "model_size")
    }
    rows = con.execute(
        f"SELECT model, {logged['model_family']}, {logged['model_size']} FROM analysed "
        "WHERE coalesce(task, '') = ? GROUP BY model ORDER BY model",
        [design.task],
    ).fetchall()
    facts = []
    for model, family, size in rows:
        entry = study.models.get(model)
        declared = (entry.family, entry.size) if entry else (None, None)
        facts.append((model, declared[0] or family, declared[1] if declared[1] is not None else size))
    table = pd.DataFrame(facts, columns=["model", "family", "size"])
    return table.assign(size=pd.to_numeric(table["size"]))


def _cells(found: set[str]) -> tuple[str, ...]:
    if found & set(FOUR_CELLS):
        return FOUR_CELLS
    return TWO_CLASSES if found & set(TWO_CLASSES) else ("",)


def _coded(column: pd.Series, *, missing: bool = False) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Sorted names that occur and their codes; with ``missing`` the empty name gets -1."""
    texts = column if isinstance(column.dtype, pd.CategoricalDtype) else column.astype("category")
    texts = texts.cat.remove_unused_categories()
    names = texts.cat.categories.astype(str).to_numpy(object)
    order = [at for at in np.argsort(names, kind="stable") if not (missing and names[at] == "")]
    rank = np.full(len(names), -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    codes = texts.cat.codes.to_numpy()
    return tuple(names[order]), np.where(codes >= 0, rank[codes], -1)
