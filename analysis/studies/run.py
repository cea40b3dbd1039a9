"""One run of the main job: logs to the content of a report."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.provenance import Clock
from analysis.reduction.intake import Intake
from analysis.report.content import NOTHING_CLAIMED, ReportContent, with_distinct_names
from analysis.report.table_files import with_table_texts
from analysis.schema.plan import plan_digest
from analysis.schema.study import Study
from analysis.schema.task_design import TaskDesign
from analysis.studies.accounting import run_manifest
from analysis.studies.census import census_limits
from analysis.studies.context import Part
from analysis.studies.declared_tables import chosen_tables, declared_part
from analysis.studies.methods import plan_sentences
from analysis.studies.parts import BegunParts, begun_parts
from analysis.studies.prepared import Prepared, RunSettings, prepared, stage
from analysis.studies.primary import labelled_exploratory, primary_part
from analysis.studies.reading import reading_section
from analysis.studies.second_thread import second_thread
from analysis.studies.summary import outside_bounds
from analysis.studies.weights import weights_used

__all__ = ["RunSettings", "report_content", "run_report", "with_texts"]

#: Tasks that a title names.
_NAMED = 3


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
    with prepared(paths, settings, clock) as logs:
        return report_content(logs, clock)


def report_content(logs: Prepared, clock: Clock) -> ReportContent:
    """Estimate from logs that were read, and put the content of the report together.

    Parameters
    ----------
    logs : Prepared
        Within its context: the rows are still needed.
    clock : Clock
        The one that timed the reading.
    """
    intake, settings, study, designs = logs.intake, logs.settings, logs.study, logs.designs
    excluded, statuses, simulated = logs.excluded, logs.statuses, logs.simulated
    labels = {model: entry.label for model, entry in study.models.items() if entry.label}
    with second_thread() as begin, stage(clock, settings, "estimating"):
        begun = [begun_parts(context, begin) for context in logs.contexts]
        rendered = [with_texts(task.with_drawings(simulated=simulated)) for task in begun]
        parts = [part for task in rendered for part in task.all()]
    results = _joined(parts)
    planned = primary_part(study, results, labels, ci_level=settings.ci_level, simulated=simulated)
    declared = declared_part(study, results, labels, simulated=simulated)
    parts = [declared, *parts] if declared is not None else parts
    sections = labelled_exploratory([section for part in parts for section in part.sections], study)
    if planned is not None:
        parts, sections = [planned, *parts], [*planned.sections, *sections]
    sections.append(
        reading_section(
            intake.files,
            statuses,
            excluded,
            intake.notes,
            records_set_aside=intake.set_aside,
            labels=labels,
            simulated=simulated,
            contrasts=study.contrasts,
        )
    )
    sections, unknown = chosen_tables(sections, study, [design.task for design in designs])
    tables = _joined(parts) | {"files": intake.files, "set_aside": excluded, "statuses": statuses}
    claims = tuple(said for part in parts for said in part.summary)
    return ReportContent(
        title=study.name or _title(designs),
        summary=claims or (NOTHING_CLAIMED,),
        limits=(
            *(said for part in parts for said in part.limits),
            *census_limits(designs, study),
            *outside_bounds(excluded),
        ),
        attention=(
            *_intake_attention(intake),
            *logs.warnings,
            *unknown,
            *(said for part in parts for said in part.attention),
        ),
        methods=(
            *dict.fromkeys(said for part in parts for said in part.methods),
            *plan_sentences(study),
        ),
        sections=with_distinct_names(sections),
        data=tables,
        manifest=run_manifest(intake, excluded, _settings(study, designs, settings), clock.timings()),
        simulated=simulated,
        files={name: content for part in parts for name, content in part.files.items()},
    )


def with_texts(task: BegunParts) -> BegunParts:
    """The task with the tables of its short parts rendered, if a long one is still being made."""
    if all(part.done() for part in task.made if isinstance(part, Future)):
        return task
    return replace(task, made=tuple(_rendered(part) if isinstance(part, Part) else part for part in task.made))


def _rendered(part: Part) -> Part:
    return replace(part, sections=tuple(map(with_table_texts, part.sections)))


def _title(designs: Sequence[TaskDesign]) -> str:
    """The tasks by name, as far as they have one."""
    names = [design.task for design in designs if design.task]
    if not names:
        return "Report on model responses"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"Model responses: {', '.join(names[:_NAMED])}{more}"


def _joined(parts: Sequence[Part]) -> dict[str, pd.DataFrame]:
    """Reduced tables of all parts, those of one name joined."""
    by_name: dict[str, list[pd.DataFrame]] = {}
    for part in parts:
        for name, table in part.data.items():
            by_name.setdefault(name, []).append(table)
    return {name: pd.concat(tables, ignore_index=True) for name, tables in by_name.items()}


def _intake_attention(intake: Intake) -> list[str]:
    skipped = intake.files[intake.files["verdict"].isin(["refused", "unreadable"])]
    return [
        f"Skipped, because it cannot be read: {file} ({reason})."
        for file, reason in zip(skipped["file"], skipped["reason"], strict=True)
    ]


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
        "plan": plan_digest(study),
        "primary": list(study.report.primary),
        "overrides": settings.overrides.name if settings.overrides else "",
        "seed": settings.resampling.seed,
        "bayes": "none" if settings.bayes is None else "fast" if settings.bayes.fast else "full",
        "no_text": settings.no_text,
        "reread": settings.intake.reread,
        "keep_going": settings.intake.keep_going,
        "filter": settings.intake.filter or "",
        "scorer": settings.intake.scorer or "",
    }
