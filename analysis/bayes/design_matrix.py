"""Counts by facet as the arrays of a regression: cells, columns, groups; what a design cannot identify is left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.measures.yes_no_bias import FOUR_CELLS, TWO_CLASSES, YES_CELLS

Floats = NDArray[np.float64]

#: Signs of a cell: gold answer (+1: Yes is right), polarity (+1: affirmative), validity (+1: valid).
SIGNS: Final = {
    "VA": (1, 1, 1),
    "VN": (-1, -1, 1),
    "IA": (-1, 1, -1),
    "IN": (1, -1, -1),
    "gold_yes": (1, 0, 0),
    "gold_no": (-1, 0, 0),
}
#: What a coefficient multiplies, in the order in which columns are tried.
TERMS: Final = ("yes", "sensitivity", "polarity", "validity")
#: Order in which the effects of a factor are tried: what is constant within a level is skipped.
FACTOR_TERMS: Final = ("yes", "polarity", "sensitivity", "validity")
#: Factors with more levels than this are left to the residual: each level is a coefficient of every model.
MOST_LEVELS: Final = 120
#: Units are effects up to so many counts by model, cell and unit: about half a minute of sampling. Beyond, units are
#: many enough for their covariance.
MOST_SURFACE_COUNTS: Final = 4_000
COUNTS: Final = ("n_answered", "n_uncertain", "n_correct")


@dataclass(frozen=True, slots=True)
class CountDesign:
    """Counts of one task by model and cell of the design, and the columns that explain them.

    Attributes
    ----------
    task : str
    models : tuple of str
        M names, sorted.
    cells : DataFrame
        C rows: ``cell``, the factors kept, and ``unit`` where surfaces are effects.
    names : tuple of str
        FOUR_CELLS or TWO_CLASSES.
    cell_of, gold : ndarray (C,)
        Index in ``names``; +1 where Yes is right, else -1.
    matrix : ndarray (C, P)
    group : ndarray (P,)
        Index in ``groups`` of each column.
    groups : tuple of str
        ``yes``, ``template_yes``, ...: columns that share a standard deviation.
    answered, uncertain, correct : ndarray (M, C)
        Counts.
    weight : ndarray (M, C)
        Weight of a cell's accuracy within its name: shares of scored responses, unless given.
    residual : bool
        Cells vary beyond the columns: there are more cells than the columns can fit.
    surfaces : bool
        Units are effects.
    sentences : tuple of str
        What was left out or simplified, and why.
    """

    task: str
    models: tuple[str, ...]
    cells: pd.DataFrame
    names: tuple[str, ...]
    cell_of: NDArray[np.int64]
    gold: NDArray[np.int64]
    matrix: Floats
    group: NDArray[np.int64]
    groups: tuple[str, ...]
    answered: Floats
    uncertain: Floats
    correct: Floats
    weight: Floats
    residual: bool
    surfaces: bool
    sentences: tuple[str, ...]

    @property
    def yes(self) -> Floats:
        """Answered Yes, (M, C): right where Yes is right, wrong elsewhere."""
        return np.where(self.gold > 0, self.correct, self.answered - self.correct)

    @property
    def scored(self) -> Floats:
        """Answered or uncertain, (M, C)."""
        return self.answered + self.uncertain

    @property
    def has_answer(self) -> NDArray[np.bool_]:
        """Whether a model answered anything within a name, (M, names)."""
        place = self.cell_of[:, None] == np.arange(len(self.names))
        return (self.answered > 0).astype(float) @ place > 0


def count_design(facets: pd.DataFrame, *, surfaces: bool = False) -> CountDesign:
    """Arrays of the answer-bias model from counts by facet.

    Parameters
    ----------
    facets : DataFrame
        Counts of one task as ``reduction.cells.facet_counts`` returns them: ``model``, ``cell`` and,
        where the logs have them, ``template``, ``form`` and ``unit``; ``n_answered, n_uncertain,
        n_correct``; optionally ``weight``, the weight of a row's accuracy within its cell (default:
        its scored responses). Rows without a cell are left out.
    surfaces : bool
        Units become effects; needs the column ``unit``.

    Raises
    ------
    AnalysisError
        A column is missing, or no response has a cell.
    """
    table = _checked(facets, surfaces)
    names = FOUR_CELLS if table["cell"].isin(FOUR_CELLS).any() else TWO_CLASSES
    table = table[table["cell"].isin(names)]
    kept, sentences = _factors(table)
    if surfaces:
        kept = (*kept, "unit")
    models = tuple(sorted(table["model"].unique()))
    cells = table[["cell", *kept]].drop_duplicates().sort_values(["cell", *kept]).reset_index(drop=True)
    counts = _arrays(table, models, cells)
    signs = np.array([SIGNS[name] for name in cells["cell"]])
    matrix, group, groups = _columns(cells, signs, kept)
    base = cells[["cell", *(name for name in kept if name != "unit")]].drop_duplicates()
    residual = len(base) > np.linalg.matrix_rank(_without_units(matrix, group, groups))
    if surfaces and residual:
        matrix, group, groups = _with_residual_columns(cells, matrix, group, groups, kept)
    sentences += _design_sentences(names, models, kept, residual)
    return CountDesign(
        task=str(table["task"].iloc[0]) if "task" in table else "",
        models=models,
        cells=cells,
        names=names,
        cell_of=np.array([names.index(name) for name in cells["cell"]]),
        gold=np.array([1 if name in YES_CELLS else -1 for name in cells["cell"]]),
        matrix=matrix,
        group=group,
        groups=groups,
        answered=counts["n_answered"],
        uncertain=counts["n_uncertain"],
        correct=counts["n_correct"],
        weight=counts["weight"],
        residual=bool(residual) and not surfaces,
        surfaces=surfaces,
        sentences=tuple(sentences),
    )


def units_as_effects(facets: pd.DataFrame) -> bool:
    """Whether units enter as effects: between 2 and MOST_LEVELS of them, and at most MOST_SURFACE_COUNTS counts.

    False too where the counts do not name units, or no model was asked a unit twice.
    """
    if "unit" not in facets.columns:
        return False
    scored = facets[(facets["n_answered"] + facets["n_uncertain"]) > 0]
    asked_again = (scored.groupby(["model", "unit"], observed=True).size() > 1).any()
    few = 2 <= scored["unit"].nunique() <= MOST_LEVELS and len(scored) <= MOST_SURFACE_COUNTS
    return bool(asked_again and few)


def _checked(facets: pd.DataFrame, surfaces: bool) -> pd.DataFrame:
    needed = ("model", "cell", *COUNTS, *(("unit",) if surfaces else ()))
    missing = [name for name in needed if name not in facets.columns]
    if missing:
        raise AnalysisError(f"counts by facet lack {', '.join(missing)}", offenders=missing)
    keys = [name for name in ("task", "model", "cell", "template", "form", "unit") if name in facets.columns]
    table = facets.astype(dict.fromkeys(keys, "str")).astype(dict.fromkeys(COUNTS, "float64"))
    if not table["cell"].isin(SIGNS).any():
        raise AnalysisError("no response has a known right answer, so there is no answer bias to estimate")
    if "task" in table and table["task"].nunique() > 1:
        raise AnalysisError("counts of several tasks: fit one task at a time", offenders=sorted(table["task"].unique()))
    scored = table["n_answered"] + table["n_uncertain"]
    table["weight"] = facets["weight"].astype("float64") if "weight" in facets.columns else scored
    return table[scored > 0]


def _factors(table: pd.DataFrame) -> tuple[tuple[str, ...], list[str]]:
    """Factors with at least two levels, and what is said about the others."""
    kept, sentences = [], []
    for name in ("template", "form"):
        if name not in table.columns or not (table[name] != "").any():
            sentences.append(f"The logs name no {name}; the model has no {name} effects.")
            continue
        levels = table[name].nunique()
        if levels < 2:
            sentences.append(f"There is one {name} only; the model has no {name} effects.")
        elif levels > MOST_LEVELS:
            sentences.append(f"{name} has {levels} levels, more than {MOST_LEVELS}; they are left to the residual.")
        else:
            kept.append(name)
    return tuple(kept), sentences


def _arrays(table: pd.DataFrame, models: tuple[str, ...], cells: pd.DataFrame) -> dict[str, Floats]:
    """Counts and weights (M, C)."""
    keys = list(cells.columns)
    at_cell = cells.assign(_at=np.arange(len(cells)))
    placed = table.merge(at_cell, on=keys, how="left")
    rows = pd.Index(models).get_indexer(pd.Index(placed["model"]))
    found = {}
    for name in (*COUNTS, "weight"):
        array = np.zeros((len(models), len(cells)))
        np.add.at(array, (rows, placed["_at"].to_numpy()), placed[name].to_numpy())
        found[name] = array
    return found


def _term_values(signs: NDArray[np.int64]) -> dict[str, Floats]:
    gold, polarity, validity = signs.T.astype(float)
    return dict(zip(TERMS, (np.ones(len(signs)), gold, polarity, validity), strict=True))


def _independent(values: dict[str, Floats], order: tuple[str, ...], rows: NDArray[np.bool_]) -> Iterator[str]:
    """Terms that add to the rank of the earlier ones on these rows."""
    chosen: list[Floats] = []
    for term in order:
        trial = [*chosen, values[term][rows]]
        if np.linalg.matrix_rank(np.stack(trial, axis=1)) == len(trial):
            chosen = trial
            yield term


def _columns(
    cells: pd.DataFrame, signs: NDArray[np.int64], factors: tuple[str, ...]
) -> tuple[Floats, NDArray[np.int64], tuple[str, ...]]:
    values = _term_values(signs)
    everything = np.ones(len(cells), bool)
    columns = [(term, values[term]) for term in _independent(values, TERMS, everything)]
    for factor in factors:
        by_term: dict[str, list[Floats]] = {}
        for level in sorted(cells[factor].unique()):
            rows = (cells[factor] == level).to_numpy()
            order = ("yes", "sensitivity") if factor == "unit" else FACTOR_TERMS
            for term in _independent(values, order, rows):
                by_term.setdefault(term, []).append(values[term] * rows)
        for term in FACTOR_TERMS:
            columns += [(f"{factor}_{term}", column) for column in by_term.get(term, [])]
    return _assembled(columns)


def _assembled(columns: list[tuple[str, Floats]]) -> tuple[Floats, NDArray[np.int64], tuple[str, ...]]:
    groups = tuple(dict.fromkeys(name for name, _ in columns))
    return (
        np.stack([column for _, column in columns], axis=1),
        np.array([groups.index(name) for name, _ in columns]),
        groups,
    )


def _without_units(matrix: Floats, group: NDArray[np.int64], groups: tuple[str, ...]) -> Floats:
    own = np.array([not name.startswith("unit_") for name in groups])
    return matrix[:, own[group]]


def _with_residual_columns(
    cells: pd.DataFrame, matrix: Floats, group: NDArray[np.int64], groups: tuple[str, ...], factors: tuple[str, ...]
) -> tuple[Floats, NDArray[np.int64], tuple[str, ...]]:
    """One more column per cell: with units as effects the residual of a cell is common to its units."""
    keys = ["cell", *(name for name in factors if name != "unit")]
    codes = cells.groupby(keys, sort=False).ngroup().to_numpy()
    columns = [(groups[g], matrix[:, j]) for j, g in enumerate(group)]
    columns += [("residual", (codes == code).astype(float)) for code in range(codes.max() + 1)]
    return _assembled(columns)


def _design_sentences(
    names: tuple[str, ...], models: tuple[str, ...], factors: tuple[str, ...], residual: bool
) -> list[str]:
    said = []
    if names == TWO_CLASSES:
        said.append("Gold answers alone are known: the model has leaning to Yes and sensitivity, nothing else.")
    if len(models) == 1:
        said.append("There is one model only: nothing is pooled between models.")
    if not residual:
        said.append("The columns fit every cell exactly, so cells are binomial, without a residual.")
    return said
