"""Identities beside the main one, and how far single answers move when they are reworded."""

import numpy as np
import pandas as pd

from analysis.frequentist.incoherence import repeated_only
from analysis.frequentist.incoherence_means import grouped_means
from analysis.frequentist.incoherence_tests import ONE_WORDING
from analysis.measures.coherence import CLIP, log_odds, root

#: An identity is broken where the two sides are farther apart than this.
BROKEN = 0.01


def identity_summary(
    instances: pd.DataFrame,
    *,
    scale: str,
    relation: str,
    rng: np.random.Generator,
    resamples: int = 10_000,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """Size of the residuals of one identity by model.

    Parameters
    ----------
    instances : DataFrame
        As ``reduction.moments.instance_moments`` returns.
    scale, relation : str
        Of the identity.

    Returns
    -------
    DataFrame
        ``model, estimate`` (mean |difference| of probabilities) with interval, ``broken`` (share of instances
        off by more than .01), ``log_odds`` (mean |r|), ``persistent``, ``n, n_clusters, reason``, and reasons for what
        is missing.
    """
    rows = grouped_means(
        instances, {"gap": "abs_difference"}, by=("model",), rng=rng, resamples=resamples, ci_level=ci_level
    ).set_index("model")
    grouped = instances.groupby("model")
    rows["broken"] = instances.assign(off=instances["abs_difference"] > BROKEN).groupby("model")["off"].mean()
    odds = scale == "log_odds"
    rows["log_odds"] = grouped["abs_residual"].mean() if odds else np.nan
    rows["log_odds_reason"] = "" if odds else "sums of probabilities have no log-odds"
    squared = (
        repeated_only(instances).groupby("model")["q"].mean() if odds and relation == "=" else pd.Series(dtype=float)
    )
    rows["persistent"] = root(squared.reindex(rows.index))
    missing = ONE_WORDING if odds and relation == "=" else "no equation of log-odds"
    rows["persistent_reason"] = np.where(rows["persistent"].isna(), missing, "")
    return rows.drop(columns="measure").reset_index()


def rewording_noise(
    answers: pd.DataFrame,
    *,
    rng: np.random.Generator,
    clip: float = CLIP,
    resamples: int = 10_000,
    ci_level: float = 0.95,
) -> pd.DataFrame | None:
    """Root mean variance of the log-odds of one query between its wordings, by model and role.

    Parameters
    ----------
    answers : DataFrame
        As ``reduction.probability_answers`` returns.

    Returns
    -------
    DataFrame or None
        ``model, role, noise, noise_low, noise_high, ci_level, ci_method, n`` (queries in two wordings or more),
        ``n_clusters, reason``; None where no query was asked in two.
    """
    known = answers[answers["probability"].notna() & (answers["role"].astype(str) != "")]
    rows = known.assign(odds=log_odds(known["probability"], clip=clip))
    query = ["model", "unit", "identity", "role", "state"]
    by_wording = rows.groupby([*query, "wording"], observed=True, sort=True)["odds"].mean()
    between = by_wording.groupby(query, observed=True, sort=True).agg(["var", "size"]).reset_index()
    several = between[between["size"] > 1].astype({name: str for name in query})
    if several.empty:
        return None
    found = grouped_means(
        several, {"noise": "var"}, by=("model", "role"), rng=rng, resamples=resamples, ci_level=ci_level
    )
    low, high = (np.where(found[end].isna(), np.nan, root(found[end])) for end in ("ci_low", "ci_high"))
    return found.assign(noise=root(found["estimate"]), noise_low=low, noise_high=high)
