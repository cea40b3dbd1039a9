"""Rules of ``[map]`` in ``study.toml``: how a column of the schema is filled from foreign ones."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analysis.schema.patterns import pattern_problem
from analysis.schema.responses import COLUMN_BY_NAME, EXTRA_PREFIXES
from analysis.schema.study_keys import suggestion, type_name

#: Stands between the parts of a value that comes from several columns.
_BETWEEN: Final = "·"
_KEYS: Final = ("from", "value", "values", "regex", "default")


@dataclass(frozen=True, slots=True)
class MapRule:
    """How one column of the schema is filled.

    ``source`` is a column or a dotted path into nested values; None with ``constant``. ``joined`` are further ones,
    whose values are joined to it. ``values``
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
    joined: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns and paths that the rule reads; none of a constant."""
        return () if self.source is None else (self.source, *self.joined)


def joined_text(parts: Sequence[str | None]) -> str | None:
    """One text of the values of several columns, another one for other values; missing where one of them is.

    Examples
    --------
    >>> joined_text(["v1", "P(X)"]), joined_text(["v1", None]), joined_text(["a · b", "c"])
    ('v1 · P(X)', None, '"a · b" · c')
    """
    texts = [part for part in parts if part is not None]
    if len(texts) < len(parts):
        return None
    plain = [_BETWEEN not in text and not text.startswith('"') for text in texts]
    quoted = [t if bare else json.dumps(t, ensure_ascii=False) for t, bare in zip(texts, plain, strict=True)]
    return f" {_BETWEEN} ".join(quoted)


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
    sources, found = _read_sources(where, value)
    problems += found
    if "regex" in value and not _is_name(value["regex"]):
        problems.append(f"{where} regex: must be a text, not {type_name(value['regex'])}")
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
    first, *more = sources or (None,)
    return MapRule(first, constant, translated, pattern, default, tuple(more)), []


def _read_sources(where: str, value: dict[str, Any]) -> tuple[tuple[str, ...], list[str]]:
    """Columns that a rule reads: one, or several that are joined."""
    named = value.get("from")
    listed = named if isinstance(named, list) else [named]
    if "from" not in value or (listed and all(map(_is_name, listed))):
        return tuple(name for name in listed if name is not None), []
    found = "a list that holds something else" if isinstance(named, list) and named else type_name(named)
    return (), [f"{where} from: must be the name of a column or a list of such names, not {found}"]


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _read_pattern(where: str, regex: Any) -> tuple[str | None, list[str]]:
    if not isinstance(regex, str) or not regex:
        return None, []
    problem = pattern_problem(regex)
    return (regex, []) if problem is None else (None, [f"{where} regex: {problem}"])


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)
