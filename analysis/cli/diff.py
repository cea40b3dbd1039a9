"""``evenhand diff``: what changed between two sets of logs, or between two reports."""

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from analysis.frequentist.gate_tests import Gate
    from analysis.report.spec import Table
    from analysis.studies.prepared import Prepared, RunSettings
    from analysis.verification.report_contrasts import ReportContrasts


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "diff",
        help="compare two sets of logs (a model before and after), or two reports",
        description="Compare two sets of logs on the questions that both answered, by paired tests, or the data of two "
        "reports. Exit status: 0, also where something changed; 1 where a gate fails; 2 for bad input.",
    )
    parser.add_argument("before", type=Path, metavar="A", help="logs, or a report: before")
    parser.add_argument("after", type=Path, metavar="B", help="logs, or a report: after")
    parser.add_argument(
        "--models", action="append", default=[], metavar="BEFORE=AFTER", help="models that belong together; repeatable"
    )
    parser.add_argument("--study", type=Path, help="settings of both (default: study.toml beside the logs of each)")
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN=VALUE", help="use these rows only")
    parser.add_argument("--task", dest="tasks", action="append", default=[], help="use this task only; repeatable")
    parser.add_argument("--uncertain", choices=("incorrect", "excluded", "half"), help="how uncertain answers count")
    parser.add_argument("--runs", choices=("latest", "all"), help="what to do with a question found in two runs")
    parser.add_argument("--reread", action="store_true", help="read answers from the raw text even where one is given")
    parser.add_argument("--rope", type=float, default=0.02, help="differences within ± this count as none (0.02)")
    parser.add_argument("--ci-level", type=float, default=0.95, help="level of the intervals (default 0.95)")
    parser.add_argument("--seed", type=int, default=0, help="of the sign flips and of the pairing of draws (default 0)")
    parser.add_argument(
        "--gate",
        action="append",
        default=[],
        metavar="MEASURE=CHANGE",
        help="fail where the measure changes beyond this, e.g. competence_floor=-0.02; repeatable (default: [gate])",
    )
    parser.add_argument("--gate-mode", choices=("shown", "possible"), help="fail where a change is shown, or possible")
    parser.add_argument(
        "--tolerance", type=float, default=1e-9, help="reports: smaller differences of numbers are rounding (1e-9)"
    )
    parser.add_argument(
        "--no-text",
        action="store_true",
        help="show no raw text: no names that are texts, nothing that messages quote; reports have to be made with it",
    )
    parser.add_argument("--json", action="store_true", help="everything as JSON, unrounded")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what changed; exit 1 where a gate fails."""
    from analysis.errors import AnalysisError
    from analysis.verification.report_difference import is_report, refuse_mixture

    refuse_mixture(args.before, args.after)
    if not is_report(args.before):
        return _logs(args)
    if args.gate or args.gate_mode or args.models:
        raise AnalysisError("reports hold no questions, so there are no --gate and --models; give the logs of both")
    return _reports(args)


def _logs(args: argparse.Namespace) -> int:
    from analysis.frequentist.gate_tests import gate_tests
    from analysis.studies.difference import logs_difference
    from analysis.studies.difference_tables import difference_tables, gate_table
    from analysis.studies.prepared import prepared

    settings = _settings(args)
    # One after the other: what is compared are counts, which outlive their store.
    with prepared([args.before], settings) as before:
        pass
    with prepared([args.after], settings) as after:
        pass
    gates, mode = _gates(args, before, after)
    found = logs_difference(before, after, models=args.models, rope=args.rope)

    def name(model: str) -> str:
        return after.study.label(model) if after.study.label(model) != model else before.study.label(model)

    outcomes = gate_tests(found.comparisons, gates, mode=mode, ci_level=args.ci_level) if gates else None
    failed = outcomes is not None and bool((outcomes["outcome"] == "failed").any())
    if args.json:
        tables = {
            "comparisons": found.comparisons,
            "changes": found.changes,
            "dropped": found.dropped,
            "units": found.units,
            "questions": found.questions,
        }
        document: dict[str, Any] = {title: _records(rows) for title, rows in tables.items()}
        document |= {"notes": list(found.notes), "simulated": found.simulated}
        document["gate"] = {"failed": failed, "outcomes": _records(outcomes)} if outcomes is not None else None
        _print_json(document)
        return int(failed)
    for table in difference_tables(found, name):
        _print_table(table)
    _print_notes(found.notes)
    if outcomes is not None:
        _print_table(gate_table(outcomes, name, simulated=found.simulated))
        print("gate: FAILED" if failed else "gate: passed")
    return int(failed)


def _settings(args: argparse.Namespace) -> "RunSettings":
    from analysis.reduction.intake import IntakeSettings
    from analysis.reduction.selection import parse_selection
    from analysis.studies.context import Resampling
    from analysis.studies.prepared import RunSettings

    return RunSettings(
        study=args.study,
        intake=IntakeSettings(reread=args.reread),
        selection=parse_selection(args.where, (), args.tasks),
        runs=args.runs,
        uncertain=args.uncertain,
        ci_level=args.ci_level,
        resampling=Resampling(seed=args.seed),
        no_text=args.no_text,
    )


def _gates(args: argparse.Namespace, before: "Prepared", after: "Prepared") -> "tuple[list[Gate], str]":
    """Gates of the command line, or those that the studies of both sides agree on."""
    from analysis.errors import AnalysisError
    from analysis.frequentist.gate_tests import Gate

    declared = [study.gate for study in (after.study, before.study) if study.gate.thresholds]
    if not args.gate and len(declared) == 2 and declared[0] != declared[1]:
        raise AnalysisError("[gate] differs between the two study.toml; name one with --study, or give --gate")
    thresholds = declared[0].thresholds if declared else {}
    gates = [_gate(text) for text in args.gate] or [Gate(name, value) for name, value in thresholds.items()]
    if args.gate_mode and not gates:
        raise AnalysisError("--gate-mode without a gate; give --gate MEASURE=CHANGE or [gate] in study.toml")
    return gates, args.gate_mode or (declared[0].mode if declared else "shown")


def _gate(text: str) -> "Gate":
    from analysis.errors import AnalysisError
    from analysis.frequentist.gate_tests import Gate
    from analysis.schema.gate_settings import GATED

    measure, _, value = text.partition("=")
    try:
        threshold = float(value)
    except ValueError:
        threshold = math.nan
    if measure.strip() not in GATED or not math.isfinite(threshold):
        raise AnalysisError(f"--gate {text!r}: write MEASURE=NUMBER with one of {', '.join(GATED)}")
    return Gate(measure.strip(), threshold)


def _reports(args: argparse.Namespace) -> int:
    from analysis.studies.report_difference_tables import choices_table, numbers_table, rows_table, values_table
    from analysis.verification.kept_contrasts import kept_fit_contrasts
    from analysis.verification.report_contrasts import report_contrasts
    from analysis.verification.report_difference import refuse_texts, report_difference

    if args.no_text:
        refuse_texts(args.before, args.after)
    found = report_difference(args.before, args.after, tolerance=args.tolerance)
    contrasts = report_contrasts(args.before, args.after, rope=args.rope, ci_level=args.ci_level, seed=args.seed)
    margins = {"rope": args.rope, "ci_level": args.ci_level, "seed": args.seed}
    others = {
        f"{kind}_contrasts": kept_fit_contrasts(args.before, args.after, kind, **margins)
        for kind in ("incoherence", "belief_bias")
    }
    if args.json:
        tables = {"choices": found.choices, "numbers": found.numbers, "values": found.values, "rows": found.rows}
        document: dict[str, Any] = {name: _records(rows) for name, rows in tables.items()}
        document |= {name: _records(made.rows) for name, made in others.items()}
        notes = dict.fromkeys([*contrasts.notes, *(said for made in others.values() for said in made.notes)])
        document |= {"contrasts": _records(contrasts.rows), "notes": list(notes)}
        _print_json(document | {"simulated": found.simulated})
        return 0
    if found.choices.empty:
        print("Same settings, inputs and versions.")
    else:
        _print_table(choices_table(found.choices, simulated=found.simulated))
    if unmatched := rows_table(found.rows, simulated=found.simulated):
        _print_table(unmatched)
    if found.numbers.empty:
        print(f"No number changed beyond rounding ({int(found.rows['compared'].sum()):,} rows compared).")
    else:
        _print_table(numbers_table(found.numbers, simulated=found.simulated))
        if (found.values["column"] == "estimate").any():
            _print_table(values_table(found.values, simulated=found.simulated))
    _print_contrasts(contrasts, tuple(others.values()), simulated=found.simulated)
    return 0


def _print_contrasts(contrasts: "ReportContrasts", others: "tuple[ReportContrasts, ...]", *, simulated: bool) -> None:
    from analysis.studies.report_difference_tables import contrasts_table, kept_contrasts_table

    if len(contrasts.rows):
        _print_table(contrasts_table(contrasts.rows, simulated=simulated))
    _print_notes(contrasts.notes)
    for made in others:
        if len(made.rows):
            _print_table(kept_contrasts_table(made.rows, simulated=simulated))
        _print_notes(tuple(note for note in made.notes if note not in contrasts.notes))
    print("Reports hold no questions: for tests on the questions that both answered, and gates, give the logs of both.")


def _records(rows: "pd.DataFrame") -> list[dict[str, Any]]:
    """Rows as plain values: a missing or infinite number is null."""
    return [{str(k): _plain(v) for k, v in row.items()} for row in rows.to_dict("records")]


def _plain(value: Any) -> Any:
    from analysis.report.columns import is_missing

    if is_missing(value):
        return None
    return value.item() if hasattr(value, "item") else value


def _print_json(document: Any) -> None:
    print(json.dumps(document, indent=1, ensure_ascii=True, allow_nan=False))


def _print_table(table: "Table") -> None:
    from analysis.report.terminal import render_text

    print(render_text(table))


def _print_notes(notes: tuple[str, ...]) -> None:
    from analysis.report.escape import escape_terminal

    for note in notes:
        print(escape_terminal(note))
