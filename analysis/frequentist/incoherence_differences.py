"""Differences of incoherence between models on the units that both answered, with companions to the test."""

from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import skew, trim_mean, wilcoxon

from analysis.errors import AnalysisError
from analysis.frequentist.effect_sizes import d_av, d_z
from analysis.frequentist.incoherence import repeated_only
from analysis.frequentist.max_t import max_t
from analysis.frequentist.multiplicity import adjusted_bound, bonferroni, family_size, holm
from analysis.frequentist.sign_flips import flips_needed, sign_flip_test
from analysis.frequentist.unit_bootstrap import bootstrap_t
from analysis.measures.coherence import ARITHMETIC

Floats = NDArray[np.float64]
ADJUSTMENTS: Final = ("holm", "max_t")
#: A difference leans on few units where its values are skewed beyond this, or the top units carry this share.
SKEWED: Final = 2.0
CARRIED: Final = 0.5
TOP_SHARE: Final = 0.05
#: Flips drawn where many p-values sit at the smallest that the first draw allows.
MOST_FLIPS: Final = 200_000
TAIL: Final = "TAIL: few units carry the difference"


def pairwise_differences(
    instances: pd.DataFrame,
    *,
    rng: np.random.Generator,
    flips: int = 20_000,
    resamples: int = 10_000,
    ci_level: float = 0.95,
    squared: bool = False,
    adjust: str = "holm",
) -> pd.DataFrame:
    """Every pair of models, first minus second.

    Parameters
    ----------
    instances : DataFrame
        As ``reduction.moments.instance_moments`` returns.
    rng : Generator
    flips, resamples : int
    ci_level : float in (0, 1)
    squared : bool
        Differences of the squared persistent residual T, over instances that both answered in two wordings or more;
        else of mean |r|, averaged to units first.
    adjust : {"holm", "max_t"}
        ``max_t``: step-down max-T over the pairs, which keeps their correlation, and simultaneous limits; of mean |r|.

    Returns
    -------
    DataFrame
        ``model, other, measure, estimate, std_error, ci_low, ci_high, ci_level, ci_method`` (unit bootstrap-t),
        ``test, p_value, resolution`` (missing where all sign patterns were enumerated), ``p_adjusted,
        p_adjust_method, family_size, floor_adjusted`` and the same of Bonferroni;
        companions ``median, trimmed`` (20 %), ``p_wilcoxon, share_worse`` (units where the first is more incoherent),
        ``d_z, d_av, skewness, top_share`` (of the mean, carried by the top 5 % of units), ``flag``; ``n_clusters``,
        ``n_dropped`` (units that one of the two lacks; of squares, in two wordings or more), ``reason``.

    Raises
    ------
    AnalysisError
        Another ``adjust``, or ``max_t`` of squares.

    Notes
    -----
    The sign-flip test is exact where the two models are exchangeable within units. For equal means and unequal tails it
    rejects too often at some 90 units (.14 at .05): a flagged difference needs its companions.
    """
    if adjust not in ADJUSTMENTS or (squared and adjust == "max_t"):
        rule = "holm, or max_t for the differences of mean |r|"
        raise AnalysisError(f"adjust must be {rule}, not {adjust!r}{' of squares' if squared else ''}")
    models = sorted(instances["model"].unique())
    pairs = list(combinations(models, 2))
    if not pairs:
        return pd.DataFrame()
    values, sizes, sides = _unit_values(instances, models, squared)
    tops = np.stack([values[a] - values[b] if not squared else _both(values, sizes, a, b) for a, b in pairs])
    weights = np.stack([np.where(np.isnan(top), np.nan, sizes[pair]) for top, pair in zip(tops, pairs, strict=True)])
    drawn = max(flips, flips_needed(len(pairs)))
    test = sign_flip_test(tops, rng=rng, flips=drawn, most_flips=max(MOST_FLIPS, drawn))
    found = bootstrap_t(tops, sizes=weights, rng=rng, resamples=resamples, ci_level=ci_level)
    adjusted, plain = holm(test.p_value), bonferroni(test.p_value)
    resolution = np.where(test.exact, np.nan, test.resolution)
    usable = repeated_only(instances) if squared else instances
    everyone = {model: set(usable.loc[usable["model"] == model, "unit"]) for model in models}
    rows = []
    for at, (a, b) in enumerate(pairs):
        per_unit = tops[at] / weights[at]
        row: dict[str, Any] = {
            "model": a,
            "other": b,
            "measure": "persistent_squared" if squared else "mean_abs_residual",
            "estimate": found.estimate[at],
            "std_error": found.std_error[at],
            "ci_low": found.ci_low[at],
            "ci_high": found.ci_high[at],
            "p_value": test.p_value[at],
            "resolution": resolution[at],
            "p_adjusted": adjusted[at],
            "p_bonferroni": plain[at],
            "n_clusters": int(test.n_clusters[at]),
            "n_dropped": len(everyone[a] | everyone[b]) - int(test.n_clusters[at]),
            "reason": str(test.reason[at] or found.reason[at]),
        }
        rows.append(row | _companions(per_unit[np.isfinite(per_unit)], *sides[a, b], squared))
    table = pd.DataFrame(rows)
    if adjust == "max_t":
        together = max_t(tops, rng=rng, flips=drawn, ci_level=ci_level)
        table = table.assign(p_adjusted=together.p_adjusted, ci_low=together.ci_low, ci_high=together.ci_high)
    floor = 1 / (drawn + 1) if adjust == "max_t" else adjusted_bound(test.p_value, adjusted, resolution)
    return table.assign(
        task=instances["task"].iloc[0],
        test="sign-flip by unit",
        alternative="two-sided",
        ci_level=ci_level,
        ci_method="max-T simultaneous" if adjust == "max_t" else found.ci_method,
        p_adjust_method=adjust,
        family_size=family_size(test.p_value),
        floor_adjusted=floor,
        bonferroni_p_adjusted=table["p_bonferroni"],
        bonferroni_p_adjust_method="bonferroni",
        bonferroni_family_size=family_size(test.p_value),
        bonferroni_floor=adjusted_bound(test.p_value, plain, resolution),
    )


def _unit_values(
    instances: pd.DataFrame, models: list[str], squared: bool
) -> tuple[dict[str, Any], dict[Any, Floats], dict[Any, tuple[Floats, Floats]]]:
    """By model: mean |r| of every unit (or q of every instance); by pair: sizes, and unit values of both sides."""
    pairs = list(combinations(models, 2))
    if not squared:
        wide = instances.pivot_table(index="unit", columns="model", values="abs_residual", aggfunc="mean").sort_index()
        by_model = {model: wide[model].to_numpy(float) for model in models}
        sides = {(a, b): (by_model[a], by_model[b]) for a, b in pairs}
        return by_model, {pair: np.ones(len(wide)) for pair in pairs}, sides
    repeated = repeated_only(instances)
    wide = repeated.pivot_table(index=["unit", "identity"], columns="model", values="q").sort_index()
    wide = wide.reindex(columns=models)
    unit, names = pd.factorize(wide.index.get_level_values("unit"), sort=True)
    values: dict[str, Any] = {model: wide[model].to_numpy(float) for model in models}
    values["unit"] = unit
    sizes: dict[Any, Floats] = {}
    means: dict[Any, tuple[Floats, Floats]] = {}
    for a, b in pairs:
        both = np.isfinite(values[a]) & np.isfinite(values[b])
        counted = np.bincount(unit[both], minlength=len(names)).astype(float)
        sizes[a, b] = np.where(counted > 0, counted, np.nan)
        first, second = (
            np.bincount(unit[both], weights=values[model][both], minlength=len(names)) / sizes[a, b] for model in (a, b)
        )
        means[a, b] = (first, second)
    return values, sizes, means


def _both(values: dict[str, Any], sizes: dict[Any, Floats], a: str, b: str) -> Floats:
    """Sum by unit of the differences of products, NaN where no instance has both."""
    gap, size = values[a] - values[b], sizes[a, b]
    known = np.isfinite(gap)
    total = np.bincount(values["unit"][known], weights=gap[known], minlength=len(size))
    return np.where(np.isnan(size), np.nan, total)


def _companions(d: Floats, first: Floats, second: Floats, squared: bool) -> dict[str, Any]:
    """What else is to be said of differences by unit."""
    names = ("median", "trimmed", "p_wilcoxon", "share_worse", "skewness", "top_share", "d_z", "d_av")
    if len(d) < 3:
        return dict.fromkeys(names, np.nan) | {"flag": ""}
    total, top = d.sum(), max(1, int(np.ceil(TOP_SHARE * len(d))))
    carried = float(np.sort(d * np.sign(total))[-top:].sum() / abs(total)) if total else np.nan
    # What the last digits leave of equal differences has no shape.
    skewness = float(skew(d)) if np.ptp(d) > ARITHMETIC * np.abs(d).max() else 0.0
    differ = d[d != 0]
    found = {
        "median": float(np.median(d)),
        "trimmed": float(trim_mean(d, 0.2)),
        "p_wilcoxon": float(wilcoxon(differ, method="approx").pvalue) if len(differ) else np.nan,
        "share_worse": float((d > 0).mean() + (d == 0).mean() / 2),
        "skewness": skewness,
        "top_share": carried,
        "d_z": float(d_z(first, second)),
        "d_av": float(d_av(first, second)),
    }
    # Products of noise are large beside their mean in any data: of squares the skewness alone tells.
    leans = abs(skewness) > SKEWED or (not squared and np.isfinite(carried) and carried > CARRIED)
    return found | {"flag": TAIL if leans else ""}
