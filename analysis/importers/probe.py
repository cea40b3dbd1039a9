"""The first look at a file or directory: opened once, never an exception."""

import codecs
import os
import stat
import zipfile
from pathlib import Path

from analysis.importers.byte_streams import decompressed_head, text_encoding
from analysis.importers.damage import damage
from analysis.importers.protocol import Probe

HEAD_BYTES = 64 << 10
MAX_MEMBERS = 10_000
ZIP_MAGIC = b"PK\x03\x04"


def probe(path: Path) -> Probe:
    """Look at the head of a file, the members of a zip archive, or the names in a directory.

    Returns
    -------
    Probe
        With ``problem`` set where nothing could be looked at or the file is no log whatever its name
        says (no permission, broken link, socket, empty, Git LFS pointer); never raises for those.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return Probe(path, members=_names(path))
        if not stat.S_ISREG(status.st_mode):
            return Probe(path, problem="not a regular file")
        return _probe_file(path, status.st_size)
    except OSError as error:
        broken = path.is_symlink() and not os.path.lexists(os.path.realpath(path))
        return Probe(path, problem="broken symbolic link" if broken else f"cannot be read ({error.strerror})")


def undecodable_line(seen: Probe) -> int | None:
    """First line of a text file, among those looked at, that is not UTF-8; None where all are."""
    if text_encoding(seen.head) != "utf-8-sig" or b"\0" in seen.head:
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(seen.head)
    except UnicodeDecodeError as error:
        return seen.head.count(b"\n", 0, error.start) + 1
    return None


def _names(path: Path) -> tuple[str, ...]:
    with os.scandir(path) as entries:
        names = [entry.name for entry, _ in zip(entries, range(MAX_MEMBERS), strict=False)]
    return tuple(sorted(names))


def _probe_file(path: Path, size: int) -> Probe:
    with path.open("rb") as stream:
        raw = stream.read(HEAD_BYTES)
        members: tuple[str, ...] = ()
        if raw.startswith(ZIP_MAGIC):
            members = _members(stream)
    head = decompressed_head(raw, HEAD_BYTES)
    text = head.decode(text_encoding(head), errors="replace")
    return Probe(path, head=head, members=members, text=text, problem=damage(head, size))


def _members(stream: object) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(stream) as archive:  # type: ignore[call-overload]
            return tuple(archive.namelist()[:MAX_MEMBERS])
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, UnicodeError):
        # Cut off: importers recognise the archive by the member names in its first local headers.
        return ()
