"""Designs of tasks for tests of tables."""

from analysis.schema.task_design import TaskDesign


def design() -> TaskDesign:
    """A yes/no task with gold answers alone."""
    return TaskDesign(
        *("t", "judgement", "", "unit", False, "gold", "", {}, {}, {}, (), {}, 300, 3, 100, 100, False, False, False),
        *("micro", "incorrect", "these", {}),
    )
