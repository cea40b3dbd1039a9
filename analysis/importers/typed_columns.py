"""Raw columns under schema names: numbers cast with the line at fault, other columns named as extras."""

import math
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import LogError
from analysis.importers.parquet_rows import text_column
from analysis.importers.protocol import Batch
from analysis.importers.raw_rows import RawBatch
from analysis.schema.number_texts import number_of
from analysis.schema.quoting import shown
from analysis.schema.responses import ARROW_TYPES, COLUMN_BY_NAME, EXTRA_PREFIXES

REQUIRED = ("model", "item")
_NAMED = 5
_CORRECT = "correct it, or name the right column under [map] in study.toml"
_LEFT_OUT = 'if the column is something else, {name} = {{ value = "" }} there leaves it out'
_AS_TEXT = (
    "write a number such as 0.38 or 38%, or have the column read as text: "
    'output = "probability" (the name of the column) and probability = { value = "" } under [map] in study.toml'
)
#: Columns in which a percent sign is part of a number.
_SHARES = ("probability", "truth", "p_yes", "logged_score", "score_value")
_FLAGS = {"true": True, "false": False, "1": True, "0": False}


@dataclass(slots=True)
class StandardColumns:
    """Turns the raw batches of one file into batches of the schema, and remembers what the file lacks.

    ``declared`` are columns outside the schema that ``study.toml`` names: they keep their names. ``hundred`` is what
    100 % is in the column ``probability``: 100 where its numbers are declared to be percent.
    """

    file: str
    declared: tuple[str, ...] = ()
    hundred: float = 1.0
    rows: int = 0
    lacking: dict[str, list[str]] = field(default_factory=dict)
    lack_count: dict[str, int] = field(default_factory=dict)
    _first_odd: dict[tuple[str, str], str] = field(default_factory=dict)

    def batch(self, raw: RawBatch) -> Batch:
        """One batch in the schema's types; numbers that are none raise a LogError with their line."""
        self.rows += raw.rows.num_rows
        given = dict(zip(raw.rows.schema.names, raw.rows.columns, strict=True))
        sources = raw.sources(self.file)
        self._count_lacking(given, raw.places)
        notes = list(raw.notes)
        columns: dict[str, pa.Array] = {}
        for name, column in given.items():
            known = COLUMN_BY_NAME.get(name)
            if known is None:
                columns[self.extra_name(name)] = text_column(column)
            elif known.kind == "text":
                columns[name] = text_column(column)
            else:
                columns[name], odd = self._typed(name, known.kind, column, sources, decimal_comma=raw.decimal_comma)
                notes += odd
        columns["source"] = pc.coalesce(columns["source"], sources) if "source" in columns else sources
        if "logged_score" in columns:
            columns["score_value"], odd = self._score_values(columns, sources, decimal_comma=raw.decimal_comma)
            notes += odd
        return Batch(pa.record_batch(list(columns.values()), names=list(columns)), notes=tuple(notes))

    def extra_name(self, name: str) -> str:
        """Name under which a column outside the schema is kept."""
        return name if name.startswith(EXTRA_PREFIXES) or name in self.declared else f"meta.{name}"

    def finish(self) -> None:
        """Raise once for all records of the file that lack a required value."""
        for name in REQUIRED:
            if count := self.lack_count.get(name, 0):
                listed = ", ".join(self.lacking[name]) + (", …" if count > _NAMED else "")
                raise LogError(
                    self.file,
                    f'{count:,} of {self.rows:,} records lack "{name}" ({listed})',
                    hint="fill it in, or name the column that holds it under [map] in study.toml",
                )

    def _count_lacking(self, given: dict[str, pa.Array], places: pa.Array) -> None:
        for name in REQUIRED:
            column = given.get(name)
            empty = (
                pa.array([True] * len(places))
                if column is None
                else pc.or_kleene(pc.is_null(column), pc.equal(text_column(column), ""))
            )
            where = places.filter(empty)
            if len(where):
                self.lack_count[name] = self.lack_count.get(name, 0) + len(where)
                listed = self.lacking.setdefault(name, [])
                listed += [str(p) for p in where.slice(0, _NAMED - len(listed)).to_pylist()]

    def _typed(
        self, name: str, kind: str, column: pa.Array, sources: pa.Array, *, decimal_comma: bool
    ) -> tuple[pa.Array, list[str]]:
        if pa.types.is_string(column.type):
            column = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.equal(column, ""), None, column)
        if kind == "flag":
            return self._flags(name, column, sources), []
        numbers, said = self._numbers(name, column, sources, decimal_comma=decimal_comma)
        finite, notes = self._finite(name, numbers, sources)
        notes = [*said, *notes]
        if kind == "number":
            return finite, notes
        return self._integers(name, finite, sources), notes

    def _numbers(
        self, name: str, column: pa.Array, sources: pa.Array, *, decimal_comma: bool
    ) -> tuple[pa.Array, list[str]]:
        try:
            return pc.cast(column, pa.float64(), safe=False), []
        except pa.ArrowInvalid:
            texts = [None if value is None else str(value) for value in column.to_pylist()]
        numbers, notes = [], []
        for text, source in zip(texts, sources, strict=True):
            number = None if text is None else self._number(name, text, decimal_comma=decimal_comma)
            if text is not None and number is None:
                raise self._error(name, "a number", text, source.as_py())
            if text is not None and number is not None and not _castable(text):
                notes.append(self._read_as(name, text, number))
            numbers.append(number)
        return pa.array(numbers, pa.float64()), notes

    def _number(self, name: str, text: str, *, decimal_comma: bool) -> float | None:
        hundred = (self.hundred if name == "probability" else 1.0) if name in _SHARES else None
        return number_of(text, hundred=hundred, decimal_comma=decimal_comma)

    def _read_as(self, name: str, text: str, number: float) -> str:
        """Sentence on a number that is not written as programs write it, with the first one of its kind in the file."""
        what = "percent signs" if "%" in text else "decimal commas"
        example = self._first_odd.setdefault((what, name), f"{shown(text)} as {number:g}")
        return f"{name}: numbers with {what} are read, {example}"

    def _finite(self, name: str, numbers: pa.Array, sources: pa.Array) -> tuple[pa.Array, list[str]]:
        finite = pc.fill_null(pc.is_finite(numbers), True)
        if pc.all(finite).as_py() is not False:
            return numbers, []
        notes = [
            self._odd(f"invalid {name}", _number_name(value), source)
            for ok, value, source in zip(finite.to_pylist(), numbers.to_pylist(), sources.to_pylist(), strict=True)
            if not ok
        ]
        return pc.if_else(finite, numbers, None), notes

    def _integers(self, name: str, numbers: pa.Array, sources: pa.Array) -> pa.Array:
        try:
            return pc.cast(numbers, pa.int64())
        except pa.ArrowInvalid:
            values = numbers.to_pylist()
            bad = next(i for i, v in enumerate(values) if v is not None and (v != int(v) or abs(v) >= 2**63))
        raise self._error(name, "a whole number", repr(values[bad]), sources[bad].as_py())

    def _flags(self, name: str, column: pa.Array, sources: pa.Array) -> pa.Array:
        if pa.types.is_boolean(column.type):
            return column
        values = [None if v is None else str(v).lower() for v in column.to_pylist()]
        for value, source in zip(values, sources, strict=True):
            if value is not None and value not in _FLAGS:
                raise self._error(name, "true or false", value, source.as_py())
        return pa.array([None if v is None else _FLAGS[v] for v in values], pa.bool_())

    def _error(self, name: str, wanted: str, value: object, source: str) -> LogError:
        place = source.rsplit(":", 1)[1] if source.startswith(f"{self.file}:") else ""
        where = "" if place else f" in record {source.rsplit('#', 1)[1]}"
        return LogError(
            self.file,
            f"{name} must be {wanted}, found {shown(str(value))}{where}",
            line=int(place) if place else None,
            hint=_AS_TEXT if name == "probability" else f"{_CORRECT}; {_LEFT_OUT.format(name=name)}",
        )

    def _score_values(
        self, columns: dict[str, pa.Array], sources: pa.Array, *, decimal_comma: bool
    ) -> tuple[pa.Array, list[str]]:
        """``logged_score`` where it is a finite number; a stated ``score_value`` wins."""
        encoded = pc.dictionary_encode(columns["logged_score"])
        texts = encoded.dictionary.to_pylist()
        numbers = [self._number("logged_score", text, decimal_comma=decimal_comma) for text in texts]
        odd = {i for i, number in enumerate(numbers) if number is not None and not math.isfinite(number)}
        told = {i: n for i, n in enumerate(numbers) if n is not None and i not in odd and not _castable(texts[i])}
        notes = (
            [
                self._odd("invalid score", texts[index], source)
                if index in odd
                else self._read_as("logged_score", texts[index], told[index])
                for index, source in zip(encoded.indices.to_pylist(), sources.to_pylist(), strict=True)
                if index in odd or index in told
            ]
            if odd or told
            else []
        )
        clean = [None if i in odd else number for i, number in enumerate(numbers)]
        values = pa.array(clean, ARROW_TYPES["number"]).take(encoded.indices)
        given = columns.get("score_value")
        return (values if given is None else pc.coalesce(given, values)), notes

    def _odd(self, what: str, value: str, source: str) -> str:
        first = self._first_odd.setdefault((what, value), source)
        return f"{what} {value} (no number is kept), first at {first}"


def _castable(value: object) -> bool:
    if value is None or not isinstance(value, str):
        return True
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value


def _number_name(value: float) -> str:
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
