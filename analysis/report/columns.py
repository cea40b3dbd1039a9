"""The kinds of column a table can declare; each turns one row of data into the text of one cell."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import ClassVar

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from analysis.report import numbers

Row = Mapping[str, object]
Key = float | str | None
#: Interval methods that have a name of their own; every other one is a confidence interval.
_BAYESIAN = {"hdi": "HDI", "eti": "ETI"}


def is_missing(value: object) -> bool:
    """Whether a value is absent or cannot be printed as a number (None, NA, NaN, infinite)."""
    if isinstance(value, float | np.floating):
        return not math.isfinite(value)
    return value is None or value is pd.NA or value is pd.NaT


def number(row: Row, name: str) -> float | None:
    """Number in column ``name`` of a row, None where it is missing; text is an error."""
    value = row[name]
    if is_missing(value):
        return None
    if not isinstance(value, Real):
        raise AnalysisError(f'column "{name}" is declared as a number and holds {value!r}')
    return float(value)


def interval_kind(rows: pd.DataFrame, level: str, method: str) -> str:
    """Heading of an interval, from its own columns: ``95% CI``, ``89% HDI``, or ``interval`` if they differ."""
    defined = rows[rows[level].notna() & rows[method].notna()]
    kinds = {_BAYESIAN.get(str(m).lower(), "CI") for m in defined[method]}
    levels = {numbers.level(float(v)) for v in defined[level]}
    kind = kinds.pop() if len(kinds) == 1 else "interval"
    return f"{levels.pop()} {kind}" if len(levels) == 1 else kind


@dataclass(frozen=True, slots=True)
class Column:
    """What all columns share.

    Parameters
    ----------
    name : str
        Column of the data.
    header : str
        Heading as printed; units and interval kinds are added from the data.
    help : str
        Meaning of the column, printed in the notes.
    reason : str
        Column that says why a value is missing; default ``<name>_reason``, then ``reason``.
    optional : bool
        Leave the column out where the data lack it, instead of refusing the table.
    """

    name: str
    header: str = ""
    _: KW_ONLY
    help: str = ""
    reason: str = ""
    optional: bool = False
    align: ClassVar[str] = "right"

    def needs(self) -> tuple[str, ...]:
        """Columns that the data must have."""
        return (self.name, self.reason) if self.reason else (self.name,)

    def heading(self, rows: pd.DataFrame) -> str:
        """Heading with unit or interval kind."""
        return self.header or self.name

    def parts(self, row: Row) -> tuple[str, ...] | None:
        """Text of the cell, cut where columns of numbers align; None where the value is missing."""
        raise NotImplementedError

    def sort_key(self, row: Row) -> Key:
        """Value by which a reader sorts the column."""
        return number(row, self.name)


@dataclass(frozen=True, slots=True)
class Text(Column):
    """Text as it is, or as ``labels`` prints it."""

    _: KW_ONLY
    labels: Mapping[str, str] = field(default_factory=dict)
    align: ClassVar[str] = "left"

    def parts(self, row: Row) -> tuple[str, ...] | None:
        """Text of the cell."""
        value = row[self.name]
        return None if is_missing(value) else (self.labels.get(str(value), str(value)),)

    def sort_key(self, row: Row) -> Key:
        """Printed text."""
        parts = Text.parts(self, row)
        return parts[0] if parts else None


@dataclass(frozen=True, slots=True)
class Decision(Text):
    """Outcome of a rule, such as above, below, undecided; every outcome needs its label."""

    def parts(self, row: Row) -> tuple[str, ...] | None:
        """Label of the outcome."""
        value = row[self.name]
        if not is_missing(value) and self.labels and str(value) not in self.labels:
            raise AnalysisError(f'column "{self.name}" holds {value!r}; declared are {", ".join(self.labels)}')
        return Text.parts(self, row)


@dataclass(frozen=True, slots=True)
class Flag(Column):
    """True or false in words."""

    _: KW_ONLY
    yes: str = "yes"
    no: str = "no"
    align: ClassVar[str] = "left"

    def parts(self, row: Row) -> tuple[str, ...] | None:
        """The word for the flag."""
        value = row[self.name]
        return None if is_missing(value) else (self.yes if value else self.no,)

    def sort_key(self, row: Row) -> Key:
        """0 or 1."""
        return None if is_missing(row[self.name]) else float(bool(row[self.name]))


@dataclass(frozen=True, slots=True)
class Number(Column):
    """Number with fixed decimals; ``unit`` is added to the heading."""

    _: KW_ONLY
    digits: int = 2
    unit: str = ""

    def heading(self, rows: pd.DataFrame) -> str:
        """Heading with the unit."""
        return f"{self.header or self.name} ({self.unit})" if self.unit else self.header or self.name

    def parts(self, row: Row) -> tuple[str, ...] | None:
        """Rounded number."""
        value = number(row, self.name)
        return None if value is None else (self.text(value, row),)

    def text(self, value: float, row: Row) -> str:
        """One value as printed."""
        return numbers.fixed(value, self.digits)


@dataclass(frozen=True, slots=True)
class Count(Number):
    """Whole number with commas between thousands."""

    def text(self, value: float, row: Row) -> str:
        """One count as printed."""
        return numbers.count(value)


@dataclass(frozen=True, slots=True)
class Proportion(Number):
    """Share in [0, 1]."""

    _: KW_ONLY
    digits: int = 3

    def text(self, value: float, row: Row) -> str:
        """One proportion as printed."""
        return numbers.proportion(value, self.digits)


@dataclass(frozen=True, slots=True)
class Signed(Number):
    """Number whose sign has a meaning, always printed."""

    def text(self, value: float, row: Row) -> str:
        """One signed number as printed."""
        return numbers.signed(value, self.digits)


@dataclass(frozen=True, slots=True)
class Percent(Number):
    """Share in [0, 1] printed in percent, the sign in the heading."""

    _: KW_ONLY
    digits: int = 1
    unit: str = "%"

    def text(self, value: float, row: Row) -> str:
        """One percentage as printed."""
        return numbers.percent(value, self.digits)


@dataclass(frozen=True, slots=True)
class PValue(Number):
    """p-value, printed as a bound where it is small.

    ``floor`` names the column with the smallest p-value that the resampling could give. A column
    whose name ends in ``p_adjusted`` takes its adjustment from ``method`` and ``family``.
    """

    _: KW_ONLY
    digits: int = 3
    floor: str = ""
    method: str = "p_adjust_method"
    family: str = "family_size"

    @property
    def adjusted(self) -> bool:
        """Whether the column holds adjusted p-values."""
        return self.name.endswith("p_adjusted")

    def needs(self) -> tuple[str, ...]:
        """Columns that the data must have."""
        own = (self.floor,) if self.floor else ()
        return (*Number.needs(self), *own, *((self.method, self.family) if self.adjusted else ()))

    def text(self, value: float, row: Row) -> str:
        """One p-value as printed."""
        return numbers.p_value(value, self.digits, floor=number(row, self.floor) if self.floor else None)


@dataclass(frozen=True, slots=True)
class Interval(Column):
    """Two ends in one cell, ``[0.05, 0.21]``; level and kind are read off the data for the heading.

    ``name`` is the column of the lower end.
    """

    name: str = "ci_low"
    header: str = ""
    _: KW_ONLY
    high: str = "ci_high"
    level: str = "ci_level"
    method: str = "ci_method"
    digits: int = 3
    signed: bool = False
    percent: bool = False

    def needs(self) -> tuple[str, ...]:
        """Columns that the data must have."""
        return (*Column.needs(self), self.high, self.level, self.method)

    def heading(self, rows: pd.DataFrame) -> str:
        """Heading with level and kind."""
        kind = interval_kind(rows, self.level, self.method) + (" (%)" if self.percent else "")
        return f"{self.header} {kind}" if self.header else kind

    def parts(self, row: Row) -> tuple[str, ...] | None:
        """Both ends; an interval open at one end prints a dash there."""
        low, high = number(row, self.name), number(row, self.high)
        if low is None and high is None:
            return None
        if low is not None and high is not None and low > high:
            raise AnalysisError(f"the lower end {low!r} of an interval lies above its upper end {high!r}")
        return f"[{self._end(low)}, ", f"{self._end(high)}]"

    def _end(self, value: float | None) -> str:
        if value is None:
            return numbers.EN_DASH
        rounded = numbers.signed if self.signed else numbers.fixed
        return rounded(100 * value if self.percent else value, self.digits)


@dataclass(frozen=True, slots=True)
class Estimate(Interval):
    """Estimate and interval in one cell, ``0.12 [0.05, 0.21]``; ``name`` is the column of the estimate."""

    name: str = "estimate"
    _: KW_ONLY
    low: str = "ci_low"

    def needs(self) -> tuple[str, ...]:
        """Columns that the data must have."""
        return (*Interval.needs(self), self.low)

    def heading(self, rows: pd.DataFrame) -> str:
        """Heading with level and kind in brackets."""
        unit = " (%)" if self.percent else ""
        return f"{self.header or self.name}{unit} [{interval_kind(rows, self.level, self.method)}]"

    def parts(self, row: Row) -> tuple[str, ...] | None:
        """Estimate, lower and upper end."""
        value = number(row, self.name)
        if value is None:
            return None
        ends = Interval.parts(self, {self.name: row[self.low], self.high: row[self.high]})
        return (f"{self._end(value)} ", *(ends or ("", "")))
