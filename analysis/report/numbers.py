"""Numbers as readers see them: rounding, signs and bounds, in Unicode text."""

import math
from fractions import Fraction

from analysis.errors import AnalysisError

MINUS = "\u2212"
EN_DASH = "\u2013"
#: Slack for sums and differences of floats at the ends of a scale.
_SLACK = 1e-9
_WITHOUT_EXPONENT = 1e15


def fixed(value: float, digits: int) -> str:
    """Value with ``digits`` decimals; what rounds to zero has no sign, as the printed digits show none.

    A value that is not a number reads ``undefined``: sentences give a reason instead where they know one.
    """
    if math.isnan(value):
        return "undefined"
    if abs(value) >= _WITHOUT_EXPONENT:
        return f"{value:.{digits}e}".replace("-", MINUS)
    text = f"{value:.{digits}f}"
    if not text.strip("-0."):
        return text.lstrip("-")
    return text.replace("-", MINUS)


def signed(value: float, digits: int) -> str:
    """Value with ``digits`` decimals and always its sign, unless it rounds to zero."""
    text = fixed(value, digits)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def proportion(value: float, digits: int) -> str:
    """Proportion with ``digits`` decimals; a value outside [0, 1] is an error."""
    if not -_SLACK <= value <= 1 + _SLACK:
        raise AnalysisError(f"a proportion must lie in [0, 1], not {value!r}; declare the column as a number")
    return fixed(value, digits)


def percent(value: float, digits: int) -> str:
    """Proportion as a percentage without its sign, which belongs in the header."""
    return fixed(100 * value, digits)


def count(value: float) -> str:
    """Whole number with commas between thousands; a fraction is an error."""
    if value != math.floor(value):
        raise AnalysisError(f"a count must be a whole number, not {value!r}; declare the column as a number")
    return f"{int(value):,}".replace("-", MINUS)


def counted(number: float, noun: str, plural: str = "") -> str:
    """A number with its noun: ``1 model``, ``1,200 models``; ``plural`` where it is not the noun with an s."""
    return f"{count(number)} {noun if number == 1 else plural or f'{noun}s'}"


def p_value(value: float, digits: int, *, floor: float | None = None) -> str:
    """p-value with ``digits`` decimals, never 0.

    Parameters
    ----------
    value : float in [0, 1]
    digits : int
        A smaller value than the last digit can show prints as a bound, ``< 0.001``.
    floor : float, optional
        Smallest p-value that the resampling could give, 1 / (resamples + 1); a value at it prints as a
        bound, ``≤ 0.0005``, since more resamples might go lower.

    Raises
    ------
    AnalysisError
        Outside [0, 1], or below ``floor``.
    """
    if not 0 <= value <= 1 + _SLACK:
        raise AnalysisError(f"a p-value must lie in (0, 1], not {value!r}")
    if floor is not None and value < floor * (1 - _SLACK):
        raise AnalysisError(f"p-value {value!r} lies below the smallest that its resampling can give, {floor!r}")
    if floor is not None and value <= floor * (1 + _SLACK):
        return f"≤ {_rounded_up(floor, digits)}"
    if value < 10.0**-digits:
        return f"< {10.0**-digits:.{digits}f}"
    return fixed(min(value, 1.0), digits)


def _rounded_up(bound: float, digits: int) -> str:
    # Two significant digits where ``digits`` decimals would blur the bound; rounded up, so that it holds.
    places = max(digits, 1 - math.floor(math.log10(bound)))
    steps = math.ceil(Fraction(str(bound)) * 10**places)
    return f"{steps / 10**places:.{places}f}"


def level(value: float) -> str:
    """Confidence level in percent, to six digits at most: ``95%``, ``99.5%``."""
    return f"{100 * value:g}%"
