"""Which account of uncertain answers predicts the responses to units that were left out best."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.bayes.design_matrix import SIGNS
from analysis.bayes.models.uncertain_answers import MODELS
from analysis.bayes.uncertain_fit import Predicted, left_out
from analysis.measures.yes_no_bias import FOUR_CELLS, TWO_CLASSES, YES_CELLS

Floats = NDArray[np.float64]

#: Units are left out in at most so many groups.
MOST_FOLDS: Final = 20
LEAST_UNITS: Final = 5
LEAST_UNCERTAIN: Final = 20
LEAST_ANSWERED: Final = 20
#: Differences of fewer standard errors, or of less in all, choose nothing.
LEAST_ERRORS: Final = 2.0
LEAST_DIFFERENCE: Final = 4.0
#: Monte-Carlo error of a difference as a share of its standard error.
_MOST_MC: Final = 0.25


def why_not_compared(counts: pd.DataFrame) -> str:
    """Why the accounts cannot be compared on counts by model, cell and unit; empty where they can."""
    uncertain, units = int(counts["n_uncertain"].sum()), int(counts["unit"].nunique())
    if uncertain < LEAST_UNCERTAIN:
        return f"{uncertain} uncertain answers, {LEAST_UNCERTAIN} are needed"
    answered = int(counts["n_answered"].sum())
    if answered < LEAST_ANSWERED:
        return f"{answered} answers beside the uncertain ones, {LEAST_ANSWERED} are needed"
    if units < LEAST_UNITS:
        return f"{units} units to leave out, {LEAST_UNITS} are needed"
    return ""


def compare_uncertain(counts: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Expected log predictive density of each account, and its difference from the report's own.

    Parameters
    ----------
    counts : DataFrame
        ``model, cell, unit, n_answered, n_uncertain, n_correct``; other rows of one model, cell and unit are added up.
        ``why_not_compared`` is empty.
    seed : int
        Of the draws that coefficients are integrated by.

    Returns
    -------
    DataFrame
        ``account, elpd, difference, std_error`` (over units; of the difference), ``mc_error`` (Monte-Carlo, of the
        difference), ``decision``: better, worse, not told apart, or the reference; ``n_units, n_folds, n, reason``. A
        difference is told apart beyond LEAST_ERRORS standard errors and LEAST_DIFFERENCE.
    """
    outcomes, columns = _arrays(counts)
    units = len(outcomes)
    fold = np.arange(units) % min(units, MOST_FOLDS)
    found = {
        model.name: left_out(model, outcomes, columns, fold, np.random.default_rng([seed, i]))
        for i, model in enumerate(MODELS)
    }
    reference = found[MODELS[0].name]
    rows = [{"account": name} | _row(predicted, reference) for name, predicted in found.items()]
    shared = {"n_units": units, "n_folds": int(fold.max()) + 1, "n": int(outcomes.sum())}
    return pd.DataFrame(rows).assign(**shared)


def _row(predicted: Predicted, reference: Predicted) -> dict[str, object]:
    problem = predicted.problem or reference.problem
    if problem:
        return {"reason": problem, "decision": ""}
    own = {"elpd": float(predicted.by_unit.sum()), "reason": ""}
    if predicted is reference:
        return own | {"difference": 0.0, "std_error": 0.0, "mc_error": 0.0, "decision": "reference"}
    each = predicted.by_unit - reference.by_unit
    difference, error = float(each.sum()), float(each.std(ddof=1) * np.sqrt(len(each)))
    monte_carlo = float(np.hypot(predicted.error, reference.error))
    if monte_carlo > _MOST_MC * error and abs(difference) < LEAST_DIFFERENCE + 3 * monte_carlo:
        decision = "not told apart"
    else:
        apart = abs(difference) >= max(LEAST_ERRORS * error, LEAST_DIFFERENCE)
        decision = ("better" if difference > 0 else "worse") if apart else "not told apart"
    return own | {"difference": difference, "std_error": error, "mc_error": monte_carlo, "decision": decision}


def _arrays(counts: pd.DataFrame) -> tuple[Floats, Floats]:
    """Responses (units, models, cells, outcomes), and columns of the cells: 1, gold, polarity, validity."""
    cell = counts["cell"].astype(str)
    names = FOUR_CELLS if cell.isin(FOUR_CELLS).any() else TWO_CLASSES
    rows = counts[cell.isin(names)]
    keys = [rows[name].astype(str) for name in ("unit", "model", "cell")]
    right_is_yes = keys[2].isin(list(YES_CELLS))
    yes = rows["n_correct"].where(right_is_yes, rows["n_answered"] - rows["n_correct"])
    table = pd.DataFrame({"yes": yes, "no": rows["n_answered"] - yes, "uncertain": rows["n_uncertain"]})
    sums = table.groupby(keys).sum()
    levels = [sorted(keys[0].unique()), sorted(keys[1].unique()), list(names)]
    whole = sums.reindex(pd.MultiIndex.from_product(levels), fill_value=0)
    signs = np.array([SIGNS[name] for name in names], float)
    columns = np.column_stack([np.ones(len(names)), signs])[:, : len(names)]
    return whole.to_numpy(float).reshape(*(len(level) for level in levels), 3), columns
