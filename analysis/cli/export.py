"""``evenhand export``: reduced tables for R and Stan users."""

import argparse
from pathlib import Path


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "export",
        help="write reduced tables as CSV and Parquet, and Stan data",
        description="Write the counts that all estimates are made from, for R and Stan: item_counts, unit_sums, "
        "facet_counts, estimates and one Stan data file per task. Of a report, the data that it keeps.",
    )
    parser.add_argument("source", nargs="+", type=Path, metavar="LOGS", help="logs, or the folder of one report")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="new or empty folder")
    parser.add_argument("--study", type=Path, help="settings (default: study.toml beside the logs)")
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN=VALUE", help="use these rows only")
    parser.add_argument("--model", dest="models", action="append", default=[], help="use this model only; repeatable")
    parser.add_argument("--task", dest="tasks", action="append", default=[], help="use this task only; repeatable")
    parser.add_argument("--uncertain", choices=("incorrect", "excluded", "half"), help="how uncertain answers count")
    parser.add_argument("--runs", choices=("latest", "all"), help="what to do with a question found in two runs")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the folder and say what is in it."""
    from analysis.errors import AnalysisError
    from analysis.new_folder import check_new_folder, check_outside
    from analysis.reduction.selection import parse_selection
    from analysis.report.export_files import write_export
    from analysis.studies.export import export_logs, export_report
    from analysis.studies.prepared import RunSettings, prepared
    from analysis.verification.report_difference import is_report
    from analysis.verification.written_report import report_data

    check_new_folder(args.out)
    reports = [path for path in args.source if is_report(path)]
    names = ", ".join(path.resolve().name for path in args.source)
    if reports:
        if len(args.source) > 1:
            raise AnalysisError("give one report, or logs only")
        if args.where or args.models or args.tasks or args.study or args.uncertain or args.runs:
            raise AnalysisError("a report's data are exported as they are; give its logs to choose rows or settings")
        found = export_report(report_data(reports[0]), source=names)
    else:
        check_outside(args.out, args.source)
        settings = RunSettings(
            study=args.study,
            selection=parse_selection(args.where, args.models, args.tasks),
            uncertain=args.uncertain,
            runs=args.runs,
        )
        with prepared(args.source, settings) as logs:
            found = export_logs(logs.contexts, source=names)
    write_export(found.tables, found.texts, args.out)
    for stem, table in found.tables.items():
        print(f"{stem}: {len(table):,} rows")
    print(f"written as CSV and Parquet; columns are described in {args.out / 'README.md'}")
    return 0
