"""Which columns of a store are the unit, the conditions and the factors of the item."""

from dataclasses import dataclass
from typing import Final

from analysis.errors import StudyError
from analysis.schema.quoting import shown
from analysis.schema.responses import COLUMN_BY_NAME, CONDITIONS, EXTRA_PREFIXES, ITEM_FACTORS
from analysis.schema.store import RESERVED
from analysis.schema.study import Study
from analysis.schema.study_keys import suggestion

#: Columns that a message lists.
_LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class ItemColumns:
    """Columns of a store by what they mean to a study; empty ones included.

    ``unit`` is the column of the independent unit, ``exclude`` the columns of ``study.exclude`` with the
    levels left out, ``unused`` the extra columns that nothing refers to.
    """

    unit: str
    conditions: tuple[str, ...]
    factors: tuple[str, ...]
    exclude: dict[str, tuple[str, ...]]
    unused: tuple[str, ...]


def find_column(name: str, columns: tuple[str, ...]) -> str | None:
    """Column of that name, or with one of the prefixes of extra columns; None where there is none.

    A name that the analysis uses itself finds the column of the logs, which the store keeps as ``name (2)``.
    """
    own = (f"{name} (2)",) if name.lower() in RESERVED else ()
    named = (name, *own, *(prefix + name for prefix in EXTRA_PREFIXES))
    return next((candidate for candidate in named if candidate in columns), None)


def item_columns(study: Study, columns: tuple[str, ...]) -> ItemColumns:
    """Meaning of the columns of a store under a study.

    Raises
    ------
    StudyError
        Settings name columns that the logs do not have; all of them in one message.
    """
    found = {name: find_column(name, columns) for names in study.columns.values() for name in names}
    problems = [
        f"{key}: the logs have no column {shown(name)}{_nearest(name, columns)}"
        for key, names in study.columns.items()
        for name in names
        if found[name] is None
    ]
    problems += [
        f"{key}: {shown(name)} has a meaning of its own and is no {role}"
        for key, (allowed, role) in _ROLES.items()
        for name in study.columns.get(key, ())
        if found[name] is not None and not allowed(str(found[name]))
    ]
    if problems:
        raise StudyError(f"{study.path or 'study'}: " + "\n  ".join(problems), offenders=problems)
    named = {name: column for name, column in found.items() if column is not None}
    unit = named[study.unit] if study.unit else "unit"
    conditions = tuple(dict.fromkeys(named.get(name, name) for name in study.conditions))
    declared = [column for name, column in named.items() if name != study.unit and _can_be_factor(column)]
    known = [*ITEM_FACTORS, *CONDITIONS, *(name for name in columns if name.startswith("factor.")), *declared]
    factors = tuple(name for name in dict.fromkeys(known) if name not in conditions)
    exclude = {named[name]: levels for name, levels in study.exclude.items()}
    used = {*conditions, *factors, *named.values(), *COLUMN_BY_NAME}
    sources = {source for rule in study.map.values() for source in rule.sources}
    sources |= {source.split(".")[0] for source in sources}
    unused = tuple(
        name
        for name in columns
        if name not in used and not name.startswith("score.") and name.removeprefix("meta.") not in sources
    )
    return ItemColumns(unit, conditions, factors, exclude, unused)


def _nearest(name: str, columns: tuple[str, ...]) -> str:
    """The nearest column, or the columns that are the logs' own, without the prefix that is added to them."""
    bare = tuple(column.removeprefix("meta.") for column in columns)
    near = suggestion(name, bare)
    own = tuple(column for column in bare if column not in COLUMN_BY_NAME)
    return near if "did you mean" in near or not own else f"; its own columns: {', '.join(own[:_LISTED])}"


def _can_be_factor(column: str) -> bool:
    return column not in COLUMN_BY_NAME or column in ITEM_FACTORS or column in CONDITIONS


def _can_be_condition(column: str) -> bool:
    return column not in COLUMN_BY_NAME or COLUMN_BY_NAME[column].group not in ("identity", "answer")


def _can_be_unit(column: str) -> bool:
    return column in ("unit", "item", "task") or _can_be_condition(column)


#: Setting -> which columns may stand there, and as what.
_ROLES: Final = {
    "study.unit": (_can_be_unit, "independent unit"),
    "study.conditions": (_can_be_condition, "condition of a response"),
    "study.factors": (_can_be_factor, "factor of the item"),
}
