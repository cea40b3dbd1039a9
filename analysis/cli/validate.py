"""``evenhand validate``: everything in the logs that breaks the standard schema, in one run."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from analysis.schema.violation import Violation

_UNREAD = ("refused", "unreadable")
#: Notes that are printed at most.
_NOTES = 20


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("validate", help="list everything in logs that breaks the schema")
    parser.add_argument("logs", nargs="+", type=Path, metavar="DIR", help="log file or directory of logs")
    parser.add_argument("--study", type=Path, help="study.toml (default: the one beside the logs)")
    parser.add_argument("--runs", choices=("latest", "all"), help="what to do with a question found in two runs")
    parser.add_argument("--filter", help="lm-evaluation-harness: the filter to use")
    parser.add_argument("--scorer", help="the scorer to use where a log has several")
    parser.add_argument(
        "--no-text", action="store_true", help="show no raw text: no names that are texts, nothing that messages quote"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every violation; 1 if there is an error among them, else 0."""
    import tempfile

    from analysis.reduction.intake import IntakeSettings, take_in
    from analysis.reduction.selection import EVERYTHING
    from analysis.schema.checks import ERROR, check_responses, unused_columns
    from analysis.schema.design import read_designs
    from analysis.schema.runs import resolve_runs
    from analysis.schema.same_numbers import unite_same_numbers
    from analysis.schema.store import open_store
    from analysis.schema.study import find_study, load_study
    from analysis.studies.privacy import names_in, private_intake, private_names, private_sentence, private_violation

    study = load_study(args.study or find_study(args.logs))
    settings = IntakeSettings(filter=args.filter, scorer=args.scorer, keep_going=True)
    with tempfile.TemporaryDirectory(prefix="evenhand-") as scratch:
        intake = take_in(args.logs, study, settings, Path(scratch) / "store")
        with open_store(intake.store) as con:
            if args.no_text:
                intake = private_intake(intake, no_text=True)
                study, _ = private_names(con, study, EVERYTHING, no_text=True)
            united = unite_same_numbers(con, study.conditions)
            settled = resolve_runs(con, args.runs, conditions=study.conditions) if args.runs else None
            designs = read_designs(con, study)
            violations = check_responses(con, designs, study)
            unused = unused_columns(con, study)
            if args.no_text:
                known = names_in(con)
                violations = [private_violation(violation, known=known) for violation in violations]
                united = tuple(private_sentence(said, no_text=True, known=known) for said in united)
    unread = _print_unread(intake.files)
    for violation in violations:
        _print_violation(violation)
    errors = sum(violation.severity == ERROR for violation in violations) + unread
    for sentence in (*_notes(intake.notes), *united):
        _print(f"note: {sentence}")
    for old in settled.superseded if settled else ():
        _print(f"not used: {_number(old.rows, 'response')} of run {old.run}, which a later run repeats ({old.model})")
    if unused:
        _print(f"columns without a use: {', '.join(unused[:20])}" + (", …" if len(unused) > 20 else ""))
    files = int((intake.files["verdict"] == "read").sum())
    _print(
        f"{_number(intake.rows, 'response')} in {_number(files, 'file')}: "
        f"{_number(errors, 'error')}, {_number(len(violations) + unread - errors, 'warning')}"
    )
    return 1 if errors else 0


def _print_unread(files: "pd.DataFrame") -> int:
    """Print the logs that cannot be read, and return their number."""
    unread = files[files["verdict"].isin(_UNREAD)]
    for row in unread.itertuples():
        _print(f"error: not read: {row.file}: {row.reason}")
    return len(unread)


def _notes(notes: "pd.DataFrame") -> list[str]:
    """What was odd about the files, as a report tells it: a note that several files share once, with their number."""
    said = []
    for note, rows in notes.groupby("note", sort=False):
        file = str(rows["file"].iloc[0]) if len(rows) == 1 else f"{rows['file'].iloc[0]} and {len(rows) - 1:,} more"
        times = int(rows["count"].sum())
        said.append(f"{file}: {note}" + (f" ({times:,} times)" if times > 1 else ""))
    return said[:_NOTES] + ([f"… and {len(said) - _NOTES} more; a report lists them all"] if len(said) > _NOTES else [])


def _print_violation(violation: "Violation") -> None:
    _print(f"{violation.severity}: {violation.rule}: {violation.message}")
    for source in violation.examples:
        _print(f"    {source}")
    if violation.count > len(violation.examples) > 0:
        _print("    …")
    _print(f"    to do: {violation.fix}")


def _print(text: str) -> None:
    from analysis.cli.main import printable

    print(printable(text))


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
