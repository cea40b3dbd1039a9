"""JSON Lines and JSON arrays as rows of text, number literals exact.

JSON Lines go through DuckDB a stretch of lines at a time. DuckDB rewrites numbers (``1.50``, ``1e5``),
accepts trailing commas and takes the first of two equal keys; a stretch that may hold any of these, or
that DuckDB rejects, goes through Python's parser instead, which is exact and knows the line at fault.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import LogError
from analysis.importers.byte_streams import utf8_chunks
from analysis.importers.json_text import REPLACED_SURROGATES
from analysis.importers.raw_rows import BATCH_ROWS, MAX_COLUMNS, RawBatch, check_names, text_batch
from analysis.schema.responses import COLUMNS

CHUNK_BYTES = 8 << 20
#: A stretch this short is parsed before DuckDB has started, which matters where a log is thousands of files.
SMALL_BYTES = 256 << 10
#: One record may be this long: agents' transcripts reach some megabytes, and reading takes ten times the memory.
MAX_LINE_BYTES = 64 << 20
TOO_DEEP = "JSON nested too deeply"
_NUMBERS = frozenset(c.name for c in COLUMNS if c.kind in {"number", "integer"})
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_ .:/@+\-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: After the key of a text column: what DuckDB would write differently.
_REWRITTEN = (
    r"(?:[\[{]|-?\d+(?:\.\d+)?[eE]|-?\d+\.\d{15,}|-?\d{15,}|-?\d+\.\d+0[\s,}]|-?0\.000|-0[\s,}]"
    r"|-?[Ii]nf|-?[Nn]a[Nn])"
)
#: Anywhere: what DuckDB accepts and JSON does not, and keys hidden behind escapes.
_LENIENT = r'|,\s*[}\]]|"[^"\\]*\\u00[2-7][^"]*"\s*:'


class _Literal(float):
    """A number that remembers how it was written."""

    literal: str

    def __new__(cls, literal: str) -> "_Literal":
        number = super().__new__(cls, literal)
        number.literal = literal
        return number


class _Repeated(ValueError):
    """An object has the same key twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Repeated(f'has the key "{twice}" twice in one object')
    return found


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_Literal, parse_int=_Literal, parse_constant=_Literal
)


def _nested(value: Any) -> str:
    """Compact JSON text of a nested value, its numbers as they were written."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{_nested(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_nested(v) for v in value) + "]"
    if isinstance(value, _Literal):
        return value.literal
    return json.dumps(value, ensure_ascii=False)


def _text(value: Any) -> str | None:
    if value is None or type(value) is str:
        return value
    return _nested(value)


def _at(value: Any, place: int, mark: str, file: str) -> str | None:
    """Text of a value; writing it out takes a deeper stack than parsing it did."""
    try:
        return _text(value)
    except RecursionError as error:
        raise LogError(file, TOO_DEEP, line=place if mark == ":" else None) from error


def _parse(text: str, file: str, line: int | None) -> dict[str, Any]:
    try:
        value = _DECODER.decode(text)
    except _Repeated as error:
        raise LogError(file, str(error), line=line) from error
    except json.JSONDecodeError as error:
        raise LogError(file, f"not valid JSON ({error.msg}, column {error.colno})", line=line) from error
    except RecursionError as error:
        raise LogError(file, TOO_DEEP, line=line) from error
    if not isinstance(value, dict):
        raise LogError(file, "not a JSON object", line=line)
    return value


def object_batch(objects: Iterable[dict[str, Any]], places: list[int], mark: str, file: str) -> RawBatch:
    """Parsed objects as one batch of text; a key that some lack is missing there."""
    rows = list(objects)
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    check_names(tuple(names), file, line=places[0] if mark == ":" else None)
    placed = list(zip(rows, places, strict=True))
    columns = {name: [_at(row.get(name), place, mark, file) for row, place in placed] for name in names}
    try:
        return RawBatch(text_batch(columns), pa.array(places, pa.int64()), mark)
    except UnicodeEncodeError:
        return _without_surrogates(columns, places, mark)


def _without_surrogates(columns: dict[str, list[str | None]], places: list[int], mark: str) -> RawBatch:
    count = 0
    clean: dict[str, list[str | None]] = {}
    for name, values in columns.items():
        count += sum(1 for value in values if value and _SURROGATE.search(value))
        clean[_SURROGATE.sub("\ufffd", name)] = [value and _SURROGATE.sub("\ufffd", value) for value in values]
    return RawBatch(text_batch(clean), pa.array(places, pa.int64()), mark, (REPLACED_SURROGATES,) * count)


def json_line_batches(stream: IO[bytes], file: str) -> Iterator[RawBatch]:
    """Records of a JSON Lines file in order; lines end at ``\\n`` alone, blank ones are no records.

    Raises
    ------
    LogError
        With the line: not valid JSON or UTF-8, not an object, a key twice.
    """
    with ExitStack() as stack:
        con = None
        for places, lines in _line_chunks(stream, file):
            batch = None
            if sum(map(len, lines)) > SMALL_BYTES:
                con = con or stack.enter_context(duckdb.connect())
                batch = _fast(con, places, lines)
            yield batch if batch is not None else _exact(places, lines, file)


def _line_chunks(stream: IO[bytes], file: str) -> Iterator[tuple[list[int], list[bytes]]]:
    rest, first = b"", 1
    for chunk in utf8_chunks(stream, file, CHUNK_BYTES):
        head, found, tail = chunk.rpartition(b"\n")
        rest = rest + head if found else rest
        if found:
            yield from _numbered(rest, first)
            first += rest.count(b"\n") + 1
            rest = tail
        else:
            rest += chunk
        if len(rest) > MAX_LINE_BYTES:
            raise LogError(file, f"has a line of more than {MAX_LINE_BYTES:,} bytes", line=first)
    yield from _numbered(rest, first)


def _numbered(block: bytes, first: int) -> Iterator[tuple[list[int], list[bytes]]]:
    lines = block.split(b"\n")
    places = list(range(first, first + len(lines)))
    if not all(lines) or any(map(bytes.isspace, lines)):
        kept = [(place, line) for place, line in zip(places, lines, strict=True) if line.strip()]
        places, lines = [place for place, _ in kept], [line for _, line in kept]
    if lines:
        yield places, lines


def _fast(con: duckdb.DuckDBPyConnection, places: list[int], lines: list[bytes]) -> RawBatch | None:
    """The rows as DuckDB parses them, or None where that would not be exact."""
    try:
        table = pa.table({"place": pa.array(places, pa.int64()), "line": pa.array(lines, pa.string())})
        con.register("lines", table)
        key_lists = [row[0] for row in con.execute("SELECT DISTINCT json_keys(line) FROM lines").fetchall()]
        keys = _plain_keys(key_lists)
        if keys is None or _any_match(table["line"], _rewritten(keys)):
            return None
        spec = json.dumps(dict.fromkeys(keys, "VARCHAR"))
        rows = con.sql("SELECT place, unnest(json_transform(line, $1)) FROM lines", params=[spec]).to_arrow_table()
    except (pa.ArrowInvalid, duckdb.Error):
        return None
    batch = rows.combine_chunks().to_batches()[0]
    columns = [batch.column(i + 1) for i in range(len(keys))]
    return RawBatch(pa.record_batch(columns, names=list(keys)), batch.column(0), ":")


def _plain_keys(key_lists: list[list[str] | None]) -> tuple[str, ...] | None:
    """All keys in order of appearance; None where a line is no object or keys need care."""
    keys: dict[str, None] = {}
    for names in sorted(key_lists, key=lambda found: (-len(found or ()), found or [])):
        if not names or len({name.casefold() for name in names}) < len(names):
            return None
        keys.update(dict.fromkeys(names))
    plain = all(_PLAIN_KEY.fullmatch(name) for name in keys)
    distinct = len({name.casefold() for name in keys}) == len(keys)
    return tuple(keys) if plain and distinct and len(keys) <= MAX_COLUMNS else None


def _rewritten(keys: tuple[str, ...]) -> str:
    text_keys = "|".join(re.escape(key) for key in keys if key not in _NUMBERS)
    return rf'"(?:{text_keys})"\s*:\s*{_REWRITTEN}{_LENIENT}'


def _any_match(lines: pa.ChunkedArray, pattern: str) -> bool:
    # Arrow's RE2 is thirty times as fast here as the re module.
    return bool(pc.any(pc.match_substring_regex(lines, pattern)).as_py())


def _exact(places: list[int], lines: list[bytes], file: str) -> RawBatch:
    objects = []
    for place, line in zip(places, lines, strict=True):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise LogError(file, "not valid UTF-8", line=place, hint="save the file as UTF-8") from error
        objects.append(_parse(text, file, place))
    return object_batch(objects, places, ":", file)


def json_array_batches(stream: IO[bytes], file: str) -> Iterator[RawBatch]:
    """Elements of one JSON array of objects, numbered from 1 (``#n``: many arrays are a single line)."""
    text = _decoded(b"".join(utf8_chunks(stream, file, CHUNK_BYTES)), file)
    objects: list[dict[str, Any]] = []
    first = 1
    for value in _elements(text, file):
        objects.append(value)
        if len(objects) == BATCH_ROWS:
            yield object_batch(objects, list(range(first, first + len(objects))), "#", file)
            first, objects = first + len(objects), []
    if objects:
        yield object_batch(objects, list(range(first, first + len(objects))), "#", file)


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LogError(file, "not valid UTF-8", line=line, hint="save the file as UTF-8") from error


_BLANK = re.compile(r"[ \t\r\n]*")


def _after_blanks(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _elements(text: str, file: str) -> Iterator[dict[str, Any]]:
    at = _after_blanks(text, _after_blanks(text, 0) + 1)
    if text[at : at + 1] == "]":
        return
    while True:
        value, at = _element(text, at, file)
        yield value
        at = _after_blanks(text, at)
        if text[at : at + 1] == "]" and not text[at + 1 :].strip():
            return
        if text[at : at + 1] != ",":
            raise LogError(file, "the JSON array is cut off or damaged", line=text.count("\n", 0, at) + 1)
        at = _after_blanks(text, at + 1)


def _element(text: str, at: int, file: str) -> tuple[dict[str, Any], int]:
    line = text.count("\n", 0, at) + 1 if at < 1 << 16 else None
    try:
        value, end = _DECODER.raw_decode(text, at)
    except _Repeated as error:
        raise LogError(file, str(error), line=line) from error
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", line)
        raise LogError(file, f"not valid JSON ({getattr(error, 'msg', 'nested too deeply')})", line=line) from error
    if not isinstance(value, dict):
        raise LogError(file, "holds something else than objects in its array", line=line)
    return value, end
