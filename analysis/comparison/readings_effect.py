"""What the reading of answers does to the estimates: our readings beside the scores that a log states."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import duckdb
import pandas as pd

from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.uncertain_answers import uncertainty_bounds
from analysis.reduction.cells import COUNTS
from analysis.reduction.exclusions import left_out_sql
from analysis.reduction.readings import VERDICT_SQL
from analysis.reduction.selection import EVERYTHING, column_types
from analysis.reduction.units import unit_sums
from analysis.schema.quoting import quote_identifier
from analysis.schema.status import SET_ASIDE, UNCERTAIN, Status
from analysis.schema.task_design import TaskDesign

#: Measures that are compared.
MEASURES: Final = ("accuracy", "answer_bias", "competence_floor")
AGREEMENT: Final = "agreement"
_KEYS: Final = ["task", "model", "item", "unit", "gold", "cell"]
_SOURCES = ("read", "scored")
_COUNTED = ("n_answered", "n_uncertain", "n_yes", "n_correct")


@dataclass(frozen=True, slots=True)
class ReadingsEffect:
    """Readings and scores of the yes/no tasks whose logs state scores of 0 and 1.

    ``agreement``: task, model, condition (``column = level``, several joined by "; "), compared, agreed, share.
    ``estimates``: task, model, measure, as_read (uncertain answers are wrong), as_scored, bound_low, bound_high (by
    our reading, with every unread answer at its worst and best), reason.
    ``moves``: task, model, verdict, rule, rows, floor_move, bias_move: what the estimate would change by if those
    responses were taken as scored, furthest first. All are shares of 1.
    """

    agreement: pd.DataFrame
    estimates: pd.DataFrame
    moves: pd.DataFrame


def readings_effect(con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign]) -> ReadingsEffect:
    """Compare readings with logged scores, and what either makes of accuracy, bias and competence floor.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``analysed``.
    designs : sequence of TaskDesign
        Tasks other than yes/no tasks, and those without a score of 0 or 1, are left out.

    Notes
    -----
    A response with such a score counts as answered under the scores, whatever its text says: right if it is 1.
    Others count as read. A row is weighted as in ``reduction.unit_sums`` without strata.
    """
    judged = [design for design in designs if design.kind == "judgement" and design.cells is not None]
    found = [(design, _outcomes(con, design)) for design in judged]
    kept = [(design, rows) for design, rows in found if rows["verdict"].ne("").any()]
    return ReadingsEffect(
        _stacked(
            [_agreement(rows, design) for design, rows in kept],
            ["task", "model", "condition", "compared", "agreed", "share"],
        ),
        _stacked(
            [_estimates(rows) for _, rows in kept],
            ["task", "model", "measure", "as_read", "as_scored", "bound_low", "bound_high", "reason"],
        ),
        _ranked(
            _stacked(
                [_moves(rows) for _, rows in kept],
                ["task", "model", "verdict", "rule", "rows", "floor_move", "bias_move"],
            )
        ),
    )


def _outcomes(con: duckdb.DuckDBPyConnection, design: TaskDesign) -> pd.DataFrame:
    """Counts by item, condition, verdict and rule, as read and as scored."""
    left_out, parameters = left_out_sql(con, EVERYTHING)
    conditions = [name for name in design.conditions if name in column_types(con) and name not in _KEYS]
    levels = ", ".join(
        f"coalesce(CAST({quote_identifier(name)} AS VARCHAR), '') AS {quote_identifier(name)}" for name in conditions
    )
    uncertain = ", ".join(f"'{status}'" for status in sorted(UNCERTAIN))
    set_aside = ", ".join(f"'{status}'" for status in sorted(SET_ASIDE))
    grouped = "".join(f"{quote_identifier(name)}, " for name in conditions)
    verdict = f"coalesce({VERDICT_SQL.format(gold='gold_')}, '')"
    return con.execute(
        f"""
        WITH used AS (
            SELECT coalesce(task, '') AS task, model, item, coalesce(unit_, '') AS unit, coalesce(gold_, '') AS gold,
                coalesce(cell, '') AS cell, {levels + "," if levels else ""} {verdict} AS verdict,
                CASE WHEN {verdict} = '' THEN '' ELSE coalesce(rule, '') END AS rule,
                status = '{Status.ANSWERED}' AS read_,
                status IN ({uncertain}) AS unread_, status IN ({set_aside}) AS aside_, answer = 'yes' AS yes_,
                answer = gold_ AS right_, score_value = 1 AS scored_
            FROM analysed WHERE coalesce(task, '') = ? AND {left_out} IS NULL
        )
        SELECT task, model, item, unit, gold, cell, {grouped} verdict, rule,
            count(*) AS n_planned, count(*) FILTER (aside_) AS n_set_aside,
            count(*) FILTER (read_) AS read_n_answered, count(*) FILTER (unread_) AS read_n_uncertain,
            count(*) FILTER (read_ AND yes_) AS read_n_yes, count(*) FILTER (read_ AND right_) AS read_n_correct,
            count(*) FILTER (verdict <> '' OR read_) AS scored_n_answered,
            count(*) FILTER (verdict = '' AND unread_) AS scored_n_uncertain,
            count(*) FILTER (CASE WHEN verdict <> '' THEN scored_ = (gold = 'yes') ELSE read_ AND yes_ END)
                AS scored_n_yes,
            count(*) FILTER (CASE WHEN verdict <> '' THEN scored_ ELSE read_ AND right_ END) AS scored_n_correct
        FROM used GROUP BY ALL ORDER BY ALL
        """,
        [design.task, *parameters],
    ).df()


def _agreement(rows: pd.DataFrame, design: TaskDesign) -> pd.DataFrame:
    """Share of agreement by model and condition."""
    names = [name for name in design.conditions if name in rows.columns]
    scored = rows[rows["verdict"] != ""]
    condition = pd.Series("", index=scored.index)
    for name in names:
        stated = scored[name].where(scored[name] == "", f"{name} = " + scored[name])
        condition = condition + stated.where(condition.eq("") | stated.eq(""), "; " + stated)
    keyed = scored.assign(condition=condition, agreed=scored["n_planned"].where(scored["verdict"] == AGREEMENT, 0))
    table = keyed.groupby(["task", "model", "condition"], sort=True)[["n_planned", "agreed"]].sum().reset_index()
    return table.rename(columns={"n_planned": "compared"}).assign(share=table["agreed"] / table["n_planned"])


def _estimates(rows: pd.DataFrame) -> pd.DataFrame:
    counts = {source: _counts(rows, rows[[f"{source}_{name}" for name in _COUNTED]]) for source in _SOURCES}
    keys = ["task", "model", "measure"]
    sides = []
    for source, table in counts.items():
        found = _points(table)
        sides.append(found.rename(columns={"estimate": f"as_{source}", "reason": f"reason_{source}"}))
    bounds = uncertainty_bounds(unit_sums(counts["read"]))[[*keys, "bound_low", "bound_high"]]
    both = sides[0].merge(sides[1], on=keys, how="left").merge(bounds, on=keys, how="left")
    reason = both["reason_read"].where(both["reason_read"].ne(""), both["reason_scored"])
    return both.assign(reason=reason.where(both[["as_read", "as_scored"]].isna().any(axis=1), ""))


def _moves(rows: pd.DataFrame) -> pd.DataFrame:
    """Floor and bias if one group of disagreements after the other were taken as scored."""
    groups = rows[~rows["verdict"].isin(["", AGREEMENT])].groupby(["model", "verdict", "rule"], sort=True)
    if not groups.ngroups:
        return pd.DataFrame()
    swapped, described = [], []
    for number, ((model, verdict, rule), group) in enumerate(groups):
        own = rows[rows["model"] == model]
        values = own[[f"read_{name}" for name in _COUNTED]].copy()
        values.loc[group.index] = group[[f"scored_{name}" for name in _COUNTED]].to_numpy()
        swapped.append(_counts(own, values).assign(model=str(number)))
        described.append([str(number), rows["task"].iloc[0], model, verdict, rule, int(group["n_planned"].sum())])
    frame = pd.DataFrame(described, columns=["group", "task", "model", "verdict", "rule", "rows"])
    read = _wide(_points(_counts(rows, rows[[f"read_{name}" for name in _COUNTED]])))
    scored = _wide(_points(pd.concat(swapped, ignore_index=True)))
    for column, measure in (("floor_move", "competence_floor"), ("bias_move", "answer_bias")):
        frame[column] = (
            scored[measure].reindex(frame["group"]).to_numpy() - read[measure].reindex(frame["model"]).to_numpy()
        )
    return frame


def _counts(rows: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Counts in the form of ``item_counts`` with these outcomes."""
    named = values.set_axis(list(_COUNTED), axis=1)
    both = pd.concat([rows[[*_KEYS, "n_planned", "n_set_aside"]], named], axis=1)
    return both.groupby(_KEYS, sort=True)[list(COUNTS)].sum().reset_index()


def _points(counts: pd.DataFrame) -> pd.DataFrame:
    table = answer_bias_estimates(unit_sums(counts))
    return table.loc[table["measure"].isin(MEASURES), ["task", "model", "measure", "estimate", "reason"]]


def _wide(points: pd.DataFrame) -> pd.DataFrame:
    return points.pivot(index="model", columns="measure", values="estimate")


def _stacked(tables: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True)[columns] if filled else pd.DataFrame(columns=columns)


def _ranked(moves: pd.DataFrame) -> pd.DataFrame:
    if moves.empty:
        return moves
    furthest = moves[["floor_move", "bias_move"]].abs().max(axis=1).fillna(0.0)
    order = moves.assign(furthest=furthest).sort_values(
        ["furthest", "rows", "task", "model", "verdict", "rule"], ascending=[False, False, True, True, True, True]
    )
    return order.drop(columns="furthest").reset_index(drop=True)
