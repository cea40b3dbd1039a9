"""Standard errors of logs parted into what responses within units add and what differences between units add."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.cell_rates import POOLED_DESIGN, Design, design_of
from analysis.frequentist.clustered import clustered_contrasts
from analysis.frequentist.floor_difference import floor_differences
from analysis.frequentist.paired_intervals import paired_difference
from analysis.frequentist.unit_arrays import (
    Floats,
    TaskSums,
    UnitArrays,
    accuracy_columns,
    cell_arrays,
    pooled_arrays,
    portions,
    tasks_of,
)
from analysis.measures.rates import treated_counts
from analysis.planning.components import rescaled_std_error, within_variance

#: Measures whose errors are parted, as far as the design has them.
PARTED: Final = ("balanced_accuracy", "answer_bias", "polarity_sensitivity")
ASKED_ONCE: Final = "units are mostly asked once, so that nothing is known of how their answers vary"
#: Pairs of models whose differences are taken at most.
MOST_PAIRS: Final = 300
_PAIR_COLUMNS: Final = ["task", "measure", "std_error", "df", "n_clusters", "unit"]
_COUNTS: Final = ("n_answered", "n_correct", "n_uncertain")


def unit_components(sums: pd.DataFrame, *, uncertain: str = "incorrect") -> pd.DataFrame:
    """Share of the variance of each measure that more responses per unit would take away.

    Parameters
    ----------
    sums : DataFrame
        As ``reduction.unit_sums`` returns.
    uncertain : {"incorrect", "excluded", "half"}

    Returns
    -------
    DataFrame
        ``task, model, measure, std_error, within_share, doubled_std_error, reason``: the standard error is that of
        ``frequentist.answer_bias_estimates``; ``doubled_std_error`` is what it would be with twice the responses of
        each unit.
    """
    parts = [_components(part, uncertain) for task in tasks_of(sums) for part in portions(task)]
    return pd.concat(parts, ignore_index=True)


def pair_errors(sums: pd.DataFrame, *, uncertain: str = "incorrect", unit: str = "unit") -> pd.DataFrame:
    """Standard errors of differences in accuracy of models over the units they share, for planning.

    Returns
    -------
    DataFrame
        ``task, measure, std_error, df, n_clusters, unit``, one row per pair; of many models some 300 pairs, evenly
        spread over all.
    """
    rows = []
    for task in tasks_of(sums):
        for part in portions(task):
            pairs = _spread_pairs(len(part.models))
            if not len(pairs):
                continue
            arrays = pooled_arrays(part, *accuracy_columns(part, uncertain))
            found = floor_differences(arrays.n, arrays.y, arrays.weights, pairs=pairs)
            errors = {"std_error": found.std_error, "df": found.df, "n_clusters": found.n_clusters}
            rows.append(pd.DataFrame(errors | {"task": part.task, "measure": "accuracy", "unit": unit}))
    return pd.concat(rows, ignore_index=True)[_PAIR_COLUMNS] if rows else pd.DataFrame(columns=_PAIR_COLUMNS)


def score_pair_errors(items: pd.DataFrame, *, task: str, unit: str = "unit") -> pd.DataFrame:
    """Standard errors of differences in mean score of two models over the questions that both have, by unit.

    Parameters
    ----------
    items : DataFrame
        ``model, item, unit, score``, one row per model and question; every question weighs the same.
    task, unit : str

    Returns
    -------
    DataFrame
        As ``pair_errors``, of ``mean_score``.
    """
    scores = items.assign(model=items["model"].astype(str)).pivot(index="item", columns="model", values="score")
    units = items.drop_duplicates("item").set_index("item")["unit"].reindex(scores.index)
    codes, values = pd.factorize(units, sort=True)[0], scores.sort_index(axis=1).to_numpy(float)
    rows = []
    for a, b in _spread_pairs(values.shape[1]):
        both = ~np.isnan(values[:, [a, b]]).any(axis=1)
        at = pd.factorize(codes[both])[0]
        sums = [np.bincount(at, x) for x in (np.ones(len(at)), values[both, a], values[both, b])]
        found = paired_difference(*sums, ci_level=0.95)
        rows.append((task, "mean_score", float(found.std_error), float(found.df), int(at.max(initial=-1)) + 1, unit))
    return pd.DataFrame(rows, columns=_PAIR_COLUMNS)


def _spread_pairs(models: int) -> NDArray[np.intp]:
    """Pairs (P, 2) of models, all of them or some that are evenly spread over all."""
    pairs = np.stack(np.triu_indices(models, 1), axis=1)
    return pairs[np.unique(np.linspace(0, len(pairs) - 1, min(len(pairs), MOST_PAIRS)).astype(int))]


def _components(task: TaskSums, uncertain: str) -> pd.DataFrame:
    design = design_of(task)
    used, names = (POOLED_DESIGN, ("rate",)) if design is None else (design, PARTED)
    at = [used.names.index(name) for name in names if name in used.names]
    arrays = _arrays(task, design, *accuracy_columns(task, uncertain))
    weights = used.weights[at] @ arrays.weights
    errors = np.sqrt(np.maximum(clustered_contrasts(arrays.n, arrays.y, weights).variance, 0))
    within = _within(task, design, arrays, weights, uncertain)
    share = np.divide(within, errors**2, out=np.full(errors.shape, np.nan), where=errors > 0)
    doubled = rescaled_std_error(errors, within, rows=2.0)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "task": task.task,
                    "model": list(task.models),
                    "measure": "accuracy" if design is None else used.names[q],
                    "std_error": errors[:, i],
                    "within_share": np.clip(share[:, i], 0, 1),
                    "doubled_std_error": doubled[:, i],
                    "reason": np.where(np.isnan(share[:, i]), ASKED_ONCE, ""),
                }
            )
            for i, q in enumerate(at)
        ],
        ignore_index=True,
    )


def _arrays(task: TaskSums, design: Design | None, n: Floats, y: Floats) -> UnitArrays:
    return pooled_arrays(task, n, y) if design is None else cell_arrays(task, n, y)


def _within(task: TaskSums, design: Design | None, arrays: UnitArrays, weights: Floats, uncertain: str) -> Floats:
    """Variance within units (M, Q), from the counts of responses, whatever weighs them."""
    answered, correct, unclear = (task.columns[name] for name in _COUNTS)
    n, y = treated_counts(answered + unclear, correct, unclear, answered, correct, uncertain=uncertain)
    counts = _arrays(task, design, n, y)
    if not np.isclose(counts.n.sum(), n[task.known if design is not None else slice(None)].sum()):
        # Strata of one unit each were joined: their responses cannot be told apart any more.
        return np.full((len(arrays.n), len(weights)), np.nan)
    total = arrays.n.sum(axis=1, keepdims=True)
    share = np.divide(arrays.n, total, out=np.zeros_like(arrays.n), where=total > 0)
    return within_variance(counts.n, counts.y, share, weights)
