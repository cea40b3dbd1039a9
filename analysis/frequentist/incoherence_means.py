"""Means over instances of groups (model, family, level ...), with unit bootstrap-t intervals for all at once."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.unit_bootstrap import bootstrap_t

#: Ratios resampled in one pass.
_AT_ONCE = 150
#: Fewer units than this give no interval.
FEWEST = 5


def grouped_means(
    instances: pd.DataFrame,
    columns: Mapping[str, str],
    *,
    by: Sequence[str],
    rng: np.random.Generator,
    resamples: int = 10_000,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """Mean of each column in each group, instances weighing the same.

    Parameters
    ----------
    instances : DataFrame
        With ``unit``, the columns, and ``by``.
    columns : mapping
        Measure -> column; missing values are left out.
    by : sequence of str

    Returns
    -------
    DataFrame
        ``by``, ``measure, estimate, std_error, ci_low, ci_high, ci_level, ci_method, n, n_clusters, reason``; groups in
        order of name. No interval with fewer than five units; limits stay at 0 or above, and at 1 or below, where no
        value of the column lies beyond.
    """
    units = pd.Index(sorted(instances["unit"].unique()))
    keys, tops, sizes, counts, ends = [], [], [], [], []
    for group, rows in instances.groupby(list(by), sort=True, observed=True):
        code = units.get_indexer(pd.Index(rows["unit"]))
        for measure, column in columns.items():
            values = rows[column].to_numpy(float)
            known = np.isfinite(values)
            size = np.bincount(code[known], minlength=len(units)).astype(float)
            top = np.bincount(code[known], weights=values[known], minlength=len(units))
            keys.append((*group, measure) if isinstance(group, tuple) else (group, measure))
            tops.append(np.where(size > 0, top, np.nan))
            sizes.append(size)
            counts.append(int(known.sum()))
            ends.append(_range(instances[column].to_numpy(float)))
    table = pd.DataFrame(keys, columns=[*by, "measure"])
    parts = []
    for start in range(0, len(tops), _AT_ONCE):
        chunk = slice(start, start + _AT_ONCE)
        found = bootstrap_t(
            np.stack(tops[chunk]), sizes=np.stack(sizes[chunk]), rng=rng, resamples=resamples, ci_level=ci_level
        )
        few = found.n_clusters < FEWEST
        least, most = np.array(ends[chunk]).T
        parts.append(
            pd.DataFrame(
                {
                    "estimate": found.estimate,
                    "std_error": found.std_error,
                    "ci_low": np.where(few, np.nan, np.clip(found.ci_low, least, most)),
                    "ci_high": np.where(few, np.nan, np.clip(found.ci_high, least, most)),
                    "ci_level": ci_level,
                    "ci_method": found.ci_method,
                    "n": counts[chunk],
                    "n_clusters": found.n_clusters,
                    "reason": np.where(few & (found.n_clusters > 0), f"fewer than {FEWEST} units", found.reason),
                }
            )
        )
    return pd.concat([table, pd.concat(parts, ignore_index=True)], axis=1) if parts else table


def _range(values: NDArray[np.float64]) -> tuple[float, float]:
    """Ends that a mean of such values cannot pass: 0 for sizes, 0 and 1 for shares."""
    known = values[np.isfinite(values)]
    size = bool(len(known)) and bool(known.min() >= 0)
    share = size and bool(np.isin(known, (0.0, 0.5, 1.0)).all())
    return (0.0 if size else -np.inf), (1.0 if share else np.inf)
