"""``evenhand doctor``: what this machine has of what a report uses."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

#: Least Python, and the packages that no report does without.
PYTHON = (3, 12)
NEEDED = ("numpy", "pandas", "scipy", "pyarrow", "duckdb", "statsmodels", "matplotlib", "pymc", "arviz", "nutpie")
LEAST_FREE = 2 * 2**30


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("doctor", help="say what of this machine a report uses, and what is missing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one line per finding; exit 1 if something is missing that no report does without."""
    missing = False
    for state, what, said in findings():
        print(f"{state:8} {what}: {said}")
        missing |= state == "MISSING"
    return 1 if missing else 0


def findings() -> Iterator[tuple[str, str, str]]:
    """(``ok``, ``optional`` or ``MISSING``; what; what was found)."""
    from analysis.provenance import package_versions, platform_name, python_version

    yield ("ok" if sys.version_info >= PYTHON else "MISSING", "Python", f"{python_version()} on {platform_name()}")
    versions = package_versions()
    for name in ("evenhand", *NEEDED):
        found = versions.get(name)
        yield ("ok" if found else "MISSING", name, found or "not installed; run `make setup`")
    yield _engine()
    compiler = next((name for name in ("g++", "clang++") if shutil.which(name)), "")
    yield ("ok" if compiler else "optional", "C++ compiler", compiler or "none; not needed, models compile with numba")
    yield _writable("temporary files", Path(tempfile.gettempdir()))
    yield _cache()
    yield ("ok", "processors", str(os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()))
    memory = _memory()
    yield ("ok" if memory is None or memory >= LEAST_FREE else "optional", "memory free", _size(memory))


def _engine() -> tuple[str, str, str]:
    for name in ("pdflatex", "lualatex"):
        if shutil.which(name):
            try:
                done = subprocess.run([name, "--version"], capture_output=True, timeout=20, check=False)
            except (OSError, subprocess.TimeoutExpired):
                continue
            return "ok", "LaTeX", done.stdout.decode("utf-8", "replace").splitlines()[0] if done.stdout else name
    return "optional", "LaTeX", "no pdflatex or lualatex; report.tex is written, report.pdf is not"


def _cache() -> tuple[str, str, str]:
    """Where compiled functions are kept: beside the package, or where the environment says."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    return _writable("cache of compiled functions", Path(named) if named else Path(__file__).resolve().parents[1])


def _writable(what: str, folder: Path) -> tuple[str, str, str]:
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        return "optional", what, f"{folder} cannot be written; the first fit of every run compiles anew"
    return "ok", what, f"{folder}, {_size(shutil.disk_usage(folder).free)} free"


def _memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _size(number: int | None) -> str:
    return "not known on this system" if number is None else f"{number / 2**30:.1f} GiB"
