"""Models in order of their mean score, with how sure the order is."""

from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.frequentist.equivalence import DEFAULT_ROPE, agreed_decision, equivalence_test
from analysis.frequentist.model_measures import ModelUnits, model_units, rate_measure, tidy
from analysis.frequentist.multiplicity import family_size, holm
from analysis.frequentist.paired_intervals import paired_difference
from analysis.frequentist.rank_intervals import rank_intervals
from analysis.frequentist.sign_flips import sign_flip_test
from analysis.frequentist.unit_bootstrap import resampled_rates
from analysis.measures.pass_at_k import pass_at_k

Floats = NDArray[np.float64]
NOTHING: Final = "no scored question"
ROPE: Final = DEFAULT_ROPE["probability difference"]


def leaderboard(
    items: pd.DataFrame,
    *,
    rng: np.random.Generator,
    resamples: int = 10_000,
    flips: int = 20_000,
    ci_level: float = 0.95,
    target: str = "these",
    unit: str = "unit",
    task: str = "",
) -> pd.DataFrame:
    """Mean score, rank and distance to the best model.

    Parameters
    ----------
    items : DataFrame
        ``model, item, unit, score``, one row per model and question; every question weighs the same.
    rng : Generator
    resamples, flips, ci_level, target, unit, task

    Returns
    -------
    DataFrame
        One row per model, best first: ``estimate`` with cluster Wilson limits, ``n`` questions, ``n_clusters``;
        ``rank, rank_low, rank_high, p_first`` from units drawn anew; ``best``, and ``difference`` (best minus this
        one, over questions both have) with limits, ``p_value`` (sign flips over units), Holm, ``decision`` within
        ±0.02, ``n_shared``, ``n_unshared``.

    Notes
    -----
    The best model is picked by the same data, so that small p-values beside it are too small; the rank limits
    do not depend on the pick.
    """
    check_level(ci_level)
    known = model_units(items)
    score = items["score"].to_numpy(float)
    n, y = known.sums(np.where(np.isnan(score), np.nan, 1.0))[..., 0], known.sums(score)[..., 0]
    table = tidy(
        known.models,
        [rate_measure("mean_score", n, y, ci_level=ci_level, nothing=NOTHING)],
        target=target,
        ci_level=ci_level,
        unit=unit,
        task=task,
    )
    observed = np.divide(y.sum(axis=1), n.sum(axis=1), out=np.full(len(n), np.nan), where=n.sum(axis=1) > 0)
    drawn = resampled_rates(n[..., None], y[..., None], rng=rng, resamples=resamples)[..., 0]
    ranks = rank_intervals(observed, drawn, ci_level=ci_level)
    table = table.assign(rank=ranks.estimate, rank_low=ranks.ci_low, rank_high=ranks.ci_high, p_first=ranks.p_first)
    best = int(np.nanargmax(observed)) if np.isfinite(observed).any() else 0
    table = table.assign(best=known.models[best], **_differences(items, known, score, best, rng, flips, ci_level))
    order = np.lexsort((table["model"].to_numpy(object), -np.nan_to_num(observed, nan=-1.0)))
    return table.iloc[order].reset_index(drop=True)


def pass_estimates(
    items: pd.DataFrame, ks: tuple[int, ...], *, ci_level: float = 0.95, target: str = "these", **shared: str
) -> pd.DataFrame:
    """pass@k of each model: chance that one of k samples is right, mean over questions with k samples or more.

    Parameters
    ----------
    items : DataFrame
        ``model, item, unit, n_samples, n_right``.
    ks : tuple of int

    Returns
    -------
    DataFrame
        One row per model and measure ``pass_at_<k>``.
    """
    check_level(ci_level)
    known = model_units(items)
    found = []
    for k in ks:
        value = pass_at_k(items["n_samples"].to_numpy(), items["n_right"].to_numpy(), k)
        n = known.sums(np.where(np.isnan(value), np.nan, 1.0))[..., 0]
        nothing = f"no question with {k} samples"
        found.append(rate_measure(f"pass_at_{k}", n, known.sums(value)[..., 0], ci_level=ci_level, nothing=nothing))
    return tidy(known.models, found, target=target, ci_level=ci_level, **shared)


def _differences(
    items: pd.DataFrame,
    known: ModelUnits,
    score: Floats,
    best: int,
    rng: np.random.Generator,
    flips: int,
    ci_level: float,
) -> dict[str, Any]:
    """Columns of the differences to the best model, over questions that both have."""
    names, item = np.unique(items["item"].astype(str).to_numpy(), return_inverse=True)
    top = np.full(len(names), np.nan)
    own = known.model == best
    top[item[own]] = score[own]
    other = top[item]
    shared = ~np.isnan(score) & ~np.isnan(other)
    use = np.where(shared, 1.0, np.nan)
    n = known.sums(use)[..., 0]
    first, second = (known.sums(np.where(shared, side, np.nan))[..., 0] for side in (other, score))
    found = paired_difference(n, first, second, ci_level=ci_level)
    change = np.divide(first - second, n, out=np.full(n.shape, np.nan), where=n > 0)
    test = sign_flip_test(change, rng=rng, flips=flips)
    equal = equivalence_test(found.estimate, found.std_error, found.df, rope=(-ROPE, ROPE))
    itself = np.arange(len(known.models)) == best
    p = np.where(itself, np.nan, test.p_value)
    counted = np.bincount(known.model[~np.isnan(score)], minlength=len(known.models))
    both = n.sum(axis=1).astype(np.int64)
    return {
        "difference": np.where(itself, np.nan, found.estimate),
        "difference_low": np.where(itself, np.nan, found.ci_low),
        "difference_high": np.where(itself, np.nan, found.ci_high),
        "difference_method": "square-and-add of cluster Wilson (t)",
        "p_value": p,
        "resolution": test.resolution,
        "p_adjusted": holm(p),
        "p_adjust_method": "holm",
        "family_size": family_size(p),
        "decision": agreed_decision(
            np.where(itself, "not tested", equal.decision),
            ci_low=found.ci_low,
            ci_high=found.ci_high,
            p_adjusted=holm(p),
            rope=ROPE,
        ),
        "n_shared": both,
        "n_unshared": counted + counted[best] - 2 * both,
        "difference_reason": np.where(
            itself, "the best model itself", np.where(both == 0, "no question shared with the best model", "")
        ),
    }
