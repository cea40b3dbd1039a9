"""Belief bias, accuracy and levels of conditions of each model by itself: independent cells with a Jeffreys prior.

Each cell (validity × believability, of accuracies validity alone: small cells would add up what the prior pulls) of one
model is one binomial: exact by conjugacy. Questions × configurations weigh
the same whatever their votes, so that the counts of a cell are scaled to Kish's effective number, as in
``models.unpooled``. Votes are taken as independent given their cell, though they share questions, and both levels of a
condition as independent, though they share questions too.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.belief_bias_design import BeliefDesign
from analysis.bayes.belief_bias_result import level_name
from analysis.measures.belief import BELIEF_CELLS, BELIEF_WEIGHTS

Floats = NDArray[np.float64]
Asked = NDArray[np.bool_]

#: Draws of each cell; they are independent, so that ends of intervals are known to .02 posterior sds.
DRAWS: Final = 20_000
_JEFFREYS: Final = 0.5
_OF_CELLS: Final = ("congruent", "incongruent", "belief_bias", "discrimination_difference")


def unpooled_endorsements(
    design: BeliefDesign,
    pairs: Mapping[str, tuple[tuple[str, str], ...]],
    rng: np.random.Generator,
    *,
    ci_level: float,
) -> pd.DataFrame:
    """Posterior of each model by itself.

    Parameters
    ----------
    design : BeliefDesign
    pairs : mapping of str to pairs of levels
        By condition.
    rng : numpy.random.Generator
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        ``model, measure, target, estimate`` (median), ``ci_low, ci_high, ci_level, ci_method``, ``n`` (questions ×
        configurations); ``measure`` is ``acc_vb`` and so on, ``belief_bias``, ``discrimination_difference``,
        ``accuracy``, or ``level_name`` of two levels. What a model lacks answers for has no row.
    """
    rows = []
    tail = (1 - ci_level) / 2
    for m, model in enumerate(design.models):
        for name, (values, n) in _of_model(design, m, pairs, rng).items():
            low, middle, high = np.quantile(values, (tail, 0.5, 1 - tail))
            rows.append(
                {"model": model, "measure": name, "target": "these", "estimate": middle, "ci_low": low, "ci_high": high}
                | {"ci_level": ci_level, "ci_method": "eti", "n": n}
            )
    names = ("model", "measure", "target", "estimate", "ci_low", "ci_high", "ci_level", "ci_method", "n")
    return pd.DataFrame(rows, columns=list(names))


def _of_model(
    design: BeliefDesign, m: int, pairs: Mapping[str, tuple[tuple[str, str], ...]], rng: np.random.Generator
) -> dict[str, tuple[Floats, int]]:
    """Draws (S,) and rows by measure."""
    asked = design.answered[m] > 0
    found: dict[str, tuple[Floats, int]] = {}
    cells = [asked & ((design.side == c // 2) & (design.believed == 1 - 2 * (c % 2))) for c in range(4)]
    if design.has_belief and all(cell.any() for cell in cells):
        right = np.stack([_share(design, m, cell, rng) for cell in cells])
        sizes = [int(cell.sum()) for cell in cells]
        found |= {f"acc_{c.lower()}": (x, n) for c, x, n in zip(BELIEF_CELLS, right, sizes, strict=True)}
        found |= {name: (x, sum(sizes)) for name, x in zip(_OF_CELLS, BELIEF_WEIGHTS @ right, strict=True)}
    if asked.any():
        found["accuracy"] = _accuracy(design, m, asked, rng), int(asked.sum())
    for factor, chosen in pairs.items():
        for first, second in chosen:
            sides = matched_questions(design, asked, factor, (first, second))
            if sides[0].any():
                values = [_accuracy(design, m, side, rng) for side in sides]
                found[level_name(factor, first, second)] = values[0] - values[1], int(sides[0].sum())
    return found


def matched_questions(design: BeliefDesign, asked: Asked, factor: str, pair: tuple[str, str]) -> tuple[Asked, Asked]:
    """Which of the answered configurations × questions (C, Q) have each level and are answered under the other too."""
    rows = design.configurations
    level = rows[factor].to_numpy()
    others = [name for name in rows.columns if name != factor]
    places = [np.flatnonzero(level == name) for name in pair]
    keys = [list(map(tuple, rows.iloc[at][others].to_numpy())) for at in places]
    shared = [key for key in keys[0] if key in set(keys[1])]
    at = [[int(place[key.index(k)]) for k in shared] for place, key in zip(places, keys, strict=True)]
    both = asked[at[0]] & asked[at[1]]
    sides = np.zeros((2, *asked.shape), bool)
    for side, own in zip(sides, at, strict=True):
        side[own] = both
    return sides[0], sides[1]


def _accuracy(design: BeliefDesign, m: int, used: Asked, rng: np.random.Generator) -> Floats:
    """Draws (S,) of the share of right answers: both classes, weighted by their questions × configurations."""
    total = np.zeros(DRAWS)
    for side in (0, 1):
        of_class = used & (design.side == side)
        if of_class.any():
            total += of_class.sum() / used.sum() * _share(design, m, of_class, rng)
    return total


def _share(design: BeliefDesign, m: int, cell: Asked, rng: np.random.Generator) -> Floats:
    """Draws (S,) of the share of right answers in one cell (C, Q)."""
    right, wrong = effective_counts(design, m, cell)
    return rng.beta(right + _JEFFREYS, wrong + _JEFFREYS, DRAWS)


def effective_counts(design: BeliefDesign, m: int, cell: Asked) -> tuple[float, float]:
    """Right and wrong answers of a cell, scaled to the effective number of equally weighted questions."""
    n = design.answered[m][cell]
    said = design.yes[m][cell] / n
    right = np.where(np.broadcast_to(design.side, cell.shape)[cell] == 0, said, 1 - said)
    effective = len(n) ** 2 / (1 / n).sum()
    return float(effective * right.mean()), float(effective * (1 - right.mean()))
