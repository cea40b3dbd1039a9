"""Slopes of measures on the logarithm of model size as tidy rows, under the prior and under a second one."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.bayes.size_slope import SizeSlopes, SlopePriors, size_slopes

#: Fewer degrees of freedom than this around the lines leave the scatter to its prior.
LEAST_LEFT: Final = 3
#: Names of the rows that are not a family.
#: What a row speaks of (column ``scope``); only rows of one family name a ``family``.
THESE: Final = "these families"
NEW: Final = "families like these"
ONE: Final = "one family"


@dataclass(frozen=True, slots=True)
class _Usable:
    """Models of one measure that a slope can use, or the reason why there are too few."""

    rows: pd.DataFrame
    reason: str


def size_slope_rows(rows: pd.DataFrame, *, priors: SlopePriors | None = None, ci_level: float = 0.95) -> pd.DataFrame:
    """Change of each measure per doubling of size: of each family, and of all together.

    Parameters
    ----------
    rows : DataFrame
        ``measure, model, family, size, estimate, std_error``, a row per model and measure. Models without a size, an
        estimate or a standard error, and families with one size, are left out and counted.
    priors : SlopePriors
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        ``measure, scope`` (THESE: the mean slope of the families; NEW: that of the population they stand for; ONE:
        that of ``family``, which is empty in the other rows),
        ``estimate`` (median), ``posterior_sd, ci_low, ci_high`` (equal tails), ``p_direction``, the same
        under the second prior as ``second_estimate, second_low, second_high``; with THESE also ``spread, spread_upper``
        (sd of slopes between families) and ``scatter, scatter_upper``; ``n_models, n_families, n_left_out, reason``.
        Where slopes cannot be pooled, one row per measure with the reason.

    Notes
    -----
    Errors of the models are taken as independent. Models that answer the same questions err together, which moves
    levels more than slopes: intervals are then rather too wide.
    """
    priors = priors or SlopePriors()
    parts = [
        _of_measure(str(measure), group, priors, ci_level) for measure, group in rows.groupby("measure", sort=False)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _of_measure(measure: str, group: pd.DataFrame, priors: SlopePriors, ci_level: float) -> pd.DataFrame:
    usable = _usable(group)
    used = usable.rows
    shared = {
        "measure": measure,
        "n_models": len(used),
        "n_families": int(used["family"].nunique()),
        "n_left_out": len(group) - len(used),
        "ci_level": ci_level,
        "ci_method": "eti",
    }
    if usable.reason:
        return pd.DataFrame([shared | {"scope": THESE, "family": "", "reason": usable.reason}])
    names, family = np.unique(used["family"].to_numpy(str), return_inverse=True)
    x, y, error = (
        np.log2(used["size"].to_numpy(float)),
        used["estimate"].to_numpy(float),
        used["std_error"].to_numpy(float),
    )
    first, second = (
        size_slopes(x, y, error, family, chosen, ci_level=ci_level) for chosen in (priors, priors.doubled())
    )
    labels = [(NEW, ""), (THESE, ""), *((ONE, str(name)) for name in names)]
    order = [1, 0, *range(2, len(labels))]
    sizes = [len(used), len(used), *np.bincount(family)]
    rows = [_row(labels[i][0], labels[i][1], i, first, second) for i in order]
    return pd.DataFrame([shared | {"n_models": int(sizes[i])} | row for i, row in zip(order, rows, strict=True)])


def _usable(group: pd.DataFrame) -> _Usable:
    known = group[["size", "estimate", "std_error"]].apply(np.isfinite).all(axis=1) & (group["size"] > 0)
    rows = group[known & group["family"].notna()].sort_values(["family", "size", "model"], kind="stable")
    rows = rows[rows.groupby("family")["size"].transform("nunique") > 1]
    families = rows["family"].nunique()
    if families < 2:
        found = "none has" if families == 0 else "one alone has"
        return _Usable(rows, f"slopes are pooled over families, and {found} models of two sizes")
    left = len(rows) - 2 * families
    if left < LEAST_LEFT:
        said = f"{len(rows)} models in {families} families leave {left} for their scatter around the lines"
        return _Usable(rows, f"too few sizes: {said}, {LEAST_LEFT} are needed")
    return _Usable(rows, "")


def _row(scope: str, family: str, at: int, first: SizeSlopes, second: SizeSlopes) -> dict[str, Any]:
    problem = first.problem
    row: dict[str, Any] = {"scope": scope, "family": family, "reason": problem}
    if problem:
        return row
    row |= {
        "estimate": first.median[at],
        "posterior_sd": first.sd[at],
        "ci_low": first.low[at],
        "ci_high": first.high[at],
        "p_direction": max(first.p_positive[at], 1 - first.p_positive[at]),
    }
    if not second.problem:
        row |= {"second_estimate": second.median[at], "second_low": second.low[at], "second_high": second.high[at]}
    if scope == THESE:
        row |= {"spread": first.spread[0], "spread_upper": first.spread[1]}
        row |= {"scatter": first.scatter[0], "scatter_upper": first.scatter[1]}
    return row
