"""Which tasks of a run get Bayesian columns, and where fits of an earlier report are found."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from analysis.schema.task_design import TaskDesign
from analysis.studies.context import BayesianSettings

#: Yes/no tasks of one run that are fitted: each costs seconds to a minute of sampling.
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
    """Settings by task: beyond MOST_TASKS yes/no tasks those with the most responses are fitted.

    Parameters
    ----------
    settings : BayesianSettings or None
    designs : sequence of TaskDesign
        Of the tasks that the selection leaves.
    """
    judged = [design for design in designs if design.cells is not None]
    fitted = {d.task for d in sorted(judged, key=lambda d: (-d.n_rows, d.task))[:MOST_TASKS]}
    if settings is None or len(judged) <= MOST_TASKS:
        return {design.task: settings for design in designs}
    reason = f"of {len(judged)} yes/no tasks the {MOST_TASKS} with the most responses are fitted; --task chooses others"
    return {d.task: settings if d.task in fitted else replace(settings, skipped=reason) for d in designs}
