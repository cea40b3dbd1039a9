"""``evenhand power``: what a design can detect, and how many units it takes."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from analysis.report.spec import Table
    from analysis.studies.planning_answers import Answers

QUESTIONS = (
    *("floor", "floor-difference", "accuracy", "accuracy-difference", "score", "score-difference", "answer-bias"),
    *("balanced-accuracy", "polarity-sensitivity", "change", "persistent", "range", "templates"),
)


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "power",
        help="what a design can detect, and how many units it takes",
        description="What a design can detect with a given power, and how many units an effect takes: for a question "
        "under assumptions, or for every estimand of logs, or of a report, at the variances observed there. Questions: "
        f"{', '.join(QUESTIONS)}.",
        epilog="evenhand power floor --units 80 --rows-per-unit 5 --rho 0.1 --effect 0.1",
    )
    source = parser.add_argument(
        "source", nargs="+", metavar="QUESTION|LOGS", help="a question; or logs, or the folder of a report"
    )
    source.completer = _questions  # read by argcomplete
    parser.add_argument(
        "--effect",
        type=float,
        help="smallest effect of interest (default: 0.05; persistent 0.1, templates 0.2; of logs and reports that of "
        "[planning] in study.toml)",
    )
    parser.add_argument(
        "--power",
        type=float,
        help="probability with which to show it (default 0.8, or that of [planning] in study.toml)",
    )
    parser.add_argument("--level", type=float, help="of the test (default 0.05; persistent 0.025)")
    parser.add_argument("--json", action="store_true", help="everything as JSON, unrounded")
    parser.add_argument("-o", "--out", type=Path, metavar="DIR", help="write tables (CSV) and power curves here")
    _add_assumptions(parser)
    logs = parser.add_argument_group("logs")
    logs.add_argument("--study", type=Path, help="settings (default: study.toml beside the logs)")
    logs.add_argument("--task", dest="tasks", action="append", default=[], help="this task only; repeatable")
    logs.add_argument("--model", dest="models", action="append", default=[], help="these models only; repeatable")
    logs.add_argument("--measure", dest="measures", action="append", default=[], help="this measure only; repeatable")
    parser.set_defaults(run=run)


def _add_assumptions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("assumptions of a question")
    group.add_argument("--units", type=int, help="independent units; templates of one validity, instances of residuals")
    group.add_argument("--rows-per-unit", type=float, help="responses of a unit to each right answer, or level (1)")
    group.add_argument("--rho", type=float, help="correlation of two responses of one unit (0)")
    group.add_argument("--deff", type=float, help="design effect, in place of --rho")
    group.add_argument("--accuracy", type=float, help="at which responses vary (0.7); of floor: the floor to show")
    group.add_argument("--gap", type=float, help="floor: by how much the better class exceeds it (0)")
    group.add_argument("--class-correlation", type=float, help="of the accuracies of both classes (0)")
    group.add_argument("--split-units", action="store_true", help="each unit has one right answer, half of them Yes")
    group.add_argument("--correlation", type=float, help="of two models over units (0)")
    group.add_argument("--score-sd", type=float, help="standard deviation of graded scores in [0, 1]")
    group.add_argument("--discordant", type=float, help="share of pairs of which one answer is right")
    group.add_argument("--noise", type=float, help="standard deviation of a residual over wordings, log-odds")
    group.add_argument("--wordings", type=int, help="of each instance")
    group.add_argument("--levels", type=int, help="levels of the factor")
    group.add_argument("--interaction", type=float, help="standard deviation over units of what a level does (0)")
    group.add_argument("--template-sd", type=float, help="standard deviation of accuracy between templates")
    group.add_argument("--other-templates", type=int, help="templates of the other validity (as many)")


def _questions(**_: object) -> tuple[str, ...]:
    return QUESTIONS


def run(args: argparse.Namespace) -> int:
    """Print, and write where asked, what the design can show."""
    from analysis.new_folder import check_new_folder
    from analysis.planning.question import check_power

    if args.power is not None:
        check_power(args.power)
    if args.out is not None:
        check_new_folder(args.out)
    asked = args.source[0] in QUESTIONS
    found = _assumed(args) if asked else _observed(args)
    if args.out is not None:
        _write(found, args.out)
    if args.json:
        document: dict[str, Any] = {"answers": _records(found.rows), "by_units": _records(found.sizes)}
        print(json.dumps(document | {"simulated": found.simulated}, indent=1, ensure_ascii=True, allow_nan=False))
        return 0
    for table in found.tables():
        _print(table)
    if args.out is not None:
        print(f"tables and curves: {args.out}")
    return 0


def _assumed(args: argparse.Namespace) -> "Answers":
    from dataclasses import fields

    from analysis.errors import AnalysisError
    from analysis.planning.assumptions import Assumptions
    from analysis.studies.planning_answers import assumed_answers

    if len(args.source) > 1 or args.study or args.tasks or args.models or args.measures:
        raise AnalysisError(
            f"{args.source[0]}: a question stands alone; logs, --study, --task, --model, --measure do not"
        )
    given = {field.name: getattr(args, field.name) for field in fields(Assumptions)}
    return assumed_answers(args.source[0], Assumptions(**given), effect=args.effect, power=args.power, level=args.level)


def _observed(args: argparse.Namespace) -> "Answers":
    from dataclasses import fields

    from analysis.errors import AnalysisError
    from analysis.planning.assumptions import Assumptions, option
    from analysis.reduction.selection import parse_selection
    from analysis.studies.planning_answers import FEW_DRAWS, check_options, observed_answers
    from analysis.studies.run import RunSettings, run_report
    from analysis.verification.report_difference import is_report
    from analysis.verification.written_report import read_manifest, report_data

    given = {field.name: getattr(args, field.name) for field in fields(Assumptions)}
    named = [option(name) for name, value in given.items() if value is not None and value is not False]
    if named:
        raise AnalysisError(
            f"{', '.join(named)}: of questions; what logs vary by is observed. Questions: {', '.join(QUESTIONS)}"
        )
    paths = [Path(text) for text in args.source]
    _check_paths(args.source, paths)
    check_options(effect=args.effect, level=args.level)
    options = {"effect": args.effect, "power": args.power, "level": args.level, "measures": tuple(args.measures)}
    if any(map(is_report, paths)):
        if len(paths) > 1 or args.study or args.models:
            raise AnalysisError("give one report, without --study and --model; or logs")
        simulated = bool(read_manifest(paths[0]).get("simulated"))
        return observed_answers(report_data(paths[0]), simulated=simulated, tasks=tuple(args.tasks), **options)
    settings = RunSettings(
        study=args.study, selection=parse_selection((), args.models, args.tasks), resampling=FEW_DRAWS, bayes=None
    )
    content = run_report(paths, settings)
    return observed_answers(content.data, simulated=content.simulated, **options)


def _check_paths(texts: list[str], paths: list[Path]) -> None:
    from analysis.errors import AnalysisError

    for text, path in zip(texts, paths, strict=True):
        if not path.exists():
            raise AnalysisError(f"{text}: neither a question ({', '.join(QUESTIONS)}) nor a file or folder of logs")


def _write(found: "Answers", out: Path) -> None:
    from analysis.report.export_files import write_export
    from analysis.report.figures.render import rendered_figure
    from analysis.report.write import frame_csv

    figures = found.figures()
    files: dict[str, str | bytes] = {"README.md": found.readme(figures)}
    for figure in figures:
        drawn = rendered_figure(figure, simulated=found.simulated)
        files |= {f"{figure.name}.pdf": drawn.pdf, f"{figure.name}.svg": drawn.svg, f"{figure.name}.png": drawn.png}
        files[f"{figure.name}.csv"] = frame_csv(figure.data.assign(simulated=found.simulated))
    write_export({"answers": found.rows, "by_units": found.sizes}, files, out)


def _records(rows: "pd.DataFrame") -> list[dict[str, Any]]:
    """Rows as plain values: a missing number is null."""
    from analysis.report.columns import is_missing

    def plain(value: Any) -> Any:
        return None if is_missing(value) else value.item() if hasattr(value, "item") else value

    return [{str(k): plain(v) for k, v in row.items()} for row in rows.to_dict("records")]


def _print(table: "Table") -> None:
    from analysis.report.terminal import render_text

    print(render_text(table))
