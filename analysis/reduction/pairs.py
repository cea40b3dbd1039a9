"""Responses to two levels of a factor, matched on everything else; whatever finds no partner is counted."""

from dataclasses import dataclass
from typing import Final

import duckdb
import pandas as pd

from analysis.errors import AnalysisError
from analysis.reduction.cells import level_sql, outcome_sql
from analysis.reduction.exclusions import left_out_sql
from analysis.reduction.selection import EVERYTHING, Selection, column_types
from analysis.schema.analysed import ONE_POLARITY
from analysis.schema.columns import find_column
from analysis.schema.design import TaskDesign
from analysis.schema.quoting import quote_identifier, quote_text, quote_texts, shown
from analysis.schema.resolved import exclusion_reason
from analysis.schema.status import UNCERTAIN, Status
from analysis.schema.study import Contrast

SIDES: Final = ("first", "second")
#: Facets of a pair that a test may take as its unit, where the logs have them.
FACETS: Final[tuple[str, ...]] = ("template", "form", "item_family")


@dataclass(frozen=True, slots=True)
class MatchedPairs:
    """Pairs of responses of one model that differ in one factor.

    Attributes
    ----------
    factor, first, second : str
        The first level minus the second.
    matched_on : tuple of str
        Columns that the two responses share, beside the model.
    pairs : DataFrame
        One row per pair in order of its columns: ``model``, ``unit``, the facets that the logs have, and
        for either side ``right_<side>``, ``yes_<side>``, ``uncertain_<side>`` (0 or 1).
    unmatched : DataFrame
        ``model, pairs, only_first, only_second`` (responses without a partner), ``ambiguous`` (responses
        that share their key with others of their side), ``set_aside`` (errored or missing).
    """

    factor: str
    first: str
    second: str
    matched_on: tuple[str, ...]
    pairs: pd.DataFrame
    unmatched: pd.DataFrame


def matched_pairs(
    con: duckdb.DuckDBPyConnection,
    design: TaskDesign,
    contrast: Contrast,
    *,
    levels: tuple[str, str],
    selection: Selection = EVERYTHING,
) -> MatchedPairs:
    """Match the responses to two levels of a factor.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        With the view ``analysed``; its texts are never loaded.
    design : TaskDesign
    contrast : Contrast
        ``match`` names the columns that pair the responses; without it they are the unit, every other
        factor of the item and every condition, and the item where its responses vary in the factor.
        Repeats are paired by ``sample``.
    levels : tuple of two str
        The two levels, first minus second.
    selection : Selection

    Raises
    ------
    AnalysisError
        The logs lack a column, or a level does not occur in this task.

    Notes
    -----
    Levels of the factor that the study excludes from its cells are compared all the same, as are forms
    asked with one polarity only: the contrast asks for them. Every other exclusion holds.
    """
    columns = column_types(con)
    factor = _column(contrast.factor, columns)
    keys = _match_columns(design, contrast, factor, columns)
    facets = [name for name in FACETS if name in columns and name != factor]
    query, parameters = _query(con, design, contrast, factor, levels, keys, facets, selection, columns)
    con.execute(f"CREATE OR REPLACE TEMP TABLE pair_sides AS {query}", parameters)
    _check_levels(con, design, factor, levels)
    pairs = con.execute(_PAIRS.format(facets="".join(f", {quote_identifier(f)}" for f in facets))).df()
    unmatched = con.execute(_UNMATCHED).df()
    unmatched = unmatched.astype({name: "int64" for name in unmatched.columns if name != "model"})
    con.execute("DROP TABLE pair_sides")
    return MatchedPairs(factor, *levels, tuple(keys), pairs, unmatched)


#: A pair is a key with one scored response on either side.
_PAIRED = "n_first = 1 AND n_second = 1"
_PAIRS = f"""
    SELECT model, unit{{facets}}, right_first, right_second, yes_first, yes_second, uncertain_first, uncertain_second
    FROM pair_sides WHERE {_PAIRED} ORDER BY ALL
"""
_UNMATCHED = f"""
    SELECT model, count(*) FILTER ({_PAIRED}) AS pairs,
        coalesce(sum(n_first) FILTER (n_second = 0), 0) AS only_first,
        coalesce(sum(n_second) FILTER (n_first = 0), 0) AS only_second,
        coalesce(sum(n_first + n_second) FILTER (n_first > 0 AND n_second > 0 AND NOT ({_PAIRED})), 0) AS ambiguous,
        coalesce(sum(lost), 0) AS set_aside
    FROM pair_sides GROUP BY model ORDER BY model
"""


def _query(
    con: duckdb.DuckDBPyConnection,
    design: TaskDesign,
    contrast: Contrast,
    factor: str,
    levels: tuple[str, str],
    keys: list[str],
    facets: list[str],
    selection: Selection,
    columns: dict[str, str],
) -> tuple[str, list[object]]:
    """One row per model and key: responses, right, Yes and uncertain answers on either side."""
    left_out, parameters = left_out_sql(con, selection)
    wanted = [exclusion_reason(factor, level) for level in design.exclude.get(factor, ())]
    allowed = quote_texts([*wanted, ONE_POLARITY])
    others = {column: excluded for column, excluded in design.exclude.items() if column != factor}
    conditions = [f"{level_sql(column, columns)} NOT IN {quote_texts(excluded)}" for column, excluded in others.items()]
    conditions += [
        f"{level_sql(_column(column, columns), columns)} IN {quote_texts(kept)}"
        for column, kept in contrast.where.items()
    ]
    scored = f"_became IN ({', '.join(quote_text(s) for s in sorted(UNCERTAIN | {Status.ANSWERED}))})"
    answered = f"_became = '{Status.ANSWERED}'"
    named = [*(f"{level_sql(key, columns)} AS {quote_identifier(f'key {key}')}" for key in keys)]
    named += [f"{level_sql(facet, columns)} AS {quote_identifier(f'facet {facet}')}" for facet in facets]
    within = not design.unit_is_item or factor in design.varying
    unit = level_sql("unit", columns) if within else _joined(keys, columns)
    known = "true" if design.kind == "score" else "gold_ IS NOT NULL"
    sides = []
    for side, level in zip(SIDES, levels, strict=True):
        at = f"_level = {quote_text(level)} AND {scored}"
        sides.append(f"count(*) FILTER ({at}) AS n_{side}")
        for name, test in (("right", "_right"), ("yes", "_yes"), ("uncertain", f"NOT ({answered})")):
            met = test if name == "uncertain" else f"{answered} AND {test}"
            sides.append(f"count(*) FILTER ({at} AND {met}) AS {name}_{side}")
    grouped = ", ".join(["model", "_unit", *(quote_identifier(f"key {key}") for key in keys)])
    # A facet that differs between the two sides (the compared one, or what goes with it) is told by both.
    told = "".join(
        f", string_agg(DISTINCT {quote_identifier(f'facet {f}')}, ' / ' ORDER BY {quote_identifier(f'facet {f}')}) "
        f"AS {quote_identifier(f)}"
        for f in facets
    )
    inner = ", ".join([f"{unit} AS _unit", f"{level_sql(factor, columns)} AS _level", *named, outcome_sql(design)])
    query = f"""
        SELECT model, _unit AS unit{told}, {", ".join(sides)}, count(*) FILTER (NOT ({scored})) AS lost
        FROM (SELECT model, {inner}
              FROM analysed WHERE coalesce(task, '') = ? AND {known}
                AND ({left_out} IS NULL OR {left_out} IN {allowed}){"".join(f" AND {c}" for c in conditions)})
        WHERE _level IN {quote_texts(list(levels))} GROUP BY {grouped}
    """
    return query, [design.task, *parameters, *parameters]


def _match_columns(design: TaskDesign, contrast: Contrast, factor: str, columns: dict[str, str]) -> list[str]:
    """Columns that the two responses share."""
    declared = [_column(name, columns) for name in contrast.match]
    if not declared:
        own: list[str] = [] if design.unit_is_item else ["unit"]
        own += ["item"] if factor in design.varying else []
        declared = [*own, *(name for name in design.item_factors if name not in (factor, "item"))]
    elif not design.unit_is_item:
        declared = ["unit", *declared]
    always = [name for name in (*design.conditions, "sample") if name in columns]
    meant = ["unit" if name == design.unit else name for name in (*declared, *always)]
    return [name for name in dict.fromkeys(meant) if name != factor]


def _column(name: str, columns: dict[str, str]) -> str:
    found = find_column(name, tuple(columns))
    if found is None:
        raise AnalysisError(f"contrast: the logs have no column {shown(name)}", offenders=(name,))
    return found


def _joined(keys: list[str], columns: dict[str, str]) -> str:
    """Where items are the units, the two items of a pair make up one."""
    parts = [level_sql(key, columns) for key in keys if key != "sample"]
    return " || ' / ' || ".join(parts) if parts else "''"


def _check_levels(con: duckdb.DuckDBPyConnection, design: TaskDesign, factor: str, levels: tuple[str, str]) -> None:
    counts = con.execute("SELECT coalesce(sum(n_first), 0), coalesce(sum(n_second), 0) FROM pair_sides").fetchone()
    absent = [level for level, n in zip(levels, counts or (0, 0), strict=True) if not n]
    if absent:
        raise AnalysisError(
            f"no scored response has {factor} = {' or '.join(map(shown, absent))}", offenders=tuple(absent)
        )
