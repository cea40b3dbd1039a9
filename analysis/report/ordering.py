"""The order of a table's rows: explicit keys, stable, missing values last."""

import re

import pandas as pd

from analysis.errors import AnalysisError
from analysis.report.columns import is_missing
from analysis.report.spec import OrderBy, TableSpec

_DIGITS = re.compile("([0-9]+)")
_DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
SortKey = tuple[object, ...]


def natural_key(text: str) -> SortKey:
    """Sort key that reads whole numbers within text; text that is one decimal number sorts by its value, first."""
    if _DECIMAL.fullmatch(text):
        return (0, float(text), text)
    parts = [(0, len(p.lstrip("0")), p.lstrip("0")) if p.isdecimal() else (1, 0, p) for p in _DIGITS.split(text) if p]
    return (1, tuple(parts), text)


def ordered_rows(rows: pd.DataFrame, spec: TableSpec) -> pd.DataFrame:
    """Rows in the order that the declaration asks for, numbered from 0; groups keep together.

    Parameters
    ----------
    rows : DataFrame
    spec : TableSpec
        Keys of optional columns that the data lack are passed over.

    Raises
    ------
    AnalysisError
        A column with declared levels holds another value.
    """
    places = list(range(len(rows)))
    for key in reversed(spec.keys):
        if key.column in rows.columns:
            places = _sorted_by(places, _values(rows, key), key)
    if spec.groups:
        labels = list(rows[list(spec.groups)].astype(object).map(_plain).itertuples(index=False, name=None))
        first: dict[object, int] = {}
        for place in places:
            first.setdefault(labels[place], len(first))
        places.sort(key=lambda place: first[labels[place]])
    return rows.iloc[places].reset_index(drop=True)


def _values(rows: pd.DataFrame, key: OrderBy) -> list[object]:
    column = rows[key.column]
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered and not key.levels:
        return [None if code < 0 else int(code) for code in column.cat.codes]
    return [_plain(value) for value in column]


def _plain(value: object) -> object:
    return None if is_missing(value) else value


def _sorted_by(places: list[int], values: list[object], key: OrderBy) -> list[int]:
    present = [place for place in places if values[place] is not None]
    absent = [place for place in places if values[place] is None]
    if key.levels and (strange := sorted({str(values[p]) for p in present} - set(key.levels))):
        raise AnalysisError(
            f'column "{key.column}" is ordered by declared levels and also holds {", ".join(map(repr, strange))}; '
            "add them to the declaration",
            offenders=strange,
        )
    rank = {level: at for at, level in enumerate(key.levels)}

    def sort_key(place: int) -> SortKey:
        value = values[place]
        if key.levels:
            return (rank[str(value)],)
        if key.natural:
            return natural_key(str(value))
        return (1, value) if isinstance(value, str) else (0, value)

    return sorted(present, key=sort_key, reverse=key.descending) + absent
