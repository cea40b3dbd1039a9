"""``evenhand report``: the main job."""

import argparse
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.report.content import ReportContent
    from analysis.studies.prepared import RunSettings

EXAMPLE = "example"
#: A report's folder has a name of at most this many characters.
NAME_LENGTH = 80
#: Arguments that change nothing within a report, or stand for files whose content counts.
NOT_OF_THE_REPORT = frozenset({"logs", "out", "quiet", "again", "run", "study", "overrides"})


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("report", help="read logs, write tables, figures and a page")
    parser.add_argument(
        "logs", nargs="*", type=Path, help="log files or directories (default: logs/ in the working directory)"
    )
    parser.add_argument("--out", type=Path, help="report folder (default: reports/<name of the log directory>)")
    parser.add_argument("--study", type=Path, help="settings (default: study.toml beside the logs)")
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN=VALUE", help="use these rows only")
    parser.add_argument("--overrides", type=Path, help="answers of a person (default: overrides.csv beside the logs)")
    parser.add_argument("--model", dest="models", action="append", default=[], help="use this model only; repeatable")
    parser.add_argument("--task", dest="tasks", action="append", default=[], help="use this task only; repeatable")
    parser.add_argument("--uncertain", choices=("incorrect", "excluded", "half"), help="how uncertain answers count")
    parser.add_argument("--runs", choices=("latest", "all"), help="what to do with a question found in two runs")
    parser.add_argument("--reread", action="store_true", help="read answers from the raw text even where one is given")
    parser.add_argument("--filter", help="lm-evaluation-harness: the filter to use")
    parser.add_argument("--scorer", help="the scorer to use where a log has several")
    parser.add_argument(
        "--preset",
        choices=("probability-operators", "syllogisms", "latent-coherence"),
        help="settings and numbering of a known design",
    )
    parser.add_argument("--ci-level", type=float, default=0.95, help="level of the intervals (default 0.95)")
    parser.add_argument("--keep-going", action="store_true", help="skip files that cannot be read, and say so")
    parser.add_argument("--no-pdf", dest="pdf", action="store_false", help="write report.tex, but do not compile it")
    parser.add_argument("--no-bayes", action="store_true", help="no Bayesian columns: faster")
    parser.add_argument("--fast", action="store_true", help="a quick look: Bayesian columns with few draws, marked")
    parser.add_argument("--seed", type=int, default=0, help="of everything that draws (default 0)")
    parser.add_argument(
        "--no-text", action="store_true", help="leave every raw text out: responses, prompts, what messages quote"
    )
    parser.add_argument(
        "--again", action="store_true", help="make the report also where nothing changed since it was written"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the report, unless it lies there as it would be written again, and say where it is."""
    from analysis.report.unchanged import unchanged
    from analysis.report.write import check_target

    started = time.perf_counter()
    logs = args.logs or default_logs(Path("logs"))
    out = args.out or Path("reports") / report_name(logs)
    check_target(out)
    now = circumstances_of(args, logs)
    said = None if args.again else unchanged(out, now)
    if said is not None:
        print("nothing changed since this report was written: logs, settings, seed, versions, code (--again: anew)")
    else:
        said = make(args, logs, out, now)
    responses = "1 response" if said["responses"] == 1 else f"{said['responses']:,} responses"
    print(f"{responses} read, {said['used']:,} used; {time.perf_counter() - started:.1f} s")
    say(said, out, pdf=args.pdf)
    return 0


def circumstances_of(args: argparse.Namespace, logs: list[Path]) -> str:
    """Hash of what the report depends on; empty where a file or a setting is wrong, which the run will say."""
    from analysis.errors import AnalysisError
    from analysis.reduction.overrides import find_overrides
    from analysis.report.unchanged import circumstances
    from analysis.schema.study import find_study, load_study

    try:
        place, overrides = args.study or find_study(logs), args.overrides or find_overrides(logs)
        study = load_study(place)
        tables = [study.items_file, study.external.file if study.external else ""]
        named = [path for path in (place, overrides) if path is not None]
        named += [Path(study.path).parent / name for name in tables if name]
    except (AnalysisError, OSError):
        return ""
    chosen = {name: value for name, value in vars(args).items() if name not in NOT_OF_THE_REPORT}
    options = {name: value.name if isinstance(value, Path) else value for name, value in chosen.items()}
    return circumstances(logs, named, options)


def make(args: argparse.Namespace, logs: list[Path], out: Path, now: str) -> dict[str, Any]:
    """Read, estimate and write; returns what is to be said of it."""
    from dataclasses import replace

    from analysis.reduction.intake import IntakeSettings
    from analysis.reduction.selection import parse_selection
    from analysis.report.content import NOTHING_CLAIMED, printed_sentences
    from analysis.report.manifest import changed_versions
    from analysis.report.unchanged import CIRCUMSTANCES, SAID
    from analysis.report.write import write_report
    from analysis.studies.context import BayesianSettings, Resampling
    from analysis.studies.prepared import RunSettings

    progress = Progress(quiet=args.quiet or not sys.stderr.isatty())
    settings = RunSettings(
        study=args.study,
        overrides=args.overrides,
        intake=IntakeSettings(
            filter=args.filter,
            scorer=args.scorer,
            reread=args.reread,
            keep_going=args.keep_going,
            progress=progress.file,
        ),
        selection=parse_selection(args.where, args.models, args.tasks),
        runs=args.runs,
        uncertain=args.uncertain,
        preset=args.preset,
        no_text=args.no_text,
        ci_level=args.ci_level,
        resampling=Resampling(seed=args.seed),
        bayes=None if args.no_bayes else BayesianSettings(args.fast, args.seed, out / "data" / "fits"),
        progress=progress.stage,
    )
    if settings.bayes is not None and any((out / "data" / "fits").glob("*")) and (changed := changed_versions(out)):
        print(f"fits kept in {out / 'data' / 'fits'} were made by other versions ({'; '.join(changed)})")
        print("  those that depend on them are made again")
    content = read_and_estimated(logs, settings)
    if args.out is None:
        refuse_other_logs(out, content.manifest)
    rows = content.manifest["rows"]
    said = {
        "responses": rows["responses"],
        "used": rows["used"],
        "summary": list(printed_sentences(content, content.summary)),
        "attention": list(printed_sentences(content, content.attention)),
        "limits": list(printed_sentences(content, content.limits)) if content.summary == (NOTHING_CLAIMED,) else [],
    }
    progress.stage("writing the report")
    manifest = {**content.manifest, CIRCUMSTANCES: now, SAID: said}
    write_report(replace(content, manifest=manifest), out, pdf=args.pdf)
    progress.done()
    return said


def read_and_estimated(logs: list[Path], settings: "RunSettings") -> "ReportContent":
    """Content of the report; what estimates is loaded while the logs are read.

    Reading and reducing are mostly work of libraries that leave the interpreter free. Whatever reading needs is
    loaded before, so that two threads never load the same module.
    """
    from analysis.provenance import Clock
    from analysis.studies.prepared import prepared

    clock = Clock()
    with ThreadPoolExecutor(1, thread_name_prefix="loading") as beside:
        run = beside.submit(loaded)
        with prepared(logs, settings, clock) as ready:
            content: ReportContent = run.result().report_content(ready, clock)
    return content


def loaded() -> ModuleType:
    """The module that estimates, with all that it needs."""
    # First, where the stack is low: one of its libraries looks through the source of every function on it.
    import_module("analysis.bayes.libraries")
    return import_module("analysis.studies.run")


def say(said: Mapping[str, Any], out: Path, *, pdf: bool) -> None:
    """What can be claimed, what needs attention, and where the report is."""
    from analysis.report.escape import escape_terminal
    from analysis.report.manifest import document_problem

    for line in said["summary"][:8]:
        print(f"  {escape_terminal(line)}")
    if limits := said.get("limits"):
        print("cannot be claimed:")
        for line in limits[:5]:
            print(f"  {escape_terminal(line)}")
    if attention := said["attention"]:
        print(f"needs attention ({len(attention)}):")
        for line in attention[:5]:
            print(f"  {escape_terminal(line)}")
    if pdf and (problem := document_problem(out)):
        print(f"no report.pdf: {escape_terminal(problem)}")
    print(f"report: {out / 'index.html'}")


def default_logs(folder: Path) -> list[Path]:
    """What lies in ``logs/``; the example only where nothing else does."""
    from analysis.errors import AnalysisError

    entries = sorted(p for p in folder.iterdir() if not p.name.startswith(".")) if folder.is_dir() else []
    others = [p for p in entries if p.name != EXAMPLE and p.name.lower() != "readme.md"]
    if others:
        return others
    if (folder / EXAMPLE).is_dir():
        return [folder / EXAMPLE]
    raise AnalysisError(f"no logs given and none in {folder}/; name a log file or directory: evenhand report DIR")


def report_name(logs: list[Path]) -> str:
    """Name of the report folder: those of the log directories and files."""
    names = [path.resolve().name if path.is_dir() else path.stem for path in logs]
    return "+".join(dict.fromkeys(names))[:NAME_LENGTH] or "report"


def refuse_other_logs(out: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a default folder that holds the report of other logs: two directories of one name."""
    from analysis.errors import AnalysisError
    from analysis.report.manifest import read_inputs

    there, here = read_inputs(out), {entry["path"] for entry in manifest["inputs"]}
    if there and not there & here:
        raise AnalysisError(
            f"{out}: holds the report of other logs ({sorted(there)[0]}, ...); name another folder with --out"
        )


class Progress:
    """One line on a terminal, nothing elsewhere."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet, self.width, self.lock = quiet, 0, threading.Lock()

    def stage(self, name: str) -> None:
        """Show what is being done."""
        self.show(f"{name} …")

    def file(self, name: str, rows: int) -> None:
        """Show the file being read and the responses so far."""
        from analysis.cli.main import printable

        self.show(f"reading logs … {rows:,} responses ({printable(name)[-50:]})")

    def show(self, text: str) -> None:
        """Replace the line; parts in two threads tell of themselves."""
        with self.lock:
            if not self.quiet:
                sys.stderr.write("\r" + text.ljust(self.width))
                sys.stderr.flush()
                self.width = len(text)

    def done(self) -> None:
        """Clear the line."""
        if not self.quiet and self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
