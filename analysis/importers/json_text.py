"""JSON as harnesses really write it: bare NaN, byte-order marks, CRLF, UTF-16, lines cut at newline only."""

import codecs
import json
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from analysis.errors import LogError
from analysis.importers.byte_streams import open_bytes, relative_name
from analysis.importers.damage import damage
from analysis.importers.protocol import ReadOptions

#: Longest line of a JSON Lines file that is read; longer ones are refused, not cut.
MAX_LINE_BYTES = 64 << 20
DUPLICATE_KEYS = "an object holds one key twice: the last value was taken"
REPLACED_BYTES = "bytes that are not UTF-8 were replaced by U+FFFD"
REPLACED_SURROGATES = "half of a surrogate pair was replaced by U+FFFD"

_BLANK = " \t\r\n\ufeff"
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z)|[\[\]{}:]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEAD_BYTES = 64 << 10
_ENCODER = json.JSONEncoder(ensure_ascii=False)


class Line(NamedTuple):
    """One value of a JSON Lines file; ``number`` counts physical lines from 1."""

    number: int
    value: Any
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One value at the top of a JSON object.

    ``index`` is None for a plain value. The array that is streamed comes as one member with an empty
    list, which says that it is there, followed by its items with ``index`` from 0.
    """

    key: str
    value: Any
    index: int | None = None
    notes: tuple[str, ...] = ()


class JsonParser:
    """Parser for the values of one file, with errors that name it.

    Bare ``NaN`` and ``Infinity`` become floats. The notes of a value say what was odd about it.
    ``note_duplicates=False`` does not look for repeated keys, which halves the time of large values.
    """

    def __init__(self, where: str, *, note_duplicates: bool = True) -> None:
        self.where = where
        self._odd: set[str] = set()
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object if note_duplicates else None, strict=False)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self._odd.add(DUPLICATE_KEYS)
        return value

    def parse(self, text: str, *, line: int | None = None, part: str = "") -> tuple[Any, tuple[str, ...]]:
        """Return the one value that ``text`` holds, and its notes."""
        text = text.strip(_BLANK)
        value, end, notes = self.value_at(text, 0, line=line, part=part)
        if end != len(text):
            raise self.error("text follows the JSON value", line=line, part=part)
        return value, notes

    def value_at(
        self, text: str, start: int, *, line: int | None = None, part: str = ""
    ) -> tuple[Any, int, tuple[str, ...]]:
        """Return the value that begins at ``start``, where it ends, and its notes."""
        self._odd.clear()
        try:
            value, end = self._decoder.raw_decode(text, start)
            if text.find("\\ud", start, end) >= 0 or text.find("\\uD", start, end) >= 0:
                value = self._whole_characters(value)
        except json.JSONDecodeError as error:
            at = line if line is not None else error.lineno
            cut = error.pos >= len(text.rstrip(_BLANK)) or error.msg.startswith("Unterminated string")
            reason = "JSON is cut off" if cut else f"not valid JSON ({error.msg})"
            raise self.error(reason, line=None if part else at, part=part) from error
        except RecursionError as error:
            raise self.error("JSON is nested too deeply", line=line, part=part) from error
        except ValueError as error:
            raise self.error(f"not readable as JSON ({error})", line=line, part=part) from error
        return value, end, tuple(sorted(self._odd))

    def error(self, reason: str, *, line: int | None = None, part: str = "") -> LogError:
        """Return the error that names file, line or part, and reason."""
        return LogError(self.where, f"{part}: {reason}" if part else reason, line=line)

    def _whole_characters(self, value: Any) -> Any:
        # Half a surrogate pair is legal in JSON and cannot be stored as UTF-8.
        if isinstance(value, str):
            if not _SURROGATE.search(value):
                return value
            self._odd.add(REPLACED_SURROGATES)
            return _SURROGATE.sub("\ufffd", value)
        if isinstance(value, list):
            return [self._whole_characters(item) for item in value]
        if isinstance(value, dict):
            return {self._whole_characters(k): self._whole_characters(v) for k, v in value.items()}
        return value


def as_text(value: Any) -> str:
    """A logged value as text: strings as they are, everything else as JSON (``true``, ``1.0``, ``NaN``)."""
    if isinstance(value, str):
        return value
    return repr(value) if type(value) is int else _ENCODER.encode(value)


def as_object(value: Any) -> dict[str, Any]:
    """A logged object; an empty one where the log holds something else."""
    return value if isinstance(value, dict) else {}


def is_id(value: Any) -> bool:
    """Whether a logged value can name something: a text that is not empty, or a whole number."""
    return value != "" if isinstance(value, str) else isinstance(value, int) and not isinstance(value, bool)


def open_log(path: Path, options: ReadOptions) -> IO[bytes]:
    """Open a file, decompressed; a Git LFS pointer, an empty file or a web page is a LogError."""
    where = relative_name(path, options.root)
    try:
        with path.open("rb") as raw:
            head, size = raw.read(_HEAD_BYTES), path.stat().st_size
    except OSError as error:
        raise LogError(where, f"cannot be read ({error.strerror})", hint="check its permissions") from error
    if problem := damage(head, size):
        raise LogError(where, problem)
    return open_bytes(path, options)


def read_text(path: Path, options: ReadOptions) -> tuple[str, tuple[str, ...]]:
    """Return the whole text of a file and notes; more than ``options.max_member_bytes`` is refused."""
    with open_log(path, options) as stream:
        raw = stream.read(options.max_member_bytes + 1)
    if len(raw) > options.max_member_bytes:
        reason = f"larger than the {options.max_member_bytes:,} bytes that are read of one document"
        raise LogError(relative_name(path, options.root), reason)
    text, notes = decode(raw)
    return text.removeprefix("\ufeff"), notes


def decode(raw: bytes) -> tuple[str, tuple[str, ...]]:
    """Return bytes as text (UTF-8, or UTF-16 by its byte-order mark) and a note if some had to be replaced."""
    encoding = "utf-16" if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    try:
        return raw.decode(encoding), ()
    except UnicodeDecodeError:
        return raw.decode(encoding, errors="replace"), (REPLACED_BYTES,)


def read_lines(path: Path, options: ReadOptions, *, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield the values of a JSON Lines file, one at a time, with their line numbers.

    Parameters
    ----------
    path : Path
        File, plain, gzip or zstd.
    options : ReadOptions
        Where names begin, and what a compressed file may expand to.
    max_line_bytes : int
        Longest line that is read.

    Raises
    ------
    LogError
        A line is not JSON, is cut off, or is too long; the error has its number.
    """
    where = relative_name(path, options.root)
    parser = JsonParser(where)
    with open_log(path, options) as stream:
        for number, (text, notes) in enumerate(_text_lines(stream, where, max_line_bytes), start=1):
            if text.strip(_BLANK):
                value, odd = parser.parse(text, line=number)
                yield Line(number, value, notes + odd)


def _text_lines(stream: IO[bytes], where: str, limit: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    first = stream.readline(limit + 1)
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text, notes = decode(first + stream.read())
        yield from ((line, notes) for line in text.split("\n"))
        return
    for number, line in enumerate(chain([first], iter(lambda: stream.readline(limit + 1), b"")), start=1):
        if len(line) > limit:
            raise LogError(where, f"line is longer than {limit:,} bytes", line=number)
        yield decode(line)


def walk_object(text: str, where: str, *, stream: str | tuple[str, ...]) -> Iterator[Member]:
    """Yield the members of one JSON object in order, the items of its array ``stream`` one at a time.

    ``stream`` may be a path into nested objects, ``("results", "rows")``; the members of an object on the
    path come one at a time as well, under the keys ``results.rows`` and so on.
    """
    parser = JsonParser(where, note_duplicates=False)
    at = yield from _walk(text, _skip(text, 0), parser, (stream,) if isinstance(stream, str) else stream, "")
    if _skip(text, at) != len(text):
        raise parser.error("text follows the JSON value")


def _walk(text: str, at: int, parser: JsonParser, path: tuple[str, ...], prefix: str) -> Generator[Member, None, int]:
    """Members of the object that begins at ``at``; returns where it ends."""
    at = _after(text, at, "{", parser)
    while not text.startswith("}", at):
        key, at, _ = parser.value_at(text, at)
        if not isinstance(key, str):
            raise parser.error("not valid JSON (a key is no text)")
        at = _after(text, _skip(text, at), ":", parser)
        name = prefix + key
        if key == path[0] and len(path) > 1 and text.startswith("{", at):
            at = yield from _walk(text, at, parser, path[1:], f"{name}.")
        elif key == path[0] and len(path) == 1 and text.startswith("[", at):
            yield Member(name, [])
            at = yield from _walk_array(text, at, parser, name)
        else:
            value, at, notes = parser.value_at(text, at)
            yield Member(name, value, None, notes)
        at = _next(text, at, "}", parser)
    return at + 1


def _walk_array(text: str, at: int, parser: JsonParser, key: str) -> Generator[Member, None, int]:
    at = _skip(text, at + 1)
    index = 0
    while not text.startswith("]", at):
        item, at, notes = parser.value_at(text, at)
        yield Member(key, item, index, notes)
        index += 1
        at = _next(text, at, "]", parser)
    return at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _after(text: str, at: int, mark: str, parser: JsonParser) -> int:
    at = _skip(text, at)
    if not text.startswith(mark, at):
        raise parser.error("JSON is cut off" if at >= len(text) else f"not valid JSON (expected {mark!r})")
    return _skip(text, at + 1)


def _next(text: str, at: int, end: str, parser: JsonParser) -> int:
    at = _skip(text, at)
    return at if text.startswith(end, at) else _after(text, at, ",", parser)


@lru_cache(maxsize=4)  # every importer asks for those of the same head
def top_level_keys(text: str) -> tuple[str, ...]:
    """Keys of the first object in a text that may be cut off anywhere (of a list: of its first item)."""
    keys: list[str] = []
    stack: list[str] = []
    last = ""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in ("{", "["):
            stack.append(token)
        elif token in ("}", "]"):
            if stack[:1] == ["["] and len(stack) == 2 and token == "}":
                break
            stack = stack[:-1]
            if not stack:
                break
        elif token == ":":
            if stack in (["{"], ["[", "{"]):
                keys.append(last)
        else:
            last = token[1:-1]
    return tuple(keys)
