"""Answers to the versions of one base item side by side: models × configurations × units × variants."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError


@dataclass(frozen=True, slots=True)
class VariantAnswers:
    """Answers by unit and variant.

    Attributes
    ----------
    codes : (M, C, U, V) of int
        Position of the answer in ``labels``; -1 where there is no readable answer.
    asked : (M, C, U, V) of bool
        Whether the question was put, whatever became of it.
    right : (M, C, U, V)
        Credit of the answer, NaN where it does not count.
    gold : (U,) of int
        Position of the right answer that the variants of a unit share, -1 where unknown or not shared.
    models, units, variants, labels : tuple of str
    configurations : DataFrame
        One row per configuration, its columns the conditions.
    """

    codes: NDArray[np.int64]
    asked: NDArray[np.bool_]
    right: NDArray[np.float64]
    gold: NDArray[np.int64]
    models: tuple[str, ...]
    units: tuple[str, ...]
    variants: tuple[str, ...]
    labels: tuple[str, ...]
    configurations: pd.DataFrame


def variant_answers(
    answers: pd.DataFrame, right: NDArray[np.float64], *, conditions: Sequence[str], variant: str = "variant"
) -> VariantAnswers:
    """Answers placed by model, configuration, unit and variant; never by their position in the table.

    Parameters
    ----------
    answers : DataFrame
        As ``collapsed_answers`` returns.
    right : ndarray
        Credit of each row (``measures.classification.credited``).
    conditions : sequence of str
        Columns whose combinations are the configurations.
    variant : str
        Column that tells the versions of a unit apart.

    Raises
    ------
    AnalysisError
        Two questions of one unit have the same variant, so that neither is the version of the others.
    """
    rows = answers[variant].astype(str).to_numpy() != ""
    table = answers[rows]
    questions = table[["unit", variant, "item"]].drop_duplicates()
    twice = questions[questions.duplicated(["unit", variant])]
    if len(twice):
        unit, level = twice.iloc[0][["unit", variant]]
        raise AnalysisError(f"several questions of unit {unit!r} have the {variant} {level!r}", offenders=(str(unit),))
    configurations = _configurations(table, list(conditions))
    place, names = zip(*(_coded(table[name]) for name in ("model", "unit", variant)), strict=True)
    config = _configuration(table, configurations, list(conditions))
    given = table["answer"].astype(str).to_numpy()
    gold = table["gold"].astype(str).to_numpy()
    labels = tuple(sorted({*given, *gold} - {""}))
    known = {label: i for i, label in enumerate(labels)}
    shape = (len(names[0]), len(configurations), len(names[1]), len(names[2]))
    at = (place[0], config, place[1], place[2])
    codes, asked, credit = np.full(shape, -1), np.zeros(shape, bool), np.full(shape, np.nan)
    scored = ~np.isnan(table["right"].to_numpy(float))
    codes[at] = np.where(scored, [known.get(label, -1) for label in given], -1)
    asked[at], credit[at] = True, right[rows]
    truth = np.array([known.get(label, -1) for label in gold])
    return VariantAnswers(
        codes=codes,
        asked=asked,
        right=credit,
        gold=_shared_gold(truth, place[1], len(names[1])),
        models=names[0],
        units=names[1],
        variants=names[2],
        labels=labels,
        configurations=configurations,
    )


def _coded(column: pd.Series) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    names, codes = np.unique(column.astype(str).to_numpy(dtype=object).astype(str), return_inverse=True)
    return codes.astype(np.int64), tuple(str(name) for name in names)


def _configuration(table: pd.DataFrame, configurations: pd.DataFrame, conditions: list[str]) -> NDArray[np.int64]:
    if not conditions:
        return np.zeros(len(table), np.int64)
    index = pd.MultiIndex.from_frame(configurations)
    found = index.get_indexer(pd.MultiIndex.from_frame(table[conditions].astype(str)))
    return np.asarray(found, dtype=np.int64)


def _shared_gold(truth: NDArray[np.int64], unit: NDArray[np.int64], units: int) -> NDArray[np.int64]:
    least, most = np.full(units, np.iinfo(np.int64).max), np.full(units, -1)
    np.minimum.at(least, unit, truth)
    np.maximum.at(most, unit, truth)
    return np.where(least == most, most, -1)


def _configurations(table: pd.DataFrame, conditions: list[str]) -> pd.DataFrame:
    """Distinct combinations of the conditions; one without columns where there are none."""
    if not conditions:
        return pd.DataFrame(index=range(1))
    return table[conditions].astype(str).drop_duplicates().sort_values(conditions).reset_index(drop=True)
