"""Accuracy, answer bias and polarity sensitivity by level of a factor: estimates, spread, distance from a baseline."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.frequentist.clustered_rates import clustered_rates, difference_limits, rate_limits
from analysis.frequentist.homogeneity import homogeneity
from analysis.frequentist.linearised import unit_contrast_values
from analysis.frequentist.multiplicity import adjusted_bound, family_size, holm
from analysis.frequentist.simultaneous import LargestContrast, largest_contrast
from analysis.measures.rates import treated_counts
from analysis.measures.yes_no_bias import CONTRASTS, TWO_CLASSES
from analysis.reduction.levels import LevelArrays

Floats = NDArray[np.float64]
RATE: Final = "cluster Wilson (t)"
DIFFERENCE: Final = "square-and-add of cluster Wilson (t)"
SIMULTANEOUS: Final = "square-and-add of cluster Wilson (t), simultaneous over levels"
#: Measure -> weights of the cells, for four cells and for two classes; accuracy weighs responses alike.
FOUR_CELL: Final = {"answer_bias": CONTRASTS[1], "polarity_sensitivity": CONTRASTS[2]}
TWO_CLASS: Final = {"answer_bias": np.array([1.0, -1.0])}
#: Fields of a test of homogeneity that become columns.
SPREAD: Final = (
    *("estimate", "std_error", "df", "statistic", "p_value", "mc_error", "null_range", "null_range_95"),
    *("denoised_range", "denoised_sd", "denoised_low", "denoised_high", "largest_null", "largest_null_95"),
    *("n_clusters", "n_set_aside", "design", "reason"),
)
NOTHING: Final = "no response in a cell that this needs"
ONE_UNIT: Final = "only one unit: the variance between units is unknown"
NOT_VARIED: Final = "no unit deviates, hence no standard error"
NO_ERROR: Final = "units do not differ within the levels: no error to set a difference against"
#: Affirmative and negated accuracy over the four cells, responses weighing alike.
_BY_POLARITY: Final = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])


@dataclass(frozen=True, slots=True)
class TreatedLevels:
    """Trials and right answers (M, G, L, C) of ``LevelArrays`` under one treatment of uncertain answers."""

    arrays: LevelArrays
    n: Floats
    y: Floats

    @property
    def contrasts(self) -> dict[str, Floats]:
        """Measures beside accuracy that the cells allow, as weights of the cells."""
        if self.arrays.four:
            return FOUR_CELL
        return TWO_CLASS if self.arrays.cells == TWO_CLASSES else {}


def treated(arrays: LevelArrays, *, uncertain: str = "incorrect") -> TreatedLevels:
    """Trials and right answers under a treatment of uncertain answers."""
    scored = arrays.answered + arrays.uncertain
    n, y = treated_counts(
        scored, arrays.correct, arrays.uncertain, arrays.answered, arrays.correct, uncertain=uncertain
    )
    return TreatedLevels(arrays, n, y)


def level_estimates(data: TreatedLevels, *, ci_level: float = 0.95, pooled: bool = False) -> pd.DataFrame:
    """One row per model, level and measure, with intervals by unit.

    Parameters
    ----------
    data : TreatedLevels
    ci_level : float in (0, 1)
    pooled : bool
        Responses of all models together; the column ``model`` is then empty.

    Returns
    -------
    DataFrame
        ``model, level, measure, estimate, std_error, df, ci_low, ci_high, ci_method, scale, n, n_clusters,
        reason``; measures are ``accuracy`` (responses weigh alike) and, where there are cells,
        ``answer_bias`` (cells weigh alike); with four cells also ``acc_affirmative``, ``acc_negated``,
        their difference ``acc_difference`` (responses weigh alike) and ``polarity_sensitivity``.
    """
    n, y = (data.n.sum(axis=0, keepdims=True), data.y.sum(axis=0, keepdims=True)) if pooled else (data.n, data.y)
    models = ("",) if pooled else data.arrays.models
    parts = [
        part
        for at, level in enumerate(data.arrays.levels)
        for part in _level_rows(data, n[:, :, at], y[:, :, at], level, ci_level)
    ]
    # One table from all columns: a table per level and measure would take most of the time.
    table = pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    table["model"] = [models[m] for m in table["model"]]
    order = {name: at for at, name in enumerate(data.arrays.levels)}
    key = table["level"].map(order)
    index = table.assign(_at=key).sort_values(["model", "_at"], kind="stable").index
    return table.loc[index].reset_index(drop=True).assign(ci_level=ci_level, factor=data.arrays.factor)


def level_spread(
    data: TreatedLevels,
    *,
    measure: str = "accuracy",
    rng: np.random.Generator,
    permutations: int = 20_000,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """One row per model: range of a measure over levels beside what chance would give.

    Returns
    -------
    DataFrame
        ``model, measure, estimate`` (range), the fields of ``homogeneity.Homogeneity``, ``p_adjusted``
        (Holm over models), and ``level_<k>``: mean of the k-th level over units.
    """
    values = _unit_levels(data, measure)
    found = homogeneity(values, rng=rng, permutations=permutations, ci_level=ci_level)
    p = np.asarray(found.p_value, float)
    columns: dict[str, Any] = {"model": list(data.arrays.models), "measure": measure}
    columns |= {name: getattr(found, name) for name in SPREAD}
    columns |= {f"level_{k}": found.means[:, k] for k in range(len(data.arrays.levels))}
    return pd.DataFrame(columns).assign(
        p_adjusted=holm(p),
        adjusted_bound=adjusted_bound(p, holm(p), 1 / (permutations + 1)),
        p_adjust_method="holm",
        family_size=family_size(p),
        resolution=1 / (permutations + 1),
        ci_level=ci_level,
        ci_method="inverted noncentral F",
        factor=data.arrays.factor,
    )


@dataclass(frozen=True, slots=True)
class BaselineDifferences:
    """Distances of levels from a baseline.

    Attributes
    ----------
    rows : DataFrame
        One row per model and level other than the baseline: ``estimate`` (accuracy minus that of the
        baseline), ``std_error``, ``df``, simultaneous ``ci_low`` and ``ci_high``.
    largest : DataFrame
        One row per model: the largest distance and what chance would give.
    reference : LargestContrast
    """

    rows: pd.DataFrame
    largest: pd.DataFrame
    reference: LargestContrast


def baseline_differences(
    data: TreatedLevels,
    baseline: str,
    *,
    rng: np.random.Generator,
    draws: int = 20_000,
    ci_level: float = 0.95,
) -> BaselineDifferences:
    """Accuracy of every level minus that of the baseline, with limits that hold for all levels of a model together.

    Raises
    ------
    AnalysisError
        The baseline is no level of the factor.
    """
    arrays = data.arrays
    if baseline not in arrays.levels:
        raise AnalysisError(
            f"{arrays.factor}: baseline {baseline!r} does not occur; there is {', '.join(arrays.levels)}"
        )
    base, k = arrays.levels.index(baseline), len(arrays.levels)
    others = [at for at in range(k) if at != base]
    weights = np.zeros((len(others), k))
    weights[np.arange(len(others)), others] = 1
    weights[:, base] = -1
    n, y = data.n.sum(axis=-1), data.y.sum(axis=-1)
    rates = clustered_rates(n, y, np.vstack([np.eye(k), weights]))
    found = rates.contrasts
    estimate, df = found.estimate[:, k:], found.df[:, k:]
    error = np.sqrt(np.maximum(found.variance[:, k:], 0))
    reference = largest_contrast(
        unit_contrast_values(n, y, weights), estimate, error, df, rng=rng, draws=draws, ci_level=ci_level
    )
    low, high = np.full(estimate.shape, np.nan), np.full(estimate.shape, np.nan)
    for m, level in enumerate(reference.pointwise_level):
        if 0 < level < 1:
            for q in range(len(others)):
                ends = difference_limits(rates, k + q, tuple(range(k)), weights[q], ci_level=float(level))
                low[m, q], high[m, q] = ends[0][m], ends[1][m]
    reasons = np.select([found.empty[:, k:], found.single[:, k:], error <= 0], [NOTHING, ONE_UNIT, NOT_VARIED], "")
    rows = pd.DataFrame(
        {
            "model": np.repeat(arrays.models, len(others)),
            "level": [arrays.levels[at] for at in others] * len(arrays.models),
            "estimate": estimate.ravel(),
            "std_error": np.where(error > 0, error, np.nan).ravel(),
            "df": df.ravel(),
            "ci_low": low.ravel(),
            "ci_high": high.ravel(),
            "reason": reasons.ravel(),
        }
    ).assign(baseline=baseline, factor=arrays.factor, ci_level=ci_level, ci_method=SIMULTANEOUS)
    largest = pd.DataFrame(
        {
            "model": list(arrays.models),
            "estimate": np.where(np.isfinite(estimate).any(axis=1), reference.estimate, np.nan),
            "null_largest": reference.null_largest,
            "null_largest_95": reference.null_largest_95,
            "p_value": reference.p_value,
            "mc_error": reference.mc_error,
            "p_adjusted": holm(reference.p_value),
            "reason": [
                _untested(sizes, alone, p)
                for sizes, alone, p in zip(estimate, found.single[:, k:], reference.p_value, strict=True)
            ],
        }
    ).assign(
        p_adjust_method="holm",
        family_size=family_size(reference.p_value),
        resolution=1 / (draws + 1),
        adjusted_bound=adjusted_bound(reference.p_value, holm(reference.p_value), 1 / (draws + 1)),
        all_null=reference.all_null,
        all_null_95=reference.all_null_95,
        baseline=baseline,
        factor=arrays.factor,
    )
    return BaselineDifferences(rows, largest, reference)


def _untested(differences: Floats, single: NDArray[np.bool_], p_value: float) -> str:
    """Why the largest of a model's differences has no test; empty where it has one."""
    if not np.isfinite(differences).any():
        return NOTHING
    if np.isfinite(p_value):
        return ""
    return ONE_UNIT if single.any() else NO_ERROR


def _unit_levels(data: TreatedLevels, measure: str) -> Floats:
    """Value (M, G, L) of each unit at each level; NaN where it lacks something that the measure needs."""
    if measure == "accuracy":
        n, y = data.n.sum(axis=-1), data.y.sum(axis=-1)
        return np.divide(y, n, out=np.full(n.shape, np.nan), where=n > 0)
    if measure not in data.contrasts:
        raise AnalysisError(f"{measure!r} is not identified by the cells {', '.join(data.arrays.cells)}")
    rates = np.divide(data.y, data.n, out=np.full(data.n.shape, np.nan), where=data.n > 0)
    return rates @ data.contrasts[measure]


def _level_rows(
    data: TreatedLevels, n: Floats, y: Floats, level: str, ci_level: float
) -> list[dict[str, NDArray[Any]]]:
    """Columns of one level by measure; ``n`` and ``y`` are (M, G, C), ``model`` holds positions."""
    parts = [_rate_rows("accuracy", n.sum(-1, keepdims=True), y.sum(-1, keepdims=True), np.eye(1), 0, ci_level)]
    if data.arrays.four:
        trials, right = n @ _BY_POLARITY, y @ _BY_POLARITY
        weights = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
        for at, name in enumerate(("acc_affirmative", "acc_negated", "acc_difference")):
            parts.append(_rate_rows(name, trials, right, weights, at, ci_level))
    cells = n.shape[-1]
    for name, contrast in data.contrasts.items():
        weights = np.vstack([np.eye(cells), contrast])
        parts.append(_rate_rows(name, n, y, weights, cells, ci_level))
    return [part | {"level": np.full(len(n), level)} for part in parts]


def _rate_rows(
    measure: str, n: Floats, y: Floats, weights: Floats, at: int, ci_level: float
) -> dict[str, NDArray[Any]]:
    """Columns (M,) of one contrast of groups; rows of ``weights`` before it are the groups' own rates."""
    rates = clustered_rates(n, y, weights)
    found = rates.contrasts
    ell = weights[at]
    difference = bool((ell < 0).any())
    if difference:
        low, high = difference_limits(rates, at, tuple(range(n.shape[-1])), ell, ci_level=ci_level)
    else:
        low, high = (ends[:, at] for ends in rate_limits(rates, ci_level=ci_level))
    variance = found.variance[:, at]
    known = np.isfinite(low)
    return {
        "model": np.arange(len(n)),
        "measure": np.full(len(n), measure),
        "estimate": found.estimate[:, at],
        "std_error": np.where(variance > 0, np.sqrt(np.maximum(variance, 0)), np.nan),
        "df": found.df[:, at],
        "ci_low": low,
        "ci_high": high,
        "ci_method": np.where(known, DIFFERENCE if difference else RATE, ""),
        "scale": np.full(len(n), "probability difference" if difference else "probability"),
        "n": n.sum(axis=1)[:, ell != 0].sum(axis=1).astype(np.int64),
        "n_clusters": rates.units[:, at],
        "reason": np.select(
            [found.empty[:, at], found.single[:, at], variance <= 0], [NOTHING, ONE_UNIT, NOT_VARIED], ""
        ),
    }
