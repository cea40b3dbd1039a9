"""Accuracies, answer bias, floors and signal detection of yes/no answers: one row per task, model and measure."""

from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arguments import check_level
from analysis.errors import AnalysisError
from analysis.frequentist.cell_rates import (
    NO_FACTORS,
    NO_GOLD,
    CellRates,
    cell_rates,
    design_of,
    pooled_rate,
)
from analysis.frequentist.floor_tests import floor_tests
from analysis.frequentist.measure_columns import MeasureColumn, measure_rows
from analysis.frequentist.signal_detection_limits import z_difference_limits
from analysis.frequentist.unit_arrays import (
    Floats,
    TaskSums,
    accuracy_columns,
    portions,
    summed,
    tasks_of,
    weight_by_cell,
    yes_columns,
)
from analysis.measures.competence import min_bias_if_tied
from analysis.measures.rates import check_treatment

__all__ = ["MEASURES", "answer_bias_estimates", "floor_tests"]

#: Measures in the order of the rows.
MEASURES: Final = (
    *("accuracy", "uncertain_rate", "yes_rate"),
    *("acc_yes", "acc_no", "acc_va", "acc_vn", "acc_ia", "acc_in"),
    *("balanced_accuracy", "answer_bias", "polarity_sensitivity", "validity_contrast"),
    *("competence_floor", "affirmative_floor", "cell_floor", "d_prime", "criterion_c"),
)
TARGETS: Final = ("these", "new_items", "new_templates", "census")
SILENT: Final = "no answer of this model could be read"
#: Measures of how answers lean, undefined where there are none.
LEANS: Final = ("yes_rate", "answer_bias", "polarity_sensitivity", "validity_contrast", "d_prime", "criterion_c")


def answer_bias_estimates(
    sums: pd.DataFrame,
    *,
    uncertain: str = "incorrect",
    ci_level: float = 0.95,
    target: str = "these",
    unit: str = "unit",
    weights: str = "",
) -> pd.DataFrame:
    """Every measure of answer bias and competence, with intervals by independent unit.

    Parameters
    ----------
    sums : DataFrame
        As ``reduction.unit_sums`` returns. Strata of a cell weigh the same.
    uncertain : {"incorrect", "excluded", "half"}
        Treatment of uncertain answers, through every measure but ``uncertain_rate``.
    ci_level : float in (0, 1)
    target : {"these", "new_items", "new_templates", "census"}
        Whom the interval speaks of: units like the ones asked (what the rows of ``sums`` call a unit
        decides: for ``new_templates`` the caller sums by template), or nobody else.
    unit, weights : str
        Labels for the result: what the unit is, how responses were weighted.

    Returns
    -------
    DataFrame
        Columns of ``vocabulary.OUTPUT_COLUMNS``. A measure that the design cannot give, or that a
        model's responses leave undefined, is a row with missing numbers and a ``reason``; a reason
        beside numbers says what limits them.

    Notes
    -----
    ``docs/methods.md`` gives the formulas, and the simulations behind each choice of interval.
    """
    check_treatment(uncertain)
    check_level(ci_level)
    if target not in TARGETS:
        raise AnalysisError(
            f"target must be one of {', '.join(TARGETS)}, not {target!r}: estimates of one model at a time say nothing "
            "of new models"
        )
    tables = [
        measure_rows(part, _columns(part, uncertain, ci_level), target)
        for task in tasks_of(sums)
        for part in portions(task)
    ]
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["task", "model", "measure"])
    return table.assign(ci_level=ci_level, uncertain=uncertain, unit=unit, weights=weights, target=target)


def _columns(task: TaskSums, uncertain: str, ci_level: float) -> list[MeasureColumn]:
    n, y = accuracy_columns(task, uncertain)
    counted = ("n_answered",) if uncertain == "excluded" else ("n_answered", "n_uncertain")
    asked = "answered" if uncertain == "excluded" else "scored"
    unclear = (task.columns["w_scored"], task.columns["w_uncertain"])
    found = [
        _pooled("accuracy", pooled_rate(task, n, y, counted), asked, ci_level),
        _pooled("uncertain_rate", pooled_rate(task, *unclear, ("n_answered", "n_uncertain")), "scored", ci_level),
    ]
    design = design_of(task)
    if design is None:
        return found + [_undefined(name, NO_GOLD, len(task.models)) for name in MEASURES[2:]]
    yes = pooled_rate(task, *yes_columns(task, uncertain), counted, known_only=True)
    found.append(_pooled("yes_rate", yes, asked, ci_level))
    cells = cell_rates(task, design, n, y, counted)
    for name in MEASURES[3:]:
        if name in ("d_prime", "criterion_c"):
            found.append(_deviate(name, cells, weight_by_cell(task, n), asked, ci_level))
        elif name in design.floors:
            found.append(_floor(name, cells, asked, ci_level))
        elif name in design.names:
            found.append(_contrast(name, cells, asked, ci_level))
        else:
            found.append(_undefined(name, NO_FACTORS, len(task.models)))
    silent = summed(task, "n_answered", task.known) == 0
    return [_without(column, silent) if column.measure in LEANS else column for column in found]


def _without(column: MeasureColumn, silent: NDArray[np.bool_]) -> MeasureColumn:
    """A column without the models that never answered: two rates of 0 are no sign of an even hand."""
    silent = silent & ~np.isnan(column.estimate)
    reasons = [SILENT if s else reason for s, reason in zip(silent, column.reasons, strict=True)]

    def blank(values: Floats) -> Floats:
        return np.where(silent, np.nan, values)

    return replace(
        column,
        estimate=blank(column.estimate),
        variance=blank(column.variance),
        df=blank(column.df),
        low=blank(column.low),
        high=blank(column.high),
        n_eff=blank(column.n_eff),
        reasons=reasons,
    )


def _pooled(measure: str, cells: CellRates, asked: str, ci_level: float) -> MeasureColumn:
    return _contrast("rate", cells, asked, ci_level, measure=measure)


def _contrast(name: str, cells: CellRates, asked: str, ci_level: float, *, measure: str = "") -> MeasureColumn:
    at, found = cells.design.at(name), cells.rates.contrasts
    kind = "difference" if name in cells.design.differences else "rate"
    return MeasureColumn(
        measure or name,
        kind,
        found.estimate[:, at],
        found.variance[:, at],
        found.df[:, at],
        *cells.limits(name, ci_level=ci_level),
        cells.rows[:, at],
        cells.units[:, at],
        cells.rates.n_eff[:, at] if kind == "rate" else np.full(len(cells.rows), np.nan),
        cells.reasons(name, asked=asked),
        np.full(len(cells.rows), np.nan),
    )


def _floor(name: str, cells: CellRates, asked: str, ci_level: float) -> MeasureColumn:
    members, gap = cells.design.floors[name]
    index = np.array([cells.design.at(member) for member in members])
    found = cells.rates.contrasts
    values = found.estimate[:, index]
    smallest = index[np.where(np.isnan(values), np.inf, values).argmin(axis=1)]
    models = np.arange(len(values))
    tie_bias = np.sqrt(found.variance[:, cells.design.at(gap)]) if gap else np.full(len(values), np.nan)
    return MeasureColumn(
        name,
        "floor",
        values.min(axis=1),
        found.variance[models, smallest],
        found.df[models, smallest],
        *cells.limits(name, ci_level=ci_level),
        *_behind(cells, members),
        cells.rates.n_eff[models, smallest],
        cells.reasons(name, asked=asked),
        min_bias_if_tied(tie_bias),
    )


def _behind(cells: CellRates, members: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Responses and units behind several rates together: those of the contrast that uses all their cells."""
    whole = "balanced_accuracy" if len(members) != 2 or "acc_yes" in members else "va_minus_ia"
    at = cells.design.at(whole)
    return cells.rows[:, at], cells.units[:, at]


def _deviate(name: str, cells: CellRates, weight: Floats, asked: str, ci_level: float) -> MeasureColumn:
    at = cells.design.at("answer_bias")
    classes = (cells.design.at("acc_yes"), cells.design.at("acc_no"))
    estimate, variance, low, high = z_difference_limits(
        cells.rates, classes, at, weight, criterion=name == "criterion_c", ci_level=ci_level
    )
    # The slope is steepest where a class does not vary: its share of the variance would be lost silently.
    still = (cells.rates.contrasts.variance[:, list(classes)] == 0).any(axis=1)
    return MeasureColumn(
        name,
        "deviate",
        estimate,
        np.where(still, 0.0, variance),
        cells.rates.contrasts.df[:, at],
        low,
        high,
        cells.rows[:, at],
        cells.units[:, at],
        np.full(len(estimate), np.nan),
        cells.reasons("answer_bias", asked=asked),
        np.full(len(estimate), np.nan),
    )


def _undefined(measure: str, reason: str, models: int) -> MeasureColumn:
    nothing, none = np.full(models, np.nan), np.zeros(models, dtype=np.int64)
    return MeasureColumn(
        measure, "", nothing, nothing, nothing, nothing, nothing, none, none, nothing, [reason] * models, nothing
    )
