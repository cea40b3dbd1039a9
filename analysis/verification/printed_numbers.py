"""What a printed number can have been before it was rounded, and what follows from such numbers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import Expression, Extreme, Number, Operation, Role

_NUMBER = re.compile(r"([+-]?)(\d{1,15}(?:,\d{3})*|)(?:\.(\d{1,15}))?%?")


@dataclass(frozen=True, slots=True)
class Span:
    """All values between two ends, the ends included: rounding half up and half to even are both allowed for."""

    low: Fraction
    high: Fraction

    @property
    def middle(self) -> Fraction:
        """The number as it is printed."""
        return (self.low + self.high) / 2

    @property
    def counted(self) -> "Span":
        """The one value of a number printed without decimals, taken for a count; the span itself of any other."""
        return Span(self.middle, self.middle) if self.high - self.low == 1 else self

    @property
    def text(self) -> str:
        """Both ends in decimals, or the one value."""
        if float(self.high - self.low) < 1e-6:
            return _decimal(self.middle)
        return f"{_decimal(self.low)} to {_decimal(self.high)}"


def printed_span(text: str) -> Span | None:
    """Values that round to a printed number; None where the cell is empty.

    Parameters
    ----------
    text : str
        Such as ``+0.41``, ``.574``, ``1,234`` or ``57.2%``; a Unicode minus counts as one.

    Raises
    ------
    AnalysisError
        Any other text.
    """
    shown = text.strip().replace("\u2212", "-").replace("\u2013", "-")
    if shown in ("", "-"):
        return None
    found = _NUMBER.fullmatch(shown)
    if found is None or not (found[2] or found[3]):
        raise AnalysisError(f"{text!r} is no printed number")
    digits = found[3] or ""
    value = Fraction(int((found[2] or "0").replace(",", "") + digits), 10 ** len(digits))
    half = Fraction(1, 2 * 10 ** len(digits))
    value = -value if found[1] == "-" else value
    return Span(value - half, value + half)


def implied_span(expression: Expression, printed: Mapping[str, Span]) -> Span:
    """Values that an expression can take over the spans of its columns, at least.

    The span is exact where every column occurs once; it is too wide, never too narrow, where one occurs
    more often, so that a contradiction found with it is one.

    Raises
    ------
    AnalysisError
        A column is not among ``printed``, a divisor can be 0, or a function over states is used.
    """
    match expression:
        case Number(value=value):
            exact = Fraction(str(value))
            return Span(exact, exact)
        case Role(name=name, state=None):
            if name not in printed:
                raise AnalysisError(f"the table has no number in column {name!r}")
            return printed[name]
        case Operation(sign=sign, left=left, right=right):
            return _combined(sign, implied_span(left, printed), implied_span(right, printed))
        case Extreme(name=name, members=members):
            spans = [implied_span(member, printed) for member in members]
            chosen = min if name == "min" else max
            return Span(chosen(span.low for span in spans), chosen(span.high for span in spans))
    raise AnalysisError("a declaration uses +, -, *, /, min and max of several columns, and numbers")


def possible_count(span: Span, n: int) -> bool:
    """Whether some whole number of ``n`` gives a proportion within a span (GRIM).

    References
    ----------
    Brown and Heathers (2017), Soc. Psychol. Personal. Sci. 8:363-369, doi:10.1177/1948550616673876.
    """
    least = -((-span.low * n) // 1)
    return max(least, 0) <= min(span.high * n, Fraction(n))


def rounded_twice(span: Span, n: int, scale: int = 1) -> str | None:
    """How a share of ``n`` gives a printed number by way of one digit more; None where none does.

    Parameters
    ----------
    span : Span
        Of the printed number.
    n : int
    scale : int
        100 for percentages.
    """
    unit = span.high - span.low
    for k in range(max(0, (span.low - unit) * n // scale), min(n, (span.high + unit) * n // scale) + 1):
        share = Fraction(k * scale, n)
        once = _half_up(share, unit / 10)
        if _half_up(once, unit) == span.middle:
            return f"{k} of {n:,} is {_decimal(share)}, then {_decimal(once)}"
    return None


def _half_up(value: Fraction, unit: Fraction) -> Fraction:
    return (value / unit + Fraction(1, 2)) // 1 * unit


def _combined(sign: str, a: Span, b: Span) -> Span:
    if sign == "+":
        return Span(a.low + b.low, a.high + b.high)
    if sign == "-":
        return Span(a.low - b.high, a.high - b.low)
    if sign == "/" and b.low <= 0 <= b.high:
        raise AnalysisError("a divisor can be 0 within its rounding")
    ends = [x * y if sign == "*" else x / y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Span(min(ends), max(ends))


def _decimal(value: Fraction) -> str:
    return f"{float(value):.6g}"
