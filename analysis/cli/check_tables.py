"""``evenhand check-tables``: printed numbers that cannot follow from the others that are printed."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.verification.printed_declarations import Declarations


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "check-tables",
        help="find printed numbers that contradict each other",
        description="List the printed numbers that cannot follow from the others, whatever was rounded away. Tables "
        "given together are compared with each other too. Exit status: 1 for any contradiction, 2 for bad input.",
    )
    parser.add_argument(
        "tables", nargs="+", type=Path, metavar="FILE.csv", help="tables as printed, one header line; or their folder"
    )
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
    from analysis.report.numbers import counted
    from analysis.verification.printed_tables import check_tables

    checked = check_tables([file for path in args.tables for file in _files(path)], _declared(args.declaration))
    for table in checked:
        empty = f", {table.empty:,} not made for want of a number" if table.empty else ""
        found = counted(len(table.findings), "contradiction")
        if not table.checks and not table.empty:
            print(printable(f"{table.where}: {table.declaration}: nothing to check without the tables it is about"))
            continue
        print(printable(f"{table.where}: {table.declaration}: {counted(table.checks, 'check')}{empty}, {found}"))
        for each in table.findings:
            print(printable(f"  line {each.line} ({each.row}): {each.rule}: {each.printed}; {each.possible}"))
    return 1 if any(table.findings for table in checked) else 0


def _files(path: Path) -> list[Path]:
    """The file, or the CSV files of a folder."""
    from analysis.errors import AnalysisError

    if not path.is_dir():
        return [path]
    if found := sorted(path.glob("*.csv")):
        return found
    raise AnalysisError(f"{path}: no CSV file in this folder")


def _declared(path: Path | None) -> "Declarations":
    from analysis.errors import AnalysisError
    from analysis.verification.printed_declarations import declarations, shipped_declarations

    if path is None:
        return shipped_declarations()
    try:
        return declarations(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise AnalysisError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
