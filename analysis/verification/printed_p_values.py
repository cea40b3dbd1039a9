"""p-values beside the statistics that they come from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import Final

from scipy.stats import chi2, t

from analysis.errors import AnalysisError
from analysis.verification.printed_numbers import Span, printed_span

#: chi2: upper tail; t: two-sided; rho: a rank correlation of ``df`` pairs by t with two fewer, two-sided.
DISTRIBUTIONS: Final = ("chi2", "t", "rho")
_PRINTED: Final = re.compile(r"([<=]?)\s*([0-9.]+)\s*(\**)")
_SLACK: Final = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class PValue:
    """Column ``p`` is the p-value of ``statistic`` with ``df``; ``stars`` are the levels that stars stand for."""

    p: str
    distribution: str
    statistic: str
    df: str
    only: Mapping[str, tuple[str, ...]]
    stars: tuple[float, ...] = ()


def printed_p(text: str) -> tuple[Span, int] | None:
    """Values of a printed p-value such as ``0.0165 *`` or ``< 0.0001 ***``, and its stars; None where it is empty."""
    if not text.strip():
        return None
    found = _PRINTED.fullmatch(text.strip())
    span = printed_span(found[2]) if found else None
    if found is None or span is None:
        raise AnalysisError(f"{text!r} is no printed p-value")
    if found[1] == "<":
        span = Span(Fraction(0), (span.low + span.high) / 2)
    return span, len(found[3])


def p_span(distribution: str, statistic: Span, df: Span) -> Span:
    """p-values that a printed statistic with printed degrees of freedom can have.

    Raises
    ------
    AnalysisError
        No degrees of freedom.

    References
    ----------
    Nuijten et al. (2016), Behavior Research Methods 48:1205-1226, doi:10.3758/s13428-015-0664-2.
    """
    if df.high < (3 if distribution == "rho" else 1):
        raise AnalysisError(f"{df.text} leaves no degrees of freedom")
    sizes = [abs(float(statistic.low)), abs(float(statistic.high))]
    if statistic.low <= 0 <= statistic.high:
        sizes.append(0.0)
    tails = [
        Fraction(_tail(distribution, size, float(freedom)))
        for size in (min(sizes), max(sizes))
        for freedom in (df.low, df.high)
    ]
    return Span(min(tails) - _SLACK, max(tails) + _SLACK)


def stars_agree(span: Span, stars: int, levels: tuple[float, ...]) -> bool:
    """Whether some p-value within a span has this number of stars."""
    return sum(span.high < level for level in levels) <= stars <= sum(span.low <= level for level in levels)


def _tail(distribution: str, size: float, df: float) -> float:
    if distribution == "chi2":
        return float(chi2.sf(size, df))
    if distribution == "t":
        return float(2 * t.sf(size, df))
    at = size * sqrt((df - 2) / (1 - size**2)) if size < 1 else inf
    return float(2 * t.sf(at, df - 2))
