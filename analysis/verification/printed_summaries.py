"""What a summary of printed numbers can be, whatever was rounded away from each of them.

Bounds are exact for cell, sum, mean, count, range and ratio; of standard deviations and correlations they are too
wide, never too narrow: a vector moved by at most e turns by at most arcsin(e / its length).
"""

from collections.abc import Sequence
from fractions import Fraction
from math import acos, asin, cos, hypot, pi, sqrt
from typing import Final

import numpy as np
from scipy.stats import rankdata

from analysis.errors import AnalysisError
from analysis.verification.printed_numbers import Span

#: Summary -> how many values of each row it takes, at least and at most.
SUMMARIES: Final = {
    "cell": (1, 1),
    "sum": (1, 1),
    "mean": (1, 1),
    "sd": (1, 1),
    "population_sd": (1, 1),
    "count": (0, 0),
    "range": (1, 1),
    "ratio": (1, 1),
    "t": (1, 1),
    "d": (1, 1),
    "pearson": (2, 2),
    "r2": (2, 2),
    "spearman": (2, 2),
    "order_spearman": (1, 1),
}
#: Errors of floating point are far below this share of a number.
_SLACK: Final = 1e-9


def summary_span(take: str, rows: Sequence[Sequence[Span]]) -> Span:
    """Values that a summary can have, at least.

    Parameters
    ----------
    take : str
        One of ``SUMMARIES`` but ``count``.
    rows : sequence of sequences of Span
        The values of every row.

    Raises
    ------
    AnalysisError
        Too few rows, or a summary that is not defined for them.
    """
    columns = list(zip(*rows, strict=True))
    if take == "cell" and len(rows) != 1:
        raise AnalysisError(f"a cell is that of one row, not of {len(rows)}")
    if take not in ("cell", "sum", "mean") and len(rows) < 3:
        raise AnalysisError(f"{take} of {len(rows)} rows is not looked at; it takes three")
    match take:
        case "pearson" | "r2":
            found = _correlation(*(_vector(column) for column in columns))
            return _square(found) if take == "r2" else found
        case "spearman":
            return _correlation(*(_ranks(column) for column in columns))
        case "order_spearman":
            order = np.arange(1.0, len(rows) + 1)
            return _correlation(_ranks(columns[0]), (order, np.zeros_like(order)))
    return _of_one(take, columns[0])


def count_span(left: Sequence[Span], sign: str, right: Sequence[Span]) -> Span:
    """How many rows meet a condition: those that must, to those that can."""
    must = can = 0
    for a, b in zip(left, right, strict=True):
        low, high = (a, b) if sign in ("<", "<=") else (b, a)
        strict = "=" not in sign
        must += low.high < high.low if strict else low.high <= high.low
        can += low.low < high.high if strict else low.low <= high.high
    return Span(Fraction(must), Fraction(can))


def _of_one(take: str, values: Sequence[Span]) -> Span:
    n = len(values)
    total = Span(sum((v.low for v in values), Fraction(0)), sum((v.high for v in values), Fraction(0)))
    least = Span(min(v.low for v in values), min(v.high for v in values))
    most = Span(max(v.low for v in values), max(v.high for v in values))
    mean = Span(total.low / n, total.high / n)
    match take:
        case "cell" | "sum":
            return total
        case "mean":
            return mean
        case "range":
            return Span(most.low - least.high, most.high - least.low)
        case "ratio":
            return _quotient(most, least)
        case "sd":
            return _deviation(values)
        case "population_sd":
            return _deviation(values, ddof=0)
        case "d":
            return _quotient(mean, _deviation(values))
    d = _quotient(mean, _deviation(values))  # t of the mean against 0
    return _floats(float(d.low) * sqrt(n), float(d.high) * sqrt(n))


def _deviation(values: Sequence[Span], *, ddof: int = 1) -> Span:
    middle, half = _vector(values)
    at, off = float(np.std(middle, ddof=ddof)), float(hypot(*half)) / sqrt(len(middle) - ddof)
    return _floats(max(at - off, 0.0), at + off)


def _quotient(a: Span, b: Span) -> Span:
    if b.low <= 0:
        raise AnalysisError("a divisor can be 0 within its rounding")
    ends = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Span(min(ends), max(ends))


def _vector(values: Sequence[Span]) -> tuple[np.ndarray, np.ndarray]:
    """Middles and half widths."""
    middle = np.array([float(v.low + v.high) / 2 for v in values])
    return middle, np.array([float(v.high - v.low) / 2 for v in values])


def _ranks(values: Sequence[Span]) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of the middles, and how far each can lie from its own; numbers printed alike have any order."""
    low, high = (
        np.array([float(end) for end in ends]) for ends in zip(*((v.low, v.high) for v in values), strict=True)
    )
    ranks = rankdata(np.round((low + high) / 2, 12))
    first = 1 + (high[None, :] <= low[:, None] + 1e-12).sum(axis=1)
    last = len(low) - (low[None, :] >= high[:, None] - 1e-12).sum(axis=1)
    return ranks, np.maximum(last - ranks, ranks - first)


def _correlation(x: tuple[np.ndarray, np.ndarray], y: tuple[np.ndarray, np.ndarray]) -> Span:
    angles, centred = 0.0, []
    for middle, half in (x, y):
        away = middle - middle.mean()
        length = hypot(*away)
        if length == 0:
            raise AnalysisError("a column whose numbers are all printed alike has no correlation")
        angles += asin(min(1.0, hypot(*half) / length))
        centred.append(away / length)
    between = acos(float(np.clip(centred[0] @ centred[1], -1, 1)))
    return _floats(cos(min(pi, between + angles)), cos(max(0.0, between - angles)))


def _square(span: Span) -> Span:
    ends = sorted((span.low**2, span.high**2))
    return Span(Fraction(0) if span.low <= 0 <= span.high else ends[0], ends[1])


def _floats(low: float, high: float) -> Span:
    return Span(Fraction(low - _SLACK), Fraction(high + _SLACK))
