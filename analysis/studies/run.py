"""One run of the main job: logs to the content of a report."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from analysis.errors import AnalysisError
from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.floor_tests import floor_tests
from analysis.frequentist.uncertain_answers import flags, uncertainty_bounds
from analysis.provenance import Clock
from analysis.reduction.cells import item_counts
from analysis.reduction.exclusions import exclusions
from analysis.reduction.intake import Intake, IntakeSettings, root_of, take_in
from analysis.reduction.selection import EVERYTHING, Selection
from analysis.reduction.statuses import status_counts
from analysis.reduction.units import unit_sums
from analysis.report.content import ReportContent, Section, with_distinct_names
from analysis.report.manifest import report_manifest
from analysis.schema.checks import Violation, check_responses
from analysis.schema.design import create_analysed_view, read_designs
from analysis.schema.runs import SettledRuns, resolve_runs
from analysis.schema.store import open_store
from analysis.schema.study import Study, load_study
from analysis.schema.task_design import TaskDesign
from analysis.studies.accuracy import accuracy_section
from analysis.studies.judgement import JudgementResults, judgement_section
from analysis.studies.reading import reading_section
from analysis.studies.summary import accuracy_claims, attention, claims, limits, outside_bounds

TREATMENTS = ("incorrect", "excluded", "half")
#: Weights of `study.toml` -> how `unit_sums` weighs rows within a cell. `cell` concerns the overall accuracy alone.
WEIGHTING: dict[str, dict[str, Any]] = {
    "micro": {},
    "prompt": {"weighting": "item"},
    "template": {"strata": "template"},
    "form": {"strata": "form"},
    "cell": {},
}


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What the user chose on the command line; None leaves it to ``study.toml``."""

    study: Path | None = None
    intake: IntakeSettings = field(default_factory=IntakeSettings)
    selection: Selection = EVERYTHING
    runs: str | None = None
    uncertain: str | None = None
    ci_level: float = 0.95
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
        Nothing readable, violations of the schema, or a selection that leaves nothing.
    """
    clock = Clock()
    study = load_study(settings.study or _study_beside(paths))
    if settings.uncertain is not None:
        study = replace(study, uncertain=settings.uncertain)
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        with _stage(clock, settings, "reading logs"):
            intake = take_in(paths, study, settings.intake, Path(folder) / "responses")
        con = open_store(intake.store)
        try:
            return _analysed(con, intake, study, settings, clock)
        finally:
            con.close()


def _analysed(
    con: duckdb.DuckDBPyConnection, intake: Intake, study: Study, settings: RunSettings, clock: Clock
) -> ReportContent:
    with _stage(clock, settings, "checking"):
        settled = SettledRuns()
        if settings.runs is not None:
            settled = resolve_runs(con, settings.runs, conditions=study.conditions)
        designs = read_designs(con, study)
        warnings = _stop_on_errors(check_responses(con, designs, study))
        create_analysed_view(con, designs, study)
    with _stage(clock, settings, "reducing"):
        excluded, statuses = exclusions(con, designs, settings.selection), status_counts(con)
        excluded = _with_superseded(excluded, settled)
        counts = {d.task: _counts(con, d, study, settings.selection) for d in designs}
    labels = {model: entry.label for model, entry in study.models.items() if entry.label}
    simulated = any(design.simulated for design in designs)
    sections = []
    said: dict[str, list[str]] = {"summary": [], "limits": [], "attention": _intake_attention(intake) + warnings}
    data: dict[str, list[pd.DataFrame]] = {}
    for design in designs:
        with _stage(clock, settings, "estimating"):
            where = f"{design.task or 'unnamed task'}: " if len(designs) > 1 else ""
            section = _task(design, counts[design.task], labels, settings.ci_level, said, data, where)
        sections.append(section)
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
    tables = {name: pd.concat(parts, ignore_index=True) for name, parts in data.items()}
    tables |= {"files": intake.files, "set_aside": excluded, "statuses": statuses}
    return ReportContent(
        title=study.name or "Report on model responses",
        summary=tuple(said["summary"]) or ("Nothing in these logs allows a claim about answer bias.",),
        limits=(*said["limits"], *outside_bounds(excluded)),
        attention=tuple(said["attention"]),
        sections=with_distinct_names(sections),
        data=tables,
        manifest=_manifest(intake, study, settings, excluded, clock),
        simulated=simulated,
    )


def _task(
    design: TaskDesign,
    counts: pd.DataFrame | str,
    labels: dict[str, str],
    ci_level: float,
    said: dict[str, list[str]],
    data: dict[str, list[pd.DataFrame]],
    where: str,
) -> Section:
    """Section of one task; its sentences and reduced tables are added to ``said`` and ``data``."""
    if isinstance(counts, str):
        said["limits"].append(f"{where}no accuracy, {counts}.")
        return accuracy_section(design, None, counts, labels)
    sums = weighted_sums(counts, design)
    estimates = {
        treatment: answer_bias_estimates(
            sums,
            uncertain=treatment,
            ci_level=ci_level,
            target=design.target,
            unit="template" if design.target == "new_templates" else design.unit,
            weights=weights_used(design),
        )
        for treatment in TREATMENTS
    }
    chosen = estimates[design.uncertain]
    data.setdefault("unit_sums", []).append(sums)
    data.setdefault("estimates", []).append(chosen)
    if design.cells is None:
        said["summary"] += accuracy_claims(chosen, labels, where=where)
        said["limits"].append(f"{where}no answer bias or floor, {design.cells_reason}.")
        return accuracy_section(design, chosen, "", labels)
    tests = floor_tests(sums, uncertain=design.uncertain, ci_level=ci_level, target=design.target)
    results = JudgementResults(chosen, tests, uncertainty_bounds(sums), flags(sums, ci_level=ci_level), estimates)
    data.setdefault("floor_tests", []).append(tests)
    data.setdefault("uncertainty_bounds", []).append(results.bounds)
    said["summary"] += claims(results, labels, where=where)
    said["limits"] += limits(design, results, labels, where=where)
    said["attention"] += attention(results, labels, where=where)
    return judgement_section(design, results, labels)


def weighted_sums(counts: pd.DataFrame, design: TaskDesign) -> pd.DataFrame:
    """Sums by unit under the study's weights."""
    choice = WEIGHTING[design.weights]
    strata = choice.get("strata")
    if strata is not None and strata not in counts.columns:
        raise AnalysisError(
            f"study.toml: weights = {design.weights!r} needs a column {strata!r}, which task {design.task!r} does not "
            "have; use weights = 'micro'"
        )
    if design.target == "new_templates":
        if "template" not in counts.columns:
            raise AnalysisError(
                f"study.toml: target = 'new_templates' needs a column 'template', which task {design.task!r} does not "
                "have; use target = 'these'"
            )
        counts = counts.assign(unit=counts["template"])
    return unit_sums(counts, **choice)


def weights_used(design: TaskDesign) -> str:
    """Weights by name: with gold answers alone, micro means that every item weighs the same."""
    return "item" if design.weights == "micro" and design.cells != "validity_polarity" else design.weights


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


def _with_superseded(excluded: pd.DataFrame, settled: SettledRuns) -> pd.DataFrame:
    """Rows set aside, those that a later run repeats among them."""
    rows = [
        {"task": run.task, "model": run.model, "reason": f"repeated in a later run: {run.run}", "rows": run.rows}
        for run in settled.superseded
    ]
    return pd.concat([excluded, pd.DataFrame(rows, columns=excluded.columns)], ignore_index=True) if rows else excluded


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


def _study_beside(paths: list[Path]) -> Path | None:
    beside = root_of(paths) / "study.toml"
    return beside if beside.is_file() else None


def _manifest(intake: Intake, study: Study, settings: RunSettings, excluded: pd.DataFrame, clock: Clock) -> dict:
    files = intake.files
    kept = {"file": "path", "sha256": "sha256", "bytes": "bytes", "format": "format"}
    read = files[files["verdict"] == "read"][list(kept)].rename(columns=kept).to_dict("records")
    inputs = [{str(name): value for name, value in entry.items()} for entry in read]
    out = int(excluded["rows"].sum())
    return report_manifest(
        inputs=inputs,
        settings={
            "uncertain": study.uncertain,
            "weights": study.weights,
            "target": study.target,
            "ci_level": settings.ci_level,
            "runs": settings.runs or "",
            "selection": [c.text for c in settings.selection.conditions],
            "reread": settings.intake.reread,
            "keep_going": settings.intake.keep_going,
            "filter": settings.intake.filter or "",
            "scorer": settings.intake.scorer or "",
        },
        rows={
            "files": {str(k): int(v) for k, v in files["verdict"].value_counts().sort_index().items()},
            "records": intake.records,
            "responses": intake.rows,
            "used": intake.rows - out,
            "set_aside": {str(k): int(v) for k, v in excluded.groupby("reason")["rows"].sum().sort_index().items()},
        },
        timings=clock.timings(),
    )
