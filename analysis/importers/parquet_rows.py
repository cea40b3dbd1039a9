"""Parquet files as rows: types kept where they are numbers, everything else turned into text."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.errors import LogError
from analysis.importers.byte_streams import GZIP_MAGIC, ZSTD_MAGIC, open_bytes, relative_name
from analysis.importers.protocol import Probe, ReadOptions
from analysis.importers.raw_rows import RawBatch, check_names
from analysis.schema.responses import COLUMNS, SCHEMA_VERSION

MAGIC = b"PAR1"
#: Key of the metadata that ``StoreWriter`` puts into its files.
STORE_MARK = b"evenhand.schema"
ROWS = 1 << 16
_TYPED = frozenset(c.name for c in COLUMNS if c.kind != "text")


def parquet_names(probe: Probe) -> tuple[str, ...]:
    """Column names of a Parquet file; none where it is damaged."""
    try:
        return tuple(pq.read_schema(_source(probe.path, ReadOptions(probe.path.parent))).names)
    except (LogError, pa.ArrowException, OSError, ValueError):
        return ()


def is_store(path: Path) -> bool:
    """Whether a file is a store that Evenhand wrote: mapped, scaled and read already."""
    try:
        with path.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                return False
        return STORE_MARK in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError, ValueError):
        return False


def _check_version(file: pq.ParquetFile, name: str) -> None:
    """Refuse a store in a version of the schema that this one cannot know."""
    mark = (file.schema_arrow.metadata or {}).get(STORE_MARK)
    if mark is not None and mark != str(SCHEMA_VERSION).encode():
        version = mark.decode("utf-8", "replace")[:20]
        reason = f"written in version {version} of the standard schema; this program reads version {SCHEMA_VERSION}"
        raise LogError(name, reason, hint="import the logs again, or use the program that wrote the file")


def parquet_batches(path: Path, options: ReadOptions) -> Iterator[RawBatch]:
    """Rows in file order, numbered from 1 (``#n``).

    Raises
    ------
    LogError
        Damaged, encrypted, or with columns that cannot be told apart.
    """
    name = relative_name(path, options.root)
    try:
        with pq.ParquetFile(_source(path, options)) as file:
            _check_version(file, name)
            check_names(file.schema_arrow.names, name)
            first = 1
            for batch in file.iter_batches(batch_size=ROWS):
                places = pa.array(range(first, first + batch.num_rows), pa.int64())
                yield RawBatch(_plain(batch), places, "#")
                first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise LogError(name, f"damaged Parquet file ({str(error).splitlines()[0]})", hint="copy it again") from error


def _source(path: Path, options: ReadOptions) -> Any:
    with path.open("rb") as raw:
        magic = raw.read(4)
    if not magic.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
        return path
    with open_bytes(path, options) as stream:
        return pa.BufferReader(stream.read())


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        column if name in _TYPED and _is_number(column.type) else text_column(column)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.record_batch(columns, names=batch.schema.names)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def text_column(column: pa.Array) -> pa.Array:
    """Values as text: ``true``/``false``, shortest form of a number, ISO times, JSON for nested ones."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return text_column(column.dictionary_decode())
    if pa.types.is_string(kind):
        return column
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_integer(kind):
        return pc.cast(column, pa.string())
    return pa.array([_text(value) for value in column.to_pylist()], pa.string())


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(value).replace("inf", "Infinity")
    if isinstance(value, (list, dict, tuple)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
