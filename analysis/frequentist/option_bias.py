"""Multiple choice: accuracy by right option and its minimum, and how far answers lean to some options, by unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.frequentist.clustered_rates import clustered_rates, difference_limits, floor_limits, rate_limits
from analysis.frequentist.floor import floor_above, floor_below
from analysis.frequentist.floor_tests import decisions
from analysis.frequentist.marginal_homogeneity import MarginalHomogeneity, marginal_homogeneity
from analysis.frequentist.multiplicity import adjusted_bound, family_size, holm
from analysis.measures.rates import check_treatment

Floats = NDArray[np.float64]
RATE: Final = "cluster Wilson (t)"
DIFFERENCE: Final = "square-and-add of cluster Wilson (t)"
FLOOR: Final = "smallest of cluster Wilson (t)"
EMPTY: Final = "was not asked where some of the options is right"
SINGLE: Final = "some option is right in one unit only: the variance between units is unknown"
SILENT: Final = "no answer could be read"


@dataclass(frozen=True, slots=True)
class OptionBias:
    """Position bias of the models of one task.

    Attributes
    ----------
    models : DataFrame
        One row per model: ``balanced_accuracy`` and ``competence_floor`` (smallest accuracy by right option, at
        ``option``) with limits, ``chance`` (1 / options), tests of the floor against it (``p_value``,
        ``p_adjusted``, ``below_p_value``, ``below_p_adjusted``, ``decision``), and the test of the lean
        (``lean_statistic``, ``lean_df``, ``lean_p_value``, ``lean_p_adjusted``).
    options : DataFrame
        One row per model and option: ``gold_share, answer_share`` and their difference ``estimate`` with limits,
        ``accuracy`` where the option is right, with limits.
    labels, golds : tuple of str
        All options, and those that are right somewhere.
    """

    models: pd.DataFrame
    options: pd.DataFrame
    labels: tuple[str, ...]
    golds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Arrays:
    """Weights by model, unit and option; every question weighs 1 in what it counts in."""

    names: tuple[str, ...]
    asked: Floats
    right: Floats
    gold: Floats
    answer: Floats
    rows: Floats


def option_bias(
    counts: pd.DataFrame,
    labels: Sequence[str],
    *,
    rng: np.random.Generator,
    uncertain: str = "incorrect",
    flips: int = 20_000,
    ci_level: float = 0.95,
) -> OptionBias:
    """Accuracy by right option, its floor against chance, and the lean to options.

    Parameters
    ----------
    counts : DataFrame
        As ``reduction.option_counts`` returns.
    labels : sequence of str
        All options, in order.
    rng : Generator
    uncertain : {"incorrect", "excluded", "half"}
        For accuracies; shares of options are those among answers that could be read.
    flips : int
    ci_level : float in (0, 1)

    Notes
    -----
    A guesser without a lean has accuracy 1 / options whatever is right. The lean is the share of answers that name an
    option less the share of the same questions in which it is right. All options together are tested by
    ``marginal_homogeneity``; p-values are adjusted by Holm over models.
    """
    check_level(ci_level)
    check_treatment(uncertain)
    golds = tuple(label for label in labels if (counts["gold"] == label).any())
    arrays = _arrays(counts, tuple(labels), golds, uncertain)
    floors, accuracy = _floors(arrays, golds, len(labels), ci_level)
    lean = _lean_tests(arrays, rng, flips, 1 - ci_level)
    options = _shares(arrays, tuple(labels), ci_level).merge(accuracy, on=["model", "option"], how="left")
    options["accuracy_reason"] = options["accuracy_reason"].fillna("never right")
    return OptionBias(floors.merge(lean, on="model"), options.assign(ci_level=ci_level), tuple(labels), golds)


def _arrays(counts: pd.DataFrame, labels: tuple[str, ...], golds: tuple[str, ...], uncertain: str) -> _Arrays:
    model, names = pd.factorize(counts["model"], sort=True)
    unit, units = pd.factorize(counts["unit"], sort=True)
    item = pd.factorize(counts["item"])[0]
    read = (counts["answer"] != "").to_numpy()
    n, correct = counts["n"].to_numpy(float), (counts["answer"] == counts["gold"]).to_numpy(float)
    credit = np.where(read, correct, 0.5 if uncertain == "half" else 0.0)
    place = model * (item.max(initial=0) + 1) + item
    scored = n * read if uncertain == "excluded" else n
    by_gold = (len(names), len(units), len(golds))
    by_label = (len(names), len(units), len(labels))
    gold_at = pd.Index(golds).get_indexer(pd.Index(counts["gold"]))
    at = (model * len(units) + unit, gold_at)

    def summed(weight: Floats, column: NDArray[np.intp], shape: tuple[int, int, int]) -> Floats:
        index = at[0] * shape[2] + column
        used = column >= 0
        return np.bincount(index[used], weight[used], minlength=int(np.prod(shape))).reshape(shape).astype(float)

    weight, answered = _shares_of_item(scored, place), _shares_of_item(n * read, place)
    return _Arrays(
        names=tuple(map(str, names)),
        asked=summed(weight, gold_at, by_gold),
        right=summed(weight * credit, gold_at, by_gold),
        gold=summed(answered, pd.Index(labels).get_indexer(pd.Index(counts["gold"])), by_label),
        answer=summed(answered, pd.Index(labels).get_indexer(pd.Index(counts["answer"])), by_label),
        rows=summed(scored, gold_at, by_gold).sum(axis=1),
    )


def _shares_of_item(n: Floats, place: NDArray[np.int64]) -> Floats:
    """Counts as shares of their question's, so that every question weighs 1; 0 where it has none."""
    total = np.bincount(place, n)[place] if len(n) else n
    return np.divide(n, total, out=np.zeros_like(n), where=total > 0)


def _floors(
    arrays: _Arrays, golds: tuple[str, ...], options: int, ci_level: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows by model, and accuracies by model and right option."""
    k = len(golds)
    weights = np.vstack([np.eye(k), np.full((1, k), 1 / k)])
    rows = np.concatenate([arrays.rows, arrays.rows.sum(axis=1, keepdims=True)], axis=1)
    rates = clustered_rates(arrays.asked, arrays.right, weights, rows=rows)
    found = rates.contrasts
    low, high = rate_limits(rates, ci_level=ci_level)
    ends = floor_limits(rates, tuple(range(k)), ci_level=ci_level)
    rate = found.estimate[:, :k]
    above = floor_above(np.clip(rate, 0, 1), rates.n_eff[:, :k], found.df[:, :k], null=1 / options)
    below = floor_below(np.clip(rate, 0, 1), rates.n_eff[:, :k], found.df[:, :k], null=1 / options)
    adjusted = holm(above[1]), holm(below[1])
    floor = rate.min(axis=1)
    at = np.where(np.isnan(rate), np.inf, rate).argmin(axis=1)
    models = pd.DataFrame(
        {
            "model": list(arrays.names),
            "balanced_accuracy": found.estimate[:, k],
            "balanced_low": low[:, k],
            "balanced_high": high[:, k],
            "balanced_method": RATE,
            "competence_floor": floor,
            "ci_low": ends[0],
            "ci_high": ends[1],
            "ci_level": ci_level,
            "ci_method": FLOOR,
            "option": [golds[i] if not np.isnan(v) else "" for i, v in zip(at, floor, strict=True)],
            "chance": 1 / options,
            "p_value": above[1],
            "p_adjusted": adjusted[0],
            "below_p_value": below[1],
            "below_p_adjusted": adjusted[1],
            "p_adjust_method": "holm",
            "family_size": family_size(above[1]),
            "decision": decisions(*adjusted, 1 - ci_level),
            "n": arrays.rows.sum(axis=1).astype(np.int64),
            "n_items": np.round(arrays.asked.sum(axis=(1, 2))).astype(np.int64),
            "n_clusters": np.count_nonzero(arrays.asked.sum(axis=2), axis=1),
            "reason": np.select([found.empty[:, k], found.single[:, k]], [EMPTY, SINGLE], ""),
        }
    )
    flat = pd.DataFrame(
        {
            "model": np.repeat(arrays.names, k),
            "option": np.tile(golds, len(arrays.names)),
            "accuracy": rate.ravel(),
            "accuracy_low": low[:, :k].ravel(),
            "accuracy_high": high[:, :k].ravel(),
            "accuracy_method": RATE,
            "accuracy_reason": np.select([found.empty[:, :k], found.single[:, :k]], [EMPTY, SINGLE], "").ravel(),
        }
    )
    return models, flat


def _shares(arrays: _Arrays, labels: tuple[str, ...], ci_level: float) -> pd.DataFrame:
    """Shares of right and of answered options, and their difference, by model and option."""
    asked = arrays.gold.sum(axis=2)
    y = np.stack([arrays.answer, arrays.gold], axis=-1).transpose(0, 2, 1, 3)
    n = np.broadcast_to(asked[:, None, :, None], y.shape)
    weights = np.array([[1, 0], [0, 1], [1, -1]])
    rates = clustered_rates(n, y, weights)
    found = rates.contrasts
    low, high = difference_limits(rates, 2, (0, 1), weights[2], ci_level=ci_level)
    return pd.DataFrame(
        {
            "model": np.repeat(arrays.names, len(labels)),
            "option": np.tile(labels, len(arrays.names)),
            "gold_share": found.estimate[..., 1].ravel(),
            "answer_share": found.estimate[..., 0].ravel(),
            "estimate": found.estimate[..., 2].ravel(),
            "ci_low": low.ravel(),
            "ci_high": high.ravel(),
            "ci_method": DIFFERENCE,
            "n_clusters": rates.units[..., 2].ravel(),
            "reason": np.select([found.empty[..., 2], found.single[..., 2]], [SILENT, SINGLE], "").ravel(),
        }
    )


def _lean_tests(arrays: _Arrays, rng: np.random.Generator, flips: int, alpha: float) -> pd.DataFrame:
    tests: list[MarginalHomogeneity] = []
    # One seed for all: what a model gets does not depend on the others.
    seed = int(rng.integers(2**63))
    for gold, answer in zip(arrays.gold, arrays.answer, strict=True):
        present = gold.sum(axis=1) > 0
        moved = (answer - gold)[present].T
        tests.append(marginal_homogeneity(moved, rng=np.random.default_rng(seed), flips=flips, alpha=alpha))
    p = np.array([test.p_value for test in tests])
    resolution = np.array([test.resolution for test in tests])
    return pd.DataFrame(
        {
            "model": list(arrays.names),
            "lean_statistic": [test.statistic for test in tests],
            "lean_df": [test.df for test in tests],
            "lean_p_value": p,
            "lean_p_adjusted": holm(p),
            "lean_resolution": resolution,
            "lean_bound": adjusted_bound(p, holm(p), resolution),
            "lean_p_adjust_method": "holm",
            "lean_family_size": family_size(p),
            "lean_reason": [test.reason for test in tests],
        }
    )
