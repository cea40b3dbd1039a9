"""Rules of ``[map]`` in ``study.toml``: how a column of the schema is filled from foreign ones."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from analysis.schema.patterns import pattern_problem
from analysis.schema.responses import COLUMN_BY_NAME, EXTRA_PREFIXES
from analysis.schema.study_keys import suggestion, type_name

_KEYS: Final = ("from", "value", "values", "regex", "default")


@dataclass(frozen=True, slots=True)
class MapRule:
    """How one column of the schema is filled.

    ``source`` is a column or a dotted path into nested values; None with ``constant``. ``values``
    translates values (after ``pattern`` has cut its first group, or the whole match, out of them);
    None leaves them as they are. What it does not name becomes ``default``, and is an error without one.
    An empty ``constant`` or ``default`` is a missing value. A missing source value stays missing; a
    record without the source is an error unless there is a ``default``.
    """

    source: str | None = None
    constant: str | None = None
    values: Mapping[str, str] | None = None
    pattern: str | None = None
    default: str | None = None


def as_text(value: Any) -> str | None:
    """Text of a foreign value: as JSON writes it, strings without quotes, None for null."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def read_rules(table: Any, declared: tuple[str, ...]) -> tuple[dict[str, MapRule], list[str]]:
    """Rules of a ``[map]`` section, and every problem found in it.

    ``declared`` are columns outside the schema that other sections of ``study.toml`` name.
    """
    if not isinstance(table, dict):
        return {}, [f"[map]: must be a table, not {type_name(table)}"]
    known = (*COLUMN_BY_NAME, *declared)
    rules: dict[str, MapRule] = {}
    problems: list[str] = []
    for column, value in _flat(table).items():
        where = f"[map] {column}"
        if column not in known and not column.startswith(EXTRA_PREFIXES):
            near = suggestion(column, known)
            hint = near if "did you mean" in near else ""
            others = "others are declared in [study], or named factor.x"
            problems.append(f"{where}: no column of the schema{hint}; {others}")
            continue
        rule, found = _read_rule(where, value)
        problems += found
        if rule is not None:
            rules[column] = rule
    return rules, problems


def _flat(table: dict[str, Any]) -> dict[str, Any]:
    """``factor.x = …`` unquoted is a nested table in TOML: give it the name that was meant."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        nested = f"{name}." in EXTRA_PREFIXES and isinstance(value, dict) and not set(value) & set(_KEYS)
        flat |= {f"{name}.{key}": v for key, v in value.items()} if nested else {name: value}
    return flat


def _read_rule(where: str, value: Any) -> tuple[MapRule | None, list[str]]:
    if isinstance(value, str) and value:
        return MapRule(source=value), []
    if not isinstance(value, dict):
        return None, [f"{where}: must be the name of a column or a table, not {type_name(value)}"]
    problems = [f"{where} {key}: unknown key{suggestion(key, _KEYS)}" for key in value if key not in _KEYS]
    if ("value" in value) == ("from" in value):
        problems.append(f"{where}: needs either from (a column) or value (a constant)")
    elif "value" in value and len(value) > 1 and not problems:
        problems.append(f"{where}: a constant takes no other key")
    problems += [
        f"{where} {key}: must be a text, not {type_name(value[key])}"
        for key in ("from", "regex")
        if key in value and not (isinstance(value[key], str) and value[key])
    ]
    problems += [
        f"{where} {key}: must be a text, a number, true or false, not {type_name(value[key])}"
        for key in ("value", "default")
        if key in value and not _is_scalar(value[key])
    ]
    values = value.get("values")
    if values is not None and not (isinstance(values, dict) and all(map(_is_scalar, values.values()))):
        problems.append(f"{where} values: must be a table of texts, not {type_name(values)}")
    pattern, found = _read_pattern(where, value.get("regex"))
    if problems or found:
        return None, [*problems, *found]
    translated = None if values is None else {key: as_text(v) or "" for key, v in values.items()}
    constant, default = as_text(value.get("value")), as_text(value.get("default"))
    return MapRule(value.get("from"), constant, translated, pattern, default), []


def _read_pattern(where: str, regex: Any) -> tuple[str | None, list[str]]:
    if not isinstance(regex, str) or not regex:
        return None, []
    problem = pattern_problem(regex)
    return (regex, []) if problem is None else (None, [f"{where} regex: {problem}"])


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)
