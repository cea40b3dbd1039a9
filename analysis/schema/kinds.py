"""What an answer of a task is: a judgement, a choice, a probability or a score."""

from dataclasses import dataclass
from typing import Final

import duckdb

from analysis.schema.items import ItemFacts, low
from analysis.schema.resolved import folded
from analysis.schema.study import Study

#: More different answers than this are texts, not options.
_OPTIONS: Final = 26
_LETTER: Final = "'[A-Za-z]'"


@dataclass(frozen=True, slots=True)
class Signals:
    """Counts that tell what an answer of a task is: of items for gold answers, of rows for the others.

    ``linked`` items have validity and polarity; ``bare_probabilities`` stand in rows without an answer,
    ``unread_scores`` in rows without an answer or a text to read.
    """

    golds: int
    yes_no_golds: int
    letter_golds: int
    distinct_golds: int
    linked: int
    answers: int
    yes_no_answers: int
    letter_answers: int
    distinct_answers: int
    probabilities: int
    bare_probabilities: int
    scores: int
    unread_scores: int


def task_kinds(con: duckdb.DuckDBPyConnection, facts: ItemFacts, study: Study) -> dict[str, tuple[str, str]]:
    """Task -> its kind and the reason, in order of name."""
    kinds = {}
    for task, signals in task_signals(con, facts).items():
        declared = study.kind_of(task)
        kinds[task] = (declared, "declared in study.toml") if declared else _kind(signals)
    return kinds


def task_signals(con: duckdb.DuckDBPyConnection, facts: ItemFacts) -> dict[str, Signals]:
    """Task -> what its items and rows hold; tasks in order of name."""
    gold = low("gold") if "gold" in facts.columns else "CAST(NULL AS VARCHAR)"
    both = {"validity", "polarity"} <= set(facts.columns)
    linked = f"({low('validity')} || {low('polarity')}) IS NOT NULL" if both else "false"
    section = "CAST(? AS VARCHAR)" if facts.pooled else "task"
    rows = con.execute(
        f"""
        WITH golds AS (
            SELECT section, count({gold}) AS n, count(*) FILTER ({folded(gold)} IN ('yes', 'no')) AS yes_no,
                   count(*) FILTER (regexp_full_match(trim({gold}), {_LETTER})) AS letters,
                   count(DISTINCT {gold}) AS levels, count(*) FILTER ({linked}) AS linked
            FROM item_facts GROUP BY section
        ), answered AS (
            SELECT {section} AS section, answer, count(*) AS n, count(probability) AS probabilities,
                   count(*) FILTER (logged_score IS NOT NULL OR score_value IS NOT NULL) AS scores,
                   count(score_value) FILTER (answer IS NULL AND output IS NULL) AS unread
            FROM responses GROUP BY ALL
        ), answers AS (
            SELECT section, coalesce(sum(n) FILTER (answer IS NOT NULL), 0) AS n,
                   coalesce(sum(n) FILTER ({folded("answer")} IN ('yes', 'no')), 0) AS yes_no,
                   coalesce(sum(n) FILTER (regexp_full_match(trim(answer), {_LETTER})), 0) AS letters,
                   count(DISTINCT answer) AS levels,
                   sum(probabilities) AS probabilities,
                   coalesce(sum(probabilities) FILTER (answer IS NULL), 0) AS bare, sum(scores) AS scores,
                   sum(unread) AS unread
            FROM answered GROUP BY section
        )
        SELECT a.section, coalesce(g.n, 0), coalesce(g.yes_no, 0), coalesce(g.letters, 0), coalesce(g.levels, 0),
               coalesce(g.linked, 0), a.n, a.yes_no, a.letters, a.levels,
               a.probabilities, a.bare, a.scores, a.unread
        FROM answers a LEFT JOIN golds g USING (section) ORDER BY a.section
        """,
        [facts.pooled] if facts.pooled else [],
    ).fetchall()
    return {task: Signals(*map(int, counts)) for task, *counts in rows}


def _kind(s: Signals) -> tuple[str, str]:
    if s.golds and s.unread_scores and not s.answers and not s.probabilities:
        return "score", "responses have scores, and neither answers nor texts to read"
    if s.golds and s.yes_no_golds == s.golds:
        if s.probabilities and not s.yes_no_answers:
            return "probability", "responses state probabilities"
        return "judgement", "every gold answer is yes or no"
    if s.golds and s.letter_golds == s.golds:
        return "choice", "every gold answer is the letter of an option"
    if s.golds and s.answers and max(s.distinct_answers, s.distinct_golds) <= _OPTIONS and not s.probabilities:
        return "choice", f"gold answers and answers are of {max(s.distinct_answers, s.distinct_golds)} different labels"
    if not s.golds and s.linked and not s.probabilities:
        return "judgement", "validity and polarity are given"
    if s.probabilities:
        return "probability", "responses state probabilities"
    if s.answers and s.yes_no_answers == s.answers:
        return "judgement", "every answer is yes or no"
    if s.answers and s.letter_answers == s.answers:
        return "choice", "every answer is the letter of an option"
    if s.scores:
        return "score", "responses have scores, and neither yes/no nor option labels"
    return "score", "nothing tells what an answer is; declare kind in study.toml"
