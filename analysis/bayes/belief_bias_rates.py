"""Rates of endorsement, accuracies and consistency from the parameters of the endorsement model (g-computation).

Effects of items and versions are integrated: the target is these models on new items, under the configurations and
versions asked. Every question × configuration that a model answered weighs the same, as in the frequentist columns.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.belief_bias_design import BeliefDesign
from analysis.bayes.belief_bias_program import Parameters
from analysis.bayes.quadrature import chance_alike, mean_logistic
from analysis.measures.rates import share

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Nodes over what the versions of an item share, and over a version's own effect.
_OUTER: Final = 9
_INNER: Final = 7


@dataclass(frozen=True, slots=True)
class Profiles:
    """Distinct rows of the regression; questions × configurations with the same row have the same rate on new items.

    Attributes
    ----------
    rows : ndarray (R, F)
    of_cell : ndarray of int (C, Q)
        Row of each configuration and question.
    side : ndarray of int (R,)
        0 valid, 1 invalid.
    cell : ndarray of int (R,)
        Position in ``measures.belief.BELIEF_CELLS``; -1 without believability.
    """

    rows: Floats
    of_cell: Indices
    side: Indices
    cell: Indices

    @classmethod
    def of(cls, design: BeliefDesign) -> "Profiles":
        """The rows of a design."""
        full = design.of_question[None] + design.of_configuration[:, design.side]
        belief = 2 * design.side + np.where(design.believed > 0, 0, 1)
        cell = np.where(design.believed == 0, -1, belief)
        labels = np.broadcast_to(np.stack([design.side, cell], axis=1), (*full.shape[:2], 2))
        joined = np.concatenate([np.round(full, 12), labels], axis=2).reshape(-1, full.shape[2] + 2)
        rows, at = np.unique(joined, axis=0, return_inverse=True)
        codes = rows[:, -2:].astype(np.int64)
        return cls(rows[:, :-2], at.reshape(full.shape[:2]), codes[:, 0], codes[:, 1])

    def weights(self, asked: NDArray[np.bool_]) -> Floats:
        """How many of the configurations × questions (C, Q) have each row, (R,)."""
        return np.bincount(self.of_cell[asked], minlength=len(self.rows)).astype(float)


def item_variance(found: Parameters) -> Floats:
    """Variance (S,) of a new item's effect on one question of one model."""
    names = [name for name in ("sd: item", "sd: model × item", "sd: version") if name in found.sd]
    return sum((found.sd[name] ** 2 for name in names), np.zeros(len(found.mean)))


def endorsement_rates(coefficient: Floats, variance: Floats, profiles: Profiles) -> Floats:
    """P(endorse) (S, R) of one model on new items, from its coefficients (S, F)."""
    return mean_logistic(coefficient @ profiles.rows.T, variance)


def cell_rates(rates: Floats, weight: Floats, profiles: Profiles) -> Floats:
    """Mean rates (S, 4) in BELIEF_CELLS; NaN where a cell has no weight."""
    spread = np.where(profiles.cell[:, None] == np.arange(4), weight[:, None], 0.0)
    return rates @ share(spread, spread.sum(axis=0))


def accuracy(rates: Floats, weight: Floats, profiles: Profiles) -> Floats:
    """Share (S,) of right answers; NaN without weight."""
    right = np.where(profiles.side == 0, rates, 1 - rates)
    return right @ share(weight, np.broadcast_to(weight.sum(), weight.shape))


def complete_sets(asked: NDArray[np.bool_], design: BeliefDesign, profiles: Profiles) -> tuple[Indices, Floats]:
    """Rows (T, V) of the distinct sets of versions all of which one model answered, and how often each occurs (T,).

    ``asked`` is (C, Q). A set is an item under one configuration; only items in all versions of the design count.
    """
    versions = design.questions["variant"].nunique()
    order = np.lexsort((design.questions["variant"].to_numpy(), design.unit))
    sizes = np.bincount(design.unit)
    whole = order[sizes[design.unit[order]] == versions].reshape(-1, versions)
    rows = profiles.of_cell[:, whole][asked[:, whole].all(axis=2)]
    if not len(rows):
        return np.zeros((0, versions), np.int64), np.zeros(0)
    found, counts = np.unique(rows, axis=0, return_counts=True)
    return found, counts.astype(float)


def consistency(coefficient: Floats, found: Parameters, sets: Indices, counts: Floats, profiles: Profiles) -> Floats:
    """Chance (S,) that one answer to each version of a new item are all the same, averaged over sets; NaN without any.

    Versions share the item's effects and have their own; given these, answers are independent.
    """
    if not len(sets):
        return np.full(len(coefficient), np.nan)
    eta = (coefficient @ profiles.rows.T)[:, sets]
    shared = sum(
        (found.sd[name] ** 2 for name in ("sd: item", "sd: model × item") if name in found.sd),
        np.zeros(len(coefficient)),
    )
    own = found.sd["sd: version"] if "sd: version" in found.sd else np.zeros(len(coefficient))
    total = chance_alike(
        eta,
        np.sqrt(shared),
        own,
        outer=_OUTER if shared.any() else 1,
        inner=_INNER if own.any() else 1,
    )
    return np.asarray(total @ (counts / counts.sum()), float)
