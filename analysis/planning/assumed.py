"""Questions from assumed numbers: what a design that nobody has run yet could show."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from analysis.arguments import check_level
from analysis.errors import AnalysisError
from analysis.planning.assumptions import Assumptions, checked
from analysis.planning.floor_power import floor_power
from analysis.planning.paired_change import change_power
from analysis.planning.persistent_power import noise_terms, persistent_power
from analysis.planning.question import Question
from analysis.planning.range_power import level_std_error, range_power
from analysis.planning.t_power import t_test_power
from analysis.planning.t_questions import (
    DIFFERENCE,
    accuracy_question,
    contrast_question,
    deff_of,
    difference_question,
    rows_of,
    score_difference_question,
    score_question,
    two_sided,
)
from analysis.planning.unit_errors import template_std_error

#: Accuracies closer to 0 or 1 are out of reach of a normal approximation.
_EDGE: Final = 0.005
_ROWS: Final = ("units", "rows_per_unit", "rho", "deff")


@dataclass(frozen=True, slots=True)
class Kind:
    """A question by name: what it asks, which assumptions it takes and needs, its level and usual effect."""

    asks: str
    takes: tuple[str, ...]
    needs: tuple[str, ...]
    make: Callable[[Assumptions, float], Question]
    level: float = 0.05
    effect: float = 0.05


def assumed_question(asked: str, assumptions: Assumptions, *, level: float | None = None) -> Question:
    """The question of that name under assumptions.

    Parameters
    ----------
    asked : str
        A key of ``KINDS``.
    assumptions : Assumptions
    level : float in (0, 1), optional
        Of the test; default that of the question.

    Raises
    ------
    AnalysisError
        An unknown question, an assumption that is missing, out of place or out of range.
    """
    kind = KINDS.get(asked)
    if kind is None:
        raise AnalysisError(f"no question {asked!r}; there are {', '.join(KINDS)}")
    used = kind.level if level is None else level
    if not 0 < used < 1:
        raise AnalysisError(f"{asked}: --level must lie strictly between 0 and 1, not {used:g}; 0.05 stands for 5%")
    return kind.make(checked(asked, assumptions, takes=kind.takes, needs=kind.needs), check_level(used))


def _floor(of: Assumptions, level: float) -> Question:
    rows, gap, lost = of.rows_per_unit or 1, of.gap or 0.0, 2 if of.split_units else 1
    correlation = 0.0 if of.split_units else of.class_correlation or 0.0

    def power(effect: float, units: int) -> float:
        per_class = units / lost
        n_eff, rate = per_class * rows / deff_of(of), 0.5 + effect
        other = min(rate + gap, 1 - _EDGE)
        df = per_class - 1
        return float(floor_power(rate, other, n_eff=(n_eff, n_eff), df=(df, df), level=level, correlation=correlation))

    better = (
        f"the better class exceeds the floor by {gap:g}" if gap else "both classes are at the floor, the hardest case"
    )
    return Question(
        measure="competence_floor",
        test=f"both classes above .5, one-sided {100 * level:g}%",
        units=int(of.units or 0),
        unit="unit",
        least_units=2 * lost,
        most_effect=0.5 - _EDGE,
        scale=DIFFERENCE,
        power=power,
        assumed=(better, rows_of(of), f"correlation of the classes' accuracies {correlation:g}"),
    )


def _change(of: Assumptions, level: float) -> Question:
    discordant, rows = float(of.discordant or 0), of.rows_per_unit or 1

    def power(effect: float, units: int) -> float:
        return float(change_power(effect, units * rows, discordant=discordant, deff=deff_of(of), level=level))

    return Question(
        measure="change",
        test=f"McNemar or sign flips, {two_sided(level)}",
        units=int(of.units or 0),
        unit="unit",
        least_units=2,
        most_effect=discordant,
        scale=DIFFERENCE,
        power=power,
        assumed=(f"{100 * discordant:g}% of the pairs change", rows_of(of).replace("response", "pair")),
    )


def _persistent(of: Assumptions, level: float) -> Question:
    noise, wordings = float(of.noise or 0), int(of.wordings or 0)
    flat, slope = (float(term) for term in noise_terms(noise, wordings))

    def power(effect: float, units: int) -> float:
        return float(persistent_power(effect, units, flat=flat, slope=slope, level=level))

    return Question(
        measure="persistent",
        test=f"sign flips of wordings, one-sided {100 * level:g}%",
        units=int(of.units or 0),
        unit="instance",
        least_units=2,
        most_effect=10.0,
        scale="log-odds",
        power=power,
        assumed=(
            f"{wordings} wordings of each instance, rewording noise {noise:g}",
            "residuals are normal over instances and over wordings; few instances with a large effect need more",
        ),
    )


def _range(of: Assumptions, level: float) -> Question:
    rate, levels = of.accuracy or 0.7, int(of.levels or 0)

    def power(effect: float, units: int) -> float:
        error = level_std_error(
            rate, units, rows_per_unit=of.rows_per_unit or 1, rho=of.rho or 0.0, interaction=of.interaction or 0.0
        )
        return range_power(effect, float(error), levels, level=level)

    return Question(
        measure="range",
        test=f"range of {levels} levels, {100 * level:g}%",
        units=int(of.units or 0),
        unit="unit",
        least_units=2,
        most_effect=1.0,
        scale=DIFFERENCE,
        power=power,
        assumed=(
            f"accuracy {rate:g}; one level is high, one low, the others lie between",
            f"{of.rows_per_unit or 1:g} responses per unit and level with a correlation of {of.rho or 0.0:g}, "
            f"interaction sd {of.interaction or 0.0:g}",
        ),
    )


def _templates(of: Assumptions, level: float) -> Question:
    sd, start = float(of.template_sd or 0), int(of.units or 0)
    ratio = (of.other_templates or start) / start if start else 1.0

    def power(effect: float, units: int) -> float:
        error, df = template_std_error(sd, units, max(units * ratio, 2.0))
        return float(t_test_power(effect, error, df=df, level=level))

    return Question(
        measure="class_accuracy",
        test=f"t, {two_sided(level)}",
        units=start,
        unit="template",
        least_units=2,
        most_effect=1.0,
        scale=DIFFERENCE,
        power=power,
        assumed=(
            f"accuracy differs between templates by a standard deviation of {sd:g}",
            f"{ratio:g} templates of the other validity for each; as many responses as make their own noise negligible",
        ),
    )


_BOTH: Final = (*_ROWS, "accuracy", "class_correlation", "split_units")
_SCORES: Final = (*_ROWS, "score_sd")
_PAIR: Final = (*_ROWS, "accuracy", "correlation")
KINDS: Final[dict[str, Kind]] = {
    "floor": Kind("competence floor above .5", (*_ROWS, "gap", "class_correlation", "split_units"), ("units",), _floor),
    "floor-difference": Kind(
        "floors of two models", (*_PAIR, "split_units"), ("units",), difference_question("competence_floor")
    ),
    "accuracy": Kind("accuracy away from a value", (*_ROWS, "accuracy"), ("units",), accuracy_question),
    "accuracy-difference": Kind("accuracies of two models", _PAIR, ("units",), difference_question("accuracy")),
    "score": Kind("mean score away from a value", _SCORES, ("units", "score_sd"), score_question),
    "score-difference": Kind(
        "mean scores of two models", (*_SCORES, "correlation"), ("units", "score_sd"), score_difference_question
    ),
    "answer-bias": Kind("answer bias away from 0", _BOTH, ("units",), contrast_question("answer_bias", (1, -1))),
    "balanced-accuracy": Kind(
        "balanced accuracy away from .5", _BOTH, ("units",), contrast_question("balanced_accuracy", (0.5, 0.5))
    ),
    "polarity-sensitivity": Kind(
        "polarity sensitivity away from 0", _BOTH, ("units",), contrast_question("polarity_sensitivity", (1, -1))
    ),
    "change": Kind("paired change of right and wrong", (*_ROWS, "discordant"), ("units", "discordant"), _change),
    "persistent": Kind(
        "persistent incoherence", ("units", "noise", "wordings"), ("units", "noise", "wordings"), _persistent,
        level=0.025, effect=0.1,
    ),
    "range": Kind(
        "range over levels of a factor", ("units", "rows_per_unit", "rho", "accuracy", "levels", "interaction"),
        ("units", "levels"), _range,
    ),
    "templates": Kind(
        "class accuracy over new templates", ("units", "template_sd", "other_templates"), ("units", "template_sd"),
        _templates, effect=0.2,
    ),
}  # fmt: skip


def wordings_needed(assumptions: Assumptions, effect: float, *, power: float, level: float = 0.025) -> float:
    """Fewest wordings with which a persistent residual is detected in the instances at hand; NaN above 1,000."""
    noise, units = float(assumptions.noise or 0), float(assumptions.units or 0)
    k = np.arange(2, 1001)
    flat, slope = noise_terms(noise, k)
    reached = np.array(
        [persistent_power(effect, units, flat=a, slope=b, level=level) for a, b in zip(flat, slope, strict=True)]
    )
    return float(k[np.argmax(reached >= power)]) if (reached >= power).any() else float("nan")
