"""Tables with one row per item and one column per model, as ``[wide]`` of ``study.toml`` describes them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.mapped_columns import MappedColumns
from analysis.importers.parquet_rows import text_column
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.importers.raw_rows import RawBatch
from analysis.importers.standard import column_names, raw_batches
from analysis.importers.typed_columns import StandardColumns
from analysis.schema.map_rules import MapRule
from analysis.schema.probability_scale import hundred_percent
from analysis.schema.responses import COLUMN_BY_NAME, RESPONSE_FIELDS, Response
from analysis.schema.status import Status
from analysis.schema.study import Study, Wide

NAME = "wide table"
VERSIONS = "CSV, TSV, JSON Lines, JSON, Parquet"
BY_ROW = "no item column: items are the numbers of the rows"
EMPTY = "an empty cell is a missing response"


def sniff(_probe: Probe) -> Claim:
    """Claim nothing: only ``study.toml`` tells which columns are models."""
    return Claim.NO


def sniff_wide(probe: Probe, wide: Wide, rules: Mapping[str, MapRule]) -> Claim:
    """Claim tables that have one of the declared columns and no column ``model``."""
    names = column_names(probe)
    return Claim.LOG if "model" not in names and model_columns(names, wide, _reserved(rules, ())) else Claim.NO


def model_columns(names: Sequence[str], wide: Wide, reserved: Collection[str]) -> tuple[str, ...]:
    """Columns that are models, in the order of the table.

    A name is that column; a pattern (``*`` any text, ``?`` one character) is every column that fits it but
    those of the schema and the ``reserved`` ones.
    """
    patterns = [re.compile(_pattern(text), re.DOTALL) for text in wide.models]
    return tuple(
        name
        for name in names
        if name in wide.models
        or (name not in COLUMN_BY_NAME and name not in reserved and any(p.fullmatch(name) for p in patterns))
    )


def _pattern(text: str) -> str:
    return re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")


def _reserved(rules: Mapping[str, MapRule], declared: Collection[str]) -> set[str]:
    sources = {source for rule in rules.values() for source in rule.sources}
    return sources | {source.split(".")[0] for source in sources} | set(declared)


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per row, with a response for every model.

    Raises
    ------
    LogError
        No declared column is in the table, it is damaged, or a cell has text for a number.
    AnalysisError
        ``[map]`` does not fit the file.
    """
    where = relative_name(path, options.root)
    wide = options.study.wide
    if wide is None:
        raise LogError(where, "no [wide] in study.toml says which columns are models")
    reader = _Reader(where, options.study, wide)
    for raw in raw_batches(path, options):
        yield from reader.records(raw)
    reader.finish()


class _Reader:
    """Turns the raw rows of one wide table into records."""

    def __init__(self, where: str, study: Study, wide: Wide) -> None:
        declared = tuple(column for columns in study.columns.values() for column in columns)
        self._where, self._wide, self._rules, self._declared = where, wide, dict(study.map), declared
        others = tuple(c for c in declared if c not in COLUMN_BY_NAME)
        self._typed = StandardColumns(where, others, hundred_percent(study))
        self._mapping: MappedColumns | None = None
        self._rows = 0

    def records(self, raw: RawBatch) -> Iterator[Record]:
        """Records of consecutive rows."""
        names = raw.rows.schema.names
        models = model_columns(names, self._wide, _reserved(self._rules, self._declared))
        if not models:
            raise LogError(self._where, "has none of the columns that [wide] models names", line=1)
        by_row = "item" not in names and "item" not in self._rules
        long = self._long(raw, models, by_row=by_row)
        if self._mapping is None:
            self._mapping = MappedColumns(self._fitting(long.rows.schema.names), self._where, len(models))
        batch = self._typed.batch(self._mapping.applied(long))
        rows = [_response(row, self._wide.value) for row in batch.rows.to_pylist()]
        notes = batch.notes + ((BY_ROW,) if by_row and not self._rows else ())
        self._rows += raw.rows.num_rows
        for start in range(0, len(rows), len(models)):
            responses = tuple(rows[start : start + len(models)])
            empty = (EMPTY,) * sum(response.status == Status.MISSING for response in responses)
            yield Record(responses[0].source or self._where, responses, notes=notes + empty)
            notes = ()

    def finish(self) -> None:
        """Raise for rules of ``[map]`` and required columns that no record had."""
        if not self._rows:
            raise LogError(self._where, "no rows below the header")
        if self._mapping is not None:
            self._mapping.finish(self._rows)
        self._typed.finish()

    def _fitting(self, names: Sequence[str]) -> dict[str, MapRule]:
        """Rules but one for the model that reads a column of other files: here the columns are the models."""
        model = self._rules.get("model")
        skip = model is not None and model.source not in names
        return {column: rule for column, rule in self._rules.items() if column != "model" or not skip}

    def _long(self, raw: RawBatch, models: tuple[str, ...], *, by_row: bool) -> RawBatch:
        """One row per cell, row by row."""
        count = raw.rows.num_rows
        take = pa.array([row for row in range(count) for _ in models], pa.int64())
        cells = [text_column(raw.rows.column(name)).to_pylist() for name in models]
        columns: dict[str, pa.Array] = {
            name: column.take(take)
            for name, column in zip(raw.rows.schema.names, raw.rows.columns, strict=True)
            if name not in models
        }
        if by_row:
            numbers = pa.array(range(self._rows + 1, self._rows + count + 1), pa.int64())
            columns["item"] = pc.cast(numbers, pa.string()).take(take)
        columns["model"] = pa.array(list(models) * count, pa.string())
        columns[self._wide.value] = pa.array([cell for row in zip(*cells, strict=True) for cell in row], pa.string())
        rows = pa.RecordBatch.from_pydict(columns)
        return replace(raw, rows=rows, places=raw.places.take(take))


def _response(row: Mapping[str, Any], value: str) -> Response:
    extra = {k: v for k, v in row.items() if k not in COLUMN_BY_NAME and v is not None}
    columns = {k: v for k, v in row.items() if k in RESPONSE_FIELDS and v is not None}
    response = Response(**columns | {"model": columns.get("model", ""), "item": columns.get("item", "")}, extra=extra)
    if row.get(value) is None and response.status is None:
        return replace(response, status=Status.MISSING, status_detail="empty cell")
    return response
