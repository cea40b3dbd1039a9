"""Bytes of a log file: decompression with a bound, text encodings, the line where decoding fails."""

import codecs
import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import zstandard

from analysis.errors import LogError
from analysis.importers.protocol import ReadOptions

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
#: Expanding less than this is never an attack, whatever the ratio: a constant column compresses a thousandfold.
HARMLESS_BYTES = 64 << 20
#: Directories whose parts are directories of users, below the top of the file system.
_ABOVE_HOMES = (Path("/"), Path("/home"), Path("/Users"))
_DECODING_ERRORS = (EOFError, OSError, zlib.error, zstandard.ZstdError)


class _BoundedStream(io.RawIOBase):
    """Decompressed bytes, refused when they outgrow what the options allow."""

    def __init__(self, inner: IO[bytes], name: str, limit: int) -> None:
        self._inner, self._name, self._limit, self._seen = inner, name, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = self._inner.read(len(view))
        except _DECODING_ERRORS as error:
            raise LogError(self._name, f"damaged compressed file ({error})", hint="copy it again") from error
        self._seen += len(data)
        if self._seen > self._limit:
            raise LogError(
                self._name, f"expands to more than {self._limit:,} bytes", hint="unpack it yourself if it is yours"
            )
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._inner.close()
        super().close()


def relative_name(path: Path, root: Path) -> str:
    """Path as shown to users: POSIX, relative to the directory they gave; the bare name when it lies elsewhere.

    Bytes of a name that are not UTF-8 are written ``\\xff``: the name is to be printed and stored, not opened. Where
    the files have nothing but the top of the file system in common, a user's directory is written ``~``, that of
    another user with digits of its own.
    """
    name, below = path.as_posix(), root.as_posix().rstrip("/") + "/"
    if (
        len(name) > len(below) and name.startswith(below) and not name.startswith("//")
    ):  # the usual case, many times faster than pathlib's own
        name = name[len(below) :]
    else:
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    if root in _ABOVE_HOMES:
        name = _without_user(path, name)
    return os.fsencode(name).decode(errors="backslashreplace")


def _without_user(path: Path, name: str) -> str:
    """Name below the top of the file system without the name of the user whose directory it lies in."""
    home = next((parent for parent in path.parents if parent.parent in _ABOVE_HOMES[1:]), None)
    if home is None:
        return name
    digits = hashlib.sha256(os.fsencode(home.name)).hexdigest()[:4]
    return f"{'~' if home == Path.home() else '~' + digits}/{path.relative_to(home).as_posix()}"


def _decompressor(raw: IO[bytes], magic: bytes) -> IO[bytes] | None:
    if magic.startswith(GZIP_MAGIC):
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode="rb"))
    if magic.startswith(ZSTD_MAGIC):
        return cast(IO[bytes], zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=True))
    return None


def open_bytes(path: Path, options: ReadOptions) -> IO[bytes]:
    """Open a log for reading, decompressed when its first bytes are those of gzip or zstd.

    Raises
    ------
    LogError
        The file cannot be opened; while reading: damaged, or larger than ``options`` allow.
    """
    name = relative_name(path, options.root)
    try:
        raw = path.open("rb")
        magic = raw.read(4)
        raw.seek(0)
        size = path.stat().st_size
    except OSError as error:
        raise LogError(name, f"cannot be read ({error.strerror})", hint="check its permissions") from error
    inner = _decompressor(raw, magic)
    if inner is None:
        return raw
    limit = min(options.max_member_bytes, max(HARMLESS_BYTES, size * options.max_ratio))
    return io.BufferedReader(_BoundedStream(inner, name, limit), buffer_size=1 << 20)


def decompressed_head(data: bytes, size: int) -> bytes:
    """First ``size`` bytes of what ``data`` (the start of a file) expands to; plain data is returned as it is."""
    if data.startswith(GZIP_MAGIC):
        return _partly(zlib.decompressobj(wbits=31).decompress, data, size)
    if data.startswith(ZSTD_MAGIC):
        reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data))
        return _partly(lambda _data, limit: reader.read(limit), data, size)
    return data[:size]


def _partly(expand: object, data: bytes, size: int) -> bytes:
    try:
        return expand(data, size)  # type: ignore[operator]
    except _DECODING_ERRORS:
        return b""


def text_encoding(head: bytes) -> str:
    """Encoding by byte-order mark; UTF-8 (mark dropped) without one."""
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def utf8_chunks(stream: IO[bytes], name: str, size: int) -> Iterator[bytes]:
    """Contents as UTF-8 bytes without a byte-order mark; UTF-16 is transcoded, UTF-8 is not checked."""
    first = stream.read(size)
    if text_encoding(first) == "utf-16":
        yield from _transcoded(first, stream, name, size)
        return
    yield first.removeprefix(codecs.BOM_UTF8)
    while chunk := stream.read(size):
        yield chunk


def _transcoded(first: bytes, stream: IO[bytes], name: str, size: int) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")()
    chunk = first
    try:
        while chunk:
            yield decoder.decode(chunk).encode()
            chunk = stream.read(size)
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        raise LogError(name, "not valid UTF-16", hint="save it as UTF-8") from error


def undecodable(path: Path, options: ReadOptions) -> LogError:
    """The error for a text file that is not UTF-8, naming the first line that is not."""
    name = relative_name(path, options.root)
    with open_bytes(path, options) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return LogError(name, "not valid UTF-8", line=number, hint="save the file as UTF-8")
    return LogError(name, "not valid UTF-8 or UTF-16", hint="save the file as UTF-8")
