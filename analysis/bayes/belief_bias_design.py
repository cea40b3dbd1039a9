"""Endorsed answers by question and configuration as the arrays of a regression; what cannot be told is left out."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
#: Group, values by question, and by configuration and side.
Column = tuple[str, Floats, Floats | None]

#: What a coefficient multiplies: 1, validity v = +-1, believability u = +-1 (0 without one), and v u.
TERMS: Final = ("lean", "discrimination", "belief", "belief_discrimination")
#: Factor that tells questions without believability apart, where versions do not.
NONSENSE: Final = "nonsense"
#: More levels of a condition or version than this have no effects of their own.
MOST_LEVELS: Final = 12
#: Largest fit, in counts (models × configurations × questions) and in effects of questions.
MOST_COUNTS: Final = 100_000
MOST_EFFECTS: Final = 6_000
REQUIRED: Final = ("model", "unit", "item", "gold", "believability", "n", "k")


@dataclass(frozen=True, slots=True)
class BeliefDesign:
    """Counts of one task, models × configurations × questions, and the columns that explain them.

    A row of the regression is ``of_question[i] + of_configuration[c, side[i]]``.

    Attributes
    ----------
    task : str
    models : tuple of str
        M names, sorted.
    questions : DataFrame
        Q rows: ``gold, unit, item, believability``, ``variant``; valid ones first.
    configurations : DataFrame
        C rows, its columns the conditions; one row without columns where there are none.
    side : ndarray of int (Q,)
        0 valid, 1 invalid.
    believed : ndarray (Q,)
        +1 believable, -1 unbelievable, 0 without believability.
    groups : tuple of str
        TERMS, ``<factor>_lean``, ``<factor>_discrimination``: columns that share a standard deviation.
    group : ndarray of int (F,)
        Index in ``groups`` of each column.
    of_question : ndarray (Q, F)
    of_configuration : ndarray (C, 2, F)
        By ``side``.
    unit : ndarray of int (Q,)
        Number of the base item.
    has_units, has_versions : bool
        Base items are effects, common and by model; so are questions, by model.
    yes, answered : ndarray (M, C, Q)
        Endorsed and readable answers.
    sentences : tuple of str
        What was left out or simplified, and why.
    """

    task: str
    models: tuple[str, ...]
    questions: pd.DataFrame
    configurations: pd.DataFrame
    side: Indices
    believed: Floats
    groups: tuple[str, ...]
    group: Indices
    of_question: Floats
    of_configuration: Floats
    unit: Indices
    has_units: bool
    has_versions: bool
    yes: Floats
    answered: Floats
    sentences: tuple[str, ...]

    @property
    def has_belief(self) -> bool:
        """Whether believability enters."""
        return "belief" in self.groups

    @property
    def effect(self) -> Indices:
        """Number of the random effect of each question, (Q,): its own with versions, else that of its unit."""
        return np.arange(len(self.unit)) if self.has_versions else self.unit


def belief_design(counts: pd.DataFrame, *, conditions: tuple[str, ...] = (), task: str = "") -> BeliefDesign:
    """Arrays of the endorsement model.

    Parameters
    ----------
    counts : DataFrame
        One row per model, question and configuration: ``model, unit, item, gold`` (yes: valid), ``believability``
        (believable, unbelievable, or empty), the conditions, optionally ``variant``; ``n`` readable answers, ``k`` of
        them endorsements. Rows without a readable answer or without a gold answer yes or no count for nothing.
    conditions : tuple of str
        Columns whose combinations are the configurations.
    task : str

    Raises
    ------
    AnalysisError
        A column is missing, a count is impossible, a question has two descriptions, nothing remains, or the fit would
        be too large.
    """
    table = _checked(counts, conditions)
    models = tuple(sorted(table["model"].unique()))
    questions = _questions(table)
    configurations = _configurations(table, list(conditions))
    shape = (len(models), len(configurations), len(questions))
    if int(np.prod(shape)) > MOST_COUNTS or shape[0] * shape[2] > MOST_EFFECTS:
        raise AnalysisError(
            f"{shape[0]} models × {shape[1]} configurations × {shape[2]:,} questions are more than are fitted "
            f"({MOST_COUNTS:,} counts, {MOST_EFFECTS:,} effects of questions)"
        )
    yes, answered = _placed(table, models, configurations, questions)
    side = (questions["gold"] == "no").to_numpy().astype(np.int64)
    believed = np.asarray(questions["believability"].map({"believable": 1.0, "unbelievable": -1.0}).fillna(0.0), float)
    columns, of_belief = _term_columns(side, believed)
    varying, said = _factors(questions, configurations)
    for name, codes, is_condition in varying:
        columns += _contrast_columns(name, codes, side, configurations=len(configurations) if is_condition else 0)
    groups = tuple(dict.fromkeys(name for name, _, _ in columns))
    unit = pd.factorize(questions["unit"], sort=True)[0].astype(np.int64)
    has_units, has_versions, of_items = _item_effects(unit, answered)
    return BeliefDesign(
        task=task,
        models=models,
        questions=questions,
        configurations=configurations,
        side=side,
        believed=believed,
        groups=groups,
        group=np.array([groups.index(name) for name, _, _ in columns]),
        of_question=np.stack([own for _, own, _ in columns], axis=-1),
        of_configuration=np.stack(
            [np.zeros((len(configurations), 2)) if own is None else own for _, _, own in columns], axis=-1
        ),
        unit=unit,
        has_units=has_units,
        has_versions=has_versions,
        yes=yes,
        answered=answered,
        sentences=tuple([*of_belief, *said, *of_items, *_model_sentences(models)]),
    )


def _checked(counts: pd.DataFrame, conditions: tuple[str, ...]) -> pd.DataFrame:
    missing = [name for name in (*REQUIRED, *conditions) if name not in counts.columns]
    if missing:
        raise AnalysisError(f"counts of endorsements lack {', '.join(missing)}", offenders=missing)
    texts = ["model", "unit", "item", "gold", "believability", *conditions]
    table = counts if "variant" in counts.columns else counts.assign(variant="")
    table = table.assign(**{name: table[name].astype(object).fillna("").astype(str) for name in (*texts, "variant")})
    n, k = table["n"].astype(float), table["k"].astype(float)
    wrong = ~((n >= 0) & (k >= 0) & (k <= n) & (n == np.floor(n)) & (k == np.floor(k)))
    if wrong.any():
        where = ", ".join(table.loc[wrong, "item"].head(3))
        raise AnalysisError(
            f"counts of endorsements: k must be a whole number from 0 to n ({int(wrong.sum())} rows: {where})"
        )
    table = table.assign(n=n, k=k)[((n > 0) & table["gold"].isin(["yes", "no"])).to_numpy()]
    if table.empty:
        raise AnalysisError("no readable answer to a question with a gold answer yes or no")
    return table


def _questions(table: pd.DataFrame) -> pd.DataFrame:
    """Distinct questions, those with the gold answer yes first."""
    found = table[["gold", "unit", "item", "believability", "variant"]].drop_duplicates()
    twice = found.loc[found.duplicated("item", keep=False), "item"]
    if len(twice):
        raise AnalysisError(
            f"counts of endorsements: question {twice.iloc[0]!r} has several units, gold answers or versions",
            offenders=tuple(sorted(set(twice))),
        )
    return found.sort_values(["gold", "unit", "item"], ascending=[False, True, True]).reset_index(drop=True)


def _configurations(table: pd.DataFrame, conditions: list[str]) -> pd.DataFrame:
    if not conditions:
        return pd.DataFrame(index=range(1))
    return table[conditions].drop_duplicates().sort_values(conditions).reset_index(drop=True)


def _placed(
    table: pd.DataFrame, models: tuple[str, ...], configurations: pd.DataFrame, questions: pd.DataFrame
) -> tuple[Floats, Floats]:
    """Endorsed and readable answers (M, C, Q)."""
    at = [pd.Index(models).get_indexer(pd.Index(table["model"])), np.zeros(len(table), np.int64)]
    if len(configurations.columns):
        index = pd.MultiIndex.from_frame(configurations)
        at[1] = index.get_indexer(pd.MultiIndex.from_frame(table[list(configurations.columns)]))
    at.append(pd.Index(questions["item"]).get_indexer(pd.Index(table["item"])))
    found = []
    for name in ("k", "n"):
        array = np.zeros((len(models), len(configurations), len(questions)))
        np.add.at(array, tuple(at), table[name].to_numpy())
        found.append(array)
    return found[0], found[1]


def _term_columns(side: Indices, believed: Floats) -> tuple[list[Column], list[str]]:
    """Columns of TERMS that the questions can tell apart, and what is said of the others."""
    valid = np.asarray(1.0 - 2.0 * side, float)
    said: list[str] = []
    values: tuple[Floats, ...] = (np.ones(len(side)), valid, believed, valid * believed)
    names = list(TERMS)
    cells = {(v, u) for v, u in zip(valid, believed, strict=True) if u}
    if len(cells) < 4:
        names = names[:2]
        said.append("A cell of validity and believability has no question: the model knows no belief.")
    if len(set(valid)) < 2:
        names = [name for name in names if name == TERMS[0]]
        said.append("All questions are valid, or none is: the model has no discrimination.")
    return [(name, value, None) for name, value in zip(TERMS, values, strict=True) if name in names], said


def _factors(
    questions: pd.DataFrame, configurations: pd.DataFrame
) -> tuple[list[tuple[str, Indices, bool]], list[str]]:
    """Name, codes, and whether it is a condition, of each factor with effects; and what is said of the others."""
    found, said = [], []
    for name in configurations.columns:
        levels = configurations[name].nunique()
        if 2 <= levels <= MOST_LEVELS:
            found.append((str(name), pd.factorize(configurations[name], sort=True)[0], True))
        elif levels > MOST_LEVELS:
            said.append(f"{name} has {levels} levels, more than {MOST_LEVELS}: it has no effects of its own.")
    if not found:
        said.append("No condition varies: the model has no effects of conditions.")
    without = (questions["believability"] == "").to_numpy()
    mixed = without.any() and not without.all()
    if 2 <= questions["variant"].nunique() <= MOST_LEVELS:
        codes = pd.factorize(questions["variant"], sort=True)[0]
        found.append(("variant", codes, False))
        mixed = mixed and pd.Series(without).groupby(codes).nunique().max() > 1
    if mixed:
        found.append((NONSENSE, without.astype(np.int64), False))
    return found, said


def _contrast_columns(name: str, codes: Indices, side: Indices, *, configurations: int) -> list[Column]:
    """Orthonormal contrasts of the levels of a factor, on leaning and on discrimination.

    Levels sum to 0, so that what they have in common stays with the terms. Without ``configurations`` the factor
    belongs to the questions.
    """
    contrasts = _zero_sum(int(codes.max()) + 1)[codes]
    lean: list[Column] = []
    moved: list[Column] = []
    empty = np.zeros(len(side))
    both = bool(configurations) or all(len(np.unique(side[codes == level])) == 2 for level in np.unique(codes))
    for column in contrasts.T:
        if configurations:
            lean.append((f"{name}_{TERMS[0]}", empty, np.stack([column, column], axis=1)))
            moved.append((f"{name}_{TERMS[1]}", empty, np.stack([column, -column], axis=1)))
        else:
            lean.append((f"{name}_{TERMS[0]}", column, None))
            moved.append((f"{name}_{TERMS[1]}", column * (1.0 - 2.0 * side), None))
    return [*lean, *(moved if both and len(np.unique(side)) == 2 else [])]


def _zero_sum(levels: int) -> Floats:
    """Orthonormal columns (levels, levels - 1) that sum to 0."""
    raw = np.vstack([np.ones(levels), np.eye(levels)[:-1]]).T
    return np.asarray(np.linalg.qr(raw)[0][:, 1:], float)


def _item_effects(unit: Indices, answered: Floats) -> tuple[bool, bool, list[str]]:
    """Whether base items and versions are effects: where some model was asked one of them again."""
    again = any((np.bincount(unit, row) > 1).any() for row in answered.sum(axis=1))
    if not again:
        return (
            False,
            False,
            ["No unit is asked twice: answers are independent given the cell, without effects of items."],
        )
    several = len(unit) > unit.max() + 1
    if several and (answered.sum(axis=1) > 1).any():
        return True, True, []
    if several:
        return True, False, ["No question is asked twice: versions of a unit have no effects of their own."]
    return True, False, ["Each unit is one question: effects of units are those of questions."]


def _model_sentences(models: tuple[str, ...]) -> list[str]:
    return ["There is one model only: nothing is pooled between models."] if len(models) == 1 else []
