"""A question that a design is to answer, and what follows from its power: detectable effects and numbers of units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
#: No design is searched beyond so many units.
MOST_UNITS: Final = 10_000_000
#: Share of the largest possible effect below which none is looked for.
_LEAST: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Question:
    """One test of one design.

    Attributes
    ----------
    measure : str
        What is estimated (``vocabulary.MEASURES``), or ``change``, ``range``.
    test : str
        The test in words, with its sides and level.
    units : int
        Of the design at hand.
    unit : str
        What is counted.
    least_units : int
        Fewest with which the test exists.
    most_effect : float
        Largest effect that is possible.
    scale : str
        Unit of the effect.
    power : callable
        (effect > 0, units) -> probability in [0, 1] that the test rejects.
    assumed : tuple of str
        What the power rests on, in sentences.
    """

    measure: str
    test: str
    units: int
    unit: str
    least_units: int
    most_effect: float
    scale: str
    power: Callable[[float, int], float]
    assumed: tuple[str, ...] = ()


def check_power(power: float) -> float:
    """Return a power after checking that it lies strictly between 0 and 1."""
    if not 0 < power < 1:
        raise AnalysisError(f"power must lie strictly between 0 and 1, not {power!r}; 0.8 stands for 80%")
    return float(power)


def check_effect(question: Question, effect: float) -> float:
    """Return an effect after checking that it is possible."""
    if not 0 < effect <= question.most_effect:
        raise AnalysisError(
            f"effect must lie above 0 and up to {question.most_effect:g} ({question.scale}) here, not {effect!r}"
        )
    return float(effect)


def detectable_effect(question: Question, *, power: float = 0.8, units: int | None = None) -> float:
    """Smallest effect that is shown with this probability; NaN where not even the largest is."""
    wanted, n = check_power(power), question.units if units is None else units
    low, high = _LEAST * question.most_effect, question.most_effect

    def gap(effect: float) -> float:
        return question.power(effect, n) - wanted

    if n < question.least_units or gap(high) < 0:
        return float("nan")
    if gap(low) >= 0:
        return low
    return float(brentq(gap, low, high, xtol=1e-6 * high, rtol=1e-6))


def units_needed(question: Question, effect: float, *, power: float = 0.8) -> float:
    """Smallest number of units with which the effect is shown with this probability; NaN above ``MOST_UNITS``."""
    wanted, size = check_power(power), check_effect(question, effect)
    low, high = question.least_units - 1, question.least_units
    while question.power(size, high) < wanted:
        low, high = high, 2 * high
        if high > MOST_UNITS:
            return float("nan")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if question.power(size, middle) >= wanted else (middle, high)
    return float(high)


def power_curve(question: Question, effects: Sequence[float], *, units: int | None = None) -> Floats:
    """Power at each of several effects."""
    n = question.units if units is None else units
    return np.array([question.power(effect, n) if effect > 0 else np.nan for effect in effects])


def units_around(question: Question) -> tuple[int, ...]:
    """Numbers of units around that of the design: a quarter to eight times as many."""
    scaled = {round(question.units * factor) for factor in (0.25, 0.5, 1, 2, 4, 8)}
    return tuple(sorted(n for n in scaled if n >= question.least_units))
