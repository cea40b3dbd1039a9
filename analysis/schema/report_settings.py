"""What a study plans to print and to test: ``[report]``, ``[[family]]`` and ``[[table]]`` of ``study.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

ADJUSTMENTS: Final = ("holm", "bonferroni", "none")
#: Rows of a declared table where it names none.
BY_MODEL: Final = "model"


@dataclass(frozen=True, slots=True)
class Report:
    """Confirmatory measures and the tables to print; empty means the report's own choice."""

    primary: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """Tests that are adjusted together: those of the named tables of results, where columns have the named levels."""

    name: str
    tests: tuple[str, ...]
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    method: str = "holm"


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """A table of estimates: measures as columns, models or the levels of a factor as rows.

    ``headers`` are words for measures; ``model`` is that whose levels are shown, all of them pooled without one;
    ``source`` is the table of results, where several hold a measure; ``order`` is a measure, with ``-`` in front
    where the largest comes first. ``number`` and ``label`` replace those that a report gives.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: str = BY_MODEL
    headers: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    task: str = ""
    source: str = ""
    order: str = ""
    digits: int = 2
    intervals: bool = True
    number: str = ""
    label: str = ""
    note: str = ""


def report_of(values: Mapping[str, Any]) -> Report:
    """Settings from the checked sections of ``study.toml``."""
    return Report(**values.get("report", {}))


def families_of(values: Mapping[str, Any]) -> tuple[Family, ...]:
    """Families of tests from the checked sections of ``study.toml``."""
    return tuple(Family(**entry) for entry in values.get("family", []))


def tables_of(values: Mapping[str, Any]) -> tuple[DeclaredTable, ...]:
    """Declared tables from the checked sections of ``study.toml``."""
    return tuple(_declared(entry) for entry in values.get("table", []))


def _declared(entry: Mapping[str, Any]) -> DeclaredTable:
    headers = {name: words[0] for name, words in entry.get("headers", {}).items()}
    digits = {"digits": int(entry["digits"])} if "digits" in entry else {}
    return DeclaredTable(**{**entry, **digits, "headers": headers})
