"""Responses reduced to integer counts: the mergeable statistic that every estimate is made from."""

from collections.abc import Sequence
from typing import Final

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import AnalysisError
from analysis.reduction.exclusions import UNKNOWN_ANSWER, UNSCORED, left_out_sql
from analysis.reduction.selection import EVERYTHING, Selection, column_types
from analysis.schema.design import TaskDesign
from analysis.schema.quoting import named_task, quote_identifier
from analysis.schema.status import SET_ASIDE, UNCERTAIN, Status
from analysis.schema.study import Study

COUNTS: Final = ("n_planned", "n_answered", "n_uncertain", "n_set_aside", "n_yes", "n_correct")
#: Columns that the view ``analysed`` completes (derived gold answers, default units).
_COMPLETED: Final = {"gold": "gold_", "validity": "validity_", "polarity": "polarity_", "unit": "unit_"}
_IDENTITY: Final = ("task", "model", "item", "unit")


def item_counts(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, study: Study, selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Counts by task, model, item, unit, factors and conditions in use, gold answer and cell.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``analysed``; its texts are never loaded.
    design : TaskDesign
        The task, its factors and its conditions.
    study : Study
    selection : Selection
        Rows outside it, and rows that the study excludes, enter no count.

    Returns
    -------
    DataFrame
        Keys as sorted categoricals, in which ``""`` is a missing level; ``n_planned`` =
        ``n_answered`` + ``n_uncertain`` + ``n_set_aside``, ``n_yes`` (answered yes) and
        ``n_correct`` (answered as the gold answer says) as int32. In tasks of kind ``score`` the
        harness alone knows what is right: there ``n_correct`` counts scores of 1, a text that no
        reading rule applies to is answered if it has a score, and a reply that nobody scored is set aside.

    Raises
    ------
    AnalysisError
        Nothing is right or wrong here: stated probabilities, no score at all, or scores other than
        0 and 1 (``scores_are_binary`` tells in advance). A status outside the schema.
    """
    if design.kind == "probability":
        raise AnalysisError(f"{named_task(design.task)}: responses state probabilities, which are not right or wrong")
    factors = [name for name in (*design.item_factors, *design.conditions) if name not in _IDENTITY]
    counts = facet_counts(con, design, study, selection, by=("item", "unit", *factors, "gold", "cell"))
    if design.kind == "score" and len(counts) and not counts["n_answered"].any():
        raise AnalysisError(
            f"{named_task(design.task)}: no response has a score, so none is known to be right or wrong"
        )
    return counts


def facet_counts(
    con: duckdb.DuckDBPyConnection,
    design: TaskDesign,
    study: Study,
    selection: Selection = EVERYTHING,
    *,
    by: Sequence[str],
) -> pd.DataFrame:
    """Counts by task, model and any other columns, e.g. template × form × polarity.

    Parameters and result are those of ``item_counts``, with ``by`` in place of its keys.
    """
    keys = tuple(dict.fromkeys(("task", "model", *by)))
    left_out, parameters = left_out_sql(con, selection)
    columns = column_types(con)
    levels = ", ".join(f"{level_sql(key, columns)} AS {quote_identifier(key)}" for key in keys)
    query = f"""
        SELECT {", ".join(map(quote_identifier, keys))}, {_counts_sql()}
        FROM (SELECT {levels}, {outcome_sql(design)} FROM analysed
              WHERE coalesce(task, '') = ? AND {left_out} IS NULL) AS used
        GROUP BY ALL
    """
    table = con.sql(query, params=[design.task, *parameters]).to_arrow_table()
    _check_rows(table, design)
    return _sorted_counts(table.select([*keys, *COUNTS]), keys)


def scores_are_binary(con: duckdb.DuckDBPyConnection, design: TaskDesign) -> bool:
    """Whether every score of a task is 0 or 1, so that right answers can be counted; True without scores."""
    other = con.execute(
        "SELECT count(*) FROM analysed WHERE coalesce(task, '') = ? AND score_value NOT IN (0, 1)", [design.task]
    ).fetchone()
    return other == (0,)


def merge_counts(*tables: pd.DataFrame) -> pd.DataFrame:
    """Counts of all rows from the counts of any parts of them.

    The parts must be reduced by the same keys; the result equals one reduction of all rows.
    """
    if not tables:
        raise AnalysisError("merge_counts needs at least one table")
    keys = tuple(name for name in tables[0].columns if name not in COUNTS)
    for table in tables[1:]:
        if tuple(table.columns) != tuple(tables[0].columns):
            raise AnalysisError(
                f"counts by {', '.join(keys)} cannot be merged with counts by "
                f"{', '.join(name for name in table.columns if name not in COUNTS)}: reduce both by the same columns"
            )
    parts = [pa.Table.from_pandas(_as_text(table, keys), preserve_index=False) for table in tables]
    merged = pa.concat_tables(parts).group_by(list(keys)).aggregate([(count, "sum") for count in COUNTS])
    return _sorted_counts(merged.select([*keys, *(f"{c}_sum" for c in COUNTS)]).rename_columns([*keys, *COUNTS]), keys)


def level_sql(key: str, columns: dict[str, str]) -> str:
    """SQL text of a key's level; a missing level is the empty text."""
    name = _COMPLETED.get(key, key)
    if name not in columns:
        raise AnalysisError(f"cannot count by {key!r}: the logs have no such column", offenders=(key,))
    return f"coalesce(CAST({quote_identifier(name)} AS VARCHAR), '')"


def outcome_sql(design: TaskDesign) -> str:
    """What became of a row, and whether it is yes, right, or in between, named so that no facet is hidden."""
    if design.kind != "score":
        became = f"CASE WHEN {UNKNOWN_ANSWER} THEN '{Status.MISSING}' ELSE status END"
        right, partial = "answer = gold_", "false"
    else:
        scored = f"status = '{Status.UNPARSED}' AND score_value IS NOT NULL"
        became = f"CASE WHEN {scored} THEN '{Status.ANSWERED}' WHEN {UNSCORED} THEN '{Status.MISSING}' ELSE status END"
        right, partial = "score_value = 1", "score_value NOT IN (0, 1)"
    return f"{became} AS _became, answer = 'yes' AS _yes, {right} AS _right, {partial} AS _partial"


def _counts_sql() -> str:
    answered = f"_became = '{Status.ANSWERED}'"
    uncertain = ", ".join(f"'{status}'" for status in sorted(UNCERTAIN))
    set_aside = ", ".join(f"'{status}'" for status in sorted(SET_ASIDE))
    counted = {
        "n_planned": "true",
        "n_answered": answered,
        "n_uncertain": f"_became IN ({uncertain})",
        "n_set_aside": f"_became IN ({set_aside})",
        "n_yes": f"{answered} AND _yes",
        "n_correct": f"{answered} AND _right",
        "_partial": f"{answered} AND _partial",
    }
    return ", ".join(f"count(*) FILTER ({condition}) AS {name}" for name, condition in counted.items())


def _check_rows(table: pa.Table, design: TaskDesign) -> None:
    sums = {name: int(np.sum(table[name].to_numpy())) for name in (*COUNTS, "_partial")}
    known = sums["n_answered"] + sums["n_uncertain"] + sums["n_set_aside"]
    if known != sums["n_planned"]:
        raise AnalysisError(
            f"{named_task(design.task)}: {sums['n_planned'] - known} of {sums['n_planned']} rows have a status "
            f"outside the schema; statuses are {', '.join(Status)}"
        )
    if sums["_partial"]:
        raise AnalysisError(
            f"{named_task(design.task)}: {sums['_partial']} of {sums['n_answered']} scores are neither 0 nor 1 and "
            "cannot be counted as right or wrong"
        )


def _sorted_counts(table: pa.Table, keys: Sequence[str]) -> pd.DataFrame:
    """Counts with sorted categorical keys and int32 numbers; rows in the order of the keys."""
    columns: dict[str, object] = {key: _categorical(table[key]) for key in keys}
    columns |= {count: table[count].to_numpy().astype(np.int32) for count in COUNTS}
    counts = pd.DataFrame(columns)
    codes = [counts[key].cat.codes.to_numpy() for key in reversed(keys)]
    order = np.lexsort(codes)
    return counts if np.array_equal(order, np.arange(len(order))) else counts.iloc[order].reset_index(drop=True)


def _categorical(column: pa.ChunkedArray) -> pd.Categorical:
    encoded = column.combine_chunks().dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    levels = pd.Index(encoded.dictionary.take(pa.array(order)).to_pandas(), dtype="str")
    return pd.Categorical.from_codes(rank[encoded.indices.to_numpy()], categories=levels)


def _as_text(counts: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    return counts.astype({key: "str" for key in keys} | {count: "int64" for count in COUNTS})
