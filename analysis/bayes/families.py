"""Families of models: when they are effects of the answer-bias model, and its results averaged over each of them."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.gates import failures, quantity_gates
from analysis.bayes.summaries import KERNELS, NUMBERS, quantity_summary
from analysis.measures.yes_no_bias import FOUR_CELLS

Floats = NDArray[np.float64]

#: Families that are named by the models of a task, and families of two models or more, for effects of families.
FEWEST_FAMILIES: Final = 3
FEWEST_OF_TWO: Final = 2
#: Measures that are averaged over the models of a family.
AVERAGED: Final = (
    "balanced_accuracy",
    "answer_bias",
    "polarity_sensitivity",
    "validity_contrast",
    "competence_floor",
)


def family_index(models: Sequence[str], families: Mapping[str, str]) -> NDArray[np.int64] | None:
    """Family of each model as a number from 0 on; None where there are too few for effects of families.

    Parameters
    ----------
    models : sequence of str
    families : mapping of str to str
        Model -> family; a model that is not named, or named with an empty family, is a family of its own.

    Notes
    -----
    Too few: fewer than FEWEST_FAMILIES named families, or fewer than FEWEST_OF_TWO of them with two models. The spread
    between families is told from that within them by families of several models alone.
    """
    sizes = pd.Series([families[model] for model in models if families.get(model)], dtype=object).value_counts()
    if len(sizes) < FEWEST_FAMILIES or (sizes > 1).sum() < FEWEST_OF_TWO:
        return None
    # A model's own family cannot be mistaken for a named one of the same name.
    keys = [(bool(families.get(model)), families.get(model) or model) for model in models]
    places = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys], dtype=np.int64)


def families_sentence(models: Sequence[str], families: Mapping[str, str]) -> str:
    """What a fit does with families, in a sentence; empty where none is named."""
    named = {families[model] for model in models if families.get(model)}
    if not named:
        return ""
    if family_index(models, families) is not None:
        alone = sum(not families.get(model) for model in models)
        rest = f"; {alone} models without a family are one each" if alone > 1 else ""
        rest = "; the model without a family is one of its own" if alone == 1 else rest
        return f"Coefficients are pooled within {len(named)} model families, and families around a common mean{rest}."
    return (
        f"Models are pooled alike: effects of model families need {FEWEST_FAMILIES} families, {FEWEST_OF_TWO} of them "
        f"with two models or more ({len(named)} named)."
    )


def family_rows(
    accuracy: Floats,
    models: Sequence[str],
    names: tuple[str, ...],
    families: Mapping[str, str],
    *,
    ci_level: float = 0.95,
    fast: bool = False,
) -> pd.DataFrame:
    """Measures averaged over the models of each family, for these models.

    Parameters
    ----------
    accuracy : ndarray (chains, draws, M, cells)
        Draws of the accuracies; models with a missing one are left out.
    models, names : sequence of str
        Order of the last two axes.
    families : mapping of str to str
        Model -> family.
    ci_level : float in (0, 1)
    fast : bool
        A quick look, judged by its laxer gates.

    Returns
    -------
    DataFrame
        ``family, n_models, measure`` and the columns of ``summaries.quantity_summary``; a row that fails a gate has no
        numbers and says so in ``reason``. Empty without a family.

    Notes
    -----
    The floor is the mean of the models' floors, not the floor of their mean accuracies.
    """
    asked = np.isfinite(accuracy).all(axis=(0, 1, 3))
    members: dict[str, list[int]] = {}
    for m, model in enumerate(models):
        if families.get(model) and asked[m]:
            members.setdefault(families[model], []).append(m)
    keys, draws = [], []
    for family, own in sorted(members.items()):
        for measure in AVERAGED:
            kernel, scale, four = KERNELS[measure]
            if not four or names == FOUR_CELLS:
                keys.append({"family": family, "n_models": len(own), "measure": measure, "scale": scale})
                draws.append(kernel(accuracy[:, :, own]).mean(axis=-1))
    if not keys:
        return pd.DataFrame()
    table = quantity_summary(np.stack(draws, axis=-1), pd.DataFrame(keys), ci_level=ci_level)
    named = table.assign(model=table["family"])
    problems = [failures(quantity_gates(named.iloc[[i]], fast=fast)) for i in range(len(named))]
    failed = np.array([bool(said) for said in problems])
    numbers = [name for name in NUMBERS if name in table.columns]
    reasons = [f"MCMC: {said}" if said else own for said, own in zip(problems, table["reason"], strict=True)]
    table = table.assign(reason=reasons)
    table.loc[failed, numbers] = np.nan
    return table
