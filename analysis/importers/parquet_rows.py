"""Parquet files as rows: types kept where they are numbers, everything else turned into text."""

import itertools
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from analysis.errors import LogError
from analysis.importers.byte_streams import GZIP_MAGIC, HARMLESS_BYTES, ZSTD_MAGIC, open_bytes, relative_name
from analysis.importers.protocol import Probe, ReadOptions
from analysis.importers.raw_rows import RawBatch, check_names
from analysis.schema.responses import COLUMNS, SCHEMA_VERSION

MAGIC = b"PAR1"
#: Key of the metadata that ``StoreWriter`` puts into its files.
STORE_MARK = b"evenhand.schema"
ROWS = 1 << 16
#: Rows whose texts unfold to more than this go in several batches.
SLICE_BYTES = 64 << 20
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
        source = _source(path, options)
        with pq.ParquetFile(source) as file:
            _check_version(file, name)
            check_names(file.schema_arrow.names, name)
            _check_sizes(file.metadata, name, options)
            texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
        # Texts come as dictionaries: a value that a file holds once and repeats must not be unfolded unseen.
        with pq.ParquetFile(source, read_dictionary=texts) as file:
            first = 1
            for batch in _slices(file.iter_batches(batch_size=ROWS)):
                places = pa.array(range(first, first + batch.num_rows), pa.int64())
                yield RawBatch(_plain(batch), places, "#")
                first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise LogError(name, f"damaged Parquet file ({str(error).splitlines()[0]})", hint="copy it again") from error


def _check_sizes(metadata: pq.FileMetaData, name: str, options: ReadOptions) -> None:
    """Refuse a stretch of rows that expands to more than the options allow."""
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        packed = sum(max(group.column(i).total_compressed_size, 0) for i in range(group.num_columns))
        limit = min(options.max_member_bytes, max(HARMLESS_BYTES, packed * options.max_ratio))
        if group.total_byte_size > limit:
            raise LogError(name, f"expands to {group.total_byte_size:,} bytes, more than the {limit:,} that are read")


def _slices(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows, in batches whose texts stay within a bound when they are unfolded."""
    for batch in batches:
        sizes = np.zeros(batch.num_rows, np.int64)
        for column in batch.columns:
            if pa.types.is_dictionary(column.type):
                sizes += _text_sizes(column)
        parts = np.cumsum(sizes) // SLICE_BYTES
        starts = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), batch.num_rows]
        for start, end in itertools.pairwise(starts):
            yield batch.slice(start, end - start)


def _text_sizes(column: pa.DictionaryArray) -> NDArray[np.int64]:
    """Bytes of each value of a column of texts; a missing one has none."""
    if not pa.types.is_string(column.dictionary.type) or not len(column.dictionary):
        return np.zeros(len(column), np.int64)
    lengths = pc.fill_null(pc.binary_length(column.dictionary), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    indices = pc.fill_null(column.indices, 0).to_numpy(zero_copy_only=False)
    return np.where(column.indices.is_null().to_numpy(zero_copy_only=False), 0, lengths[indices])


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
    plain = pa.record_batch(columns, names=batch.schema.names)
    # Arrow takes bytes for UTF-8 on the file's word.
    plain.validate(full=True)
    return plain


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
