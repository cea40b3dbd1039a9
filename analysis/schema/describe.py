"""The standard schema for readers: a table, and JSON Schema for programs."""

import textwrap
from itertools import groupby
from typing import Any, Final

from analysis.schema.responses import COLUMNS, EXTRA_PREFIXES, SCHEMA_VERSION, Column

_WIDTH: Final = 100
_JSON_TYPES: Final = {"text": "string", "number": "number", "integer": "integer", "flag": "boolean"}
#: Of these columns a row must have one, unless its status says that there is no response.
ANSWERING: Final = ("answer", "output", "probability", "logged_score")


def schema_table() -> str:
    """Columns by group with type and meaning, as text no wider than 100 characters."""
    names = max(len(column.name) for column in COLUMNS)
    lines = [f"Standard schema, version {SCHEMA_VERSION}: one row per response, planned or elicited"]
    for group, columns in groupby(COLUMNS, key=lambda column: column.group):
        lines += ["", group]
        lines += [line for column in columns for line in _lines(column, names)]
    lines += ["", textwrap.fill(f"Required (*): model, item, and one of {', '.join(ANSWERING)}.", _WIDTH)]
    prefixes = ", ".join(f"{prefix}<name>" for prefix in EXTRA_PREFIXES)
    lines.append(textwrap.fill(f"Further columns: {prefixes}, and any that study.toml declares.", _WIDTH))
    return "\n".join(lines)


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of one row, with the version of the standard schema in its ``$id``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:evenhand:schema:{SCHEMA_VERSION}",
        "title": "Response of a language model",
        "type": "object",
        "properties": {column.name: _property(column) for column in COLUMNS},
        "patternProperties": {f"^{prefix[:-1]}\\.": {"type": ["string", "null"]} for prefix in EXTRA_PREFIXES},
        "required": [column.name for column in COLUMNS if column.required],
        "anyOf": [
            *({"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in ANSWERING),
            {"required": ["status"], "properties": {"status": {"enum": ["errored", "missing"]}}},
        ],
        "additionalProperties": True,
    }


def _lines(column: Column, width: int) -> list[str]:
    star = "*" if column.required else " "
    levels = f" ({', '.join(column.values)})" if column.values else ""
    start = f" {star}{column.name:<{width}}  {column.kind:<7}  "
    return textwrap.wrap(
        start + column.meaning + levels, _WIDTH, subsequent_indent=" " * len(start), drop_whitespace=True
    )


def _property(column: Column) -> dict[str, Any]:
    kind = _JSON_TYPES[column.kind]
    described: dict[str, Any] = {"description": column.meaning}
    if column.required:
        return described | {"type": kind, "minLength": 1}
    described["type"] = [kind, "null"]
    if column.values:
        described["enum"] = [*column.values, None]
    if column.name in ("probability", "p_yes"):
        described |= {"minimum": 0, "maximum": 1}
    return described
