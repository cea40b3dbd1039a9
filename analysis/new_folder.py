"""A new folder of results: refused before any work is done, written whole or not at all."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from analysis.errors import AnalysisError


def check_new_folder(out: Path) -> None:
    """Refuse a place that holds something or cannot be written.

    Raises
    ------
    AnalysisError
        ``out`` is a file, holds something, or lies where no folder can be made.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise AnalysisError(f"{out}: {'holds files' if out.is_dir() else 'is a file'}; name a new or empty folder")
    check_parent(out)


def check_parent(out: Path, *, instead: str = "another place") -> None:
    """Refuse a folder that cannot be made: what of its path exists must be a directory that can be written.

    Raises
    ------
    AnalysisError
        Says what is in the way, and to name ``instead``.
    """
    parent = next((path for path in out.resolve().parents if os.path.lexists(path)), out)
    if not parent.is_dir():
        raise AnalysisError(f"{out}: {parent} is no directory; name {instead}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise AnalysisError(f"{out}: {parent} cannot be written; name {instead}")


def check_outside(out: Path, sources: Iterable[Path]) -> None:
    """Refuse a place inside of the logs, where results would be read as further logs.

    Raises
    ------
    AnalysisError
        ``out`` lies below a directory of ``sources``.
    """
    for source in sources:
        if source.is_dir() and out.resolve().is_relative_to(source.resolve()):
            raise AnalysisError(f"{out}: lies inside of the logs {source}, and would be read as one; write elsewhere")


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """An empty folder aside, which becomes ``out`` when the block ends; an error or an interruption leaves nothing.

    Raises
    ------
    AnalysisError
        The folder holds something, or cannot be written.
    """
    check_new_folder(out)
    target = out.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as aside:
            fresh = Path(aside) / "new"
            fresh.mkdir()
            yield fresh
            if target.is_dir():
                target.rmdir()
            fresh.rename(target)
    except OSError as error:
        raise AnalysisError(f"{out}: cannot be written ({error.strerror or error})") from error
