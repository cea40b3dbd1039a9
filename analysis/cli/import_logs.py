"""``evenhand import``: logs of any known format to one Parquet file in the standard schema."""

import argparse
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.schema.study import Study

_WIDTH = 110
_EXPLAINED = ("model", "task", "sample", "run", "source", "status", "rule", "answer", "gold", "logged_score", "output")


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("import", help="turn logs into one Parquet file in the standard schema")
    parser.add_argument("sources", nargs="+", type=Path, metavar="SRC", help="log file or directory of logs")
    parser.add_argument("-o", "--output", type=Path, required=True, help="file to write, ending in .parquet")
    parser.add_argument("--study", type=Path, help="study.toml (default: the one beside the logs)")
    parser.add_argument("--filter", help="lm-eval filter to read, where a log has several")
    parser.add_argument("--scorer", help="scorer to read, where a log has several")
    parser.add_argument(
        "--reread", action="store_true", help="read answers from the texts even where the log states them"
    )
    parser.add_argument("--keep-going", action="store_true", help="leave out files that cannot be read")
    parser.add_argument("--explain", metavar="ITEM", help="show how every response to one item was read")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the store and print, for every file, a sum of records that adds up."""
    from analysis.errors import AnalysisError
    from analysis.new_folder import check_outside
    from analysis.reduction.carried_settings import carry_settings
    from analysis.reduction.intake import IntakeSettings, take_in
    from analysis.reduction.reconciliation import reconciliation_lines
    from analysis.schema.study import find_study, load_study

    if args.output.suffix != ".parquet":
        raise AnalysisError(f"{args.output}: the output is one Parquet file; let its name end in .parquet")
    if not args.output.resolve().parent.is_dir():
        raise AnalysisError(f"{args.output.parent}: no such directory; make it first, or write elsewhere")
    check_outside(args.output, args.sources)
    study = load_study(args.study or find_study(args.sources))
    settings = IntakeSettings(
        filter=args.filter,
        scorer=args.scorer,
        reread=args.reread,
        keep_going=args.keep_going,
        progress=_show_progress if sys.stderr.isatty() else None,
    )
    intake = take_in(args.sources, study, settings, args.output)
    if settings.progress:
        print(file=sys.stderr)
    for line in reconciliation_lines(intake.files, intake.set_aside, intake.notes):
        print(_printable(line))
    unheld = carry_settings(args.output, study)
    print(f"written: {args.output}")
    if unheld:
        print(
            f"not in the file, which has no column for it: {_printable(', '.join(unheld))}; "
            f"name the settings in every report of it: --study {_printable(study.path)}"
        )
    for line in _duplicates(args.output, study):
        print(f"warning: {_printable(line)}")
    if args.explain is not None:
        _explain(args.output, args.explain)
    return 0


def _duplicates(store: Path, study: "Study") -> list[str]:
    """What a report on this store will stop at: one response logged twice, with both places."""
    from analysis.schema.duplicates import duplicate_responses
    from analysis.schema.items import item_facts
    from analysis.schema.store import open_store

    with open_store(store) as con:
        found = duplicate_responses(con, item_facts(con, study).conditions)
    return [f"{v.message}, such as {v.examples[0] if v.examples else '?'}; in a report, {v.fix}" for v in found]


def _show_progress(file: str, rows: int) -> None:
    print(f"\r\x1b[K{rows:,} responses  {_printable(file)[-60:]}", end="", file=sys.stderr, flush=True)


def _printable(text: str) -> str:
    from analysis.cli.main import printable

    return printable(text)


def _explain(store: Path, item: str) -> None:
    """Print every response to one item: where it stands, what was read, by which rule."""
    from analysis.errors import AnalysisError
    from analysis.schema.store import open_store

    with open_store(store) as con:
        columns = ", ".join(f'"{name}"' for name in _EXPLAINED)
        order = "ORDER BY model, task, sample, run, source"
        rows = con.execute(f"SELECT {columns} FROM responses WHERE item = ? {order}", [item]).fetchall()
        if not rows:
            near = con.execute("SELECT DISTINCT item FROM responses ORDER BY item LIMIT 5").fetchall()
            known = ", ".join(name for (name,) in near)
            raise AnalysisError(f"no response to an item {item!r}; items are, for example, {known}")
    for row in rows:
        print()
        for name, value in zip(_EXPLAINED, row, strict=True):
            shown = "-" if value is None else textwrap.shorten(_printable(str(value)), _WIDTH * 6)
            print(textwrap.fill(f"{name}: {shown}", _WIDTH, subsequent_indent="    "))
