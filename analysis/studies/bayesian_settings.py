"""Which tasks of a run get Bayesian columns, and where fits of an earlier report are found."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from analysis.schema.task_design import TaskDesign
from analysis.studies.context import BayesianSettings

#: Tasks of one run, yes/no ones and others, that are fitted: each costs seconds to a minute of sampling.
MOST_TASKS: Final = 8
_FOLDER: Final = "fits"


def with_working_copy(settings: BayesianSettings | None, folder: Path) -> BayesianSettings | None:
    """Settings whose kept fits lie in a folder of this run, so that the earlier report stays as it is until the end.

    Parameters
    ----------
    settings : BayesianSettings or None
        ``kept`` may be absent, or no directory.
    folder : Path
        Existing folder that lives as long as the run.
    """
    if settings is None:
        return None
    copy = folder / _FOLDER
    if settings.kept is not None and settings.kept.is_dir():
        shutil.copytree(settings.kept, copy, symlinks=True)
    copy.mkdir(exist_ok=True)
    return replace(settings, kept=copy)


def bayesian_by_task(
    settings: BayesianSettings | None, designs: Sequence[TaskDesign]
) -> dict[str, BayesianSettings | None]:
    """Settings by task: beyond MOST_TASKS yes/no tasks, or others, those with the most responses are fitted.

    Parameters
    ----------
    settings : BayesianSettings or None
    designs : sequence of TaskDesign
        Of the tasks that the selection leaves.
    """
    found: dict[str, BayesianSettings | None] = {design.task: settings for design in designs}
    if settings is None:
        return found
    judged = [design for design in designs if design.cells is not None]
    others = [design for design in designs if design.cells is None]
    for kind, group in (("yes/no tasks", judged), ("tasks of other kinds", others)):
        ordered = sorted(group, key=lambda d: (-d.n_rows, d.task))
        reason = f"of {len(group)} {kind} the {MOST_TASKS} with the most responses are fitted; --task chooses others"
        found |= {design.task: replace(settings, skipped=reason) for design in ordered[MOST_TASKS:]}
    return found
