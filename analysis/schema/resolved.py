"""Gold answer, validity, polarity and unit of every item, with what follows from the others filled in."""

from collections.abc import Mapping
from typing import Final

import duckdb

from analysis.schema.items import ItemFacts, low

#: The three columns of which any two give the third.
LINKED: Final = ("gold", "validity", "polarity")
_YES = "(CASE WHEN gold1 IN ('yes', 'no') THEN gold1 = 'yes' END)"
_VALID = "(CASE WHEN validity1 IN ('valid', 'invalid') THEN validity1 = 'valid' END)"
_AFFIRMATIVE = "(CASE WHEN polarity1 IN ('affirmative', 'negated') THEN polarity1 = 'affirmative' END)"


def folded(column: str) -> str:
    """SQL text of a level without blanks around it, in lower case; empty is missing."""
    return f"nullif(lower(trim({column})), '')"


def resolve_items(con: duckdb.DuckDBPyConnection, facts: ItemFacts, kinds: Mapping[str, str]) -> None:
    """Build the temporary table ``design_items`` from ``item_facts``.

    Beside the item's key and factors it has ``gold_``, ``validity_``, ``polarity_`` (missing ones derived
    from the other two in judgement tasks: gold is yes for valid-affirmative and invalid-negated),
    ``derived`` (which one was), ``unit_``, and ``left_out`` (why the study excludes the item).
    """
    con.execute("CREATE OR REPLACE TEMP TABLE design_kinds (section VARCHAR, kind VARCHAR)")
    if kinds:
        con.executemany("INSERT INTO design_kinds VALUES (?, ?)", [list(row) for row in kinds.items()])
    left_out, parameters = _left_out_sql(facts)
    factors = "".join(f", {low(name)}" for name in facts.factors)
    con.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE design_items AS
        WITH given AS (
            SELECT f.*, kind, {_text(facts, "gold")} AS gold0, {folded(_text(facts, "gold"))} AS gold_folded,
                   {folded(_text(facts, "validity"))} AS validity1, {folded(_text(facts, "polarity"))} AS polarity1,
                   CASE WHEN gold_folded IN ('yes', 'no') THEN gold_folded ELSE gold0 END AS gold1
            FROM item_facts f JOIN design_kinds USING (section)
        ), linked AS (
            SELECT *, {_YES} AS yes, {_VALID} AS valid, {_AFFIRMATIVE} AS affirmative,
                   coalesce(kind = 'judgement', false) AS judged
            FROM given
        )
        SELECT task, item, section, key, n_rows,
            CASE WHEN gold1 IS NOT NULL OR NOT judged THEN gold1
                 ELSE {_either("valid", "affirmative", "yes", "no")} END AS gold_,
            CASE WHEN validity1 IS NOT NULL OR NOT judged THEN validity1
                 ELSE {_either("yes", "affirmative", "valid", "invalid")} END AS validity_,
            CASE WHEN polarity1 IS NOT NULL OR NOT judged THEN polarity1
                 ELSE {_either("yes", "valid", "affirmative", "negated")} END AS polarity_,
            CASE WHEN gold1 IS NULL AND gold_ IS NOT NULL THEN 'gold'
                 WHEN validity1 IS NULL AND validity_ IS NOT NULL THEN 'validity'
                 WHEN polarity1 IS NULL AND polarity_ IS NOT NULL THEN 'polarity' END AS derived,
            {_unit_sql(facts)} AS unit_, {left_out} AS left_out{factors}
        FROM linked
        """,
        parameters,
    )


def _either(one: str, other: str, same: str, different: str) -> str:
    """SQL text of a level that follows from whether two flags agree; NULL where one is missing."""
    return f"(CASE WHEN {one} = {other} THEN '{same}' WHEN {one} <> {other} THEN '{different}' END)"


def _text(facts: ItemFacts, column: str) -> str:
    return low(column) if column in facts.columns else "CAST(NULL AS VARCHAR)"


def _unit_sql(facts: ItemFacts) -> str:
    unit = facts.meaning.unit
    if unit == "item" or unit not in facts.columns:
        return "key"
    own = f"task || '/' || {low(unit)}" if facts.pooled else low(unit)
    return f"coalesce({own}, key)"


def _left_out_sql(facts: ItemFacts) -> tuple[str, list[object]]:
    """Why the study excludes an item, by its factors; rows are excluded by other columns in the view."""
    cases: list[str] = []
    parameters: list[object] = []
    for column, levels in facts.meaning.exclude.items():
        if column not in facts.factors:
            continue
        for level in levels:
            cases.append(f"WHEN {low(column)} = ? THEN ?")
            parameters += [level, exclusion_reason(column, level)]
    return (f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS VARCHAR)"), parameters


def exclusion_reason(column: str, level: str) -> str:
    """Sentence under which excluded rows are counted."""
    return f"excluded by study.toml: {column} = {level}"
