"""Logs read and held ready for estimates."""

import html
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import pandas as pd

from analysis.api.settings import log_paths, run_settings
from analysis.errors import AnalysisError
from analysis.report.numbers import counted
from analysis.schema.quoting import shown
from analysis.schema.task_design import TaskDesign
from analysis.studies.context import BayesianSettings, TaskContext
from analysis.studies.parts import with_estimates
from analysis.studies.prepared import Prepared, prepared
from analysis.studies.presets import with_preset


@dataclass(frozen=True, slots=True, repr=False)
class Logs:
    """Logs that were read, checked and reduced; owns their temporary store until it is closed.

    Attributes
    ----------
    tasks : tuple of TaskDesign
        What the rows of each task allow: its kind, unit, cells, factors.
    models : tuple of str
        Names as logged.
    files : DataFrame
        Every file looked at: format, verdict, records, responses.
    set_aside : DataFrame
        ``task, model, reason, rows``: responses that no estimate uses.
    warnings : tuple of str
        What the checks found and let pass.
    simulated : bool
        Whether some response comes from a generated log.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example") as logs:
    ...     print(logs)
    Logs (SIMULATED): 2,880 responses, 4 models, 1 task
      "probability-operators": judgement, 4 models, 720 items, 12 units (unit)
    """

    tasks: tuple[TaskDesign, ...]
    models: tuple[str, ...]
    files: pd.DataFrame
    set_aside: pd.DataFrame
    warnings: tuple[str, ...]
    simulated: bool
    _contexts: tuple[TaskContext, ...] = field(repr=False)
    _rows: int
    _store: ExitStack = field(repr=False)

    def __enter__(self) -> Self:
        """The logs themselves; leaving closes them."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Delete the temporary store; counts that were reduced already stay usable.

        Examples
        --------
        >>> import analysis as eh
        >>> logs = eh.read_logs("logs/example")
        >>> logs.close()
        """
        self._store.close()

    def contexts(self, task: str | None = None) -> tuple[TaskContext, ...]:
        """What every task is estimated from, or that of one task.

        Parameters
        ----------
        task : str, optional

        Raises
        ------
        AnalysisError
            No such task.

        Examples
        --------
        >>> import analysis as eh
        >>> with eh.read_logs("logs/example") as logs:
        ...     [context.design.kind for context in logs.contexts()]
        ['judgement']
        """
        if task is None:
            return self._contexts
        if not isinstance(task, str):
            raise AnalysisError(f"task is the name of a task, a text, not {task!r}")
        found = tuple(context for context in self._contexts if context.design.task == task)
        if not found:
            names = ", ".join(shown(design.task) for design in self.tasks)
            raise AnalysisError(f"no task {shown(task)}; there are {names}")
        return found

    def __repr__(self) -> str:
        """What was read, one line per task."""
        return "\n".join([self._title(), *(f"  {line}" for line in self._lines())])

    def _repr_html_(self) -> str:
        """The same as a list for notebooks; text from logs is escaped."""
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in (*self._lines(), *self.warnings))
        return f"<p><b>{html.escape(self._title())}</b></p><ul>{lines}</ul>"

    def _title(self) -> str:
        sizes = (
            counted(self._rows, "response"),
            counted(len(self.models), "model"),
            counted(len(self.tasks), "task"),
        )
        return f"Logs{' (SIMULATED)' if self.simulated else ''}: {', '.join(sizes)}"

    def _lines(self) -> list[str]:
        return [
            f"{shown(d.task) if d.task else 'unnamed task'}: {d.kind}, {counted(d.n_models, 'model')}, "
            f"{counted(d.n_items, 'item')}, {counted(d.n_units, 'unit')} ({d.unit})"
            for d in self.tasks
        ]


def contexts_of(logs: Logs, task: str | None = None) -> tuple[TaskContext, ...]:
    """``logs.contexts(task)``, where logs are logs.

    Raises
    ------
    AnalysisError
        Something else, such as a path or a table; or no such task.
    """
    if not isinstance(logs, Logs):
        raise AnalysisError(f"logs are what eh.read_logs(...) returns, not {type(logs).__name__}")
    return logs.contexts(task)


def read_logs(
    *paths: str | Path,
    study: str | Path | None = None,
    models: Sequence[str] = (),
    tasks: Sequence[str] = (),
    where: Sequence[str] = (),
    uncertain: str | None = None,
    runs: str | None = None,
    reread: bool = False,
    overrides: str | Path | None = None,
    filter: str | None = None,
    scorer: str | None = None,
    keep_going: bool = False,
    preset: str | None = None,
    ci_level: float = 0.95,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Logs:
    """Read log files and directories as ``evenhand report`` does.

    Parameters
    ----------
    *paths : str or Path
        Log files and directories.
    study : str or Path, optional
        Settings; default: ``study.toml`` beside the logs.
    models, tasks : sequence of str
        Use these only; default: all.
    where : sequence of str
        Conditions on rows, as ``"form=direct"``.
    uncertain : {"incorrect", "excluded", "half"}, optional
        How unreadable answers count; default: as the study says.
    runs : {"latest", "all"}, optional
        What to do with a question found in two runs, which is otherwise refused.
    reread : bool
        Read answers from the raw text even where one is given.
    overrides : str or Path, optional
        Answers of a person; default: ``overrides.csv`` beside the logs.
    filter, scorer : str, optional
        Which of several filters or scorers of a log to use.
    keep_going : bool
        Leave out files that cannot be read.
    preset : str, optional
        Published design whose settings to use.
    ci_level : float
        Level of every interval.
    seed : int
        Of everything that is resampled.
    progress : callable, optional
        Receives what is being done.

    Returns
    -------
    Logs
        Use it in a ``with`` statement, or close it.

    Raises
    ------
    AnalysisError
        Nothing readable, violations of the schema, or a selection that leaves nothing.

    Examples
    --------
    >>> import analysis as eh
    >>> with eh.read_logs("logs/example", where=["polarity=negated"]) as logs:
    ...     int(eh.item_counts(logs)["n_planned"].sum())
    1200
    """
    settings = run_settings(
        study=study, models=models, tasks=tasks, where=where, uncertain=uncertain, runs=runs, reread=reread,
        overrides=overrides, filter=filter, scorer=scorer, keep_going=keep_going, preset=preset, ci_level=ci_level,
        seed=seed, progress=progress,
    )  # fmt: skip
    # Fits of this session are kept beside the store, so that what was fitted once is not sampled again.
    settings = replace(settings, bayes=BayesianSettings(seed=seed))
    with ExitStack() as stack:
        found = stack.enter_context(prepared(log_paths(paths), settings))
        contexts = tuple(with_preset(with_estimates(context), context.preset)[0] for context in found.contexts)
        store = stack.pop_all()
    return _logs(found, contexts, store)


def _logs(found: Prepared, contexts: tuple[TaskContext, ...], store: ExitStack) -> Logs:
    return Logs(
        tasks=found.designs,
        models=tuple(sorted(set(found.statuses["model"].astype("str")))),
        files=found.intake.files,
        set_aside=found.excluded,
        warnings=found.warnings,
        simulated=found.simulated,
        _contexts=contexts,
        _rows=found.intake.rows,
        _store=store,
    )
