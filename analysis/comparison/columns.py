"""The columns of a comparison, taken from frequentist estimates and a fitted model of the same responses."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.result import COUNTS, AnswerBiasFit
from analysis.bayes.summaries import KERNELS
from analysis.comparison.schools import REFERENCE, Columns, Thresholds, compare_schools
from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
#: Measures that a floor test has decided.
TESTED: Final = "competence_floor"
_NEW: Final = "new_templates"


def compare_columns(
    fit: AnswerBiasFit,
    estimates: pd.DataFrame,
    tests: pd.DataFrame,
    facts: pd.DataFrame,
    *,
    thresholds: Thresholds | None = None,
) -> pd.DataFrame:
    """Frequentist estimates beside those of a fit, with decisions, verdict and reason.

    Parameters
    ----------
    fit : AnswerBiasFit
        Of the same responses.
    estimates : DataFrame
        ``frequentist.answer_bias_estimates`` of one task; its target and treatment of uncertain answers
        choose the rows of the fit.
    tests : DataFrame
        ``frequentist.floor_tests`` of the same estimates.
    facts : DataFrame
        ``shared_input.comparison_facts``.
    thresholds : Thresholds

    Returns
    -------
    DataFrame
        As ``schools.compare_schools``, with ``task`` first; measures that the design does not identify are
        left out. Where the fit failed a gate, the numbers of
        its column are missing and ``reason`` says which.
    """
    limits = Thresholds() if thresholds is None else thresholds
    uncertain = _one(estimates, "uncertain")
    target = _one(estimates, "target")
    likelihood, own = headline_rows(fit, target)
    pooled = rows_of(fit.table, own, uncertain, likelihood)
    pooled = with_probabilities(pooled, fit, likelihood, own, uncertain, limits)
    if fit.status != "ok":
        numbers = ["estimate", "ci_low", "ci_high", "p_above", "p_below", "p_rope"]
        pooled = pooled.assign(**dict.fromkeys(numbers, np.nan))
    said = target if own == "these" and target != _NEW else own
    columns = Columns(
        frequentist=estimates[estimates["measure"].isin(pooled["measure"])],
        unpooled=rows_of(fit.unpooled, "these", uncertain, COUNTS),
        pooled=pooled.assign(target=said),
        decisions=floor_decisions(tests),
        facts=facts,
        failed="" if fit.status == "ok" else fit.reason,
    )
    found = compare_schools(columns, limits)
    found.insert(0, "task", fit.task)
    return found


def headline_rows(fit: AnswerBiasFit, target: str) -> tuple[str, str]:
    """Likelihood and target of the rows of a fit to set beside frequentist estimates of a target."""
    if target == _NEW and (fit.table["target"] == _NEW).any():
        return COUNTS, _NEW
    return str(fit.glance["headline"]), "these"


def floor_decisions(tests: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Decision of the tests of the competence floor by (model, measure)."""
    above = tests[tests["alternative"] == "greater"]
    return {(str(m), TESTED): str(d) for m, d in zip(above["model"], above["decision"], strict=True)}


def with_probabilities(
    rows: pd.DataFrame, fit: AnswerBiasFit, likelihood: str, target: str, uncertain: str, limits: Thresholds
) -> pd.DataFrame:
    """Rows with the posterior probabilities of lying above, below and within the region of practical equivalence."""
    accuracy, names = draws_of(fit, likelihood, target, uncertain)
    models = {model: i for i, model in enumerate(names)}
    found = np.full((len(rows), 3), np.nan)
    measures = rows["measure"].to_numpy()
    place = rows["model"].astype(str).map(models).to_numpy(float)
    for measure in dict.fromkeys(measures):
        if measure not in REFERENCE:
            continue
        mine = (measures == measure) & np.isfinite(place)
        away = KERNELS[measure][0](accuracy) - REFERENCE[measure]
        found[mine] = _shares(away, limits.rope)[place[mine].astype(int)]
    return rows.assign(p_above=found[:, 0], p_below=found[:, 1], p_rope=found[:, 2])


def _shares(away: Floats, rope: float) -> Floats:
    """Shares (M, 3) of draws (chains, draws, M) above, below and within the rope; NaN where a draw is undefined."""
    above, below = (away > rope).mean(axis=(0, 1)), (away < -rope).mean(axis=(0, 1))
    shares = np.stack([above, below, 1 - above - below], axis=1)
    return np.where(np.isfinite(away).all(axis=(0, 1))[:, None], shares, np.nan)


def draws_of(fit: AnswerBiasFit, likelihood: str, target: str, uncertain: str) -> tuple[Floats, tuple[str, ...]]:
    """Draws (chains, draws, M, cells) of the accuracies behind some rows of a fit, and the models of their third axis.

    Where every response was answered all treatments of uncertain answers are one.
    """
    prefix = f"accuracy: {likelihood}, {target}, "
    found = [key for key in fit.draws if key.startswith(prefix)]
    if not found:
        raise AnalysisError(f"the fit has no draws of {likelihood!r} for target {target!r}")
    rows = fit.table[fit.table["likelihood"] == likelihood]
    name = prefix + uncertain if prefix + uncertain in found else found[0]
    return fit.draws[name], tuple(dict.fromkeys(rows["model"].astype(str)))


def rows_of(table: pd.DataFrame, target: str, uncertain: str, likelihood: str) -> pd.DataFrame:
    """Rows of one target and likelihood under a treatment of uncertain answers, or under the only one that there is."""
    part = table[(table["target"] == target) & (table["likelihood"] == likelihood)]
    treated = part[part["uncertain"] == uncertain]
    return (treated if len(treated) else part).reset_index(drop=True)


def _one(table: pd.DataFrame, name: str) -> str:
    values = table[name].astype(str).unique()
    if len(values) != 1:
        raise AnalysisError(f"a comparison needs estimates of one {name}; found {', '.join(sorted(values)) or 'none'}")
    return str(values[0])
