"""CSV and TSV as rows of text: quoting, line ends, encodings and ragged rows decided here."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import LogError
from analysis.importers.byte_streams import open_bytes, relative_name, text_encoding, undecodable
from analysis.importers.protocol import ReadOptions
from analysis.importers.raw_rows import BATCH_ROWS, RawBatch, check_names

DELIMITERS = (",", "\t", ";", "|")
#: A cell may hold this many characters; the csv module's own limit (131,072) is too short for transcripts.
MAX_CELL = 64 << 20


def header_cells(text: str) -> tuple[str, ...]:
    """Cells of the first line, split at the delimiter that gives most of them; a lone word is one cell."""
    return max((tuple(_first_record(text, delimiter)) for delimiter in DELIMITERS), key=len)


def delimiter_of(text: str) -> str:
    """Delimiter that splits the first line into most cells."""
    return max(DELIMITERS, key=lambda delimiter: len(_first_record(text, delimiter)))


def _first_record(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


def csv_records(path: Path, options: ReadOptions, *, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Every record of a delimited file, the header among them, with the line on which it begins.

    For harnesses whose columns repeat names: nothing is asked of the header, and records may differ in width.
    """
    name = relative_name(path, options.root)
    try:
        with open_bytes(path, options) as stream:
            encoding = text_encoding(stream.read(4))
        with open_bytes(path, options) as stream, io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
            reader = csv.reader(text, delimiter=delimiter, strict=True)
            while (read := _records(reader, BATCH_ROWS, name))[1]:
                yield from zip(*read, strict=True)
    except UnicodeError as error:
        raise undecodable(path, options) from error


def csv_batches(path: Path, options: ReadOptions) -> Iterator[RawBatch]:
    """Records of a delimited file in order; an empty cell is missing, every other one is text.

    The place of a record is the line on which it begins. Blank lines are no records.

    Raises
    ------
    LogError
        With the line: ragged row, open quote, repeated column, bytes that are not the encoding.
    """
    name = relative_name(path, options.root)
    with open_bytes(path, options) as stream:
        head = stream.read(1 << 16)
        encoding = text_encoding(head)
        delimiter = delimiter_of(head.decode(encoding, errors="replace"))
    try:
        with open_bytes(path, options) as stream, io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
            reader = csv.reader(text, delimiter=delimiter, strict=True)
            yield from _batches(reader, name, decimal_comma=delimiter != ",")
    except UnicodeError as error:
        raise undecodable(path, options) from error


def _batches(reader: Any, name: str, *, decimal_comma: bool) -> Iterator[RawBatch]:
    _, headers = _records(reader, 1, name)
    header = headers[0] if headers else []
    check_names(header, name, line=1)
    if "" in header:
        raise LogError(name, f"column {header.index('') + 1} has no name", line=1, hint="name it or remove it")
    while True:
        places, records = _records(reader, BATCH_ROWS, name)
        if not records:
            return
        _check_widths(places, records, len(header), name)
        columns = [_cells(column) for column in zip(*records, strict=True)]
        rows = pa.record_batch(columns, names=header)
        yield RawBatch(rows, pa.array(places, pa.int64()), ":", decimal_comma=decimal_comma)


def _cells(column: tuple[str, ...]) -> pa.Array:
    cells = pa.array(column, pa.string())
    return pc.if_else(pc.equal(cells, ""), None, cells)


def _records(reader: Any, count: int, name: str) -> tuple[list[int], list[list[str]]]:
    """At most ``count`` records with the lines they begin on; the cell limit is put back afterwards."""
    places: list[int] = []
    records: list[list[str]] = []
    before = csv.field_size_limit(MAX_CELL)
    start = reader.line_num + 1
    try:
        for row in reader:
            if row:
                places.append(start)
                records.append(row)
                if len(records) == count:
                    break
            start = reader.line_num + 1
    except csv.Error as error:
        raise LogError(name, f"damaged CSV ({error})", line=start, hint="check the quotes") from error
    finally:
        csv.field_size_limit(before)
    return places, records


def _check_widths(places: list[int], records: list[list[str]], width: int, name: str) -> None:
    for place, record in zip(places, records, strict=True):
        if len(record) != width:
            raise ragged(name, len(record), width, line=place)


def ragged(name: str, cells: int, width: int, *, line: int) -> LogError:
    """The error for a row that is not as wide as the header."""
    found = "1 cell" if cells == 1 else f"{cells} cells"
    return LogError(
        name, f"has {found} where the header has {width}", line=line, hint="check its delimiters and quotes"
    )
