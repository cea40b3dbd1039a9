"""The ``evenhand`` command: one module per subcommand, one message per failure."""

import argparse
import errno
import gc
import os
import sys
from importlib import import_module

from analysis import __version__
from analysis.errors import AnalysisError, StudyError

COMMANDS = (
    "report",
    "import_logs",
    "validate",
    "audit",
    "schema",
    "study",
    "simulate",
    "crosscheck",
    "check_tables",
    "show",
    "diff",
    "export",
    "power",
    "doctor",
    "completion",
)


def build_parser() -> argparse.ArgumentParser:
    """Argument parser with every subcommand; importing a command's module is cheap by rule."""
    parser = argparse.ArgumentParser(prog="evenhand", description="Statistics over response logs of language models.")
    parser.add_argument("--version", action="version", version=f"evenhand {__version__}")
    subparsers = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        import_module(f"analysis.cli.{name}").add_parser(subparsers)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status; 2 marks bad input, 1 a negative finding."""
    # Modules and tables are many objects that live to the end: looking for garbage among them is a tenth of a start.
    gc.set_threshold(100_000, 20, 20)
    parser = build_parser()
    if "_ARGCOMPLETE" in os.environ:
        import_module("analysis.cli.completion").answer_shell(parser)
    args = parser.parse_args(argv)
    try:
        return int(args.run(args))
    except AnalysisError as error:
        said = _without_texts(error) if getattr(args, "no_text", False) else str(error)
        print(f"evenhand: {printable(said)}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.errno == errno.ENOSPC:
            print("evenhand: no space left on the disk; nothing was written", file=sys.stderr)
            return 2
        where = f"{error.filename}: " if error.filename else ""
        print(f"evenhand: {printable(where)}{error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("evenhand: interrupted; nothing was written", file=sys.stderr)
        return 130


def _without_texts(error: AnalysisError) -> str:
    """Message of an error without what it quotes from the logs, under ``--no-text``; settings may be quoted."""
    if isinstance(error, StudyError):
        return str(error)
    private = import_module("analysis.schema.private_values")
    said = str(private.without_quotes(str(error), known=private.COLUMN_BY_NAME))
    return said if said == str(error) else f"{said}\n  …: texts of the logs, which --no-text leaves out"


def printable(text: str) -> str:
    """Text from logs without characters that could steer a terminal."""
    return "".join(c if c == "\n" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)
