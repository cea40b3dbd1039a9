"""Belief bias, accuracy and levels of conditions by both schools, row by row, with decisions, verdict and reason."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.belief_bias_result import BeliefBiasFit, level_name
from analysis.comparison.schools import Columns, Thresholds, compare_schools

Floats = NDArray[np.float64]
#: Measures compared, with the value that a decision refers to.
REFERENCE: Final = {"belief_bias": 0.0, "discrimination_difference": 0.0, "accuracy": 0.5}
_CELLS: Final = ("acc_vb", "acc_vu", "acc_ib", "acc_iu")
_POSTERIOR: Final = ("estimate", "ci_low", "ci_high", "p_above", "p_below", "p_rope")


def belief_bias_schools(
    fit: BeliefBiasFit,
    estimates: pd.DataFrame,
    *,
    lost: Mapping[str, float],
    thresholds: Thresholds | None = None,
) -> pd.DataFrame:
    """Frequentist estimates beside those of the endorsement model.

    Parameters
    ----------
    fit : BeliefBiasFit
        Of the same answers.
    estimates : DataFrame
        ``frequentist.belief_bias_estimates`` and ``vote_share_estimates`` of shares of votes, uncertain answers
        excluded: what the fit estimates.
    lost : mapping of str to float
        Share of a model's planned answers that are not readable.
    thresholds : Thresholds

    Returns
    -------
    DataFrame
        As ``schools.compare_schools``, for REFERENCE.
    """
    limits = thresholds or Thresholds()
    pooled = fit.table[(fit.table["target"] == "these") & fit.table["measure"].isin(REFERENCE)]
    draws = {name: fit.draws[name] for name in REFERENCE if name in fit.draws}
    return _compared(fit, estimates, pooled, draws, REFERENCE, _facts(estimates, lost), limits)


def level_schools(
    fit: BeliefBiasFit,
    by_model: pd.DataFrame,
    estimates: pd.DataFrame,
    *,
    lost: Mapping[str, float],
    thresholds: Thresholds | None = None,
) -> pd.DataFrame:
    """Accuracy under one level of a condition minus another, by model, in both schools.

    Parameters
    ----------
    fit : BeliefBiasFit
    by_model : DataFrame
        ``frequentist.model_pair_tests`` of shares of votes, of all conditions: ``factor, first, second, model``.
    estimates : DataFrame
        As for ``belief_bias_schools``: the facts of each model.
    lost, thresholds
        As there.

    Returns
    -------
    DataFrame
        As ``schools.compare_schools``, with ``factor, first, second`` first; the decisions are those of intervals.
    """
    limits, parts = thresholds or Thresholds(), []
    facts = _facts(estimates, lost)
    for key, own in by_model.groupby(["factor", "first", "second"], sort=False):
        factor, first, second = map(str, key)
        c = fit.contrasts
        chosen = (c["factor"] == factor) & (c["first"] == first) & (c["second"] == second)
        name = level_name(factor, first, second)
        frequentist = own.assign(measure=name, target="these")
        draws = {name: fit.draws[name]} if name in fit.draws else {}
        found = _compared(fit, frequentist, c[chosen].assign(measure=name), draws, {name: 0.0}, facts, limits)
        if len(found):
            # Levels share their questions, and the unpooled column takes them as independent: no check of the software.
            parts.append(found.assign(factor=factor, first=first, second=second, software_ok=None))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _compared(
    fit: BeliefBiasFit,
    estimates: pd.DataFrame,
    pooled: pd.DataFrame,
    draws: Mapping[str, Floats],
    reference: Mapping[str, float],
    facts: pd.DataFrame,
    limits: Thresholds,
) -> pd.DataFrame:
    failed = "" if fit.status == "ok" else fit.reason
    pooled = _with_probabilities(pooled.reset_index(drop=True), draws, reference, limits)
    if failed:
        pooled = pooled.assign(**dict.fromkeys(_POSTERIOR, np.nan))
    columns = Columns(
        frequentist=estimates,
        unpooled=fit.unpooled,
        pooled=pooled,
        decisions={},
        facts=facts,
        failed=failed,
        reference=reference,
    )
    return compare_schools(columns, limits)


def _with_probabilities(
    rows: pd.DataFrame, draws: Mapping[str, Floats], reference: Mapping[str, float], limits: Thresholds
) -> pd.DataFrame:
    """Rows with posterior probabilities of lying above, below and within the rope around the reference.

    Rows of one measure are in the order of the models of its draws.
    """
    found = np.full((len(rows), 3), np.nan)
    for name, values in draws.items():
        away = values - reference[name]
        above, below = (away > limits.rope).mean(axis=(0, 1)), (away < -limits.rope).mean(axis=(0, 1))
        shares = np.stack([above, below, 1 - above - below], axis=1)
        shares = np.where(np.isfinite(away).all(axis=(0, 1))[:, None], shares, np.nan)
        own = (rows["measure"] == name).to_numpy()
        found[own] = shares[: own.sum()]
    return rows.assign(p_above=found[:, 0], p_below=found[:, 1], p_rope=found[:, 2])


def _facts(estimates: pd.DataFrame, lost: Mapping[str, float]) -> pd.DataFrame:
    """What a comparison has to know of each model."""
    rows = []
    for model, own in estimates.groupby("model", sort=True):
        cells = own.loc[own["measure"].isin(_CELLS)]
        rates = cells["estimate"].dropna().to_numpy(float)
        accuracy = own[own["measure"] == "accuracy"].iloc[0]
        p, error = float(accuracy["estimate"]), float(accuracy["std_error"])
        single = p * (1 - p) / accuracy["n"] if accuracy["n"] else np.nan
        rows.append(
            {
                "model": str(model),
                "min_cell": rates.min(initial=0.5),
                "max_cell": rates.max(initial=0.5),
                "n_eff": float(cells["n_clusters"].min()) if len(cells) else 0.0,
                "deff": error**2 / single if single and np.isfinite(error) else 1.0,
                "tail": bool(cells["std_error"].isna().any()),
                "lost": float(lost.get(str(model), 0.0)),
                "bias_z": np.nan,
            }
        )
    return pd.DataFrame(rows)
