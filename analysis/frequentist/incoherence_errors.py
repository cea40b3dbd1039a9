"""Which answers are wrong where they do not cohere: errors of every kind of answer, direct against decomposed."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.frequentist.incoherence_associations import centred_correlation, rank_correlation
from analysis.frequentist.incoherence_means import grouped_means

#: |r| of an instance up to which it is called coherent, and above which incoherent, in log-odds.
COHERENT: Final = 0.1
INCOHERENT: Final = 0.5
CLOSER: Final = "implied_closer"


def with_groups(instances: pd.DataFrame) -> pd.DataFrame:
    """Instances with ``coherence`` (coherent, between, incoherent) and ``implied_closer`` (1, 0; .5 at a tie)."""
    size = instances["abs_residual"]
    group = np.where(size <= COHERENT, "coherent", np.where(size > INCOHERENT, "incoherent", "between"))
    gap = instances["error_left"] - instances["error_right"]
    closer = np.where(gap > 0, 1.0, np.where(gap < 0, 0.0, 0.5))
    return instances.assign(coherence=group, **{CLOSER: np.where(gap.isna(), np.nan, closer)})


def error_means(
    instances: pd.DataFrame,
    *,
    by: tuple[str, ...],
    rng: np.random.Generator,
    resamples: int = 10_000,
    ci_level: float = 0.95,
) -> pd.DataFrame:
    """Mean absolute log-odds errors of each kind of answer, and the share where the decomposition is closer.

    Parameters
    ----------
    instances : DataFrame
        As ``reduction.moments.instance_moments`` returns; instances without a truth are left out.
    by : tuple of str
        Such as ``model`` and ``coherence``.

    Returns
    -------
    DataFrame
        As ``grouped_means``; measures ``error_<role>``, ``error_left``, ``error_right``, ``implied_closer``.
    """
    known = with_groups(instances[instances["error_left"].notna() & instances["error_right"].notna()])
    columns = [name for name in known.columns if name.startswith("error_") and known[name].notna().any()]
    return grouped_means(
        known, {name: name for name in (*columns, CLOSER)}, by=by, rng=rng, resamples=resamples, ci_level=ci_level
    )


def associations(instances: pd.DataFrame, residuals: pd.DataFrame, *, ci_level: float = 0.95) -> pd.DataFrame:
    """How |r| of a model goes with its error and with the length of its reasoning.

    Parameters
    ----------
    instances : DataFrame
        One row per instance.
    residuals : DataFrame
        One row per instance and wording, for the correlation within instances.

    Returns
    -------
    DataFrame
        ``model, measure, estimate, std_error, ci_low, ci_high, ci_level, ci_method, n, n_clusters, reason`` for
        ``rank_error`` (Spearman of |r| and error of the direct answer), ``rank_tokens`` (and reasoning tokens), and
        ``centred_tokens`` (Pearson of |r| and log tokens, both minus the mean of their instance).
    """
    rows = []
    for model in sorted(instances["model"].unique()):
        part = instances[instances["model"] == model]
        several = residuals[residuals["model"] == model]
        tokens = np.log(several["tokens"].where(several["tokens"] > 0).to_numpy(float))
        label = several["unit"] + "\0" + several["identity"]
        size, units = part["abs_residual"], part["unit"]
        found = {
            "rank_error": rank_correlation(size, part["error_left"], units, ci_level=ci_level),
            "rank_tokens": rank_correlation(size, part["tokens"], units, ci_level=ci_level),
            "centred_tokens": centred_correlation(
                several["residual"].abs(), tokens, label, several["unit"], ci_level=ci_level
            ),
        }
        for measure, one in found.items():
            rows.append(
                {
                    "model": model,
                    "measure": measure,
                    "estimate": one.estimate,
                    "std_error": one.std_error,
                    "ci_low": one.ci_low,
                    "ci_high": one.ci_high,
                    "ci_level": one.ci_level,
                    "ci_method": "Fisher z, clustered by unit",
                    "n": one.n,
                    "n_clusters": one.n_clusters,
                    "reason": one.reason,
                }
            )
    return pd.DataFrame(rows)


def causal_anomalies(residuals: pd.DataFrame, observed: pd.DataFrame, *, tolerance: float = 0.01) -> pd.DataFrame:
    """Answers to an intervention beside what only observing would give.

    Parameters
    ----------
    residuals : DataFrame
        Of the back-door identity, one row per unit and wording.
    observed : DataFrame
        ``unit, truth`` of P(y | x), one row per unit.
    tolerance : float
        An answer within this of the observational value is *anomalous* where the causal value lies farther off.

    Returns
    -------
    DataFrame
        ``model, unit, wording, left, right, truth, observational, residual, anomalous``, the largest residuals first;
        ``anomalous`` is missing where a value is unknown or the two lie within twice the tolerance of each other.
    """
    value = observed.groupby("unit")["truth"].first()
    table = residuals.assign(observational=residuals["unit"].map(value))
    apart = (table["observational"] - table["truth"]).abs() > 2 * tolerance
    near = (table["left"] - table["observational"]).abs() <= tolerance
    table = table.assign(anomalous=near.astype(object).where(apart, None), size=table["residual"].abs())
    table = table.sort_values(["size", "model", "unit", "wording"], ascending=[False, True, True, True])
    columns = ["model", "unit", "wording", "left", "right", "truth", "observational", "residual", "anomalous"]
    return table[columns].reset_index(drop=True)
