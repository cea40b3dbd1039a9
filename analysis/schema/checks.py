"""Every way in which the rows of a store break the standard schema, found in one run."""

from collections.abc import Sequence

import duckdb

from analysis.schema.duplicates import duplicate_responses
from analysis.schema.item_checks import (
    contradicted_gold,
    differing_items,
    differing_prompts,
    mixed_kinds,
    shared_prompts,
    similar_models,
    simulated_and_real,
)
from analysis.schema.items import item_facts
from analysis.schema.label_checks import answers_outside, labels_apart, yes_no_in_other_words
from analysis.schema.quoting import quote_text
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign
from analysis.schema.value_checks import (
    fractions_among_percents,
    invalid_scores,
    probabilities_out_of_range,
    required_columns,
    scores_on_another_scale,
    scores_without_number,
    truths_out_of_range,
    unknown_levels,
)
from analysis.schema.violation import ERROR, WARNING, Violation, reporting_order

__all__ = ["ERROR", "WARNING", "Violation", "check_responses", "unused_columns"]


def check_responses(con: duckdb.DuckDBPyConnection, designs: Sequence[TaskDesign], study: Study) -> list[Violation]:
    """All violations of one run, errors first, in a fixed order.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``responses``, its answers read.
    designs : sequence of TaskDesign
        From ``read_designs`` on the same responses and study.
    study : Study

    Returns
    -------
    list of Violation
        Empty when nothing is wrong. With an error among them no estimate should be made.
    """
    facts = item_facts(con, study)
    section = quote_text(facts.pooled) if facts.pooled else "task"
    found = [
        *required_columns(con),
        *unknown_levels(con),
        *answers_outside(con, designs, section),
        *duplicate_responses(con, facts.conditions),
        *contradicted_gold(con, designs, section),
        *probabilities_out_of_range(con, section),
        *fractions_among_percents(con, study, section),
        *truths_out_of_range(con, section),
        *differing_items(con, facts),
        *mixed_kinds(con, facts, study),
        *labels_apart(con, designs, study, section),
        *differing_prompts(con, facts),
        *shared_prompts(con),
        *similar_models(con),
        *simulated_and_real(con),
        *invalid_scores(con),
        *scores_without_number(con, designs, section),
        *scores_on_another_scale(con, designs, section),
        *yes_no_in_other_words(con, designs, section),
    ]
    return sorted(found, key=reporting_order)


def unused_columns(con: duckdb.DuckDBPyConnection, study: Study) -> tuple[str, ...]:
    """Columns of the logs that have no meaning in the schema and that the study does not name."""
    return item_facts(con, study).meaning.unused
