"""``evenhand show``: a table of a report, in the terminal or for a program."""

import argparse
import json
from pathlib import Path


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("show", help="print a table of a report")
    parser.add_argument("report", type=Path, help="folder that `evenhand report` wrote")
    table = parser.add_argument("table", nargs="?", help="name of the table; without it, the names are listed")
    table.completer = _names  # read by argcomplete
    parser.add_argument("--json", action="store_true", help="rows as JSON, unrounded, with every column of the data")
    parser.set_defaults(run=run)


def _names(*, parsed_args: argparse.Namespace, **_: object) -> tuple[str, ...]:
    """Names of tables that a shell may complete; none where there is no report."""
    from analysis.errors import AnalysisError
    from analysis.verification.written_report import table_names

    try:
        return table_names(parsed_args.report)
    except AnalysisError:
        return ()


def run(args: argparse.Namespace) -> int:
    """Print the table, or the names of all."""
    from analysis.verification.written_report import table_names, table_records, table_text

    if args.table is None:
        names = table_names(args.report)
        print(json.dumps(names) if args.json else "\n".join(names))
    elif args.json:
        print(json.dumps(table_records(args.report, args.table), indent=1, ensure_ascii=True, allow_nan=False))
    else:
        print(table_text(args.report, args.table), end="")
    return 0
