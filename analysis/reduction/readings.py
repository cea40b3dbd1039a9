"""How the texts were read: counts by rule, disagreements with the harness's scores, samples for reading by eye."""

from collections.abc import Sequence
from typing import Final

import duckdb
import pandas as pd

from analysis.errors import AnalysisError
from analysis.schema.quoting import quote_identifier

#: Sources quoted for each kind of disagreement.
_EXAMPLES = 5
#: Characters of a sampled text; of a longer one the beginning and the end.
_HEAD, _TAIL = 300, 300
#: What a logged score and our reading say of each other; NULL where they cannot be compared. Scores other than 0 and 1
#: say nothing of right and wrong.
VERDICT_SQL: Final = """CASE
    WHEN {gold} IS NULL OR score_value IS NULL OR status IN ('errored', 'missing') THEN NULL
    WHEN rule IS NOT DISTINCT FROM 'not_read' THEN NULL
    WHEN score_value = 1 AND answer IS NOT NULL AND answer <> {gold} THEN 'scored right, read wrong'
    WHEN score_value = 0 AND answer = {gold} THEN 'scored wrong, read right'
    WHEN score_value = 1 AND answer IS NULL THEN 'scored right, nothing read'
    WHEN score_value IN (0, 1) THEN CASE WHEN answer IS NULL THEN 'scored wrong, nothing read' ELSE 'agreement' END
    END"""


def reading_counts(con: duckdb.DuckDBPyConnection, by: Sequence[str] = ()) -> pd.DataFrame:
    """Responses by task, model, the columns of ``by``, status and rule.

    Returns
    -------
    DataFrame
        ``task, model, <by>, status, rule, rows``; the rows add up to all responses of the store. Missing
        levels are the empty text.
    """
    keys = ("task", "model", *(name for name in by if name not in ("task", "model")), "status", "rule")
    listed = ", ".join(f"coalesce(CAST({quote_identifier(k)} AS VARCHAR), '') AS {quote_identifier(k)}" for k in keys)
    return con.execute(f"SELECT {listed}, count(*) AS rows FROM responses GROUP BY ALL ORDER BY ALL").df()


def score_disagreements(con: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Where the logged score (0 or 1) and the answer that was read, against gold, say different things.

    Returns
    -------
    DataFrame
        ``task, model, verdict, rule, rows, compared, examples``: ``compared`` is the number of the task and
        model's responses with both a 0/1 score and a gold answer, ``examples`` holds up to five sources in
        order of name. A score of 0 for a text in which nothing was read is listed too: harnesses count
        such texts as wrong.

    Notes
    -----
    Scores other than 0 and 1 say nothing about right and wrong and are left out, as are answers that
    were not read and responses that errored or are missing.
    """
    return con.execute(
        f"""
        WITH judged AS (SELECT *, {VERDICT_SQL.format(gold="gold")} AS verdict FROM responses),
        totals AS (SELECT task, model, count(*) AS compared FROM judged WHERE verdict IS NOT NULL GROUP BY ALL)
        SELECT coalesce(task, '') AS task, model, verdict, coalesce(rule, '') AS rule, count(*) AS rows,
            any_value(compared) AS compared,
            list(coalesce(source, item) ORDER BY coalesce(source, item))[1:{_EXAMPLES}] AS examples
        FROM judged JOIN totals USING (task, model)
        WHERE verdict IS NOT NULL AND verdict <> 'agreement'
        GROUP BY task, model, verdict, rule
        ORDER BY rows DESC, task, model, verdict, rule
        """
    ).df()


def sample_texts(con: duckdb.DuckDBPyConnection, seed: int, per_rule: int) -> pd.DataFrame:
    """Texts drawn for reading by eye: up to ``per_rule`` distinct ones for each status and rule.

    Returns
    -------
    DataFrame
        ``status, rule, model, source, item, gold, answer, probability, output, length``; ``output`` is cut in
        the middle where ``length`` says that the text is longer. The draw depends on the seed and on
        what is drawn, not on the order of rows or files.
    """
    if per_rule < 1:
        raise AnalysisError(f"the number of sample texts must be at least 1, not {per_rule}")
    return con.execute(
        f"""
        WITH texts AS (
            SELECT coalesce(status, '') AS status, coalesce(rule, '') AS rule, output,
                min({{'model': model, 'source': coalesce(source, ''), 'item': item, 'gold': gold, 'answer': answer,
                      'probability': probability}}) AS row
            FROM responses WHERE output IS NOT NULL GROUP BY ALL
        ), drawn AS (
            SELECT *, row_number() OVER (
                PARTITION BY status, rule ORDER BY md5(concat($seed, chr(31), output)), output) AS draw
            FROM texts
        )
        SELECT status, rule, row.model AS model, row.source AS source, row.item AS item, row.gold AS gold,
            row.answer AS answer, row.probability AS probability,
            CASE WHEN length(output) <= {_HEAD + _TAIL} THEN output
                 ELSE left(output, {_HEAD}) || ' [...] ' || right(output, {_TAIL}) END AS output,
            length(output) AS length
        FROM drawn WHERE draw <= $per_rule ORDER BY status, rule, draw
        """,
        {"seed": str(seed), "per_rule": per_rule},
    ).df()
