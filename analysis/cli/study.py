"""``evenhand study``: a commented ``study.toml`` drafted from the logs, and the plan that one amounts to."""

import argparse
from pathlib import Path

_SENTENCES = 8


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("study", help="settings of an analysis")
    actions = parser.add_subparsers(title="actions", dest="action", required=True, metavar="ACTION")
    init = actions.add_parser("init", help="draft a commented study.toml from what the logs contain")
    init.add_argument("logs", type=Path, metavar="DIR", help="directory of logs; study.toml is written into it")
    init.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to another file")
    init.add_argument("--filter", help="lm-evaluation-harness: the filter to use")
    init.add_argument("--scorer", help="the scorer to use where a log has several")
    init.set_defaults(run=init_study)
    plan = actions.add_parser("plan", help="print the analysis that a study.toml plans, and its hash to register")
    plan.add_argument("study", type=Path, metavar="DIR", help="directory of logs with a study.toml, or that file")
    plan.set_defaults(run=print_plan)


def print_plan(args: argparse.Namespace) -> int:
    """Print every setting that can change a number, and the hash that a report of this study prints."""
    import json

    from analysis.errors import StudyError
    from analysis.schema.plan import analysis_plan, plan_digest
    from analysis.schema.study import FILE_NAME, find_study, load_study

    path = find_study([args.study]) if args.study.is_dir() else args.study
    if path is None:
        raise StudyError(f"{args.study}: has no {FILE_NAME}; `evenhand study init {args.study}` drafts one")
    study = load_study(path)
    print(json.dumps(analysis_plan(study), indent=1, ensure_ascii=True))
    print(f"plan {plan_digest(study)}")
    return 0


def init_study(args: argparse.Namespace) -> int:
    """Write the draft; an existing file is never touched."""
    import tempfile

    from analysis.cli.main import printable
    from analysis.errors import StudyError
    from analysis.importers.foreign_columns import candidates, foreign_tables
    from analysis.reduction.intake import IntakeSettings, take_in
    from analysis.schema.checks import ERROR, check_responses
    from analysis.schema.design import read_designs
    from analysis.schema.draft import draft_study
    from analysis.schema.draft_mapping import draft_mapping
    from analysis.schema.store import open_store
    from analysis.schema.study import FILE_NAME, Study

    folder = args.logs if args.logs.is_dir() else args.logs.parent
    output = args.output or folder / FILE_NAME
    if output.exists():
        raise StudyError(f"{output}: exists, and is not overwritten; move it away, or name another file with -o")
    if args.logs.exists() and (tables := foreign_tables(args.logs)):
        columns = dict.fromkeys(column for names in tables.values() for column in names)
        text = draft_mapping(tables, candidates(columns), name=args.logs.resolve().name)
        _write(output, text)
        named = "a table" if len(tables) == 1 else f"{len(tables)} tables"
        print(f"{output}: no log of a known format here, but {named}: choose the columns under [map]")
        return 0
    study = Study()
    settings = IntakeSettings(filter=args.filter, scorer=args.scorer, keep_going=True)
    with tempfile.TemporaryDirectory(prefix="evenhand-") as scratch:
        intake = take_in([args.logs], study, settings, Path(scratch) / "store")
        with open_store(intake.store) as con:
            designs = read_designs(con, study)
            violations = check_responses(con, designs, study)
            text = draft_study(con, designs, name=args.logs.resolve().name, violations=violations)
    _write(output, text)
    print(f"{output}: drafted from {intake.rows:,} responses, {len(designs)} task{'' if len(designs) == 1 else 's'}")
    for error in (violation for violation in violations if violation.severity == ERROR):
        print(f"  error: {printable(error.message)}")
        print(f"    to do: {printable(error.fix)}")
    said = list(dict.fromkeys(sentence for design in designs for sentence in design.assumptions))
    for sentence in said[:_SENTENCES]:
        print(f"  {printable(sentence)}")
    return 0


def _write(output: Path, text: str) -> None:
    """Write a new file whole, or leave none."""
    from analysis.errors import StudyError

    try:
        file = output.open("x", encoding="utf-8")
    except OSError as error:
        raise StudyError(f"{output}: cannot be written ({error.strerror}); name another file with -o") from error
    try:
        with file:
            file.write(text)
    except OSError as error:
        output.unlink(missing_ok=True)
        raise StudyError(f"{output}: cannot be written ({error.strerror}); name another file with -o") from error
