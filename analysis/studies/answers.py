"""Answers of a task with repeats, conditions or versions: made once, read by every part about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import StudyError
from analysis.measures.classification import credited
from analysis.reduction.scores import item_accuracies, item_scores
from analysis.reduction.votes import (
    VoteRule,
    collapsed_answers,
    has_repeats,
    nested_answers,
    vote_counts,
)
from analysis.schema.quoting import quote_identifier
from analysis.schema.resolved import folded
from analysis.schema.task_design import TaskDesign
from analysis.studies.context import TaskContext

#: Column in which syllogism vote files keep the believability that their data set notes, nonsense included.
NOTED_LABEL: Final = "meta.gold_believability"
#: More levels of a condition than this are not compared with each other.
MOST_LEVELS: Final = 12


@dataclass(frozen=True, slots=True)
class TaskAnswers:
    """Answers of one task, one row per model, question and configuration.

    Attributes
    ----------
    collapsed : DataFrame
        ``reduction.votes.collapsed_answers``.
    nested : DataFrame
        ``reduction.votes.nested_answers``, rows in the same order.
    right : ndarray
        Credit of the collapsed answers under the study's treatment.
    rule : VoteRule
    repeated : bool
        Whether some question was answered more than once under one configuration.
    conditions : tuple of str
        Conditions with a level.
    compared : tuple of str
        Those that vary within questions.
    measure : str
        What the numbers of ``right`` are called: ``accuracy``, or ``mean score`` where answers are graded.
    """

    collapsed: pd.DataFrame
    nested: pd.DataFrame
    right: NDArray[np.float64]
    rule: VoteRule
    repeated: bool
    conditions: tuple[str, ...]
    compared: tuple[str, ...]
    measure: str = "accuracy"


def wants_answers(design: TaskDesign) -> bool:
    """Whether a task has conditions, versions or believability, or is a plain yes/no task: not P's four cells."""
    if design.kind == "score":
        return bool(design.varying)
    return design.kind in ("judgement", "choice") and (
        design.cells == "gold" or bool(design.varying) or bool(design.item_factors.get("variant"))
    )


def task_answers(context: TaskContext) -> TaskAnswers:
    """Answers by majority and by vote, from the rows that the task's estimates use."""
    design, study = context.design, context.study
    votes = vote_counts(context.con, design, study, context.selection)
    rule = VoteRule(tie=study.votes.tie)
    collapsed = collapsed_answers(votes, rule)
    right = credited(collapsed["right"], collapsed["unclear"], uncertain=design.uncertain)
    conditions = tuple(name for name in design.conditions if name in collapsed.columns)
    return TaskAnswers(
        collapsed, nested_answers(votes), right, rule, has_repeats(collapsed), conditions,
        _compared(design, collapsed, conditions),
    )  # fmt: skip


def scored_answers(context: TaskContext) -> TaskAnswers:
    """Mean scores of a task of scores, one row per model, question and configuration; samples are averaged.

    Raises
    ------
    AnalysisError
        Scores outside [0, 1], or none.
    """
    design, graded = context.design, isinstance(context.counts, str)
    conditions = tuple(name for name in design.conditions if name not in ("task", "model", "item", "unit"))
    if isinstance(context.counts, str):
        table = item_scores(context.con, design, context.selection, by=conditions)
    else:
        table = item_accuracies(context.counts, design.uncertain, by=conditions)
    table = table.assign(n_votes=table["n_samples"])
    return TaskAnswers(
        table, table, table["score"].to_numpy(float), VoteRule(tie=context.study.votes.tie), False, conditions,
        _compared(design, table, conditions), "mean score" if graded else "accuracy",
    )  # fmt: skip


def _compared(design: TaskDesign, table: pd.DataFrame, conditions: tuple[str, ...]) -> tuple[str, ...]:
    varying = [name for name in conditions if name in design.varying]
    return tuple(name for name in varying if 2 <= len(_levels(table, name)) <= MOST_LEVELS)


def second_labels(context: TaskContext) -> tuple[Mapping[str, str], str] | None:
    """Value of the second label by item, and the value that means yes; None where there is no such label.

    Raises
    ------
    StudyError
        ``study.toml`` names a column that the logs do not have, or an item has two values of it.
    """
    settings = context.study.votes
    column = settings.label_column or NOTED_LABEL
    known = {row[0] for row in context.con.execute("DESCRIBE analysed").fetchall()}
    if column not in known:
        if settings.label_column:
            raise StudyError(f"{context.study.path}: [votes] label_column: the logs have no column {column!r}")
        return None
    name = folded(f"CAST({quote_identifier(column)} AS VARCHAR)")
    rows = context.con.execute(
        f"SELECT item, min({name}), max({name}) FROM analysed WHERE coalesce(task, '') = ? AND {name} IS NOT NULL "
        "GROUP BY item ORDER BY item",
        [context.design.task],
    ).fetchall()
    mixed = [item for item, least, most in rows if least != most]
    if mixed:
        raise StudyError(
            f"{context.study.path or 'study'}: {column} has several values for {len(mixed)} items "
            f"(first: {mixed[0]!r}); a label belongs to the item",
            offenders=mixed,
        )
    labels = {item: least for item, least, _ in rows}
    return (labels, settings.label_yes.strip().lower()) if labels else None


def shared_columns(context: TaskContext) -> dict[str, Any]:
    """What estimates of a task are labelled with."""
    design = context.design
    return {"ci_level": context.ci_level, "target": design.target, "unit": unit_name(design), "task": design.task}


def unit_name(design: TaskDesign) -> str:
    """What the independent unit is called in tables: the column, or base item where that is all that is known."""
    if design.unit_is_item:
        return "item"
    return "base item" if design.unit == "unit" else design.unit


def labelled(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """The table with the names to print."""
    return table.assign(label=[labels.get(str(model), str(model)) for model in table["model"]])


def _levels(table: pd.DataFrame, name: str) -> tuple[str, ...]:
    return tuple(level for level in table[name].astype(str).unique() if level)
