"""Where results come from: versions of what computed them, hashes of what was read, time it took."""

import contextlib
import hashlib
import platform
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from analysis import __version__
from analysis.errors import AnalysisError

#: Packages whose version can change a number or a byte of the report.
PACKAGES: Final = (
    "numpy",
    "pandas",
    "scipy",
    "pyarrow",
    "duckdb",
    "statsmodels",
    "matplotlib",
    "zstandard",
    "pymc",
    "arviz",
    "nutpie",
    "numba",
)


def package_versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Version of each package that is installed, by name, this project's own first."""
    found = {"evenhand": __version__}
    for name in packages:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def python_version() -> str:
    """Implementation and version of the interpreter, such as ``CPython 3.13.1``."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def platform_name() -> str:
    """Operating system and processor family, such as ``Linux x86_64``; nothing that names a host or a user."""
    return f"{platform.system()} {platform.machine()}"


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Raises
    ------
    AnalysisError
        The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise AnalysisError(f"{path.name}: cannot be read ({error.strerror}); check that it is still there") from error


class Clock:
    """Seconds spent in named stages.

    Parameters
    ----------
    now : callable
        Monotonic time in seconds.
    """

    def __init__(self, *, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._start = now()
        self._seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of the block under ``name``; blocks of one name add up."""
        start = self._now()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + self._now() - start

    def timings(self) -> dict[str, float]:
        """Seconds by stage, in order of first use, and ``total`` since the clock was made; milliseconds kept."""
        total = self._now() - self._start
        return {name: round(seconds, 3) for name, seconds in [*self._seconds.items(), ("total", total)]}
