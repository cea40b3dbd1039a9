"""Answers to questions of planning as tidy rows: what is detectable, how many units, power by effect and by units."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.planning.question import (
    Question,
    detectable_effect,
    power_curve,
    units_around,
    units_needed,
)

#: Points of a curve of power by effect.
POINTS: Final = 41
TOO_SMALL: Final = "no possible effect is shown with this power"
TOO_MANY: Final = "more than 10,000,000 units"
TOO_FEW: Final = "too few units for the test"


def answer(question: Question, *, effect: float, power: float = 0.8) -> dict[str, Any]:
    """One row: the design, what it shows with the target power, its power at an effect, the units for that.

    ``reason`` says why a number is missing, or why the effect is none that could be.
    """
    possible = 0 < effect <= question.most_effect
    exists = question.units >= question.least_units
    found = detectable_effect(question, power=power)
    needed = units_needed(question, effect, power=power) if possible else np.nan
    reasons = [
        TOO_FEW if not exists else TOO_SMALL if np.isnan(found) else "",
        f"an effect of {effect:g} cannot be" if not possible else TOO_MANY if np.isnan(needed) else "",
    ]
    return {
        "measure": question.measure,
        "n_clusters": question.units,
        "unit": question.unit,
        "test": question.test,
        "scale": question.scale,
        "target_power": power,
        "detectable_effect": found,
        "asked_effect": effect,
        "power_at_effect": question.power(effect, question.units) if possible and exists else np.nan,
        "units_needed": needed,
        "reason": "; ".join(reason for reason in reasons if reason),
    }


def by_units(question: Question, *, effect: float, power: float = 0.8) -> pd.DataFrame:
    """What fewer and more units would show: ``n_clusters, detectable_effect, power_at_effect, reason``."""
    rows = [
        {
            "n_clusters": n,
            "detectable_effect": (found := detectable_effect(question, power=power, units=n)),
            "power_at_effect": question.power(effect, n) if 0 < effect <= question.most_effect else np.nan,
            "this_design": n == question.units,
            "reason": TOO_SMALL if np.isnan(found) else "",
        }
        for n in units_around(question)
    ]
    columns = ["n_clusters", "detectable_effect", "power_at_effect", "this_design", "reason"]
    return pd.DataFrame(rows, columns=columns)


def curves(question: Question, *, effect: float, power: float = 0.8) -> pd.DataFrame:
    """Power by effect, for the design and for half, twice and four times its units.

    Returns
    -------
    DataFrame
        ``n_clusters, effect, power_at_effect, this_design``, effects from 0 to where the design is all but certain.
    """
    sizes = [n for f in (0.5, 1, 2, 4) if (n := round(question.units * f)) >= question.least_units]
    smallest = [detectable_effect(question, power=power, units=n) for n in sizes]
    known = [found for found in smallest if np.isfinite(found)]
    top = min(1.4 * max([effect, *known]), question.most_effect)
    effects = np.linspace(0, top, POINTS)[1:]
    parts = [
        pd.DataFrame(
            {
                "n_clusters": n,
                "effect": effects,
                "power_at_effect": power_curve(question, effects.tolist(), units=n),
                "this_design": n == question.units,
            }
        )
        for n in sizes
    ]
    columns = ["n_clusters", "effect", "power_at_effect", "this_design"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def answers(questions: Mapping[str, Question], *, effects: Mapping[str, float], power: float = 0.8) -> pd.DataFrame:
    """One row of ``answer`` per question, with its name in ``asked``."""
    rows = [{"asked": name} | answer(one, effect=effects[name], power=power) for name, one in questions.items()]
    return pd.DataFrame(rows)
