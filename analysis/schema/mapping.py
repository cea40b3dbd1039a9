"""Foreign columns mapped to the schema, as ``[map]`` of ``study.toml`` says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import AnalysisError
from analysis.schema.map_rules import MapRule, as_text, joined_text
from analysis.schema.patterns import matched_parts
from analysis.schema.quoting import shown
from analysis.schema.responses import ARROW_TYPES, COLUMN_BY_NAME
from analysis.schema.study_keys import suggestion

__all__ = ["MapRule", "as_text", "map_columns", "map_record"]

#: Longest value that a regular expression of ``study.toml`` is applied to: identifiers are short.
REGEX_SUBJECT: Final = 4096
_NAMED: Final = 5


@dataclass(slots=True)
class _Translation:
    """Texts of one source column translated by a rule, and those that it does not cover."""

    rule: MapRule
    uncovered: list[str] = field(default_factory=list)

    def __call__(self, texts: Sequence[str | None]) -> list[str | None]:
        """What each text becomes; a missing one stays missing."""
        given = list(dict.fromkeys(text for text in texts if text is not None))
        known: dict[str, str | None] = {}
        for text, part in zip(given, _parts(self.rule, given), strict=True):
            covered, result = _translate(self.rule, part)
            if not covered:
                self.uncovered.append(text)
            known[text] = result or None
        return [None if text is None else known[text] for text in texts]


def map_record(rules: Mapping[str, MapRule], record: Mapping[str, Any]) -> dict[str, Any]:
    """Record with the columns of the schema that ``[map]`` fills, beside what it already had.

    Parameters
    ----------
    rules : mapping of str to MapRule
        ``study.map``.
    record : mapping
        One foreign record, of any nesting; it is not changed.

    Returns
    -------
    dict
        The record's own entries, with the mapped columns added or replaced; numbers where the schema
        has numbers, otherwise text.

    Raises
    ------
    AnalysisError
        A source is absent, a value is not covered by ``values`` or ``regex`` and the rule has no
        default, or a text stands where the schema has a number.
    """
    mapped: dict[str, Any] = {}
    for column, rule in rules.items():
        if rule.source is None:
            text = rule.constant or None
        else:
            translation = _Translation(rule)
            parts = [as_text(_at_path(record, column, path, rule)) for path in rule.sources]
            (text,) = translation([joined_text(parts) if rule.joined else parts[0]])
            _refuse_uncovered(column, translation)
        mapped[column] = _typed(column, text)
    return {**record, **mapped}


def map_columns(rules: Mapping[str, MapRule], table: pa.RecordBatch, *, typed: bool = True) -> pa.RecordBatch:
    """Columnar counterpart of ``map_record``: every column kept, the mapped ones added or replaced.

    A source is a column of exactly that name, or else a dotted path into a struct column. Without ``typed`` what is
    mapped stays text, for a reader that types all columns and knows their lines.
    """
    columns = dict(zip(table.schema.names, table.columns, strict=True))
    mapped = {name: _map_column(name, rule, columns, table.num_rows, typed=typed) for name, rule in rules.items()}
    return pa.RecordBatch.from_pydict({**columns, **mapped})


def _parts(rule: MapRule, texts: Sequence[str]) -> Sequence[str | None]:
    """Texts, or what the pattern of the rule cuts out of them; None where it matches nothing."""
    if rule.pattern is None:
        return texts
    parts = matched_parts(rule.pattern, [text[: REGEX_SUBJECT + 1] for text in texts])
    return [part if len(text) <= REGEX_SUBJECT else None for text, part in zip(texts, parts, strict=True)]


def _translate(rule: MapRule, text: str | None) -> tuple[bool, str | None]:
    """Whether a rule covers a text, and what it becomes."""
    if text is None:
        return rule.default is not None, rule.default
    if rule.values is None:
        return True, text
    if text in rule.values:
        return True, rule.values[text]
    return rule.default is not None, rule.default


def _at_path(record: Mapping[str, Any], column: str, path: str, rule: MapRule) -> Any:
    if path in record:
        return record[path]
    value: Any = record
    for step in path.split("."):
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, Mapping) and step in value:
            value = value[step]
        elif value is None or rule.default is not None:
            return None
        else:
            raise _no_source(column, path, tuple(record))
    return value


def _map_column(
    column: str, rule: MapRule, columns: Mapping[str, pa.Array], rows: int, *, typed: bool = True
) -> pa.Array:
    if rule.source is None:
        return pa.repeat(pa.scalar(_typed(column, rule.constant or None), _arrow_type(column)), rows)
    source = _source_array(column, rule.source, columns)
    if rule.joined:
        parts = [source, *(_source_array(column, path, columns) for path in rule.joined)]
        texts_of = [map(as_text, part.to_pylist()) for part in parts]
        source = pa.array(map(joined_text, zip(*texts_of, strict=True)), pa.string())
    elif not pa.types.is_string(source.type) and not pa.types.is_dictionary(source.type):
        source = pa.array([as_text(value) for value in source.to_pylist()], pa.string())
    encoded = source if pa.types.is_dictionary(source.type) else pc.dictionary_encode(source)
    translation = _Translation(rule)
    texts = translation([as_text(value) for value in encoded.dictionary.to_pylist()])
    _refuse_uncovered(column, translation)
    if not typed:
        return pa.array(texts, pa.string()).take(encoded.indices)
    return pa.array([_typed(column, text) for text in texts], _arrow_type(column)).take(encoded.indices)


def _source_array(column: str, path: str, columns: Mapping[str, pa.Array]) -> pa.Array:
    if path in columns:
        return columns[path]
    first, *steps = path.split(".")
    array = columns.get(first)
    for step in steps:
        if array is None or not pa.types.is_struct(array.type) or array.type.get_field_index(step) < 0:
            array = None
            break
        array = pc.struct_field(array, step)
    if array is None:
        raise _no_source(column, path, tuple(columns))
    return array


def _no_source(column: str, path: str, names: tuple[str, ...]) -> AnalysisError:
    hint = suggestion(path, names[:50]) if names else "; the record is empty"
    return AnalysisError(
        f"study.toml, [map] {column}: a record has no {shown(path)}{hint}; where some lack it, write "
        f'{{ from = "…", default = "" }}',
        offenders=(path,),
    )


def _refuse_uncovered(column: str, translation: _Translation) -> None:
    values = sorted(set(translation.uncovered))
    if not values:
        return
    listed = ", ".join(shown(v) for v in values[:_NAMED]) + (", …" if len(values) > _NAMED else "")
    what = (
        "not matched by its regex, or not named in its values"
        if translation.rule.pattern
        else "not named in its values"
    )
    source = " and ".join(map(shown, translation.rule.sources))
    raise AnalysisError(
        f"study.toml, [map] {column}: {len(values)} values of {source} are {what}: {listed}; "
        'add them, or a default (default = "" leaves the cell empty)',
        offenders=values,
    )


def _arrow_type(column: str) -> pa.DataType:
    known = COLUMN_BY_NAME.get(column)
    return ARROW_TYPES[known.kind] if known else pa.string()


def _typed(column: str, text: str | None) -> str | float | int | bool | None:
    kind = COLUMN_BY_NAME[column].kind if column in COLUMN_BY_NAME else "text"
    if text is None or kind == "text":
        return text
    try:
        if kind == "flag":
            return {"true": True, "false": False, "1": True, "0": False}[text.strip().lower()]
        return int(text) if kind == "integer" else float(text)
    except (ValueError, KeyError):
        wanted = {"flag": "true or false", "integer": "a whole number", "number": "a number"}[kind]
        raise AnalysisError(
            f"study.toml, [map] {column}: must be {wanted}, found {shown(text)}", offenders=(text,)
        ) from None
