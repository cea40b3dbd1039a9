"""A model before and after, on the questions that both answered: differences, paired tests, verdicts."""

from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.frequentist.factor_levels import TreatedLevels
from analysis.frequentist.linearised import unit_contrast_values
from analysis.frequentist.model_comparison import (
    FLOOR,
    ROPE,
    compared_weights,
    flipped_rows,
    floor_rows,
    with_equivalence,
)
from analysis.frequentist.multiplicity import adjusted_bound, family_size, holm
from analysis.measures.competence import competence_floor
from analysis.measures.rates import share
from analysis.reduction.matched_sets import SIDES

Floats = NDArray[np.float64]
#: Measure -> 1 where more is better, -1 where less is, 0 where less in size is.
BETTER: Final = {
    FLOOR: 1,
    "balanced_accuracy": 1,
    "answer_bias": 0,
    "polarity_sensitivity": 0,
    "accuracy": 1,
    "uncertain_rate": -1,
}
IDENTICAL: Final = "no unit differs between before and after"


def before_after(
    data: TreatedLevels,
    *,
    rng: np.random.Generator,
    flips: int = 20_000,
    ci_level: float = 0.95,
    rope: float = ROPE,
) -> pd.DataFrame:
    """Differences of all measures that the cells allow, after minus before, over the same units.

    Parameters
    ----------
    data : TreatedLevels
        Of one level, its two models named as ``SIDES``.
    rng : Generator
    flips : int
    ci_level : float in (0, 1)
    rope : float > 0
        Differences within +- ``rope`` count as none.

    Returns
    -------
    DataFrame
        One row per measure: ``before, after, estimate`` (after minus before), ``std_error, df``, interval,
        ``p_value``, ``p_equivalent``, ``n_clusters``, ``identical`` (no unit differs), ``reason``;
        for measures whose size counts, ``p_size``: whether before plus after differs from 0, which with the
        difference decides which of the two is larger in size; and ``resolution``, the smallest p-value that
        the flips allow where ``p_value`` is that.

    Raises
    ------
    AnalysisError
        Other than two sides, or several levels.

    Notes
    -----
    Responses weigh alike within a cell. |after| < |before| where after - before and after + before have
    opposite signs, since their product is the difference of squares.
    """
    if data.arrays.models != SIDES or data.n.shape[2] != 1:
        raise AnalysisError(f"before and after need the sides {' and '.join(SIDES)} and one level of all responses")
    n, y = data.n[:, :, 0], data.y[:, :, 0]
    parts = _cell_parts(data, n, y, rng, flips, ci_level) if data.arrays.cells != ("",) else []
    scored = (data.arrays.answered + data.arrays.uncertain)[:, :, 0]
    whole = {"accuracy": (n, y), "uncertain_rate": (scored, data.arrays.uncertain[:, :, 0])}
    for measure, (trials, events) in whole.items():
        pooled = trials.sum(axis=-1, keepdims=True), events.sum(axis=-1, keepdims=True)
        parts.append(_contrast_row(measure, *pooled, np.ones(1), rng, flips, ci_level))
    rows = pd.concat([with_equivalence(part, rope, 1 - ci_level) for part in parts], ignore_index=True)
    # The largest difference that there can be: of measures within [0, 1], and of signed ones.
    most = np.where(rows["measure"].map(BETTER) == 0, 2.0, 1.0)
    rows = rows.assign(ci_low=np.maximum(rows["ci_low"], -most), ci_high=np.minimum(rows["ci_high"], most))
    identical = rows["identical"].to_numpy(bool)
    rows.loc[identical, "reason"] = IDENTICAL
    rows.loc[identical, ["p_value", "resolution", "p_size"]] = np.nan
    return rows.drop(columns=["at_a", "at_b", "decision", "p_adjusted", "adjusted_bound", "family_size"]).assign(
        ci_level=ci_level
    )


def with_verdicts(rows: pd.DataFrame, *, ci_level: float = 0.95) -> pd.DataFrame:
    """Adjusted p-values over all rows, and what they allow to say of each.

    Parameters
    ----------
    rows : DataFrame
        Of ``before_after``, of any number of models and tasks.
    ci_level : float in (0, 1)
        Decisions are taken at 1 - level.

    Returns
    -------
    DataFrame
        ``p_adjusted``, ``size_p_adjusted`` (Holm over both together: all tests of a difference, and of which
        is larger in size), ``equivalent_p_adjusted`` (Holm over all tests of equivalence), ``verdict``:
        ``unchanged`` (no unit differs), ``equivalent``, ``better``, ``worse``, ``changed`` (a difference is shown
        and not which is larger in size), ``undecided``, ``not tested``.
    """
    alpha = 1 - ci_level
    tested = np.concatenate([rows["p_value"].to_numpy(float), rows["p_size"].to_numpy(float)])
    adjusted = holm(tested)
    difference, size = adjusted[: len(rows)], adjusted[len(rows) :]
    equivalent = holm(rows["p_equivalent"].to_numpy(float))
    found = rows.assign(
        p_adjusted=difference,
        size_p_adjusted=size,
        adjusted_bound=adjusted_bound(rows["p_value"], difference, rows["resolution"]),
        equivalent_p_adjusted=equivalent,
        p_adjust_method="holm",
        family_size=family_size(tested),
        equivalent_family_size=family_size(rows["p_equivalent"]),
    )
    return found.assign(verdict=[_verdict(row, alpha) for row in found.to_dict("records")])


def _cell_parts(
    data: TreatedLevels, n: Floats, y: Floats, rng: np.random.Generator, flips: int, ci_level: float
) -> list[pd.DataFrame]:
    classes, contrasts = compared_weights(data)
    after, before = competence_floor(share(y.sum(axis=1), n.sum(axis=1)) @ classes.T)
    same = bool(np.array_equal(n[0], n[1]) and np.array_equal(y[0], y[1]))
    floors = floor_rows(n, y, classes, ci_level).assign(
        before=before, after=after, identical=same, p_size=np.nan, resolution=np.nan
    )
    rest = [_contrast_row(name, n, y, weights, rng, flips, ci_level) for name, weights in contrasts.items()]
    return [floors, *rest]


def _contrast_row(
    measure: str, n: Floats, y: Floats, weights: Floats, rng: np.random.Generator, flips: int, ci_level: float
) -> pd.DataFrame:
    """Row of a contrast of rates, after minus before."""
    values = unit_contrast_values(n, y, weights[None])[:, 0]
    row = flipped_rows(measure, values, rng, flips, ci_level)
    after, before = share(y.sum(axis=1), n.sum(axis=1)) @ weights
    p_size = np.nan
    if BETTER[measure] == 0:
        mirrored = np.stack([values[0], -values[1]])
        p_size = float(flipped_rows(measure, mirrored, rng, flips, ci_level)["p_value"].iloc[0])
    return row.assign(
        before=before,
        after=after,
        identical=bool(np.array_equal(values[0], values[1], equal_nan=True)),
        p_size=p_size,
        resolution=row["adjusted_bound"],
    )


def _verdict(row: dict[Any, Any], alpha: float) -> str:
    if row["identical"]:
        return "unchanged"
    if row["equivalent_p_adjusted"] <= alpha:
        return "equivalent"
    if np.isnan(row["p_adjusted"]):
        return "not tested"
    if not row["p_adjusted"] <= alpha:
        return "undecided"
    better = BETTER[str(row["measure"])]
    if better:
        return "better" if better * row["estimate"] > 0 else "worse"
    if not row["size_p_adjusted"] <= alpha:
        return "changed"
    return "better" if abs(row["after"]) < abs(row["before"]) else "worse"
