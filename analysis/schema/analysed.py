"""The view ``analysed``: every response with its cell, its unit, and the reason why it is left out."""

from collections.abc import Sequence
from typing import Final

import duckdb

from analysis.schema.cells import GOLD, VALIDITY_POLARITY
from analysis.schema.items import ItemFacts, item_facts, low
from analysis.schema.quoting import quote_identifier, quote_text
from analysis.schema.resolved import exclusion_reason, folded, resolve_items
from analysis.schema.status import Status
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign

ONE_POLARITY: Final = "form asked with one polarity only"
NO_GOLD: Final = "no gold answer"
NOTHING_KNOWN: Final = "no response and no gold answer"
NOT_YES_NO: Final = "gold answer is neither yes nor no"
NO_ITEM: Final = "no item"
#: Columns that the view itself replaces.
_REPLACED: Final = ("task", "item", "believability")


def create_analysed_view(con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], study: Study) -> None:
    """Create the view ``analysed`` over ``responses``.

    It has every row and column of ``responses``, factors of the item filled in where only other rows of
    it have them, and

    - ``gold_``, ``validity_``, ``polarity_``: given, or derived from the other two;
    - ``unit_``: the independent unit;
    - ``cell``: VA, VN, IA, IN, or gold_yes, gold_no; NULL where the task has no cells;
    - ``excluded``: why the row is outside every estimate, NULL where it is not.

    Where the study pools tasks, ``task`` is their common name, and the task's own name leads ``item`` and
    ``unit_``.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``responses``.
    designs : sequence of TaskDesign
        From ``read_designs`` on the same responses and study.
    study : Study
    """
    facts = item_facts(con, study)
    resolve_items(con, facts, {design.task: design.kind for design in designs})
    _place_items(con, facts, designs)
    section = quote_text(facts.pooled) if facts.pooled else "r.task"
    replaced = {"task": section, "item": "coalesce(i.key, r.item)", "believability": folded("r.believability")}
    filled = [name for name in facts.factors if name in facts.partial and name not in _REPLACED]
    replaced |= {name: f"coalesce(r.{quote_identifier(name)}, i.{low(name)})" for name in filled}
    listed = ", ".join(f"{value} AS {quote_identifier(name)}" for name, value in replaced.items())
    con.execute(
        f"""
        CREATE OR REPLACE VIEW analysed AS
        SELECT r.* REPLACE ({listed}), i.gold_, i.validity_, i.polarity_, i.unit_, i.cell,
               coalesce({_rows_left_out(facts)},
                        CASE WHEN i.excluded = '{NO_GOLD}' AND r.status IN ('{Status.ERRORED}', '{Status.MISSING}')
                            THEN '{NOTHING_KNOWN}' END,
                        i.excluded,
                        CASE WHEN i.item IS NULL THEN {quote_text(NO_ITEM)} END) AS excluded
        FROM responses r LEFT JOIN analysed_items i ON r.task = i.task AND r.item = i.item
        """
    )


def _place_items(con: duckdb.DuckDBPyConnection, facts: ItemFacts, designs: Sequence[TaskDesign]) -> None:
    """Table ``analysed_items``: items with their cell and the reason why they are left out."""
    con.execute("CREATE OR REPLACE TEMP TABLE design_cells (section VARCHAR, cells VARCHAR)")
    con.execute("CREATE OR REPLACE TEMP TABLE design_forms (section VARCHAR, form VARCHAR)")
    for design in designs:
        con.execute("INSERT INTO design_cells VALUES (?, ?)", [design.task, design.cells])
        for form in design.one_polarity_forms:
            con.execute("INSERT INTO design_forms VALUES (?, ?)", [design.task, form])
    form = low("form") if "form" in facts.factors else "CAST(NULL AS VARCHAR)"
    con.execute(
        f"""
        CREATE OR REPLACE TABLE analysed_items AS
        SELECT d.* EXCLUDE (left_out),
            CASE WHEN cells = '{VALIDITY_POLARITY}' AND gold_ IN ('yes', 'no')
                     THEN upper(validity_[1]) || CASE polarity_ WHEN 'affirmative' THEN 'A' WHEN 'negated' THEN 'N' END
                 WHEN cells = '{GOLD}' AND gold_ IN ('yes', 'no') THEN 'gold_' || gold_ END AS cell,
            CASE WHEN left_out IS NOT NULL THEN left_out
                 WHEN kind IN ('judgement', 'choice') AND gold_ IS NULL THEN '{NO_GOLD}'
                 WHEN kind = 'judgement' AND gold_ NOT IN ('yes', 'no') THEN '{NOT_YES_NO}'
                 WHEN form_left_out IS NOT NULL THEN '{ONE_POLARITY}' END AS excluded
        FROM design_items d LEFT JOIN design_cells USING (section) LEFT JOIN design_kinds USING (section)
            LEFT JOIN (SELECT section AS form_section, form AS form_left_out FROM design_forms) f
                ON f.form_section = d.section AND f.form_left_out = {form}
        """
    )


def _rows_left_out(facts: ItemFacts) -> str:
    """Why the study excludes a row by a column that is no factor of its item."""
    cases = [
        f"WHEN CAST(r.{quote_identifier(column)} AS VARCHAR) = {quote_text(level)} "
        f"THEN {quote_text(exclusion_reason(column, level))}"
        for column, levels in facts.meaning.exclude.items()
        if column not in facts.factors
        for level in levels
    ]
    return f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS VARCHAR)"
