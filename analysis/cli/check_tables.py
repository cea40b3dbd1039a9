"""``evenhand check-tables``: printed numbers that cannot follow from the others of their table."""

import argparse
from pathlib import Path


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("check-tables", help="find printed numbers that contradict each other")
    parser.add_argument("tables", nargs="+", type=Path, metavar="FILE.csv", help="tables as printed, one header line")
    parser.add_argument(
        "--declaration",
        type=Path,
        metavar="FILE.toml",
        help="how the columns relate (default: the declarations of published studies that come with evenhand)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every contradiction with its line; exit 1 where there is one."""
    from analysis.cli.main import printable
    from analysis.errors import AnalysisError
    from analysis.report.numbers import counted
    from analysis.verification.printed_declarations import declarations, shipped_declarations
    from analysis.verification.printed_tables import check_table

    if args.declaration is None:
        declared = shipped_declarations()
    else:
        try:
            declared = declarations(args.declaration.read_text(encoding="utf-8"), str(args.declaration))
        except UnicodeDecodeError as error:
            raise AnalysisError(f"{args.declaration}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    checked = [(path, table) for path in args.tables for table in check_table(path, declared)]
    for path, table in checked:
        empty = f", {table.empty:,} not made for an empty cell" if table.empty else ""
        print(
            f"{path}: {table.declaration}: {counted(table.checks, 'check')}{empty}, "
            f"{counted(len(table.findings), 'contradiction')}"
        )
        for found in table.findings:
            print(printable(f"  line {found.line} ({found.row}): {found.rule}: {found.printed}; {found.possible}"))
    return 1 if any(table.findings for _, table in checked) else 0
