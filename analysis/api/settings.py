"""Arguments of the Python interface as settings of a run."""

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path

from analysis.errors import AnalysisError
from analysis.reduction.intake import IntakeSettings
from analysis.reduction.selection import parse_selection
from analysis.schema.study_keys import UNCERTAIN_TREATMENTS
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
    """Settings of a run; None leaves a choice to the files beside the logs.

    Raises
    ------
    AnalysisError
        A setting of the wrong kind; the message names it.
    """
    _check_lists(models=models, tasks=tasks, where=where)
    _check_texts(filter=filter, scorer=scorer, runs=runs, preset=preset)
    for name, place in (("study", study), ("overrides", overrides)):
        if place is not None:
            a_path(place, name)
    if uncertain not in (None, *UNCERTAIN_TREATMENTS):
        raise AnalysisError(f"uncertain is one of {', '.join(UNCERTAIN_TREATMENTS)}, not {uncertain!r}")
    _check_number("ci_level", ci_level)
    check_seed(seed)
    if progress is not None and not callable(progress):
        raise AnalysisError(f"progress is a function of a text, not {progress!r}")
    return RunSettings(
        study=None if study is None else Path(study),
        overrides=None if overrides is None else Path(overrides),
        intake=IntakeSettings(filter=filter, scorer=scorer, reread=reread, keep_going=keep_going),
        selection=parse_selection(where, models, tasks),
        runs=runs,
        uncertain=uncertain,
        preset=preset,
        ci_level=float(ci_level),
        resampling=Resampling(seed=seed),
        progress=progress or (lambda stage: None),
    )


def log_paths(paths: Sequence[str | Path]) -> list[Path]:
    """Paths of logs; at least one."""
    if not paths:
        raise AnalysisError("name a log file or directory")
    return [a_path(path, "a log") for path in paths]


def a_path(value: object, name: str) -> Path:
    """A path from what a user gave.

    Raises
    ------
    AnalysisError
        Neither a text nor a path, or an empty text.
    """
    if not isinstance(value, str | PathLike) or not str(value):
        raise AnalysisError(f"{name} is a path, not {type(value).__name__ if value != '' else 'an empty text'}")
    return Path(value)


def check_seed(seed: object) -> None:
    """Refuse what is no seed.

    Raises
    ------
    AnalysisError
        No whole number from 0 to 4294967295.
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) < 2**32:
        raise AnalysisError(f"seed is a whole number from 0 to 4294967295, not {seed!r}")


def check_numbers(**given: object) -> None:
    """Refuse what is no finite number; None is left to the defaults.

    Raises
    ------
    AnalysisError
        Names the first argument that is something else.
    """
    for name, value in given.items():
        if value is not None:
            _check_number(name, value)


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        written = repr(value) if isinstance(value, str | bool) else type(value).__name__
        raise AnalysisError(f"{name} is a number, not {written}")
    if not math.isfinite(_as_float(value)):
        raise AnalysisError(f"{name} is a finite number, not {_as_float(value)}")


def _as_float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _check_lists(**given: object) -> None:
    for name, value in given.items():
        if isinstance(value, str):
            raise AnalysisError(f"{name} is a list of texts, not one text: {name}=[{value!r}]")
        if not isinstance(value, Sequence) or not all(isinstance(text, str) for text in value):
            raise AnalysisError(f"{name} is a list of texts, not {value!r}")


def _check_texts(**given: object) -> None:
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise AnalysisError(f"{name} is a text, not {value!r}")
