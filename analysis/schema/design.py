"""Designs of the tasks in a store: what their rows and the study together say."""

from dataclasses import replace

import duckdb

from analysis.errors import StudyError
from analysis.schema.analysed import create_analysed_view
from analysis.schema.assumptions import assumptions
from analysis.schema.cells import cell_groups, cells_of
from analysis.schema.items import item_facts
from analysis.schema.kinds import task_kinds
from analysis.schema.quoting import shown
from analysis.schema.resolved import resolve_items
from analysis.schema.sizes import condition_levels, derived_counts, factor_levels, task_sizes, varying_conditions
from analysis.schema.study import Study
from analysis.schema.study_keys import suggestion
from analysis.schema.task_design import TaskDesign

__all__ = ["TaskDesign", "create_analysed_view", "read_designs"]


def read_designs(con: duckdb.DuckDBPyConnection, study: Study) -> tuple[TaskDesign, ...]:
    """Design of every task, in order of name.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        Connection with the view ``responses``, its answers read. Temporary tables are created in it.
    study : Study

    Returns
    -------
    tuple of TaskDesign
        One per task; one in all where the study pools tasks. Empty for an empty store.

    Raises
    ------
    StudyError
        The study names columns or tasks that the logs do not have.
    """
    facts = item_facts(con, study)
    kinds = task_kinds(con, facts, study)
    _check_tasks(study, tuple(kinds))
    resolve_items(con, facts, {task: kind for task, (kind, _) in kinds.items()})
    sizes, groups, derived = task_sizes(con, facts), cell_groups(con, facts), derived_counts(con)
    factors, conditions = factor_levels(con, facts), condition_levels(con, facts)
    varying = varying_conditions(con, facts)
    designs = []
    for task, (kind, kind_reason) in kinds.items():
        size = sizes[task]
        cells = cells_of(kind, groups.get(task, []), keep_unpaired=study.unpaired_forms == "include")
        design = TaskDesign(
            task=task,
            kind=kind,
            kind_reason=kind_reason,
            unit=facts.meaning.unit if size.with_unit else "item",
            unit_is_item=size.units == size.items,
            cells=cells.cells,
            cells_reason=cells.reason,
            derived=derived.get(task, {}),
            item_factors=factors.get(task, {}),
            conditions=conditions.get(task, {}),
            varying=varying.get(task, ()),
            one_polarity_forms=cells.one_polarity_forms,
            n_rows=size.rows,
            n_models=size.models,
            n_items=size.items,
            n_units=size.units,
            has_model_family=size.model_family,
            has_model_size=size.model_size,
            simulated=size.simulated,
            weights=study.weights,
            uncertain=study.uncertain,
            target=study.target,
            exclude=facts.meaning.exclude,
        )
        designs.append(replace(design, assumptions=assumptions(design, study, size, cells.note)))
    return tuple(designs)


def _check_tasks(study: Study, tasks: tuple[str, ...]) -> None:
    unknown = [name for name in study.kinds if name not in tasks] if tasks else []
    if unknown:
        listed = "; ".join(f"{shown(name)}{suggestion(name, tasks)}" for name in unknown)
        raise StudyError(
            f"{study.path}: [study] kind names tasks that the logs do not have: {listed}", offenders=unknown
        )
