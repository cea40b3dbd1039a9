"""``evenhand audit``: how the answers were read, where that contradicts the logged scores, and texts to look at."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any

    import pandas as pd

_SEED = 20_240_229
_TEXT_WIDTH = 700
_SHOWN = 60


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("audit", help="check how answers were read, against scores and by eye")
    parser.add_argument("logs", nargs="+", type=Path, metavar="DIR", help="log file or directory of logs")
    parser.add_argument("--study", type=Path, help="study.toml (default: the one beside the logs)")
    parser.add_argument("--filter", help="lm-evaluation-harness: the filter to use")
    parser.add_argument("--scorer", help="the scorer to use where a log has several")
    parser.add_argument("--reread", action="store_true", help="read the texts even where the logs state answers")
    parser.add_argument("--seed", type=int, default=_SEED, help="seed of the sample texts (default: %(default)s)")
    parser.add_argument(
        "--samples", type=int, default=3, metavar="N", help="texts to show per rule, 0 for none (default: %(default)s)"
    )
    parser.add_argument("--keep-going", action="store_true", help="leave out files that cannot be read")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print counts, disagreements and samples; 1 if a reading contradicts a score, else 0."""
    import tempfile

    from analysis.errors import AnalysisError
    from analysis.reduction.intake import IntakeSettings, take_in
    from analysis.reduction.readings import reading_counts, sample_texts, score_disagreements
    from analysis.schema.store import open_store
    from analysis.schema.study import find_study, load_study

    if args.samples < 0:
        raise AnalysisError(f"--samples must be 0 or more, not {args.samples}")
    study = load_study(args.study or find_study(args.logs))
    settings = IntakeSettings(
        filter=args.filter, scorer=args.scorer, reread=args.reread, keep_going=args.keep_going, progress=_progress()
    )
    with tempfile.TemporaryDirectory(prefix="evenhand-") as scratch:
        intake = take_in(args.logs, study, settings, Path(scratch) / "store")
        with open_store(intake.store) as con:
            counts, disagreements = reading_counts(con), score_disagreements(con)
            samples = sample_texts(con, args.seed, args.samples) if args.samples else None
    if settings.progress:
        print(file=sys.stderr)
    _print_left_out(intake.files)
    _print_counts(counts)
    contradicted = _print_disagreements(disagreements)
    if samples is not None:
        _print_samples(samples, args.seed)
    return 1 if contradicted else 0


def _progress() -> "Callable[[str, int], None] | None":
    if not sys.stderr.isatty():
        return None
    return lambda file, rows: print(f"\r\x1b[K{rows:,} responses  {_line(file)[-60:]}", end="", file=sys.stderr)


def _line(text: object) -> str:
    """One line of text from a log that cannot steer a terminal: line ends and control characters are shown."""
    from analysis.cli.main import printable

    return printable(str(text)).replace("\n", "\\n")


def _cell(text: object) -> str:
    name = _line(text)
    return name if len(name) <= _SHOWN else name[: _SHOWN - 1] + "…"


def _print_left_out(files: "pd.DataFrame") -> None:
    left_out = files[files["verdict"].isin(["refused", "unreadable"])]
    if len(left_out):
        print(f"left out, could not be read: {len(left_out):,} of {len(files):,} files")
        for row in left_out.to_dict("records"):
            print(f"  {_line(row['file'])}: {_line(row['reason'])}")
        print()


def _print_counts(counts: "pd.DataFrame") -> None:
    """Per task and model, responses by status and rule with their shares."""
    print("How the answers were read")
    for (task, model), rows in counts.groupby(["task", "model"], sort=True):
        total = int(rows["rows"].sum())
        print(f"\n  {_cell(model)}" + (f" · {_cell(task)}" if task else "") + f": {total:,} responses")
        for row in rows.sort_values(["status", "rows", "rule"], ascending=[True, False, True]).to_dict("records"):
            print(
                f"    {row['status']:10} {_cell(row['rule']):22} {row['rows']:9,}  {100 * row['rows'] / total:5.1f} %"
            )


def _print_disagreements(disagreements: "pd.DataFrame") -> bool:
    """List where reading and score differ; whether any reading contradicts a score."""
    print("\nReadings against logged scores")
    if disagreements.empty:
        print("  no disagreement (or no log has both scores of 0 and 1 and gold answers)")
        return False
    for row in disagreements.to_dict("records"):
        where = _cell(row["model"]) + (f" · {_cell(row['task'])}" if row["task"] else "")
        print(f"  {where}: {row['verdict']}, rule {_cell(row['rule'])}: {row['rows']:,} of {row['compared']:,}")
        for source in row["examples"]:
            print(f"    {_line(source)}")
    return bool((~disagreements["verdict"].str.startswith("scored wrong, nothing")).any())


def _print_samples(samples: "pd.DataFrame", seed: int) -> None:
    print(f"\nTexts by rule (seed {seed})")
    for (status, rule), rows in samples.groupby(["status", "rule"], sort=True):
        print(f"\n  {status} · {_cell(rule)}")
        for row in rows.to_dict("records"):
            print(f"    [{_line(row['source'] or row['item'])}] read: {_read(row)}" + _gold(row["gold"]))
            print(f"      {_line(row['output'])[:_TEXT_WIDTH]}")


def _read(row: "dict[Hashable, Any]") -> str:
    if isinstance(row["answer"], str):
        return _cell(row["answer"])
    return f"{row['probability']:g}" if row["probability"] == row["probability"] else "nothing"


def _gold(gold: object) -> str:
    return f", gold: {_cell(gold)}" if isinstance(gold, str) else ""
