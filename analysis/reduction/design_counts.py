"""What a task consists of: items, units and responses by level of its factors, those outside the cells included."""

from collections.abc import Sequence

import duckdb
import pandas as pd

from analysis.reduction.cells import level_sql
from analysis.reduction.exclusions import left_out_sql
from analysis.reduction.selection import EVERYTHING, Selection, column_types
from analysis.schema.design import TaskDesign
from analysis.schema.quoting import quote_identifier


def design_counts(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, by: Sequence[str], selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """One row per combination of levels.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        With the view ``analysed``.
    by : sequence of str
        Factors; ``validity`` and ``polarity`` as completed.

    Returns
    -------
    DataFrame
        The factors (empty: missing), ``n_items, n_clusters, n`` (responses) and ``left_out``: why all of
        them are outside the estimates, empty where some are inside. Sorted by the factors.
    """
    columns = column_types(con)
    reason, parameters = left_out_sql(con, selection)
    levels = ", ".join(f"{level_sql(name, columns)} AS {quote_identifier(name)}" for name in by)
    keys = ", ".join(map(quote_identifier, by))
    query = f"""
        SELECT {keys}, count(DISTINCT item) AS n_items, count(DISTINCT _unit) AS n_clusters, count(*) AS n,
               CASE WHEN count(*) FILTER (_out IS NULL) = 0 THEN coalesce(mode(_out), '') ELSE '' END AS left_out
        FROM (SELECT item, unit_ AS _unit, {reason} AS _out, {levels} FROM analysed WHERE coalesce(task, '') = ?)
        GROUP BY ALL ORDER BY {keys}
    """
    return con.execute(query, [*parameters, design.task]).df()
