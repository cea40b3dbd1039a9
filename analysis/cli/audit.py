"""``evenhand audit``: how the answers were read, where that contradicts the logged scores, and texts to look at."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SEED = 20_240_229
_EXIT = "exit status: 0 no reading contradicts a logged score, 1 some do, 2 the input cannot be used"


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("audit", help="check how answers were read, against scores and by eye", epilog=_EXIT)
    parser.add_argument("logs", nargs="+", type=Path, metavar="DIR", help="log file or directory of logs")
    parser.add_argument("--study", type=Path, help="study.toml (default: the one beside the logs)")
    parser.add_argument("--filter", help="lm-evaluation-harness: the filter to use")
    parser.add_argument("--scorer", help="the scorer to use where a log has several")
    parser.add_argument("--reread", action="store_true", help="read the texts even where the logs state answers")
    parser.add_argument(
        "--overrides", type=Path, help="answers read by a person (default: overrides.csv beside the logs)"
    )
    parser.add_argument("--seed", type=int, default=_SEED, help="seed of the sample texts (default: %(default)s)")
    parser.add_argument(
        "--samples", type=int, default=3, metavar="N", help="texts to show per rule, 0 for none (default: %(default)s)"
    )
    parser.add_argument(
        "--no-text", action="store_true", help="show no raw text: no samples, nothing that messages quote"
    )
    parser.add_argument("--keep-going", action="store_true", help="leave out files that cannot be read")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print counts, disagreements, their effect and samples; 1 if a reading contradicts a score, else 0."""
    import tempfile

    from analysis.cli import audit_page as page
    from analysis.comparison.readings_effect import readings_effect
    from analysis.errors import AnalysisError
    from analysis.reduction.intake import IntakeSettings, reading_policy, take_in
    from analysis.reduction.overrides import apply_overrides, find_overrides
    from analysis.reduction.readings import reading_counts, sample_texts, score_disagreements
    from analysis.reduction.selection import EVERYTHING
    from analysis.schema.design import create_analysed_view, read_designs
    from analysis.schema.store import open_store
    from analysis.schema.study import find_study, load_study
    from analysis.studies.privacy import private_intake, private_names

    if args.samples < 0:
        raise AnalysisError(f"--samples must be 0 or more, not {args.samples}")
    study = load_study(args.study or find_study(args.logs))
    settings = IntakeSettings(
        filter=args.filter, scorer=args.scorer, reread=args.reread, keep_going=args.keep_going, progress=_progress()
    )
    overrides = args.overrides or find_overrides(args.logs)
    with tempfile.TemporaryDirectory(prefix="evenhand-") as scratch:
        intake = take_in(args.logs, study, settings, Path(scratch) / "store")
        with open_store(intake.store) as con:
            policy = reading_policy(study, settings)
            account = apply_overrides(con, overrides, policy) if overrides is not None else None
            study, _ = private_names(con, study, EVERYTHING, no_text=args.no_text)
            designs = read_designs(con, study)
            create_analysed_view(con, designs, study)
            conditions = tuple(dict.fromkeys(name for design in designs for name in design.varying))
            counts, disagreements = reading_counts(con, conditions), score_disagreements(con)
            effect = readings_effect(con, designs)
            samples = sample_texts(con, args.seed, args.samples) if args.samples and not args.no_text else None
    if settings.progress:
        print(file=sys.stderr)
    page.print_left_out(private_intake(intake, no_text=args.no_text).files)
    if account is not None:
        page.print_overrides(account)
    page.print_counts(counts, conditions)
    contradicted = page.print_disagreements(disagreements)
    page.print_effect(effect)
    if samples is not None:
        page.print_samples(samples, args.seed)
    return 1 if contradicted else 0


def _progress() -> "Callable[[str, int], None] | None":
    if not sys.stderr.isatty():
        return None
    from analysis.cli.audit_page import one_line

    return lambda file, rows: print(f"\r\x1b[K{rows:,} responses  {one_line(file)[-60:]}", end="", file=sys.stderr)
