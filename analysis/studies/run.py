"""One run of the main job: logs to the content of a report."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from analysis.bayes.priors import priors_from
from analysis.errors import AnalysisError
from analysis.provenance import Clock
from analysis.reduction.cells import item_counts
from analysis.reduction.exclusions import exclusions
from analysis.reduction.intake import Intake, IntakeSettings, reading_policy, take_in
from analysis.reduction.overrides import apply_overrides, find_overrides
from analysis.reduction.selection import EVERYTHING, Selection
from analysis.reduction.statuses import status_counts
from analysis.report.content import ReportContent, with_distinct_names
from analysis.schema.checks import Violation, check_responses
from analysis.schema.design import create_analysed_view, read_designs
from analysis.schema.runs import SettledRuns, resolve_runs
from analysis.schema.store import open_store
from analysis.schema.study import Study, find_study, load_study
from analysis.schema.task_design import TaskDesign
from analysis.studies.accounting import refuse_nothing, rows_set_aside, run_manifest
from analysis.studies.bayesian_settings import bayesian_by_task, with_working_copy
from analysis.studies.coherence_results import stated_probabilities
from analysis.studies.context import BayesianSettings, Part, Resampling, TaskContext
from analysis.studies.parts import task_parts
from analysis.studies.presets import study_with_preset
from analysis.studies.reading import reading_section
from analysis.studies.summary import outside_bounds
from analysis.studies.weights import weights_used


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What the user chose on the command line; None leaves it to the files beside the logs and to ``study.toml``."""

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
    progress: Callable[[str], None] = lambda stage: None


def run_report(paths: list[Path], settings: RunSettings) -> ReportContent:
    """Read logs, estimate, and put the content of the report together.

    Parameters
    ----------
    paths : list of Path
        Log files and directories.
    settings : RunSettings

    Raises
    ------
    AnalysisError
        Nothing readable, violations of the schema, a selection that leaves nothing, or an odd level.
    """
    clock = Clock()
    check_report_level(settings.ci_level)
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
    priors_from(study.priors)  # an unknown prior is an error before any log is read
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        settings = replace(settings, bayes=with_working_copy(settings.bayes, Path(folder)))
        with _stage(clock, settings, "reading logs"):
            intake = take_in(paths, study, settings.intake, Path(folder) / "responses")
        con = open_store(intake.store)
        try:
            return _analysed(con, intake, study, settings, clock)
        finally:
            con.close()


def check_report_level(level: float) -> None:
    """Refuse a level that no reader would take for one, before any log is read.

    Decisions are taken at 1 - level: at a level near 0 everything is shown, and at 1 nothing has limits.
    """
    if not 0.5 <= level <= 0.9999:
        raise AnalysisError(f"--ci-level must lie between 0.5 and 0.9999, not {level:g}; 0.95 stands for 95%")


def _analysed(
    con: duckdb.DuckDBPyConnection, intake: Intake, study: Study, settings: RunSettings, clock: Clock
) -> ReportContent:
    with _stage(clock, settings, "checking"):
        overridden = _overridden(con, study, settings)
        settled = SettledRuns()
        if settings.runs is not None:
            settled = resolve_runs(con, settings.runs, conditions=study.conditions)
        designs = read_designs(con, study)
        warnings = _stop_on_errors(check_responses(con, designs, study))
        create_analysed_view(con, designs, study)
    with _stage(clock, settings, "reducing"):
        excluded, statuses = exclusions(con, designs, settings.selection), status_counts(con)
        refuse_nothing(excluded, int(statuses["rows"].sum()), designs)
        counts = {d.task: _counts(con, d, study, settings.selection) for d in designs}
        stated = {d.task: stated_probabilities(con, d, study, settings.selection) for d in designs}
        unestimated = {t: why for t, why in counts.items() if isinstance(why, str) and stated[t] is None}
        excluded = rows_set_aside(excluded, statuses, settled, unestimated)
        excluded = pd.concat([excluded, *(s.unused for s in stated.values() if s is not None)], ignore_index=True)
    labels = {model: entry.label for model, entry in study.models.items() if entry.label}
    simulated = any(design.simulated for design in designs)
    parts: list[Part] = []
    bayes = bayesian_by_task(settings.bayes, designs)
    for design in designs:
        where = f"{design.task or 'unnamed task'}: " if len(designs) > 1 else ""
        context = TaskContext(
            con=con,
            design=design,
            study=study,
            selection=settings.selection,
            labels=labels,
            ci_level=settings.ci_level,
            where=where,
            counts=counts[design.task],
            probabilities=stated[design.task],
            resampling=replace(settings.resampling, task=design.task),
            bayes=bayes[design.task],
            progress=settings.progress,
        )
        with _stage(clock, settings, "estimating"):
            parts += task_parts(context)
    sections = [section for part in parts for section in part.sections]
    sections.append(
        reading_section(
            intake.files,
            statuses,
            excluded,
            intake.notes,
            records_set_aside=intake.set_aside,
            labels=labels,
            simulated=simulated,
        )
    )
    tables = _joined(parts) | {"files": intake.files, "set_aside": excluded, "statuses": statuses}
    claims = tuple(said for part in parts for said in part.summary)
    return ReportContent(
        title=study.name or "Report on model responses",
        summary=claims or ("Nothing in these logs allows a claim about answer bias.",),
        limits=(*(said for part in parts for said in part.limits), *outside_bounds(excluded)),
        attention=(
            *_intake_attention(intake),
            *overridden,
            *warnings,
            *(said for part in parts for said in part.attention),
        ),
        methods=tuple(dict.fromkeys(said for part in parts for said in part.methods)),
        sections=with_distinct_names(sections),
        data=tables,
        manifest=run_manifest(intake, excluded, _settings(study, designs, settings), clock.timings()),
        simulated=simulated,
        files={name: content for part in parts for name, content in part.files.items()},
    )


def _joined(parts: Sequence[Part]) -> dict[str, pd.DataFrame]:
    """Reduced tables of all parts, those of one name joined."""
    by_name: dict[str, list[pd.DataFrame]] = {}
    for part in parts:
        for name, table in part.data.items():
            by_name.setdefault(name, []).append(table)
    return {name: pd.concat(tables, ignore_index=True) for name, tables in by_name.items()}


def _counts(
    con: duckdb.DuckDBPyConnection, design: TaskDesign, study: Study, selection: Selection
) -> pd.DataFrame | str:
    """Counts of a task, or the reason why its responses cannot be counted as right or wrong."""
    try:
        counts = item_counts(con, design, study, selection)
    except AnalysisError as error:
        if design.cells is not None:
            raise
        return str(error)
    if counts.empty:
        return "no row is left after selection and exclusions"
    return counts


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
    return [f"{v.message}." for v in violations]


def _intake_attention(intake: Intake) -> list[str]:
    skipped = intake.files[intake.files["verdict"].isin(["refused", "unreadable"])]
    return [
        f"Skipped, because it cannot be read: {file} ({reason})."
        for file, reason in zip(skipped["file"], skipped["reason"], strict=True)
    ]


@contextmanager
def _stage(clock: Clock, settings: RunSettings, name: str) -> Iterator[None]:
    """Time a stage and say that it has begun."""
    settings.progress(name)
    with clock.stage(name):
        yield


def _settings(study: Study, designs: Sequence[TaskDesign], settings: RunSettings) -> dict[str, Any]:
    """Every choice that shaped the numbers, for the manifest."""
    return {
        "uncertain": study.uncertain,
        "weights": ", ".join(sorted({weights_used(design) for design in designs})),
        "target": study.target,
        "ci_level": settings.ci_level,
        "runs": settings.runs or "",
        "selection": [c.text for c in settings.selection.conditions],
        "study": settings.study.name if settings.study else "",
        "overrides": settings.overrides.name if settings.overrides else "",
        "bayes": "none" if settings.bayes is None else "fast" if settings.bayes.fast else "full",
        "reread": settings.intake.reread,
        "keep_going": settings.intake.keep_going,
        "filter": settings.intake.filter or "",
        "scorer": settings.intake.scorer or "",
    }
