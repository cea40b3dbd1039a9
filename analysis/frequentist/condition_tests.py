"""Does a condition (strategy, temperature, ...) matter? Tests over models and base items, the naive ones beside."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frequentist.clustered_rates import clustered_rates, rate_limits
from analysis.frequentist.conditions import paired_t
from analysis.frequentist.equivalence import DEFAULT_ROPE, agreed_decision, equivalence_test
from analysis.frequentist.friedman import friedman_test, nemenyi_test
from analysis.frequentist.model_measures import RATE, ModelUnits, model_units
from analysis.frequentist.multiplicity import benjamini_hochberg, bonferroni, family_size, holm
from analysis.frequentist.paired_intervals import paired_difference
from analysis.frequentist.sign_flips import sign_flip_test
from analysis.frequentist.signed_ranks import signed_rank_test
from analysis.reduction.matched_levels import MatchedLevels

Floats = NDArray[np.float64]
Pair = tuple[str, str]
#: Bounds within which a difference of accuracies counts as none.
ROPE: Final = DEFAULT_ROPE["probability difference"]
OVER_MODELS: Final = "models"
NAIVE: Final = "configurations, not independent"


def level_accuracies(
    answers: pd.DataFrame, values: NDArray[np.float64], factor: str, *, ci_level: float = 0.95, unit: str = "unit"
) -> pd.DataFrame:
    """Mean of each model under each level with its interval by unit, over everything asked there.

    Returns
    -------
    DataFrame
        ``model, level, estimate, ci_low, ci_high, ci_level, ci_method, n, n_clusters, unit, reason``; a level
        that a model was not asked is a row without numbers.
    """
    level = answers[factor].astype(str).to_numpy()
    levels = np.unique(level[level != ""])
    known: ModelUnits = model_units(answers)
    code = np.where(level == "", -1, np.searchsorted(levels, level))
    n = known.sums(np.where(np.isnan(values), np.nan, 1.0), code, len(levels))
    rates = clustered_rates(n, known.sums(values, code, len(levels)), np.eye(len(levels)))
    low, high = rate_limits(rates, ci_level=ci_level)
    trials = n.sum(axis=1)
    rows = [
        {
            "model": model,
            "level": str(name),
            "estimate": rates.contrasts.estimate[m, k],
            "ci_low": low[m, k],
            "ci_high": high[m, k],
            "ci_method": RATE,
            "n": int(trials[m, k]),
            "n_clusters": int(rates.units[m, k]),
            "reason": "not asked under this level" if not trials[m, k] else "",
        }
        for m, model in enumerate(known.models)
        for k, name in enumerate(levels)
    ]
    return pd.DataFrame(rows).assign(ci_level=ci_level, unit=unit, factor=factor)


def overall_tests(
    matched: MatchedLevels, *, rng: np.random.Generator, permutations: int = 20_000, levels: Sequence[str] = ()
) -> pd.DataFrame:
    """Friedman's test over the models, Kendall's W, and the same with configurations taken as independent.

    Returns
    -------
    DataFrame
        Two rows, ``unit`` = models, and configurations (naive: what is printed when 42 configurations of 14 models
        enter as 42); ``statistic, df, p_value, p_method, mc_error, estimate`` (W), ``n_clusters, n_set_aside,
        n_tied, mean_ranks, reason``.
    """
    used = tuple(levels or matched.levels)
    means = _nan_mean(matched.unit_means(used))
    configurations, _ = matched.configuration_means(used)
    rows = []
    for unit, table in ((OVER_MODELS, means), (NAIVE, configurations)):
        test = friedman_test(table, rng=rng, permutations=permutations)
        fields = asdict(test)
        ranks = ", ".join(
            f"{name} {rank:.2f}" for name, rank in zip(used, test.mean_ranks, strict=True) if np.isfinite(rank)
        )
        rows.append(fields | {"unit": unit, "factor": matched.factor, "test": "Friedman", "mean_ranks": ranks})
    return pd.DataFrame(rows)


def rank_comparisons(matched: MatchedLevels, *, levels: Sequence[str] = ()) -> pd.DataFrame:
    """Nemenyi's comparisons of mean ranks over the models that have all levels."""
    used = tuple(levels or matched.levels)
    means = _nan_mean(matched.unit_means(used))
    full = means[~np.isnan(means).any(axis=1)]
    if len(full) < 2 or len(used) < 3:
        return pd.DataFrame(columns=["first", "second", "estimate", "p_adjusted"])
    ranks = friedman_test(full, rng=np.random.default_rng(0), permutations=1).mean_ranks
    test = nemenyi_test(ranks, len(full))
    pairs = test.pairs
    return pd.DataFrame(
        {
            "factor": matched.factor,
            "first": [used[i] for i in pairs[:, 0]],
            "second": [used[i] for i in pairs[:, 1]],
            "estimate": test.estimate,
            "p_adjusted": test.p_adjusted,
            "p_adjust_method": "nemenyi",
            "family_size": len(pairs),
            "n_clusters": len(full),
        }
    )


def pair_tests(
    matched: MatchedLevels,
    pairs: Sequence[Pair],
    *,
    rng: np.random.Generator,
    flips: int = 20_000,
    ci_level: float = 0.95,
    rope: float = ROPE,
) -> pd.DataFrame:
    """First minus second level, the models as independent units, with the naive t test beside.

    Returns
    -------
    DataFrame
        One row per pair: mean difference over models with t limits, ``p_value`` (paired t) with ``p_adjusted``
        (Holm), ``p_bonferroni``, ``p_bh``, ``family_size``, ``not_run``; ``p_wilcoxon`` and ``p_sign_flip`` over
        the same models and ``least_p``, the smallest they can give; ``d_z``, ``d_av``; ``p_equivalence`` of two
        one-sided tests within ±``rope`` and ``decision`` (``equivalence.agreed_decision``); ``p_naive, n_naive``: the
        t test over configurations, which are not independent; ``n_matched`` and ``n_unmatched`` rows.
    """
    rows = [_pair_row(matched, pair, rng, flips, ci_level, rope) for pair in pairs]
    table = pd.DataFrame(rows)
    p = table["p_value"].to_numpy(float)
    return table.assign(
        decision=_agreed(table, holm(p), rope),
        p_adjusted=holm(p),
        p_bonferroni=bonferroni(p),
        p_bh=benjamini_hochberg(p),
        p_adjust_method="holm",
        family_size=family_size(p),
        not_run=int(np.isnan(p).sum()),
        ci_level=ci_level,
        ci_method="t over models",
        rope=rope,
        factor=matched.factor,
        unit=OVER_MODELS,
    )


def model_pair_tests(
    matched: MatchedLevels,
    pairs: Sequence[Pair],
    *,
    rng: np.random.Generator,
    flips: int = 20_000,
    ci_level: float = 0.95,
    rope: float = ROPE,
    unit: str = "unit",
) -> pd.DataFrame:
    """First minus second level of each model, its units as independent.

    Returns
    -------
    DataFrame
        One row per pair and model: matched difference with square-and-add limits by unit, sign-flip ``p_value``
        over unit means, Holm over all pairs and models, equivalence within ±``rope``, ``n_matched, n_unmatched``.
        A model that lacks a level is a row without numbers.
    """
    tables = []
    for first, second in pairs:
        means = matched.unit_means((first, second))
        test = sign_flip_test(means[:, 0] - means[:, 1], rng=rng, flips=flips)
        n, k_first, k_second = _unit_counts(matched, (first, second))
        found = paired_difference(n, k_first, k_second, ci_level=ci_level)
        equal = equivalence_test(found.estimate, found.std_error, found.df, rope=(-rope, rope))
        both, one = _matched_rows(matched, (first, second))
        tables.append(
            pd.DataFrame(
                {
                    "model": matched.models,
                    "first": first,
                    "second": second,
                    "estimate": found.estimate,
                    "std_error": found.std_error,
                    "df": found.df,
                    "ci_low": found.ci_low,
                    "ci_high": found.ci_high,
                    "mean_first": found.rate_first,
                    "mean_second": found.rate_second,
                    "p_value": test.p_value,
                    "mc_error": test.mc_error,
                    "resolution": test.resolution,
                    "p_equivalence": equal.p_value,
                    "decision": equal.decision,
                    "n_clusters": test.n_clusters,
                    "n_matched": both,
                    "n_unmatched": one,
                    "reason": [
                        "this model lacks one of the levels" if not m else str(why)
                        for m, why in zip(both, test.reason, strict=True)
                    ],
                }
            )
        )
    table = pd.concat(tables, ignore_index=True)
    p = table["p_value"].to_numpy(float)
    return table.assign(
        decision=_agreed(table, holm(p), rope),
        p_adjusted=holm(p),
        p_adjust_method="holm",
        family_size=family_size(p),
        not_run=int(np.isnan(p).sum()),
        ci_level=ci_level,
        ci_method="square-and-add of cluster Wilson (t)",
        test="sign flip over units",
        factor=matched.factor,
        unit=unit,
        rope=rope,
    )


def _pair_row(
    matched: MatchedLevels, pair: Pair, rng: np.random.Generator, flips: int, ci_level: float, rope: float
) -> dict[str, object]:
    means = _nan_mean(matched.unit_means(pair))
    test = paired_t(means[:, 0], means[:, 1], ci_level=ci_level)
    change = means[:, 0] - means[:, 1]
    ranked, flipped = signed_rank_test(change), sign_flip_test(change, rng=rng, flips=flips)
    equal = equivalence_test(test.estimate, test.std_error, test.df, rope=(-rope, rope))
    configurations, _ = matched.configuration_means(pair)
    naive = paired_t(configurations[:, 0], configurations[:, 1], ci_level=ci_level)
    counted = _matched_rows(matched, pair)
    return {
        "first": pair[0],
        "second": pair[1],
        "estimate": test.estimate,
        "std_error": test.std_error,
        "df": test.df,
        "statistic": test.statistic,
        "ci_low": test.ci_low,
        "ci_high": test.ci_high,
        "mean_first": test.mean_first,
        "mean_second": test.mean_second,
        "p_value": test.p_value,
        "p_wilcoxon": ranked.p_value,
        "wilcoxon_exact": ranked.exact,
        "wilcoxon_zeros": ranked.n_zero,
        "wilcoxon_ties": ranked.n_tied,
        "p_sign_flip": flipped.p_value,
        "least_p": 2.0 ** (1 - test.n_clusters) if test.n_clusters else np.nan,
        "sign_flip_resolution": flipped.resolution,
        "d_z": test.d_z,
        "d_av": test.d_av,
        "p_equivalence": equal.p_value,
        "decision": equal.decision,
        "n_clusters": test.n_clusters,
        "p_naive": naive.p_value,
        "d_z_naive": naive.d_z,
        "n_naive": naive.n_clusters,
        "n_matched": int(counted[0].sum()),
        "n_unmatched": int(counted[1].sum()),
        "reason": test.reason,
    }


def _agreed(table: pd.DataFrame, p: Floats, rope: float) -> NDArray[np.object_]:
    return agreed_decision(table["decision"], ci_low=table["ci_low"], ci_high=table["ci_high"], p_adjusted=p, rope=rope)


def _nan_mean(values: Floats) -> Floats:
    """Mean over the last axis of what is there; NaN where nothing is."""
    present = ~np.isnan(values)
    count = present.sum(axis=-1)
    total = np.where(present, values, 0.0).sum(axis=-1)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def _unit_counts(matched: MatchedLevels, pair: Pair) -> tuple[Floats, Floats, Floats]:
    """Matched rows (M, G) and the sums of both sides."""
    rows = matched.complete(pair)
    shape = (len(matched.models), len(matched.units))
    index = matched.model[rows] * shape[1] + matched.unit[rows]
    sides = matched.values[np.ix_(rows, matched.at(pair))].T
    n = np.bincount(index, minlength=shape[0] * shape[1]).astype(float)
    first, second = (np.bincount(index, side, minlength=len(n)) for side in sides)
    return n.reshape(shape), first.reshape(shape), second.reshape(shape)


def _matched_rows(matched: MatchedLevels, pair: Pair) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By model: rows with both levels, and with one of them only."""
    has = ~np.isnan(matched.values[:, matched.at(pair)])
    models, every = len(matched.models), has.all(axis=1)
    one = np.bincount(matched.model[has.any(axis=1) & ~every], minlength=models)
    return np.bincount(matched.model[every], minlength=models), one
