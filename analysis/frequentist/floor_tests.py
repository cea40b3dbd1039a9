"""Is a model competent whatever the right answer is? Tests of the floor against .5, adjusted over models."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.frequentist.cell_rates import NO_GOLD, CellRates, cell_rates, design_of
from analysis.frequentist.floor import floor_above, floor_below
from analysis.frequentist.multiplicity import family_size, holm
from analysis.frequentist.unit_arrays import Floats, TaskSums, accuracy_columns, portions, tasks_of
from analysis.measures.rates import check_treatment

#: Alternative -> name of the test.
TESTS = {
    "greater": "intersection-union, cluster score (t)",
    "less": "twice the smaller one-sided p, cluster score (t)",
}


def floor_tests(
    sums: pd.DataFrame,
    *,
    uncertain: str = "incorrect",
    ci_level: float = 0.95,
    target: str = "these",
    null: float = 0.5,
) -> pd.DataFrame:
    """Test the competence floor of every model against ``null``, on both sides.

    Parameters
    ----------
    sums : DataFrame
        As ``reduction.unit_sums`` returns.
    uncertain : {"incorrect", "excluded", "half"}
    ci_level : float in (0, 1)
        A decision is taken where the adjusted p-value is at most 1 - ci_level.
    target : str
        With ``census`` nothing is tested: there is no sampling error.
    null : float in (0, 1)

    Returns
    -------
    DataFrame
        Two rows per task and model, ``alternative`` greater and less, with ``statistic``, ``df``,
        ``p_value``, ``p_adjusted`` (Holm over the models of the task, each alternative a family of
        ``family_size`` tests) and ``decision``: above, below, undecided or not tested, the same in
        both rows. A test that could not be run does not count in its family and has a ``reason``.

    Notes
    -----
    With uncertain answers counted as wrong, a coin that leaves a share u unanswered has the floor
    .5 (1 - u): "above" is then conservative, and "below" no evidence of bias.
    """
    check_treatment(uncertain)
    check_level(ci_level)
    tables = [_task_tests(list(portions(task)), uncertain, 1 - ci_level, null, target) for task in tasks_of(sums)]
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["task", "model", "decision"])
    return table.assign(uncertain=uncertain, target=target)


def decisions(above: Floats, below: Floats, alpha: float) -> list[str]:
    """Above, below, undecided or not tested, from the adjusted p-values of both alternatives."""
    labels = np.where(above <= alpha, "above", np.where(below <= alpha, "below", "undecided"))
    return np.where(np.isnan(above) | np.isnan(below), "not tested", labels).tolist()


def _task_tests(parts: list[TaskSums], uncertain: str, alpha: float, null: float, target: str) -> pd.DataFrame:
    table = pd.concat([_tests(part, uncertain, null) for part in parts], ignore_index=True)
    if target == "census":
        blank = {name: np.nan for name in ("statistic", "df", "p_value")}
        table = table.assign(**blank, reason="census: the benchmark is the population, nothing is tested")
    adjusted = np.full(len(table), np.nan)
    sizes = np.zeros(len(table), dtype=np.int64)
    for alternative in TESTS:
        rows = (table["alternative"] == alternative).to_numpy()
        p = table.loc[rows, "p_value"].to_numpy(float)
        adjusted[rows], sizes[rows] = holm(p), family_size(p)
    decided = decisions(adjusted[0::2], adjusted[1::2], alpha)
    return table.assign(
        p_adjusted=adjusted, p_adjust_method="holm", family_size=sizes, decision=np.repeat(decided, 2).tolist()
    )


def _tests(task: TaskSums, uncertain: str, null: float) -> pd.DataFrame:
    """Unadjusted tests, the two alternatives of a model in adjacent rows."""
    models = len(task.models)
    design = design_of(task)
    estimate, reasons = np.full(models, np.nan), [NO_GOLD] * models
    found = {name: (np.full(models, np.nan), np.full(models, np.nan), np.full(models, np.nan)) for name in TESTS}
    units: NDArray[np.int64] = np.zeros(models, dtype=np.int64)
    if design is not None:
        counted = ("n_answered",) if uncertain == "excluded" else ("n_answered", "n_uncertain")
        cells = cell_rates(task, design, *accuracy_columns(task, uncertain), counted)
        found, estimate = _both_sides(cells, null), np.fmin(cells.estimate("acc_yes"), cells.estimate("acc_no"))
        estimate = np.where(np.isnan(cells.estimate("answer_bias")), np.nan, estimate)
        asked = "answered" if uncertain == "excluded" else "scored"
        reasons, units = cells.reasons("competence_floor", asked=asked), cells.units[:, design.at("answer_bias")]
    sides = [
        pd.DataFrame(
            {
                "task": task.task,
                "model": list(task.models),
                "measure": "competence_floor",
                "estimate": estimate,
                "test": name,
                "alternative": alternative,
                "statistic": found[alternative][0],
                "df": found[alternative][1],
                "p_value": found[alternative][2],
                "n_clusters": units,
                "reason": reasons,
            }
        )
        for alternative, name in TESTS.items()
    ]
    order = np.arange(2 * models).reshape(2, models).T.ravel()
    return pd.concat(sides, ignore_index=True).iloc[order].reset_index(drop=True)


def _both_sides(cells: CellRates, null: float) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Alternative -> statistic, df, p-value (M,)."""
    at = [cells.design.at(name) for name in ("acc_yes", "acc_no")]
    found = cells.rates.contrasts
    rate, df = np.clip(found.estimate[:, at], 0, 1), found.df[:, at]
    result = {}
    for alternative, test in (("greater", floor_above), ("less", floor_below)):
        statistic, p, chosen = test(rate, cells.rates.n_eff[:, at], df, null=null)
        result[alternative] = (statistic, np.take_along_axis(df, chosen[:, None], 1)[:, 0], p)
    return result
