"""What became of every response, by task and model."""

import duckdb
import pandas as pd

from analysis.schema.status import Status


def status_counts(con: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Rows of the view ``responses`` by task and model.

    Returns
    -------
    DataFrame
        ``task, model, rows``, one column of counts for each status, ``items`` (distinct questions),
        ``rules`` (reading rules with their counts, most frequent first); sorted by task and model.
    """
    counts = ", ".join(f"count(*) FILTER (status = '{status}') AS {status}" for status in Status)
    return con.sql(
        f"""
        WITH by_rule AS (
            SELECT coalesce(task, '') AS task, model, coalesce(rule, 'none') AS rule, count(*) AS n
            FROM responses GROUP BY ALL
        ), rules AS (
            SELECT task, model, string_agg(rule || ' ' || n, ', ' ORDER BY n DESC, rule) AS rules
            FROM by_rule GROUP BY ALL
        ), counted AS (
            SELECT coalesce(task, '') AS task, model, count(*) AS rows, count(DISTINCT item) AS items, {counts}
            FROM responses GROUP BY ALL
        )
        SELECT counted.*, rules.rules FROM counted JOIN rules USING (task, model) ORDER BY task, model
        """
    ).df()
