"""``[priors]`` of ``study.toml``: numbers of the answer-bias, endorsement and accuracy models by name."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Final

import numpy as np

from analysis.bayes.accuracy_priors import LOCATIONS as ACCURACY_LOCATIONS
from analysis.bayes.accuracy_priors import AccuracyPriors
from analysis.bayes.belief_bias_priors import LOCATIONS, BeliefPriors
from analysis.bayes.priors import Priors, priors_from
from analysis.errors import StudyError
from analysis.schema.study_keys import suggestion

#: Before the names of the accuracy model, which has an ``item_sd`` and others as the endorsement model has.
ACCURACY: Final = "accuracy_"
#: Names of each model; no name belongs to two.
OF_ANSWER_BIAS: Final = tuple(field.name for field in fields(Priors))
OF_BELIEF_BIAS: Final = tuple(field.name for field in fields(BeliefPriors))
OF_ACCURACY: Final = tuple(ACCURACY + field.name for field in fields(AccuracyPriors))
#: Those that may be negative.
_LOCATIONS: Final = LOCATIONS | {ACCURACY + name for name in ACCURACY_LOCATIONS}


def check_priors(settings: Mapping[str, float]) -> None:
    """Refuse settings of which some are no priors, or are out of range.

    Parameters
    ----------
    settings : mapping of str to float
        ``[priors]``.

    Raises
    ------
    StudyError
        Every problem of all models in one message; an unknown name comes with a near one, or the list of all.
    """
    known = (*OF_ANSWER_BIAS, *OF_BELIEF_BIAS, *OF_ACCURACY)
    problems = [f"[priors] {name}: unknown prior{suggestion(name, known)}" for name in settings if name not in known]
    try:
        priors_from(_named(settings, OF_ANSWER_BIAS))
    except StudyError as error:
        problems += [str(problem) for problem in error.offenders]
    for name, value in _named(settings, (*OF_BELIEF_BIAS, *OF_ACCURACY)).items():
        if name not in _LOCATIONS and not 0 < value < np.inf:
            problems.append(f"[priors] {name}: a scale must be a number above 0, not {value!r}")
        if name in _LOCATIONS and not np.isfinite(value):
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


def accuracy_priors(settings: Mapping[str, float]) -> AccuracyPriors:
    """The same of the accuracy model, whose names in ``[priors]`` begin with ``ACCURACY``."""
    check_priors(settings)
    own = {name.removeprefix(ACCURACY): float(value) for name, value in _named(settings, OF_ACCURACY).items()}
    return replace(AccuracyPriors(), **own)


def _named(settings: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    return {name: value for name, value in settings.items() if name in names}
