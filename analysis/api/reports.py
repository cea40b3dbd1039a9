"""A whole report from Python."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.api.settings import a_path, log_paths, run_settings
from analysis.report.write import check_target, write_report
from analysis.studies.context import BayesianSettings
from analysis.studies.run import run_report


def report(
    *paths: str | Path,
    out: str | Path,
    study: str | Path | None = None,
    models: Sequence[str] = (),
    tasks: Sequence[str] = (),
    where: Sequence[str] = (),
    uncertain: str | None = None,
    runs: str | None = None,
    reread: bool = False,
    bayes: bool = True,
    fast: bool = False,
    pdf: bool = False,
    no_text: bool = False,
    ci_level: float = 0.95,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write a whole report, as ``evenhand report`` does, and return its folder.

    Parameters
    ----------
    *paths : str or Path
        Log files and directories.
    out : str or Path
        Folder of the report.
    bayes, fast : bool
        Whether to fit the Bayesian columns, and whether with few draws.
    pdf : bool
        Compile the document too, where LaTeX is installed.
    no_text : bool
        Leave every raw text out: responses, prompts, and what messages quote of them.
    study, models, tasks, where, uncertain, runs, reread, ci_level, seed, progress
        As in ``read_logs``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import analysis as eh
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = eh.report("logs/example", out=pathlib.Path(folder) / "report", bayes=False)
    ...     (out / "index.html").is_file()
    True
    """
    target = a_path(out, "out")
    check_target(target)
    settings = run_settings(
        study=study, models=models, tasks=tasks, where=where, uncertain=uncertain, runs=runs, reread=reread,
        ci_level=ci_level, seed=seed, progress=progress,
    )  # fmt: skip
    settings = replace(settings, no_text=no_text)
    if bayes:
        settings = replace(settings, bayes=BayesianSettings(fast, seed, target / "data" / "fits"))
    return write_report(run_report(log_paths(paths), settings), target, pdf=pdf)
