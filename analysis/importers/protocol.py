"""The seam between a harness's files and the standard schema: what every importer offers.

An importer is a module with

- ``NAME`` (what users see), ``VERSIONS`` (format versions it was written against);
- ``sniff(probe) -> Claim``: looks at the least it can, never raises, claims only on a marker that no
  other harness writes;
- ``read(path, options) -> Iterator[Record]``: every logged record in file order, or, for columnar
  files, ``read_batches(path, options) -> Iterator[Batch]``.

It raises ``LogError`` for a file that is its own and cannot be read (header only, damaged), decides
nothing about answers, filters nothing and shortens no name. ``source`` in its responses is relative
to ``options.root``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from analysis.schema.responses import Response
from analysis.schema.study import Study


class Claim(Enum):
    """What an importer says about a file it was shown."""

    NO = "not mine"
    LOG = "a log"
    COMPANION = "belongs to a log, holds no responses"
    REFUSED = "mine, and known at a glance to hold no responses; read() raises with the reason"


@dataclass(frozen=True, slots=True)
class Probe:
    """The least one has to know of a file to recognise it.

    Parameters
    ----------
    path : Path
        File, or directory for harnesses whose log is a folder.
    head : bytes
        First 64 KiB, decompressed when the file is gzip or zstd; empty for a directory.
    members : tuple of str
        Member names of a zip archive (at most 10,000), or file names of a directory; else empty.
    text : str
        ``head`` decoded as UTF-8 (or UTF-16 by its byte-order mark), undecodable bytes replaced.
    problem : str
        Why there was nothing to look at (no permission, broken link, empty, Git LFS pointer); empty otherwise.
    """

    path: Path
    head: bytes = b""
    members: tuple[str, ...] = ()
    text: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user may choose about reading.

    ``filter`` picks one lm-eval filter, ``scorer`` one scorer; None means the importer's stated rule.
    ``max_member_bytes`` and ``max_ratio`` bound what an archive member may expand to. ``study`` gives
    the standard importer ``[map]`` and the columns that settings name.
    """

    root: Path
    filter: str | None = None
    scorer: str | None = None
    max_member_bytes: int = 2 << 30
    max_ratio: int = 1000
    study: Study = field(default_factory=Study)


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a log and the responses that came of it.

    ``set_aside`` says why a record gives no response ("another filter: maj@3"); ``in_file`` is False
    for responses that were planned and are absent from the file (status missing). ``notes`` are
    sentences for the reconciliation, each printed once per file with its count.
    """

    source: str
    responses: tuple[Response, ...] = ()
    set_aside: str | None = None
    in_file: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Columnar counterpart of many records: rows in the store's schema, one record each.

    ``rows`` may lack standard columns (they are null) and hold extras; ``set_aside`` counts records
    of this stretch that give no row, by reason.
    """

    rows: pa.RecordBatch
    set_aside: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Importer(Protocol):
    """A module that reads one harness's logs."""

    NAME: str
    VERSIONS: str

    def sniff(self, probe: Probe) -> Claim:
        """Say whether the file is this harness's."""
        ...

    def read(self, path: Path, options: ReadOptions) -> Iterator[Record]:
        """Yield every logged record in file order."""
        ...
