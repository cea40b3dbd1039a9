"""The schema as printed."""

import json

from analysis.schema.describe import json_schema, schema_table
from analysis.schema.responses import COLUMNS, SCHEMA_VERSION


def test_every_column_is_printed_once_under_its_group() -> None:
    """Catches a column of the schema that its description forgets."""
    lines = schema_table().splitlines()
    first = [line.split()[0].lstrip("*") for line in lines if line[:1] == " " and line[2:3].strip()]
    assert first == [column.name for column in COLUMNS]
    assert max(map(len, lines)) <= 100
    assert " *model " in schema_table()
    assert "(valid, invalid)" in schema_table()


def test_json_schema_has_every_column_type_and_level() -> None:
    """Catches levels, types or required columns that differ from those that are checked."""
    schema = json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:evenhand:schema:{SCHEMA_VERSION}"
    assert list(schema["properties"]) == [column.name for column in COLUMNS]
    assert schema["required"] == ["model", "item"]
    assert schema["properties"]["validity"]["enum"] == ["valid", "invalid", None]
    assert schema["properties"]["tokens_in"]["type"] == ["integer", "null"]
    assert schema["properties"]["item"] == {
        "description": "one question exactly as asked",
        "type": "string",
        "minLength": 1,
    }
    assert [option["required"] for option in schema["anyOf"]] == [
        ["answer"],
        ["output"],
        ["probability"],
        ["logged_score"],
        ["status"],
    ]
    assert json.loads(json.dumps(schema)) == schema
