"""What is assumed of a design, by name, and whether it can be true."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Final

from analysis.errors import AnalysisError

#: Assumption -> (lowest, highest, whether the ends are possible, whether it is a whole number).
_RANGES: Final[dict[str, tuple[float, float, bool, bool]]] = {
    "units": (2, 10_000_000, True, True),
    "rows_per_unit": (1, 1_000_000, True, False),
    "rho": (0, 1, True, False),
    "deff": (1, 1_000_000, True, False),
    "accuracy": (0, 1, False, False),
    "gap": (0, 0.5, True, False),
    "class_correlation": (-1, 1, True, False),
    "correlation": (-1, 1, True, False),
    "score_sd": (0, 0.5, False, False),
    "discordant": (0, 1, False, False),
    "noise": (0, math.inf, False, False),
    "wordings": (2, 1_000_000, True, True),
    "levels": (2, 1_000, True, True),
    "interaction": (0, 1, True, False),
    "template_sd": (0, 0.5, False, False),
    "other_templates": (2, 10_000_000, True, True),
}


@dataclass(frozen=True, slots=True)
class Assumptions:
    """A design as it is assumed; None leaves a number to the default of the question.

    Attributes
    ----------
    units : int
        Independent units: surface prompts, items, pairs, instances, or templates of one validity.
    rows_per_unit : float
        Responses of one unit; in yes/no designs to each right answer, under levels of a factor to each level.
    rho : float
        Correlation of two responses of one unit.
    deff : float
        Design effect in place of ``rho``.
    accuracy : float
        Accuracy at which responses vary.
    gap : float
        By how much the better class exceeds the floor.
    class_correlation : float
        Of the observed accuracies of both classes.
    split_units : bool
        Whether every unit has one right answer, half of them Yes.
    correlation : float
        Of the observed values of two models, over the same units.
    score_sd : float
        Standard deviation of one graded score in [0, 1]; .5 is that of right and wrong at even odds.
    discordant : float
        Share of pairs of which one answer is right.
    noise : float
        Standard deviation of a residual over wordings, log-odds.
    wordings : int
        Of every instance.
    levels : int
        Of the factor.
    interaction : float
        Standard deviation over units of how a level acts on them.
    template_sd : float
        Standard deviation of accuracy between templates.
    other_templates : int
        Templates of the other validity, as many as ``units`` by default.
    """

    units: int | None = None
    rows_per_unit: float | None = None
    rho: float | None = None
    deff: float | None = None
    accuracy: float | None = None
    gap: float | None = None
    class_correlation: float | None = None
    split_units: bool = False
    correlation: float | None = None
    score_sd: float | None = None
    discordant: float | None = None
    noise: float | None = None
    wordings: int | None = None
    levels: int | None = None
    interaction: float | None = None
    template_sd: float | None = None
    other_templates: int | None = None

    def given(self) -> Mapping[str, float | bool]:
        """The assumptions that were made, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        made = {name: value for name, value in values.items() if value is not None and value is not False}
        return MappingProxyType(made)


def checked(asked: str, assumptions: Assumptions, *, takes: tuple[str, ...], needs: tuple[str, ...]) -> Assumptions:
    """The assumptions after checking that the question takes each of them, and that each is possible.

    Raises
    ------
    AnalysisError
        Names the first that is out of place, out of range or missing.
    """
    given = assumptions.given()
    for name, value in given.items():
        if name not in takes:
            known = ", ".join(map(option, takes))
            raise AnalysisError(f"{asked}: {option(name)} says nothing about this question; it takes {known}")
        _check_value(asked, name, value)
    missing = [name for name in needs if name not in given]
    if missing:
        raise AnalysisError(f"{asked}: needs {', '.join(map(option, missing))}")
    if "rho" in given and "deff" in given:
        raise AnalysisError(f"{asked}: --rho and --deff say the same thing; give one of them")
    return assumptions


def option(name: str) -> str:
    """An assumption as the command line writes it."""
    return f"--{name.replace('_', '-')}"


def _check_value(asked: str, name: str, value: float) -> None:
    if name == "split_units":
        return
    low, high, closed, whole = _RANGES[name]
    inside = low <= value <= high if closed else low < value < high
    if math.isfinite(value) and inside and (not whole or value == int(value)):
        return
    between = (
        f"in [{low:,.7g}, {high:,.8g}]"
        if closed
        else f"above {low:g}" + ("" if high == math.inf else f", below {high:g}")
    )
    kind = "be a whole number" if whole else "lie"
    raise AnalysisError(f"{asked}: {option(name)} must {kind} {between}, not {value:g}")
