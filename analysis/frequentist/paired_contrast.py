"""What changes between two levels of a factor on matched pairs: size, tests, and what the unit decides."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.frequentist.mcnemar import mcnemar
from analysis.frequentist.multiplicity import adjusted_bound, family_size, holm
from analysis.frequentist.paired import obuchowski
from analysis.frequentist.paired_intervals import odds_ratio_by_unit, paired_difference
from analysis.frequentist.sign_flips import sign_flip_test
from analysis.frequentist.unit_ladder import leave_one_out, unit_ladder

Floats = NDArray[np.float64]
DIFFERENCE: Final = "square-and-add of cluster Wilson (t), pairing kept"
#: Fields of a rung of the unit ladder that become columns.
RUNG: Final = (
    *("unit", "test", "estimate", "std_error", "df", "statistic", "p_value", "mc_error", "n_clusters"),
    *("n", "n_discordant", "deff", "reason"),
)
TREATED: Final = {"incorrect": 0.0, "half": 0.5}


def treated_pairs(pairs: pd.DataFrame, *, uncertain: str = "incorrect") -> pd.DataFrame:
    """Pairs with ``value_first`` and ``value_second``: right 1, wrong 0, uncertain as treated.

    With ``excluded`` a pair with an uncertain answer on either side is left out.
    """
    unclear = (pairs["uncertain_first"] + pairs["uncertain_second"]).to_numpy() > 0
    if uncertain == "excluded":
        pairs = pairs[~unclear]
    elif uncertain not in TREATED:
        raise AnalysisError(f"uncertain must be incorrect, excluded or half, not {uncertain!r}")
    credit = TREATED.get(uncertain, 0.0)
    values = {f"value_{s}": pairs[f"right_{s}"] + credit * pairs[f"uncertain_{s}"] for s in ("first", "second")}
    return pairs.assign(**values).reset_index(drop=True)


def contrast_by_model(
    pairs: pd.DataFrame,
    models: Sequence[str],
    *,
    rng: np.random.Generator,
    flips: int = 20_000,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """One row per model: accuracies on either side, difference, odds ratio, Yes rates and tests.

    Parameters
    ----------
    pairs : DataFrame
        From ``treated_pairs``.
    models : sequence of str
        A model without pairs gets a row with a reason.

    Returns
    -------
    DataFrame
        ``estimate`` is the accuracy on the first level minus that on the second; ``p_value`` is that of the
        sign flips by unit, ``p_adjusted`` Holm over models. ``b`` and ``c`` count pairs right on the first,
        and on the second level only (an uncertain answer that counts half counts half).
    """
    sums = _by_model_and_unit(pairs, models)
    n, first, second = sums["n"], sums["value_first"], sums["value_second"]
    b, c = sums["b"], sums["c"]
    size = paired_difference(n, first, second, ci_level=ci_level)
    net = np.where(n > 0, first - second, np.nan)
    flipped = sign_flip_test(net, rng=rng, flips=flips, alpha=1 - ci_level)
    clustered = obuchowski(net, np.where(n > 0, b + c, np.nan))
    whole = np.array([float(x).is_integer() for x in (b.sum(axis=1) + c.sum(axis=1)) + b.sum(axis=1)])
    rows = mcnemar(np.floor(b.sum(axis=1)), np.floor(c.sum(axis=1)))
    odds = [
        odds_ratio_by_unit(*(np.where(n[m] > 0, x[m], np.nan) for x in (b, c)), ci_level=ci_level)
        for m in range(len(n))
    ]
    total = n.sum(axis=1)
    p = np.asarray(flipped.p_value, float)
    resolution = np.where(flipped.exact, np.nan, flipped.resolution)

    def rate(values: Floats) -> Floats:
        return np.divide(values.sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0)

    return pd.DataFrame(
        {
            "model": list(models),
            "n": total.astype(np.int64),
            "n_clusters": np.count_nonzero(n > 0, axis=1),
            "accuracy_first": size.rate_first,
            "accuracy_second": size.rate_second,
            "estimate": size.estimate,
            "std_error": size.std_error,
            "df": size.df,
            "ci_low": size.ci_low,
            "ci_high": size.ci_high,
            "ci_method": DIFFERENCE,
            "yes_first": rate(sums["yes_first"]),
            "yes_second": rate(sums["yes_second"]),
            "b": b.sum(axis=1),
            "c": c.sum(axis=1),
            "odds_ratio": [found.estimate for found in odds],
            "odds_low": [found.ci_low for found in odds],
            "odds_high": [found.ci_high for found in odds],
            "odds_method": [found.ci_method for found in odds],
            "odds_reason": [found.reason for found in odds],
            "p_value": p,
            "mc_error": flipped.mc_error,
            "resolution": resolution,
            "p_adjusted": holm(p),
            "adjusted_bound": adjusted_bound(p, holm(p), resolution),
            "p_adjust_method": "holm",
            "family_size": family_size(p),
            "p_obuchowski": clustered.p_value,
            "p_exact": np.where(whole, rows.p_exact, np.nan),
            "p_mid": np.where(whole, rows.p_mid, np.nan),
            "deff": clustered.deff,
            "reason": [
                "no matched pair" if t == 0 else str(r) for t, r in zip(total, np.atleast_1d(size.reason), strict=True)
            ],
            "test_reason": [str(r) for r in np.atleast_1d(flipped.reason)],
        }
    ).assign(ci_level=ci_level, test="sign flips by unit", alternative="two-sided")


def contrast_ladder(pairs: pd.DataFrame, *, unit: str, rng: np.random.Generator, flips: int = 20_000) -> pd.DataFrame:
    """The change over all models together under every choice of the unit; one row per unit.

    Parameters
    ----------
    pairs : DataFrame
        From ``treated_pairs``; facets beside ``unit`` and ``model`` become rungs where they have two levels.
    unit : str
        What the declared unit is called.
    """
    change = (pairs["value_first"] - pairs["value_second"]).to_numpy(float)
    labels = {unit: pairs["unit"].astype(str).to_numpy()}
    facets = [name for name in ("template", "form", "model") if name in pairs.columns and pairs[name].nunique() > 1]
    labels |= {name: pairs[name].astype(str).to_numpy() for name in facets if name != unit}
    crossed = (unit, "model") if "model" in labels and unit != "model" else None
    rungs = unit_ladder(change, labels, rng=rng, two_way=crossed, flips=flips)
    rows = pd.DataFrame([{name: getattr(rung, name) for name in RUNG} for rung in rungs])
    return rows.assign(mean_change=rows["estimate"] / np.maximum(rows["n"], 1), resolution=1 / (flips + 1))


def without_each_model(pairs: pd.DataFrame, *, rng: np.random.Generator, flips: int = 20_000) -> pd.DataFrame:
    """The net change over all models without each of them in turn, most influential first."""
    change = (pairs["value_first"] - pairs["value_second"]).to_numpy(float)
    found = leave_one_out(change, pairs["model"].astype(str), pairs["unit"].astype(str), rng=rng, flips=flips)
    names = ("level", "estimate", "net", "share", "p_value", "n_clusters", "n", "reason")
    rows = pd.DataFrame([{name: getattr(one, name) for name in names} for one in found]).rename(
        columns={"level": "model"}
    )
    return rows.sort_values("net", key=abs, ascending=False, kind="stable").reset_index(drop=True)


def _by_model_and_unit(pairs: pd.DataFrame, models: Sequence[str]) -> dict[str, Floats]:
    """Sums (M, G) over the pairs of a model and unit."""
    units, unit = np.unique(pairs["unit"].to_numpy(object).astype(str), return_inverse=True)
    place = {model: at for at, model in enumerate(models)}
    model = np.array([place[str(name)] for name in pairs["model"]], dtype=np.int64)
    shape = (len(models), len(units))
    index = model * max(shape[1], 1) + unit
    gap = (pairs["value_first"] - pairs["value_second"]).to_numpy(float)
    columns = {name: pairs[name].to_numpy(float) for name in ("value_first", "value_second", "yes_first", "yes_second")}
    columns |= {"n": np.ones(len(pairs)), "b": np.maximum(gap, 0), "c": np.maximum(-gap, 0)}
    return {
        name: np.bincount(index, values, minlength=int(np.prod(shape))).reshape(shape)
        for name, values in columns.items()
    }
