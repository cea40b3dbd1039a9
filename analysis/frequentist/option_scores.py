"""F1 of multiple-choice answers: of every option, their mean, and that of their sums, with intervals by unit."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.frequentist.unit_bootstrap import percentile_limits, resampled_sums
from analysis.measures.classification import f1, micro_f1, treated_table
from analysis.measures.rates import check_treatment

Floats = NDArray[np.float64]
METHOD: Final = "unit bootstrap, percentile"
NEVER: Final = "never right and never answered"
FLAT: Final = "no resample differs: no interval"


def option_scores(
    counts: pd.DataFrame,
    labels: Sequence[str],
    *,
    rng: np.random.Generator,
    uncertain: str = "incorrect",
    resamples: int = 10_000,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """F1 by model: ``macro_f1`` and ``micro_f1`` over all options, and ``f1`` of each.

    Parameters
    ----------
    counts : DataFrame
        As ``reduction.option_counts`` returns; questions weigh the same.
    labels : sequence of str
        All options, in order.
    rng : Generator
        Models share the resampled units.
    uncertain : {"incorrect", "excluded", "half"}
        As ``measures.classification.treated_table`` has it.
    resamples : int
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        ``model, measure, option`` (empty for the means), ``estimate, ci_low, ci_high, ci_level, ci_method,
        n_clusters, reason``. The macro mean is over the options that are right somewhere.
    """
    check_level(ci_level)
    check_treatment(uncertain)
    names, tables = _unit_tables(counts, tuple(labels))
    models, units, k, _ = tables.shape
    sums = tables.transpose(1, 0, 2, 3).reshape(units, -1)
    drawn = resampled_sums(sums, rng=rng, resamples=resamples).reshape(resamples, models, k, k + 1)
    right_somewhere = np.array([(counts["gold"] == label).any() for label in labels])
    observed = _scores(tables.sum(axis=1), right_somewhere, uncertain)
    low, high = percentile_limits(_scores(drawn, right_somewhere, uncertain), ci_level=ci_level)
    named = [("macro_f1", ""), ("micro_f1", ""), *(("f1", label) for label in labels)]
    present = (tables.sum(axis=(-2, -1)) > 0).sum(axis=1)
    rows = []
    for m, model in enumerate(names):
        for at, (measure, option) in enumerate(named):
            value, limited = observed[m, at], high[m, at] - low[m, at] > 1e-12
            rows.append(
                {
                    "model": model,
                    "measure": measure,
                    "option": option,
                    "estimate": value,
                    "ci_low": low[m, at] if limited else np.nan,
                    "ci_high": high[m, at] if limited else np.nan,
                    "n_clusters": int(present[m]),
                    "reason": NEVER if np.isnan(value) else "" if limited else FLAT,
                }
            )
    return pd.DataFrame(rows).assign(ci_level=ci_level, ci_method=METHOD)


def _unit_tables(counts: pd.DataFrame, labels: tuple[str, ...]) -> tuple[tuple[str, ...], Floats]:
    """Models, and tables (M, U, K, K + 1) of right against given options; a question's responses add up to 1."""
    model, names = pd.factorize(counts["model"], sort=True)
    unit, units = pd.factorize(counts["unit"], sort=True)
    total = counts.groupby(["model", "item"])["n"].transform("sum").to_numpy(float)
    index = pd.Index(labels)
    gold, given = index.get_indexer(pd.Index(counts["gold"])), index.get_indexer(pd.Index(counts["answer"]))
    k = len(labels)
    tables = np.zeros((len(names), len(units), k, k + 1))
    np.add.at(tables, (model, unit, gold, np.where(given < 0, k, given)), counts["n"].to_numpy(float) / total)
    return tuple(map(str, names)), tables


def _scores(tables: Floats, right_somewhere: NDArray[np.bool_], uncertain: str) -> Floats:
    """(..., 2 + K): macro and micro F1, then F1 of every option."""
    treated = treated_table(tables, uncertain=uncertain)
    each = f1(treated)
    macro = each[..., right_somewhere].mean(axis=-1)
    return np.concatenate([macro[..., None], micro_f1(treated)[..., None], each], axis=-1)
