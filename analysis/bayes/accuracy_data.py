"""Right and wrong answers of models to shared items, reduced to what the accuracy model reads, and its rules."""

from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError

Ints = NDArray[np.int64]

COLUMNS: Final = ("model", "item", "unit", "n_samples", "n_right")
#: Most additions of one evaluation of the likelihood; beyond them a fit would take minutes.
MOST_ADDITIONS: Final = 12_000_000


class AnswerSet(NamedTuple):
    """Answers of M models to I items.

    Attributes
    ----------
    models, items : tuple of str
        Sorted.
    n, right : ndarray of int (M, I)
        Answers that count, and how many of them are right.
    unit : ndarray of int (I,)
        Unit of each item, 0 to U - 1.
    has_item, has_residual, has_unit : bool
        Which effects the design identifies.
    has_reaction : bool
        Whether units can be told to be something else to one model than to another.
    units_as_items : bool
        Answers of an item are those to a whole unit.
    set_aside : int
        Model × item rows without an answer that counts.
    sentences : tuple of str
        What the rules decided.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    n: Ints
    right: Ints
    unit: Ints
    has_item: bool
    has_residual: bool
    has_unit: bool
    has_reaction: bool
    units_as_items: bool
    set_aside: int
    sentences: tuple[str, ...]


def answer_set(items: pd.DataFrame) -> AnswerSet:
    """Answers by model and item, and the effects that they identify.

    Parameters
    ----------
    items : DataFrame
        COLUMNS, one row per model and item; every item lies in one unit.

    Raises
    ------
    AnalysisError
        A column is missing, a model × item occurs twice, an item lies in two units, counts are not whole numbers with
        0 <= n_right <= n_samples, or no answer counts.
    """
    missing = [name for name in COLUMNS if name not in items.columns]
    if missing:
        raise AnalysisError(f"answers by item need the column {missing[0]!r}")
    rows = items[list(COLUMNS)].astype({"model": "str", "item": "str", "unit": "str"})
    _check(rows)
    asked = rows[rows["n_samples"] > 0]
    if asked.empty:
        raise AnalysisError("no answer counts as right or wrong")
    n, right, unit, models, names = _arrays(asked)
    shared, repeated = bool(((n > 0).sum(axis=0) > 1).any()), bool((n > 1).any())
    units = int(unit.max()) + 1
    clustered = 1 < units < len(names)
    reacts = clustered and _pairs_within_units(n, unit, units)
    merged = clustered and not shared and not repeated and len(models) == 1
    if merged:
        n, right = (_by_unit(values, unit, units) for values in (n, right))
        names = tuple(sorted(asked["unit"].unique()))
        unit = np.arange(units)
    return AnswerSet(
        models=models,
        items=names,
        n=n,
        right=right,
        unit=unit,
        has_item=shared or repeated or merged,
        has_residual=shared and repeated,
        has_unit=clustered and not merged and (shared or repeated),
        has_reaction=reacts,
        units_as_items=merged,
        set_aside=len(rows) - len(asked),
        sentences=_sentences(
            len(models), shared, repeated, clustered, merged, reacts, single=units == 1 and len(names) > 1
        ),
    )


def _check(rows: pd.DataFrame) -> None:
    twice = rows.duplicated(["model", "item"])
    if twice.any():
        first = rows[twice].iloc[0]
        raise AnalysisError(f"model {first['model']!r} has two rows of item {first['item']!r}")
    per_item = rows.groupby("item")["unit"].nunique()
    if (per_item > 1).any():
        raise AnalysisError(f"item {per_item.idxmax()!r} lies in two units")
    n, right = (rows[name].to_numpy(float) for name in ("n_samples", "n_right"))
    whole = np.isfinite(n) & np.isfinite(right) & (n == np.floor(n)) & (right == np.floor(right))
    good = whole & (right >= 0) & (right <= n)
    if not good.all():
        first = rows[~good].iloc[0]
        raise AnalysisError(
            f"model {first['model']!r}, item {first['item']!r}: {first['n_right']} right of {first['n_samples']} "
            "answers; the accuracy model counts answers that are right or wrong"
        )


def _arrays(asked: pd.DataFrame) -> tuple[Ints, Ints, Ints, tuple[str, ...], tuple[str, ...]]:
    models, m = np.unique(asked["model"].to_numpy(str), return_inverse=True)
    names, i = np.unique(asked["item"].to_numpy(str), return_inverse=True)
    _, j = np.unique(asked["unit"].to_numpy(str), return_inverse=True)
    n, right = np.zeros((2, len(models), len(names)), np.int64)
    n[m, i], right[m, i] = asked["n_samples"], asked["n_right"]
    unit = np.zeros(len(names), np.int64)
    unit[i] = j
    return n, right, unit, tuple(map(str, models)), tuple(map(str, names))


def _pairs_within_units(n: Ints, unit: Ints, units: int) -> bool:
    """Whether some model was asked two items of one unit that others were asked as well."""
    shared = (n > 0) & ((n > 0).sum(axis=0) > 1)
    return bool((_by_unit(shared.astype(np.int64), unit, units) > 1).any())


def _by_unit(values: Ints, unit: Ints, units: int) -> Ints:
    return np.stack([np.bincount(unit, row, units).astype(np.int64) for row in values])


def _sentences(
    models: int, shared: bool, repeated: bool, clustered: bool, merged: bool, reacts: bool, *, single: bool
) -> tuple[str, ...]:
    said = []
    if models == 1:
        said.append("One model: nothing is pooled; its level has the prior of a mean, widened by that of the sd.")
    if merged:
        said.append("One model asked each item once: items of one unit share an effect, items have none of their own.")
    elif not shared and not repeated:
        said.append("No item was answered twice, by models or in samples: items have no effects, answers count singly.")
    elif clustered:
        said.append("Items of one unit share an effect, and each item has one of its own: new items are of new units.")
    if reacts:
        said.append("A unit may be something else to each model: accuracies are spread by what that adds on new units.")
    if repeated and shared:
        said.append("Samples of one item are beta-binomial around what model and item make likely.")
    elif repeated:
        said.append(
            "No item is shared by two models: what an item is and what it is to one model cannot be told apart."
        )
    if single:
        said.append("All items belong to one unit, so that nothing is known about items of other units.")
    return tuple(said)
