"""Metadata of a logged item: which of it fills columns of the schema, which is kept as it is."""

import math
from collections.abc import Mapping
from typing import Any

from analysis.importers.json_text import as_text

#: Keys of an item's metadata that mean the column of that name.
FACTOR_KEYS = frozenset(
    {
        "validity",
        "polarity",
        "template",
        "form",
        "negation",
        "wording",
        "variant",
        "believability",
        "unit",
        "item_family",
        "level",
        "strategy",
        "role",
        "state",
        "identity",
    }
)
_INT64 = range(-(1 << 63), 1 << 63)


def metadata_columns(metadata: Any, *, prefix: str) -> tuple[dict[str, str], dict[str, str]]:
    """Split metadata into columns of the schema and extra columns ``<prefix><key>``.

    Parameters
    ----------
    metadata : any
        Logged metadata; only the texts, numbers and truth values of an object are taken.
    prefix : str
        Begin of the names of extra columns.

    Returns
    -------
    columns, extra : dict
        Values are text; empty texts fill no column of the schema.
    """
    columns: dict[str, str] = {}
    extra: dict[str, str] = {}
    for key, value in metadata.items() if isinstance(metadata, Mapping) else ():
        if not isinstance(value, (str, int, float)):
            continue
        if key in FACTOR_KEYS and not isinstance(value, bool):
            if value != "":
                columns[key] = as_text(value)
        else:
            extra[f"{prefix}{key}"] = as_text(value)
    return columns, extra


def count(value: Any) -> int | None:
    """A logged count as an integer, None for anything that is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value in _INT64 else None


def seconds(value: Any) -> float | None:
    """A logged duration as a finite float, None for anything that is none."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or (isinstance(value, int) and value not in _INT64)
    ):
        return None
    return float(value) if math.isfinite(value) else None
