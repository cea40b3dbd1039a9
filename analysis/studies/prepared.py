"""Logs made ready to be estimated from: read, checked and reduced, with the context of every task."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import pandas as pd

from analysis.bayes.prior_settings import check_priors
from analysis.errors import AnalysisError
from analysis.provenance import Clock
from analysis.reduction.cells import item_counts
from analysis.reduction.exclusions import exclusions
from analysis.reduction.intake import Intake, IntakeSettings, reading_policy, take_in
from analysis.reduction.levels import model_facts
from analysis.reduction.overrides import apply_overrides, find_overrides
from analysis.reduction.scores import item_scores
from analysis.reduction.selection import EVERYTHING, Selection
from analysis.reduction.statuses import status_counts
from analysis.schema.checks import Violation, check_responses
from analysis.schema.declared_levels import absent_levels
from analysis.schema.design import create_analysed_view, read_designs
from analysis.schema.model_labels import check_labels
from analysis.schema.runs import SettledRuns, resolve_runs
from analysis.schema.same_numbers import unite_same_numbers
from analysis.schema.store import open_store
from analysis.schema.study import Study, find_study, load_study
from analysis.schema.task_design import TaskDesign
from analysis.studies.accounting import refuse_nothing, rows_set_aside
from analysis.studies.bayesian_settings import bayesian_by_task, with_working_copy
from analysis.studies.coherence_results import stated_probabilities
from analysis.studies.context import BayesianSettings, Resampling, TaskContext
from analysis.studies.presets import study_with_preset
from analysis.studies.privacy import names_in, private_intake, private_names, private_sentence


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What the user chose on the command line; None leaves it to the files beside the logs and to ``study.toml``.

    ``no_text`` leaves raw texts out of everything.
    """

    study: Path | None = None
    intake: IntakeSettings = field(default_factory=IntakeSettings)
    overrides: Path | None = None
    selection: Selection = EVERYTHING
    runs: str | None = None
    uncertain: str | None = None
    ci_level: float = 0.95
    resampling: Resampling = field(default_factory=Resampling)
    bayes: BayesianSettings | None = None
    preset: str | None = None
    no_text: bool = False
    progress: Callable[[str], None] = lambda stage: None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Logs that were read, checked and reduced.

    Attributes
    ----------
    intake : Intake
    settings : RunSettings
        With the files that were found beside the logs.
    study : Study
    designs : tuple of TaskDesign
    contexts : tuple of TaskContext
        One per design, before anything is estimated.
    excluded, statuses : DataFrame
        Rows that no estimate uses, and rows by status.
    warnings : tuple of str
        Answers that a person gave, and what the checks found and let pass.
    """

    intake: Intake
    settings: RunSettings
    study: Study
    designs: tuple[TaskDesign, ...]
    contexts: tuple[TaskContext, ...]
    excluded: pd.DataFrame
    statuses: pd.DataFrame
    warnings: tuple[str, ...]

    @property
    def simulated(self) -> bool:
        """Whether some response comes from a generated log."""
        return any(design.simulated for design in self.designs)


@contextmanager
def prepared(paths: list[Path], settings: RunSettings, clock: Clock | None = None) -> Iterator[Prepared]:
    """Read, check and reduce logs; their temporary store lives until the context is left.

    Parameters
    ----------
    paths : list of Path
        Log files and directories.
    settings : RunSettings
    clock : Clock, optional
        Keeps the time of every stage.

    Raises
    ------
    AnalysisError
        Nothing readable, violations of the schema, a selection that leaves nothing, or an odd level.
    """
    clock = clock or Clock()
    check_report_level(settings.ci_level)
    check_seed(settings.resampling.seed)
    settings = replace(
        settings,
        study=settings.study or find_study(paths),
        overrides=settings.overrides or find_overrides(paths),
    )
    study = load_study(settings.study)
    if settings.uncertain is not None:
        study = replace(study, uncertain=settings.uncertain)
    if settings.preset is not None:
        study = study_with_preset(study, settings.preset)
    check_priors(study.priors)  # an unknown prior is an error before any log is read
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        settings = replace(settings, bayes=with_working_copy(settings.bayes, Path(folder)))
        with stage(clock, settings, "reading logs"):
            intake = take_in(paths, study, settings.intake, Path(folder) / "responses")
            intake = private_intake(intake, no_text=settings.no_text)
        con = open_store(intake.store)
        try:
            yield _reduced(con, intake, study, settings, clock)
        finally:
            con.close()


def check_seed(seed: int) -> None:
    """Refuse a seed that one of the generators cannot take, before any log is read."""
    if not 0 <= seed < 2**32:
        raise AnalysisError(f"--seed must lie between 0 and {2**32 - 1}, not {seed}")


def check_report_level(level: float) -> None:
    """Refuse a level that no reader would take for one, before any log is read.

    Decisions are taken at 1 - level: at a level near 0 everything is shown, and at 1 nothing has limits.
    """
    if not 0.5 <= level <= 0.9999:
        raise AnalysisError(f"--ci-level must lie between 0.5 and 0.9999, not {level:g}; 0.95 stands for 95%")


def _reduced(
    con: duckdb.DuckDBPyConnection, intake: Intake, study: Study, settings: RunSettings, clock: Clock
) -> Prepared:
    with stage(clock, settings, "checking"):
        overridden = _overridden(con, study, settings)
        study, selection = private_names(con, study, settings.selection, no_text=settings.no_text)
        settings = replace(settings, selection=selection)
        united = unite_same_numbers(con, study.conditions)
        settled = SettledRuns()
        if settings.runs is not None:
            settled = resolve_runs(con, settings.runs, conditions=study.conditions)
        check_labels(con, study)
        designs = read_designs(con, study)
        found = _stop_on_errors(check_responses(con, designs, study))
        names = names_in(con) if settings.no_text else ()
        create_analysed_view(con, designs, study)
        said_of_levels = (*united, *absent_levels(con, study))
        warnings = [private_sentence(said, no_text=settings.no_text, known=names) for said in (*found, *said_of_levels)]
    with stage(clock, settings, "reducing"):
        excluded, statuses = exclusions(con, designs, settings.selection), status_counts(con)
        refuse_nothing(excluded, int(statuses["rows"].sum()), designs, warnings[: len(found)])
        counts = {d.task: _counts(con, d, study, settings) for d in designs}
        stated = {d.task: stated_probabilities(con, d, study, settings.selection) for d in designs}
        graded = {d.task for d in designs if d.kind == "score" and _has_mean_score(con, d, settings.selection)}
        unestimated = {
            t: why for t, why in counts.items() if isinstance(why, str) and stated[t] is None and t not in graded
        }
        excluded = rows_set_aside(excluded, statuses, settled, unestimated)
        excluded = pd.concat([excluded, *(s.unused for s in stated.values() if s is not None)], ignore_index=True)
    bayes = bayesian_by_task(settings.bayes, [d for d in designs if not isinstance(counts[d.task], str)])
    contexts = [
        TaskContext(
            con=con,
            design=design,
            study=study,
            selection=settings.selection,
            labels={model: entry.label for model, entry in study.models.items() if entry.label},
            ci_level=settings.ci_level,
            where=f"{design.task or 'unnamed task'}: " if len(designs) > 1 else "",
            counts=counts[design.task],
            probabilities=stated[design.task],
            resampling=replace(settings.resampling, task=design.task),
            bayes=bayes.get(design.task, settings.bayes),
            preset=settings.preset,
            progress=settings.progress,
            families=_families(con, design, study),
        )
        for design in designs
    ]
    return Prepared(intake, settings, study, designs, tuple(contexts), excluded, statuses, (*overridden, *warnings))


def _families(con: duckdb.DuckDBPyConnection, design: TaskDesign, study: Study) -> dict[str, str]:
    """Family of every model of a task that has one: as ``study.toml`` says, else as logged."""
    facts = model_facts(con, design, study).dropna(subset=["family"])
    return dict(zip(facts["model"].astype(str), facts["family"].astype(str), strict=True))


def _counts(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, study: Study, settings: RunSettings
) -> pd.DataFrame | str:
    """Counts of a task, or the reason why its responses cannot be counted as right or wrong."""
    try:
        counts = item_counts(con, design, study, settings.selection)
    except AnalysisError as error:
        if design.cells is not None:
            raise
        return private_sentence(str(error), no_text=settings.no_text)
    if counts.empty:
        return "no row is left after selection and exclusions"
    return counts


def _has_mean_score(con: duckdb.DuckDBPyConnection, design: TaskDesign, selection: Selection) -> bool:
    """Whether the scores of a task can be averaged, right or wrong or graded."""
    try:
        item_scores(con, design, selection)
    except AnalysisError:
        return False
    return True


def _overridden(con: duckdb.DuckDBPyConnection, study: Study, settings: RunSettings) -> list[str]:
    """Apply the answers that a person gave, and say how many."""
    if settings.overrides is None:
        return []
    account = apply_overrides(con, settings.overrides, reading_policy(study, settings.intake))
    return [
        f"{len(account.applied):,} answers come from {settings.overrides.name}; {account.n_changed:,} of them differ "
        "from what was read."
    ]


def _stop_on_errors(violations: list[Violation]) -> list[str]:
    errors = [v for v in violations if v.severity == "error"]
    if errors:
        listed = "".join(f"\n  {v.rule}: {v.message} ({', '.join(v.examples[:2])}); {v.fix}" for v in errors)
        raise AnalysisError(
            f"the logs break the schema in {len(errors)} {'way' if len(errors) == 1 else 'ways'}; "
            f"`evenhand validate` lists more examples:{listed}",
            offenders=[v.rule for v in errors],
        )
    return [f"{v.message}; {v.fix}." if v.fix else f"{v.message}." for v in violations]


@contextmanager
def stage(clock: Clock, settings: RunSettings, name: str) -> Iterator[None]:
    """Time a stage and say that it has begun."""
    settings.progress(name)
    with clock.stage(name):
        yield
