"""Incoherence of each model: size of residuals, persistent part, noise, direction, spread, with intervals by unit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.frequentist.incoherence_tests import ONE_WORDING, WordingFlipTest, persistent_upper_bound
from analysis.frequentist.residual_noise import direction_squared, unit_totals
from analysis.frequentist.unit_bootstrap import bootstrap_t, unit_weights
from analysis.measures.coherence import cross_products, noise_variance, root

Floats = NDArray[np.float64]
#: Measure -> column of the instances that it is the mean of.
MEANS: Final = {
    "mean_abs_residual": "abs_residual",
    "rms_residual": "square",
    "mean_abs_difference": "abs_difference",
    "error_direct": "error_left",
    "error_implied": "error_right",
    "reasoning_tokens": "tokens",
}
#: Measures of instances that were asked in two wordings or more.
REPEATED: Final = ("persistent", "noise", "spread", "direction", "persistent_unclipped", "persistent_these")
#: Measures whose squares are estimated, and whose roots are shown.
ROOTS: Final = ("rms_residual", "persistent", "noise", "spread", "persistent_unclipped", "persistent_these")
SCALES: Final = {"mean_abs_difference": "probability difference", "reasoning_tokens": "tokens"}
COLUMNS: Final = (
    "task", "model", "measure", "estimate", "std_error", "ci_low", "ci_high", "ci_level", "ci_method", "scale", "n",
    "n_clusters", "unit", "squared", "squared_low", "squared_high", "reason",
)  # fmt: skip
NO_INSTANCE: Final = "no complete instance"
#: Why a measure of complete instances is missing.
NOT_LOGGED: Final = {
    "error_direct": "no truth is logged",
    "error_implied": "no truth is logged",
    "reasoning_tokens": "no reasoning tokens are logged",
}
LESS_THAN_NOISE: Final = "less variable than noise: upper end by inverting the test"
#: Resamples of a median, which are sorted one by one.
_MEDIANS: Final = 2000


@dataclass(frozen=True, slots=True)
class _Sums:
    """Numerator and denominator of one ratio by unit, NaN where a model has nothing of the unit."""

    model: str
    measure: str
    top: Floats
    bottom: Floats
    instances: int
    shift: float = 0.0


def incoherence_estimates(
    instances: pd.DataFrame,
    *,
    rng: np.random.Generator,
    resamples: int = 10_000,
    ci_level: float = 0.95,
    measures: Sequence[str] = (*MEANS, *REPEATED),
    flips: dict[str, WordingFlipTest] | None = None,
    unit: str = "unit",
) -> pd.DataFrame:
    """Estimates with unit bootstrap-t intervals, one row per model and measure.

    Parameters
    ----------
    instances : DataFrame
        As ``reduction.moments.instance_moments`` returns, of one identity.
    rng : Generator
    resamples : int
    ci_level : float in (0, 1)
    measures : sequence of str
        Some of ``MEANS`` and ``REPEATED``.
    flips : dict, optional
        Model -> its sign-flip test, for upper bounds where the interval of the square lies below 0.
    unit : str
        What the unit is, for the table.

    Returns
    -------
    DataFrame
        ``task, model, measure, estimate, std_error, ci_low, ci_high, ci_level, ci_method, scale, n, n_clusters, unit,
        squared, squared_low, squared_high, reason``. Roots (``ROOTS``) are those of the squared columns, negative ones
        shown as 0; standard errors are those of the squares there. ``n`` counts instances.

    Notes
    -----
    T, the square of ``persistent``, is the mean of cross-wording products, and may be negative: it is what is averaged
    and compared, never its root. ``spread`` squared is T minus the square of ``direction`` (from products of different
    units). Noise that the wordings share counts as persistent.
    """
    check_level(ci_level)
    models = sorted(instances["model"].unique())
    units = pd.Index(sorted(instances["unit"].unique()))
    parts = [
        sums
        for model in models
        for sums in _sums(instances[instances["model"] == model], model, units, tuple(measures))
    ]
    if not parts:
        return _table([], instances, ci_level, unit)
    found = bootstrap_t(
        np.stack([part.top for part in parts]),
        sizes=np.stack([part.bottom for part in parts]),
        rng=rng,
        resamples=resamples,
        ci_level=ci_level,
    )
    rows = []
    for at, part in enumerate(parts):
        row = {
            "model": part.model,
            "measure": part.measure,
            "estimate": found.estimate[at] + part.shift,
            "std_error": found.std_error[at],
            "ci_low": found.ci_low[at] + part.shift,
            "ci_high": found.ci_high[at] + part.shift,
            "ci_method": found.ci_method,
            "n": part.instances,
            "n_clusters": int(found.n_clusters[at]),
            "reason": str(found.reason[at]),
        }
        if part.instances == 0:
            row["reason"] = ONE_WORDING if part.measure in REPEATED else NOT_LOGGED.get(part.measure, NO_INSTANCE)
        rows.append(_rooted(row, instances, flips or {}) if part.measure in ROOTS else row)
    return _table(rows, instances, ci_level, unit)


def median_estimates(
    instances: pd.DataFrame, *, rng: np.random.Generator, ci_level: float = 0.95, unit: str = "unit"
) -> pd.DataFrame:
    """Median absolute residual of each model, with percentile intervals of resampled units; columns as above."""
    rows = []
    for model in sorted(instances["model"].unique()):
        part = instances[instances["model"] == model].sort_values("abs_residual", kind="stable")
        values = part["abs_residual"].to_numpy(float)
        code, names = pd.factorize(part["unit"], sort=True)
        low, high = _median_limits(values, code, len(names), rng, ci_level) if len(names) > 1 else (np.nan, np.nan)
        rows.append(
            {
                "model": model,
                "measure": "median_abs_residual",
                "estimate": float(np.median(values)),
                "std_error": np.nan,
                "ci_low": low,
                "ci_high": high,
                "ci_method": "unit bootstrap, percentile",
                "n": len(values),
                "n_clusters": len(names),
                "reason": "" if len(names) > 1 else "one unit only",
            }
        )
    return _table(rows, instances, ci_level, unit)


def repeated_only(instances: pd.DataFrame) -> pd.DataFrame:
    """Instances in two wordings or more, with their product ``q`` and noise variance ``s2``."""
    kept = instances[instances["k"] > 1]
    return kept.assign(q=cross_products(kept["mean"], kept["ss"], kept["k"]), s2=noise_variance(kept["ss"], kept["k"]))


def _median_limits(
    values: Floats, code: NDArray[np.int64], units: int, rng: np.random.Generator, ci_level: float
) -> tuple[float, float]:
    medians = []
    for weights in unit_weights(units, rng, _MEDIANS):
        cumulative = np.cumsum(weights[:, code], axis=1)
        half = cumulative[:, -1:] / 2
        lower = np.argmax(cumulative >= half, axis=1)
        upper = np.argmax(cumulative > half, axis=1)
        medians.append((values[lower] + values[upper]) / 2)
    tail = (1 - ci_level) / 2
    low, high = np.quantile(np.concatenate(medians), (tail, 1 - tail))
    return float(low), float(high)


def _sums(part: pd.DataFrame, model: str, units: pd.Index, measures: tuple[str, ...]) -> list[_Sums]:
    """Ratios of one model."""
    found = []
    code, size = units.get_indexer(pd.Index(part["unit"])), len(units)
    for measure, column in MEANS.items():
        if measure in measures and column in part.columns:
            known = part[column].notna().to_numpy()
            found.append(_ratio(model, measure, part[column].to_numpy(float)[known], code[known], size))
    repeated = repeated_only(part)
    code = units.get_indexer(pd.Index(repeated["unit"]))
    q, s2, mean = (repeated[name].to_numpy(float) for name in ("q", "s2", "mean"))
    for measure, values in (("persistent", q), ("noise", s2), ("direction", mean)):
        if measure in measures:
            found.append(_ratio(model, measure, values, code, size))
    if "spread" in measures:
        found.append(_spread(model, q, mean, code, size))
    if "persistent_unclipped" in measures:
        inside = (repeated["clipped"] == 0).to_numpy()
        found.append(_ratio(model, "persistent_unclipped", q[inside], code[inside], size))
    if "persistent_these" in measures and "q_these" in repeated.columns:
        known = repeated["q_these"].notna().to_numpy()
        found.append(_ratio(model, "persistent_these", repeated["q_these"].to_numpy(float)[known], code[known], size))
    return found


def _ratio(model: str, measure: str, values: Floats, code: NDArray[np.int64], size: int) -> _Sums:
    top, bottom = unit_totals(np.stack([values, np.ones_like(values)]), code, size)
    absent = bottom == 0
    return _Sums(model, measure, np.where(absent, np.nan, top), np.where(absent, np.nan, bottom), len(values))


def _spread(model: str, q: Floats, mean: Floats, code: NDArray[np.int64], size: int) -> _Sums:
    """Spread squared as a ratio whose linearisation is that of T - direction^2."""
    total, direction, m = unit_totals(np.stack([q, mean, np.ones_like(q)]), code, size)
    centre = direction.sum() / m.sum() if m.sum() > 0 else 0.0
    top = total - 2 * centre * direction + centre**2 * m
    # The products of different units estimate the square of the mean without bias; the plug-in does not.
    unbiased = direction_squared(direction[m > 0], m[m > 0])
    shift = centre**2 - unbiased if np.isfinite(unbiased) else 0.0
    absent = m == 0
    return _Sums(model, "spread", np.where(absent, np.nan, top), np.where(absent, np.nan, m), len(q), float(shift))


def _rooted(row: dict[str, Any], instances: pd.DataFrame, flips: dict[str, WordingFlipTest]) -> dict[str, Any]:
    """The row with roots shown, and the squares beside them."""
    squared = {"squared": row["estimate"], "squared_low": row["ci_low"], "squared_high": row["ci_high"]}
    high = row["ci_high"]
    if np.isfinite(high) and high < 0:
        row = row | {"reason": LESS_THAN_NOISE, "ci_method": "unit bootstrap-t, test inversion"}
        bound = float("nan")
        if row["measure"] == "persistent" and row["model"] in flips:
            part = repeated_only(instances[instances["model"] == row["model"]])
            bound = persistent_upper_bound(flips[row["model"]], part["s2"], part["k"])
        high = bound if bound > 0 else np.nan
        if not np.isfinite(high):
            row["reason"] = "less variable than noise: no interval"
            row["ci_low"] = np.nan
    ends = {name: float(root(value)) if np.isfinite(value) else np.nan for name, value in
            (("estimate", row["estimate"]), ("ci_low", row["ci_low"]), ("ci_high", high))}  # fmt: skip
    return row | squared | ends


def _table(rows: list[dict[str, Any]], instances: pd.DataFrame, ci_level: float, unit: str) -> pd.DataFrame:
    task = instances["task"].iloc[0] if len(instances) else ""
    table = pd.DataFrame(rows, columns=[c for c in COLUMNS if c not in ("task", "ci_level", "scale", "unit")])
    scale = [SCALES.get(measure, "log_odds") for measure in table["measure"]]
    return table.assign(task=task, ci_level=ci_level, scale=scale, unit=unit)[list(COLUMNS)]
