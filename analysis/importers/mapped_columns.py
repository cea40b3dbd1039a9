"""``[map]`` of ``study.toml`` on the raw rows of a file: dotted paths into JSON text, columns that come and go."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import AnalysisError, LogError
from analysis.importers.raw_rows import RawBatch
from analysis.schema.map_rules import MapRule, as_text
from analysis.schema.mapping import map_columns

#: Sources that every file has: the number of the record in it, from 1, and its name.
ROW, FILE = PLACE_SOURCES = ("@row", "@file")


@dataclass(slots=True)
class MappedColumns:
    """Applies the rules to the batches of one file, and remembers which sources it has.

    A record without a source has a missing value there, as in a JSON Lines file whose keys vary; a
    source that no record of the file has is an error, unless its rule has a default. ``per_record`` rows
    in a row are one record of the file (tables with a column per model).
    """

    rules: Mapping[str, MapRule]
    file: str
    per_record: int = 1
    _found: set[str] = field(default_factory=set)
    _rows: int = 0

    def applied(self, raw: RawBatch) -> RawBatch:
        """Batch with the mapped columns added or replaced."""
        if not self.rules:
            return raw
        columns = dict(zip(raw.rows.schema.names, raw.rows.columns, strict=True))
        places = self._places(raw.rows.num_rows)
        for source in self._sources():
            if source not in columns:
                column = places.get(source) if source in places else _path_values(columns, source)
                if column is not None:
                    self._found.add(source)
                columns[source] = pa.nulls(raw.rows.num_rows, pa.string()) if column is None else column
            else:
                self._found.add(source)
        try:
            mapped = map_columns(self.rules, pa.RecordBatch.from_pydict(columns), typed=False)
        except AnalysisError as error:
            raise AnalysisError(f"{self.file}: {error}", offenders=error.offenders) from error
        kept = [name for name in mapped.schema.names if name in self.rules or name in raw.rows.schema.names]
        return replace(raw, rows=mapped.select(kept))

    def finish(self, rows: int) -> None:
        """Raise for a source that no record had."""
        for column, rule in self.rules.items():
            absent = [source for source in rule.sources if source not in self._found]
            if rows and absent and rule.default is None:
                raise LogError(
                    self.file,
                    f'no record has "{absent[0]}", which [map] {column} of study.toml reads',
                    hint='correct the name, or add default = "" to the rule',
                )

    def _places(self, rows: int) -> dict[str, pa.Array]:
        first, self._rows = self._rows + 1, self._rows + rows
        numbers = pa.array([1 + (row - 1) // self.per_record for row in range(first, first + rows)], pa.int64())
        return {ROW: pc.cast(numbers, pa.string()), FILE: pa.repeat(self.file, rows)}

    def _sources(self) -> list[str]:
        return list(dict.fromkeys(source for rule in self.rules.values() for source in rule.sources))


def _path_values(columns: Mapping[str, pa.Array], source: str) -> pa.Array | None:
    """Values at a dotted path into a column of JSON text; None where no record has the path."""
    first, *steps = source.split(".")
    if not steps or first not in columns:
        return None
    values = [_at(text, steps) for text in columns[first].to_pylist()]
    return pa.array(values, pa.string()) if any(v is not None for v in values) else None


def _at(text: Any, steps: list[str]) -> str | None:
    if not isinstance(text, str) or text[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text, parse_float=str, parse_int=str)
    except ValueError:
        return None
    for step in steps:
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return None
    return as_text(value)
