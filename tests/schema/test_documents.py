"""The documents name what the code knows."""

from pathlib import Path

import pytest

from analysis.schema.responses import COLUMNS
from analysis.schema.status import Status
from analysis.schema.study_keys import KEYS, SECTIONS
from analysis.schema.violation import RULES

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", [column.name for column in COLUMNS] + list(Status))
def test_schema_document_names_every_column_and_status(name: str) -> None:
    """Catches a column added to the schema and not to its document."""
    assert f"`{name}`" in (DOCS / "schema.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", RULES)
def test_schema_document_names_every_rule(rule: str) -> None:
    assert rule in (DOCS / "schema.md").read_text(encoding="utf-8")


def test_study_document_names_every_key_and_value() -> None:
    """Catches a key that works and that nobody can find."""
    text = (DOCS / "study_toml.md").read_text(encoding="utf-8")
    lacking = [section for section in SECTIONS if f"[{section}" not in text]
    for section, keys in KEYS.items():
        for key in keys:
            values = key.values if section == "study" else ()
            named = [name for name in (key.name, *values) if f"`{name}`" in text or f"\n{name} = " in text]
            lacking += [f"{section}.{key.name}: {name}" for name in (key.name, *values) if name not in named]
    assert lacking == []
