"""Questions that a two-sided t test over units answers, from assumed numbers."""

from collections.abc import Callable
from typing import Final

from analysis.planning.assumptions import Assumptions
from analysis.planning.question import Question
from analysis.planning.t_power import t_test_power
from analysis.planning.unit_errors import contrast_std_error, design_effect, rate_std_error, score_std_error

DIFFERENCE: Final = "probability difference"


def deff_of(of: Assumptions) -> float:
    """Design effect that is assumed, or that follows from the correlation."""
    return of.deff if of.deff is not None else float(design_effect(of.rows_per_unit or 1, of.rho or 0.0))


def two_sided(level: float) -> str:
    """Sides and level in words."""
    return f"two-sided {100 * level:g}%"


def rows_of(of: Assumptions) -> str:
    """Responses of a unit in words."""
    rows = of.rows_per_unit or 1
    return f"{rows:g} {'response' if rows == 1 else 'responses'} per unit, design effect {deff_of(of):.3g}"


def _t_question(
    of: Assumptions, level: float, measure: str, std_error: Callable[[int], float], *, most: float, assumed: str
) -> Question:
    """A two-sided t test over units."""
    lost = 2 if of.split_units else 1

    def power(effect: float, units: int) -> float:
        return float(t_test_power(effect, std_error(units), df=units - lost, level=level))

    return Question(
        measure=measure,
        test=f"t, {two_sided(level)}",
        units=int(of.units or 0),
        unit="unit",
        least_units=2 * lost,
        most_effect=most,
        scale=DIFFERENCE,
        power=power,
        assumed=(assumed, rows_of(of)),
    )


def accuracy_question(of: Assumptions, level: float) -> Question:
    """Is an accuracy beyond a value?"""
    rate = of.accuracy or 0.5

    def error(units: int) -> float:
        return float(rate_std_error(rate, units * (of.rows_per_unit or 1), deff=deff_of(of)))

    said = f"responses vary as at an accuracy of {rate:g}"
    return _t_question(of, level, "accuracy", error, most=1.0, assumed=said)


def contrast_question(measure: str, weights: tuple[float, float]) -> Callable[[Assumptions, float], Question]:
    """Is a contrast of both classes, with these weights, beyond 0 (or .5)?"""

    def make(of: Assumptions, level: float) -> Question:
        def error(units: int) -> float:
            one = _class_error(of, units)
            return float(contrast_std_error(one, one, weights=weights, correlation=of.class_correlation or 0.0))

        said = (
            f"both sides have an accuracy of {of.accuracy or 0.7:g}, their correlation is {of.class_correlation or 0:g}"
        )
        return _t_question(of, level, measure, error, most=1.0 if weights[0] == 1 else 0.5, assumed=said)

    return make


def difference_question(measure: str) -> Callable[[Assumptions, float], Question]:
    """Do two models differ?"""

    def make(of: Assumptions, level: float) -> Question:
        def error(units: int) -> float:
            one = _class_error(of, units)
            return float(contrast_std_error(one, one, weights=(1, -1), correlation=of.correlation or 0.0))

        said = f"both models have an accuracy of {of.accuracy or 0.7:g} and a correlation of {of.correlation or 0.0:g}"
        return _t_question(of, level, measure, error, most=1.0, assumed=said)

    return make


def score_question(of: Assumptions, level: float) -> Question:
    """Is a mean graded score beyond a value?"""
    said = f"scores have a standard deviation of {of.score_sd or 0:g}"
    return _t_question(of, level, "mean_score", lambda units: _score_error(of, units), most=1.0, assumed=said)


def score_difference_question(of: Assumptions, level: float) -> Question:
    """Do two models differ in their mean graded score?"""

    def error(units: int) -> float:
        one = _score_error(of, units)
        return float(contrast_std_error(one, one, weights=(1, -1), correlation=of.correlation or 0.0))

    said = (
        f"scores of both models have a standard deviation of {of.score_sd or 0:g}; their means over units have a "
        f"correlation of {of.correlation or 0.0:g}"
    )
    return _t_question(of, level, "mean_score", error, most=1.0, assumed=said)


def _class_error(of: Assumptions, units: int) -> float:
    per_class = units / (2 if of.split_units else 1)
    return float(rate_std_error(of.accuracy or 0.7, per_class * (of.rows_per_unit or 1), deff=deff_of(of)))


def _score_error(of: Assumptions, units: int) -> float:
    return float(score_std_error(of.score_sd or 0.0, units * (of.rows_per_unit or 1), deff=deff_of(of)))
