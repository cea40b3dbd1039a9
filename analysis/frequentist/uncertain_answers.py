"""What unread, refused and missing answers could change: bounds over everything planned, and what to flag."""

from typing import Final

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.arguments import check_level
from analysis.frequentist.cell_rates import CellRates, cell_rates, design_of
from analysis.frequentist.unit_arrays import (
    Floats,
    TaskSums,
    accuracy_columns,
    cell_arrays,
    portions,
    summed,
    tasks_of,
)
from analysis.measures.competence import affirmative_floor, cell_floor, competence_floor
from analysis.measures.rates import share
from analysis.measures.yes_no_bias import FOUR_CELLS, class_accuracies

#: Share of uncertain answers in a cell above which a reader has to be told.
MANY_UNCERTAIN: Final = 0.05
_SCORED: Final = ("n_answered", "n_uncertain")


def uncertainty_bounds(sums: pd.DataFrame) -> pd.DataFrame:
    """Worst and best values over everything planned.

    Parameters
    ----------
    sums : DataFrame
        As ``reduction.unit_sums`` returns.

    Returns
    -------
    DataFrame
        ``task, model, measure, bound_low, bound_high, n_planned, n_uncertain, n_unscored, reason``
        for both accuracies, the bias and the floors that the task's cells allow.

    Notes
    -----
    Uncertain and set-aside responses are all wrong at worst and all right at best; for the bias, all
    wrong in one class and all right in the other. These are bounds, not intervals: they hold
    whatever the lost answers were, and know nothing of sampling error. Where items rather than rows
    are weighted, a unit keeps the weight of its scored items, and weight 1 if it has none.
    """
    tables = [_bounds(part) for task in tasks_of(sums) for part in portions(task) if task.cells]
    columns = [
        "task",
        "model",
        "measure",
        "bound_low",
        "bound_high",
        "n_planned",
        "n_uncertain",
        "n_unscored",
        "reason",
    ]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def flags(sums: pd.DataFrame, *, ci_level: float = 0.95) -> pd.DataFrame:
    """What a reader of the estimates has to know about uncertain and missing answers.

    Parameters
    ----------
    sums : DataFrame
        As ``reduction.unit_sums`` returns.
    ci_level : float in (0, 1)

    Returns
    -------
    DataFrame
        ``task, model, flag, value, reason``, one row for each of

        - ``many uncertain answers``: a cell has more than 5 % (``value``: the largest share);
        - ``uncertain answers differ``: the share differs between the class where Yes is right and that
          where No is right, by a cluster t test at 1 - ci_level (``value``: the difference);
        - ``floor turns on lost answers``: the bounds straddle .5 while the interval, with uncertain
          answers counted as wrong, does not (``value``: the width of the bounds).
    """
    check_level(ci_level)
    tables = [_flags(part, ci_level) for task in tasks_of(sums) for part in portions(task) if task.cells]
    columns = ["task", "model", "flag", "value", "reason"]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def _bounded_cells(task: TaskSums) -> tuple[Floats, Floats]:
    """Worst and best accuracy (M, C) of each cell."""
    planned, correct, scored, right = (task.columns[c] for c in ("n_planned", "n_correct", "w_scored", "w_correct"))
    possible = correct + task.columns["n_uncertain"] + task.columns["n_set_aside"]
    by_row = np.array_equal(scored, task.columns["n_answered"] + task.columns["n_uncertain"])
    weight = planned if by_row else np.where(scored > 0, scored, planned > 0)
    per_row = share(weight, planned)
    worst, best = np.nan_to_num(correct * per_row), np.nan_to_num(possible * per_row)
    if not by_row:
        worst, best = np.minimum(worst, right), np.maximum(best, right)
    low, high = (_cell_shares(task, weight, events) for events in (worst, best))
    return low, high


def _cell_shares(task: TaskSums, weight: Floats, events: Floats) -> Floats:
    arrays = cell_arrays(task, weight, events)
    rates = share(arrays.y.sum(axis=1), arrays.n.sum(axis=1))
    unknown = np.isnan(rates) @ (arrays.weights != 0).T > 0
    return np.where(unknown, np.nan, np.nan_to_num(rates) @ arrays.weights.T)


def _bounds(task: TaskSums) -> pd.DataFrame:
    worst, best = _bounded_cells(task)
    low, high = class_accuracies(worst), class_accuracies(best)
    found = {
        "acc_yes": (low[:, 0], high[:, 0]),
        "acc_no": (low[:, 1], high[:, 1]),
        "answer_bias": (low[:, 0] - high[:, 1], high[:, 0] - low[:, 1]),
        "competence_floor": (competence_floor(worst), competence_floor(best)),
    }
    if task.cells == FOUR_CELLS:
        found["affirmative_floor"] = (affirmative_floor(worst), affirmative_floor(best))
        found["cell_floor"] = (cell_floor(worst), cell_floor(best))
    counts = {
        name: summed(task, column, task.known)
        for name, column in (("n_planned", "n_planned"), ("n_uncertain", "n_uncertain"), ("n_unscored", "n_set_aside"))
    }
    parts = [
        pd.DataFrame({"model": list(task.models), "measure": name, "bound_low": a, "bound_high": b, **counts})
        for name, (a, b) in found.items()
    ]
    table = pd.concat(parts, ignore_index=True)
    lost = table["bound_low"].isna()
    table = table.assign(task=task.task, reason=np.where(lost, "nothing was planned in a cell that this needs", ""))
    order = np.arange(len(table)).reshape(len(found), len(task.models)).T.ravel()
    return table.iloc[order].reset_index(drop=True)


def _flags(task: TaskSums, ci_level: float) -> pd.DataFrame:
    design = design_of(task)
    if design is None:
        return pd.DataFrame(columns=["task", "model", "flag", "value", "reason"])
    unread = cell_rates(task, design, task.columns["w_scored"], task.columns["w_uncertain"], _SCORED)
    found = [*_many(task, unread), *_differing(task, unread, ci_level), *_turning(task, ci_level)]
    table = pd.DataFrame(found, columns=["model", "flag", "value", "reason"]).assign(task=task.task)
    rank = {name: i for i, name in enumerate(task.models)}
    return table.sort_values("model", key=lambda names: names.map(rank), kind="stable")


def _many(task: TaskSums, unread: CellRates) -> list[tuple[str, str, float, str]]:
    rows = []
    shares = unread.rates.contrasts.estimate[:, : len(task.cells)]
    for model, values in zip(task.models, shares, strict=True):
        above = [(value, cell) for value, cell in zip(values, task.cells, strict=True) if value > MANY_UNCERTAIN]
        if above:
            text = ", ".join(f"{cell} {value:.1%}" for value, cell in above)
            rows.append((model, "many uncertain answers", max(above)[0], f"uncertain answers: {text}"))
    return rows


def _differing(task: TaskSums, unread: CellRates, ci_level: float) -> list[tuple[str, str, float, str]]:
    at = unread.design.at("answer_bias")
    found = unread.rates.contrasts
    difference, error = found.estimate[:, at], np.sqrt(found.variance[:, at])
    reach = student.ppf(0.5 + ci_level / 2, found.df[:, at]) * error
    return [
        (
            task.models[m],
            "uncertain answers differ",
            float(difference[m]),
            f"share of uncertain answers where Yes is right minus where No is: {difference[m]:+.3f}, "
            f"cluster standard error {error[m]:.3f}",
        )
        for m in np.flatnonzero(np.abs(difference) > reach)
    ]


def _turning(task: TaskSums, ci_level: float) -> list[tuple[str, str, float, str]]:
    design = design_of(task)
    if design is None:
        return []
    cells = cell_rates(task, design, *accuracy_columns(task, "incorrect"), _SCORED)
    low, high = cells.limits("competence_floor", ci_level=ci_level)
    worst, best = (competence_floor(bound) for bound in _bounded_cells(task))
    turning = ((low > 0.5) | (high < 0.5)) & (worst <= 0.5) & (best >= 0.5)
    return [
        (
            task.models[m],
            "floor turns on lost answers",
            float(best[m] - worst[m]),
            f"floor between {worst[m]:.3f} and {best[m]:.3f} if all lost answers were wrong or right; "
            f"its interval [{low[m]:.3f}, {high[m]:.3f}] counts uncertain ones as wrong",
        )
        for m in np.flatnonzero(turning)
    ]
