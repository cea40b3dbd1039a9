"""``[priors]`` of ``study.toml``: scales of the answer-bias and of the endorsement model, each under its own names."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Final

import numpy as np

from analysis.bayes.belief_bias_priors import LOCATIONS, BeliefPriors
from analysis.bayes.priors import Priors, priors_from
from analysis.errors import StudyError
from analysis.schema.study_keys import suggestion

#: Names of either model; no name belongs to both.
OF_ANSWER_BIAS: Final = tuple(field.name for field in fields(Priors))
OF_BELIEF_BIAS: Final = tuple(field.name for field in fields(BeliefPriors))


def check_priors(settings: Mapping[str, float]) -> None:
    """Refuse settings of which some are no priors, or are out of range.

    Parameters
    ----------
    settings : mapping of str to float
        ``[priors]``.

    Raises
    ------
    StudyError
        Every problem of both models in one message; an unknown name comes with a near one, or the list of all.
    """
    known = (*OF_ANSWER_BIAS, *OF_BELIEF_BIAS)
    problems = [f"[priors] {name}: unknown prior{suggestion(name, known)}" for name in settings if name not in known]
    try:
        priors_from(_named(settings, OF_ANSWER_BIAS))
    except StudyError as error:
        problems += [str(problem) for problem in error.offenders]
    for name, value in _named(settings, OF_BELIEF_BIAS).items():
        if name not in LOCATIONS and not 0 < value < np.inf:
            problems.append(f"[priors] {name}: a scale must be a number above 0, not {value!r}")
        if name in LOCATIONS and not np.isfinite(value):
            problems.append(f"[priors] {name}: must be a finite number, not {value!r}")
    if problems:
        raise StudyError("\n".join(problems), offenders=problems)


def answer_bias_priors(settings: Mapping[str, float]) -> Priors:
    """Priors of the answer-bias model, those that ``[priors]`` names replaced; raises as ``check_priors``."""
    check_priors(settings)
    return priors_from(_named(settings, OF_ANSWER_BIAS))


def belief_bias_priors(settings: Mapping[str, float]) -> BeliefPriors:
    """The same of the endorsement model."""
    check_priors(settings)
    return replace(BeliefPriors(), **{n: float(value) for n, value in _named(settings, OF_BELIEF_BIAS).items()})


def _named(settings: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    return {name: value for name, value in settings.items() if name in names}
