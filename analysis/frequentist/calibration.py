"""Are stated probabilities as high as the truth? Brier score in parts, reliability curve, error, by unit."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError
from analysis.frequentist.unit_bootstrap import bootstrap_t

Floats = NDArray[np.float64]
BINS: Final = 10
FEW: Final = "fewer than five units"


def bin_numbers(probability: ArrayLike, bins: int = BINS) -> NDArray[np.int64]:
    """Bin of each probability, 0 to bins - 1; bins are equally wide, closed on the left, the last on both sides."""
    p = np.asarray(probability, float)
    if not 2 <= bins <= 1000:
        raise AnalysisError(f"bins must lie between 2 and 1000, not {bins}")
    # Products of decimals such as 0.3 * 10 fall short of the bound that they name.
    return np.clip(np.floor(p * bins + 1e-9), 0, bins - 1).astype(np.int64)


def brier_parts(probability: ArrayLike, truth: ArrayLike, *, bins: int = BINS) -> dict[str, float]:
    """Brier score and its decomposition over bins.

    Parameters
    ----------
    probability : array_like in [0, 1]
    truth : array_like in [0, 1]
        Outcome (0 or 1), or exact probability: then the score is that of the probability, without the variance of
        outcomes.
    bins : int

    Returns
    -------
    dict
        ``brier`` = ``miscalibration`` - ``resolution`` + ``uncertainty`` + ``within``; ``within`` is what varies inside
        the bins (variance of p minus twice its covariance with the truth), 0 where all of a bin say the same.

    References
    ----------
    Murphy (1973), J. Appl. Meteorol. 12:595-600.
    Stephenson, Coelho and Jolliffe (2008), Weather and Forecasting 23:752-757, doi:10.1175/2007WAF2006116.1.
    """
    p, y = np.asarray(probability, float), np.asarray(truth, float)
    names = ("brier", "miscalibration", "resolution", "uncertainty", "within")
    if not len(p):
        return dict.fromkeys(names, float("nan"))
    code = bin_numbers(p, bins)
    n = np.bincount(code, minlength=bins).astype(float)
    safe = np.maximum(n, 1)
    mean_p, mean_y = (np.bincount(code, weights=side, minlength=bins) / safe for side in (p, y))
    within_p = (p - mean_p[code]) ** 2
    within = (within_p - 2 * (p - mean_p[code]) * (y - mean_y[code])).mean()
    share = n / n.sum()
    # With exact probabilities for outcomes, what varies inside the bins is part of the uncertainty that Murphy's
    # decomposition takes as given: the sum stays exact.
    parts = (
        float(((p - y) ** 2).mean()),
        float((share * (mean_p - mean_y) ** 2).sum()),
        float((share * (mean_y - y.mean()) ** 2).sum()),
        float(y.var()),
        float(within),
    )
    return dict(zip(names, parts, strict=True))


def reliability_curve(
    answers: pd.DataFrame,
    *,
    rng: np.random.Generator,
    bins: int = BINS,
    resamples: int = 10_000,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """Mean truth where a model says about p, with unit bootstrap-t intervals.

    Parameters
    ----------
    answers : DataFrame
        ``model, unit, probability, truth``, all known.

    Returns
    -------
    DataFrame
        ``model, bin_low, bin_high, n, n_clusters, mean_probability, estimate, ci_low, ci_high, ci_level, ci_method,
        reason``, one row per model and bin that has answers. No interval with fewer than five units.
    """
    rows = []
    named = answers["model"].astype(str)
    for model in sorted(named.unique()):
        part = answers[named == model]
        code, unit = bin_numbers(part["probability"], bins), pd.factorize(part["unit"], sort=True)[0]
        units = int(unit.max()) + 1
        flat = code * units + unit
        count = np.bincount(flat, minlength=bins * units).reshape(bins, units).astype(float)
        total = np.bincount(flat, weights=part["truth"], minlength=bins * units).reshape(bins, units)
        said = np.bincount(code, weights=part["probability"], minlength=bins)
        used = np.flatnonzero(count.sum(axis=1))
        tops = np.where(count[used] > 0, total[used], np.nan)
        found = bootstrap_t(tops, sizes=count[used], rng=rng, resamples=resamples, ci_level=ci_level)
        few = (count[used] > 0).sum(axis=1) < 5
        rows.append(
            pd.DataFrame(
                {
                    "model": model,
                    "bin_low": used / bins,
                    "bin_high": (used + 1) / bins,
                    "n": count[used].sum(axis=1).astype(np.int64),
                    "n_clusters": (count[used] > 0).sum(axis=1),
                    "mean_probability": said[used] / count[used].sum(axis=1),
                    "estimate": found.estimate,
                    "ci_low": np.where(few, np.nan, np.clip(found.ci_low, 0, 1)),
                    "ci_high": np.where(few, np.nan, np.clip(found.ci_high, 0, 1)),
                    "ci_level": ci_level,
                    "ci_method": found.ci_method,
                    "reason": np.where(few, FEW, found.reason),
                }
            )
        )
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()


def probability_errors(
    answers: pd.DataFrame,
    *,
    rng: np.random.Generator,
    bins: int = BINS,
    resamples: int = 10_000,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """Brier score, bias and absolute error of each model with intervals by unit, and the parts of the score.

    Parameters
    ----------
    answers : DataFrame
        ``model, unit, probability, truth``, all known.

    Returns
    -------
    DataFrame
        One row per model: ``n, n_clusters``, then ``brier``, ``bias`` (mean of p - truth) and ``abs_error``, each with
        ``<name>_low`` and ``<name>_high``; ``miscalibration, resolution, uncertainty, within``; ``ci_level,
        ci_method, reason``.
    """
    named = answers["model"].astype(str)
    units = pd.Index(sorted(answers["unit"].astype(str).unique()))
    tops, sizes, rows = [], [], []
    for model in sorted(named.unique()):
        part = answers[named == model]
        gap = (part["probability"] - part["truth"]).to_numpy(float)
        unit = units.get_indexer(pd.Index(part["unit"].astype(str)))
        count = np.bincount(unit, minlength=len(units)).astype(float)
        for values in (gap**2, gap, np.abs(gap)):
            total = np.bincount(unit, weights=values, minlength=len(units))
            tops.append(np.where(count > 0, total, np.nan))
            sizes.append(count)
        parts = brier_parts(part["probability"], part["truth"], bins=bins)
        rows.append({"model": model, "n": len(part), "n_clusters": int((count > 0).sum()), **parts})
    if not rows:
        return pd.DataFrame()
    found = bootstrap_t(np.stack(tops), sizes=np.stack(sizes), rng=rng, resamples=resamples, ci_level=ci_level)
    for at, row in enumerate(rows):
        few = row["n_clusters"] < 5
        for place, name in enumerate(("brier", "bias", "abs_error")):
            i = 3 * at + place
            row[name] = found.estimate[i]
            row[f"{name}_low"] = np.nan if few else found.ci_low[i]
            row[f"{name}_high"] = np.nan if few else found.ci_high[i]
        row |= {"ci_level": ci_level, "ci_method": found.ci_method}
        row["reason"] = FEW if few else str(found.reason[3 * at])
    return pd.DataFrame(rows)
