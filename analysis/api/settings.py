"""Arguments of the Python interface as settings of a run."""

from collections.abc import Callable, Sequence
from pathlib import Path

from analysis.errors import AnalysisError
from analysis.reduction.intake import IntakeSettings
from analysis.reduction.selection import parse_selection
from analysis.studies.context import Resampling
from analysis.studies.prepared import RunSettings


def run_settings(
    *,
    study: str | Path | None,
    models: Sequence[str],
    tasks: Sequence[str],
    where: Sequence[str],
    uncertain: str | None,
    runs: str | None,
    reread: bool,
    ci_level: float,
    seed: int,
    progress: Callable[[str], None] | None,
    overrides: str | Path | None = None,
    filter: str | None = None,
    scorer: str | None = None,
    keep_going: bool = False,
    preset: str | None = None,
) -> RunSettings:
    """Settings of a run; None leaves a choice to the files beside the logs."""
    for name, value in (("models", models), ("tasks", tasks), ("where", where)):
        if isinstance(value, str):
            raise AnalysisError(f"{name} is a list of texts, not one text: {name}=[{value!r}]")
    return RunSettings(
        study=None if study is None else Path(study),
        overrides=None if overrides is None else Path(overrides),
        intake=IntakeSettings(filter=filter, scorer=scorer, reread=reread, keep_going=keep_going),
        selection=parse_selection(where, models, tasks),
        runs=runs,
        uncertain=uncertain,
        preset=preset,
        ci_level=ci_level,
        resampling=Resampling(seed=seed),
        progress=progress or (lambda stage: None),
    )


def log_paths(paths: Sequence[str | Path]) -> list[Path]:
    """Paths of logs; at least one."""
    if not paths:
        raise AnalysisError("name a log file or directory")
    return [Path(path) for path in paths]
