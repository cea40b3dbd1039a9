"""Accuracies of a benchmark and their differences to the best model by both schools, with verdict and reason."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.accuracy_result import AccuracyFit
from analysis.comparison.schools import Columns, Thresholds, compare_schools
from analysis.frequentist.paired_intervals import paired_difference

Floats = NDArray[np.float64]

#: An accuracy has no reference: every one lies above this, so that nothing is decided about accuracies themselves.
NO_REFERENCE: Final = -1.0
ACCURACY: Final = "accuracy"
DIFFERENCE: Final = "accuracy_difference"
REFERENCE: Final = {ACCURACY: NO_REFERENCE, DIFFERENCE: 0.0}
_MIRRORED: Final = "\0"
_POSTERIOR: Final = ("estimate", "ci_low", "ci_high", "p_above", "p_below", "p_rope")


@dataclass(frozen=True, slots=True)
class AccuracySchools:
    """What both schools say.

    Attributes
    ----------
    comparison : DataFrame
        As ``schools.compare_schools``; of differences ``model`` is the pair, and ``first, second`` name it.
    differences : DataFrame
        Frequentist differences of the best model and each other one: ``model, first, second, estimate, std_error,
        ci_low, ci_high, n, n_clusters, reason``.
    """

    comparison: pd.DataFrame
    differences: pd.DataFrame


def accuracy_schools(
    fit: AccuracyFit, items: pd.DataFrame, estimates: pd.DataFrame, *, thresholds: Thresholds | None = None
) -> AccuracySchools:
    """Frequentist accuracies and differences beside those of the accuracy model.

    Parameters
    ----------
    fit : AccuracyFit
        Of the same answers.
    items : DataFrame
        ``model, item, unit, score, n_samples, n_set_aside``, as for the fit.
    estimates : DataFrame
        Frequentist estimates, of which the rows of accuracy are read.
    thresholds : Thresholds
    """
    limits = thresholds or Thresholds()
    level = float(fit.unpooled["ci_level"].iloc[0])
    own = estimates[estimates["measure"] == ACCURACY].assign(model=lambda t: t["model"].astype(str))
    own = own[own["model"].isin(fit.unpooled["model"])]
    differences, ratios = _differences(items, own, level)
    pooled = _pooled(fit, differences, limits)
    failed = "" if fit.status == "ok" else fit.reason
    if failed:
        pooled = pooled.assign(**dict.fromkeys(_POSTERIOR, np.nan))
    columns = Columns(
        frequentist=pd.concat([own, differences, _mirrored(differences)], ignore_index=True),
        unpooled=fit.unpooled,
        pooled=pooled,
        decisions={},
        facts=pd.concat([_facts(items, own), _pair_facts(own, differences, ratios)], ignore_index=True),
        failed=failed,
        reference=REFERENCE,
    )
    found = compare_schools(columns, limits)
    found = found[~found["model"].str.startswith(_MIRRORED)].reset_index(drop=True)
    names = differences.set_index("model")[["first", "second"]]
    return AccuracySchools(found.join(names, on="model"), differences)


def _differences(items: pd.DataFrame, own: pd.DataFrame, level: float) -> tuple[pd.DataFrame, Floats]:
    """Rows of the best model minus each other one, and the ratio of variances by unit and by item."""
    rows: list[dict[str, Any]] = []
    ratios = []
    known = own.dropna(subset=["estimate"])
    if len(known) < 2:
        kinds = dict.fromkeys(("model", "measure", "first", "second", "target", "reason"), "str")
        kinds |= dict.fromkeys(("estimate", "std_error", "ci_low", "ci_high"), "float64")
        kinds |= dict.fromkeys(("n", "n_clusters"), "int64")
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()}), np.zeros(0)
    order = known.sort_values(["estimate", "model"], ascending=[False, True])["model"].tolist()
    scores = items.pivot(index="item", columns="model", values="score")
    unit = items.drop_duplicates("item").set_index("item")["unit"].reindex(scores.index)
    for other in order[1:]:
        both = scores[[order[0], other]].notna().all(axis=1)
        first, second = (scores.loc[both, name].to_numpy(float) for name in (order[0], other))
        codes = pd.factorize(unit[both], sort=True)[0]
        sums = [np.bincount(codes, values) for values in (np.ones(len(codes)), first, second)]
        found = paired_difference(*sums, ci_level=level)
        single = paired_difference(np.ones(len(codes)), first, second, ci_level=level)
        ratio = float(found.std_error) ** 2 / float(single.std_error) ** 2 if single.std_error > 0 else 1.0
        ratios.append(ratio if np.isfinite(ratio) else 1.0)
        error = float(found.std_error)
        rows.append(
            {
                "model": f"{order[0]} − {other}",
                "measure": DIFFERENCE,
                "first": order[0],
                "second": other,
                "target": own["target"].iloc[0],
                "estimate": float(found.estimate),
                "std_error": error if error > 0 else np.nan,
                "ci_low": float(found.ci_low),
                "ci_high": float(found.ci_high),
                "n": int(both.sum()),
                "n_clusters": int(codes.max(initial=-1)) + 1,
                "reason": str(found.reason),
            }
        )
    return pd.DataFrame(rows), np.array(ratios)


def _mirrored(differences: pd.DataFrame) -> pd.DataFrame:
    """The same pairs the other way round: with both, differences are expected to shrink toward 0, not to their mean."""
    turned = {
        "estimate": -differences["estimate"],
        "ci_low": -differences["ci_high"],
        "ci_high": -differences["ci_low"],
    }
    return differences.assign(model=_MIRRORED + differences["model"], **turned)


def _pooled(fit: AccuracyFit, differences: pd.DataFrame, limits: Thresholds) -> pd.DataFrame:
    """Posterior of accuracies, and of the differences that were asked for, with probabilities around the reference."""
    accuracies = fit.table[(fit.table["measure"] == ACCURACY) & (fit.table["target"] == "these")]
    draws = dict(zip(accuracies["model"], np.moveaxis(fit.draws[ACCURACY], -1, 0), strict=True))
    by_pair = fit.contrasts.set_index(["first", "second"]) if len(fit.contrasts) else fit.contrasts
    rows = [
        {**row, **_shares(draws[row["model"]] - NO_REFERENCE, limits.rope)} for row in accuracies.to_dict("records")
    ]
    for name, first, second in zip(differences["model"], differences["first"], differences["second"], strict=True):
        turned = (first, second) not in by_pair.index
        found = by_pair.loc[(second, first) if turned else (first, second)].to_dict()
        if turned:
            found |= {"estimate": -found["estimate"], "ci_low": -found["ci_high"], "ci_high": -found["ci_low"]}
        found |= {"model": name, **_shares(draws[first] - draws[second], limits.rope)}
        rows.append({str(key): value for key, value in found.items()})
    return pd.DataFrame(rows)


def _shares(away: Floats, rope: float) -> dict[str, float]:
    above, below = float((away > rope).mean()), float((away < -rope).mean())
    return {"p_above": above, "p_below": below, "p_rope": 1 - above - below}


def _facts(items: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """What a comparison has to know of each model."""
    sums = items.groupby(items["model"].astype(str))[["n_samples", "n_set_aside"]].sum()
    lost = (sums["n_set_aside"] / sums.sum(axis=1)).fillna(0.0)
    p, error, n = (own[name].to_numpy(float) for name in ("estimate", "std_error", "n"))
    with np.errstate(divide="ignore", invalid="ignore"):
        deff = error**2 / (p * (1 - p) / n)
    return pd.DataFrame(
        {
            "model": own["model"].to_numpy(),
            "min_cell": p,
            "max_cell": p,
            "n_eff": own["n_clusters"].to_numpy(float),
            "deff": np.where(np.isfinite(deff), deff, 1.0),
            "tail": own["std_error"].isna().to_numpy(),
            "lost": own["model"].map(lost).fillna(0.0).to_numpy(float),
            "bias_z": np.nan,
        }
    )


def _pair_facts(own: pd.DataFrame, differences: pd.DataFrame, ratios: Floats) -> pd.DataFrame:
    accuracy = own.set_index("model")["estimate"]
    first, second = (accuracy.reindex(differences[name]).to_numpy(float) for name in ("first", "second"))
    return pd.DataFrame(
        {
            "model": differences["model"].to_numpy(),
            "min_cell": np.fmin(first, second),
            "max_cell": np.fmax(first, second),
            "n_eff": differences["n_clusters"].to_numpy(float),
            "deff": ratios,
            "tail": differences["std_error"].isna().to_numpy(),
            "lost": 0.0,
            "bias_z": np.nan,
        }
    )
