"""Batches of responses on their way into the store: built from records, completed, and taken out again."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.importers.protocol import Record
from analysis.reduction.reconciliation import FileAccount
from analysis.schema.responses import ARROW_TYPES, COLUMNS, Response, record_batch
from analysis.schema.store import StoreWriter

BATCH_ROWS = 8192
#: A batch of records is closed early when its texts reach this many characters: transcripts are long.
BATCH_TEXT = 16 << 20
_DEFAULTS = {"task": "", "sample": "0"}


def record_batches(records: Iterator[Record], account: FileAccount) -> Iterator[pa.RecordBatch]:
    """Responses of the records in batches, every record counted in ``account``."""
    responses: list[Response] = []
    text = 0
    for record in records:
        account.add_record(record)
        responses += record.responses
        text += sum(len(r.output or "") + len(r.prompt or "") + len(r.reasoning or "") for r in record.responses)
        if len(responses) >= BATCH_ROWS or text >= BATCH_TEXT:
            yield _batch(responses)
            responses, text = [], 0
    if responses:
        yield _batch(responses)


def _batch(responses: list[Response]) -> pa.RecordBatch:
    extra = dict.fromkeys(name for response in responses for name in response.extra)
    return record_batch(responses, tuple(extra))


def completed(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with every standard column in the schema's order, defaults filled in, then the extras."""
    given = dict(zip(rows.schema.names, rows.columns, strict=True))
    columns = {c.name: given.get(c.name, pa.nulls(rows.num_rows, ARROW_TYPES[c.kind])) for c in COLUMNS}
    for name, value in _DEFAULTS.items():
        columns[name] = pc.fill_null(columns[name], value)
    return pa.RecordBatch.from_pydict({**columns, **given, **{name: columns[name] for name in _DEFAULTS}})


def drop_rows(store: Path, ranges: list[tuple[int, int]]) -> None:
    """Write the store again without some ranges of rows (those of files refused half-way)."""
    parts = sorted(store.glob("part-*.parquet")) if store.is_dir() else [store]
    first = 0
    with StoreWriter(store) as writer:
        for part in parts:
            with pq.ParquetFile(part) as file:
                for batch in file.iter_batches():
                    kept = _kept(batch, first, ranges)
                    first += batch.num_rows
                    if kept.num_rows:
                        writer.write(kept)


def _kept(batch: pa.RecordBatch, first: int, ranges: list[tuple[int, int]]) -> pa.RecordBatch:
    numbers = pa.array(range(first, first + batch.num_rows), pa.int64())
    keep = pa.array([True] * batch.num_rows)
    for start, end in ranges:
        inside = pc.and_(pc.greater_equal(numbers, start), pc.less(numbers, end))
        keep = pc.and_(keep, pc.invert(inside))
    return batch.filter(keep)
