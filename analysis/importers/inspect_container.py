"""Containers of Inspect logs: the ``.eval`` zip archive (deflate or Zstandard) and the ``.json`` document.

Both are read as a stream of parts, header first. Nothing is extracted: member names are labels, never paths.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from analysis.errors import LogError
from analysis.importers.byte_streams import HARMLESS_BYTES, relative_name
from analysis.importers.json_text import JsonParser, decode, open_log, read_text, walk_object
from analysis.importers.protocol import ReadOptions

HEADER, START = "header.json", "_journal/start.json"
SAMPLES = "samples/"
ZSTANDARD = 93
HEADER_ONLY = "header only, no samples"
NO_RECORD = "incomplete log: no samples"
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    zstandard.ZstdError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a log: the header (or one more piece of it), or one sample.

    ``source`` names file and member, or file and position in the list of samples.
    """

    is_sample: bool
    value: Any
    source: str
    notes: tuple[str, ...] = ()


def is_archive(path: Path, options: ReadOptions) -> bool:
    """Whether a file begins as a zip archive does; a file that holds nothing is a LogError."""
    with open_log(path, options) as stream:
        return stream.read(4) == b"PK\x03\x04"


def document_parts(path: Path, options: ReadOptions) -> Iterator[Part]:
    """Parts of a ``.json`` log, in file order; a log without samples is a LogError."""
    where = relative_name(path, options.root)
    text, notes = read_text(path, options)
    listed = count = 0
    for member in walk_object(text, where, stream="samples"):
        if member.key != "samples":
            yield Part(False, {member.key: member.value}, where, notes + member.notes)
        elif member.index is None:
            listed += 1
        else:
            count += 1
            yield Part(True, member.value, f"{where}:samples[{member.index}]", member.notes)
    if not count:
        raise LogError(where, "samples list is empty" if listed else HEADER_ONLY)


def archive_parts(path: Path, options: ReadOptions) -> Iterator[Part]:
    """Parts of an ``.eval`` archive: the header, then the samples in order of the directory."""
    where = relative_name(path, options.root)
    try:
        archive = zipfile.ZipFile(path)
    except _ZIP_ERRORS as error:
        raise LogError(where, "truncated or damaged zip archive", hint="copy the log again") from error
    with archive:
        members, notes = _members(archive, where, options)
        samples = [name for name in members if name.startswith(SAMPLES) and name.endswith(".json")]
        header = HEADER if HEADER in members else START
        if header not in members:
            raise LogError(where, f"archive holds neither {HEADER} nor {START}")
        if not samples:
            raise LogError(where, HEADER_ONLY if header == HEADER else NO_RECORD)
        if header == START:
            notes += (f"incomplete log: the run wrote no {HEADER}; the samples that exist were read",)
        parser, quick = JsonParser(where), JsonParser(where, note_duplicates=False)
        yield _part(archive, members[header], where, options, parser, notes)
        for name in samples:
            yield _part(archive, members[name], where, options, quick, ())


def _members(
    archive: zipfile.ZipFile, where: str, options: ReadOptions
) -> tuple[dict[str, zipfile.ZipInfo], tuple[str, ...]]:
    infos = archive.infolist()
    members = {info.filename: info for info in infos}
    total = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos)
    if total > max(HARMLESS_BYTES, packed * options.max_ratio):
        raise LogError(where, f"archive expands from {packed:,} to {total:,} bytes, more than {options.max_ratio}-fold")
    twice = len(infos) - len(members)
    return members, ((f"{twice} archive members repeat a name: the last of each was read",) if twice else ())


def _part(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    where: str,
    options: ReadOptions,
    parser: JsonParser,
    notes: tuple[str, ...],
) -> Part:
    name = info.filename
    try:
        raw = read_member(archive, info, options)
    except LogError as error:
        raise LogError(where, f"member {name}: {error.reason}") from error
    except _ZIP_ERRORS as error:
        raise LogError(where, f"member {name}: damaged ({error})", hint="copy the log again") from error
    text, replaced = decode(raw)
    value, odd = parser.parse(text, part=f"member {name}")
    return Part(name.startswith(SAMPLES), value, f"{where}:{name}", notes + replaced + odd)


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, options: ReadOptions) -> bytes:
    """Contents of one member, bounded by ``options``, whatever sizes the directory claims.

    Zstandard (method 93) is decompressed here, because ``zipfile`` knows it only from Python 3.14 on.

    Raises
    ------
    LogError
        The member is encrypted, or larger than the bounds.
    zipfile.BadZipFile, zlib.error, zstandard.ZstdError, ...
        The member is damaged.
    """
    limit = min(options.max_member_bytes, max(HARMLESS_BYTES, info.compress_size * options.max_ratio))
    if info.file_size > limit:
        raise LogError(info.filename, f"expands to {info.file_size:,} bytes, more than the {limit:,} that are read")
    if info.flag_bits & 1:
        raise LogError(info.filename, "encrypted")
    if info.compress_type != ZSTANDARD:
        with archive.open(info) as stream:
            return stream.read(info.file_size + 1)
    packed = _packed_bytes(archive, info)
    with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
        raw = reader.read(info.file_size + 1)
    if len(raw) != info.file_size or zlib.crc32(raw) != info.CRC:
        raise zipfile.BadZipFile("size or checksum does not fit")
    return raw


def _packed_bytes(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    # Lengths of name and extra field may differ between the local header and the directory.
    stream = archive.fp
    if stream is None:
        raise zipfile.BadZipFile("archive is closed")
    stream.seek(info.header_offset)
    mark, name_size, extra_size = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
    if mark != b"PK\x03\x04":
        raise zipfile.BadZipFile("no member where the directory says")
    stream.seek(name_size + extra_size, 1)
    packed = stream.read(info.compress_size)
    if len(packed) != info.compress_size:
        raise zipfile.BadZipFile("member is cut off")
    return packed
