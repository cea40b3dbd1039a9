"""Parts on conditions, repeats, versions and believability: their answers are made once and shared."""

from collections.abc import Callable
from typing import Final

from analysis.errors import AnalysisError
from analysis.studies.answers import TaskAnswers, scored_answers, task_answers, wants_answers
from analysis.studies.belief_bias import belief_bias_part
from analysis.studies.classification import classification_part
from analysis.studies.conditions import conditions_part
from analysis.studies.consistency import consistency_part
from analysis.studies.context import Part, TaskContext, joined
from analysis.studies.measure_correlations import measure_correlations_part
from analysis.studies.votes import votes_part

#: In the order of printing; each gives None where the design does not allow it.
REPEATED_PARTS: Final[tuple[Callable[[TaskContext, TaskAnswers], Part | None], ...]] = (
    classification_part,
    votes_part,
    consistency_part,
    belief_bias_part,
    conditions_part,
)


def repeated_part(context: TaskContext) -> Part | None:
    """All parts that a task with conditions, repeats, versions or believability allows, as one."""
    if context.design.kind == "score":
        return _scored_part(context)
    if isinstance(context.counts, str) or not wants_answers(context.design):
        return None
    answers = task_answers(context)
    parts = [part for make in REPEATED_PARTS if (part := make(context, answers)) is not None]
    if not parts:
        return None
    together = joined(parts)
    if context.design.target == "census":
        return together
    over_models = measure_correlations_part(context, together.data)
    return joined([together, over_models]) if over_models else together


def _scored_part(context: TaskContext) -> Part | None:
    """Conditions of a task of scores, right or wrong or graded; answers themselves are not looked at."""
    if not wants_answers(context.design):
        return None
    try:
        answers = scored_answers(context)
    except AnalysisError:  # the order of models says why there is no mean score
        return None
    return conditions_part(context, answers)
