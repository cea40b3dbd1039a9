"""Priors of the answer-bias model, named, with their meaning on the probability scale."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from analysis.bayes.prior_values import check_values
from analysis.errors import AnalysisError, StudyError
from analysis.measures.competence import competence_floor
from analysis.schema.study_keys import suggestion

Floats = NDArray[np.float64]

#: What the gate asks of the priors: central 90 % of the floor, and share of cells outside [.02, .98].
FLOOR_RANGE: Final = (0.05, 0.85)
EXTREME_CELL: Final = 0.02
LARGEST_EXTREME_SHARE: Final = 0.40
#: Quantities that may be negative or zero; every other one is a scale.
_LOCATIONS: Final = frozenset({"sensitivity_mean", "validity_mean", "concentration_mean", "answered_mean"})


@dataclass(frozen=True, slots=True)
class Priors:
    """Scales of normal priors of means and of half-normal priors of standard deviations, in log-odds.

    ``MEANINGS`` says what each is, and what it implies in probabilities.
    """

    yes_mean_sd: float = 1.5
    sensitivity_mean: float = 1.0
    sensitivity_mean_sd: float = 2.0
    polarity_mean_sd: float = 1.0
    validity_mean: float = 0.5
    validity_mean_sd: float = 1.0
    yes_sd: float = 2.0
    sensitivity_sd: float = 2.5
    polarity_sd: float = 1.0
    validity_sd: float = 1.0
    family_sd: float = 1.0
    template_sd: float = 1.0
    model_template_sd: float = 1.0
    form_sd: float = 0.5
    model_form_sd: float = 0.5
    concentration_mean: float = 1.0
    concentration_sd: float = 1.5
    residual_sd: float = 1.5
    surface_sd: float = 1.0
    answered_mean: float = 3.5
    answered_mean_sd: float = 1.5
    answered_sd: float = 1.0
    answered_effect_sd: float = 0.5

    def __post_init__(self) -> None:
        check_values(self, _LOCATIONS)


#: Prior -> what it scales, and its meaning on the probability scale.
MEANINGS: Final[Mapping[str, str]] = {
    "yes_mean_sd": "sd of the mean leaning to Yes; 1.5: a typical model without any skill says Yes to 5-95 %",
    "sensitivity_mean": "mean sensitivity (half log odds ratio); 1: typical accuracies around .73",
    "sensitivity_mean_sd": "sd of that mean; 2: typical accuracies from .05 (answers inverted) to .99",
    "polarity_mean_sd": "sd of the mean pull of affirmative wording; 1: Yes rates of .12-.88 from wording alone",
    "validity_mean": "mean blindness to negation; .5: endorsement follows validity .62 : .38",
    "validity_mean_sd": "sd of that mean; 1: endorsement by validity alone from .19 to .92",
    "yes_sd": "half-normal scale of the sd between models of leaning to Yes; 2: models may lie anywhere in 2-98 %",
    "sensitivity_sd": "the same for sensitivity; 2.5: models from inverted to perfect",
    "polarity_sd": "the same for the pull of affirmative wording; 1: by up to .38 in either direction",
    "validity_sd": "the same for blindness to negation",
    "family_sd": "half-normal scale of the sd between model families, of each of these four; 1: .5 becomes .12-.88",
    "template_sd": "half-normal scale of the sd of templates, common to all models; 1: a template moves .5 to .12-.88",
    "model_template_sd": "the same for what a template does to one model",
    "form_sd": "half-normal scale of the sd of question forms, common to all models; .5: a form moves .5 to .27-.73",
    "model_form_sd": "the same for what a form does to one model",
    "concentration_mean": "mean of the log concentration of cells around their model; 1: a spread of .26 at .5",
    "concentration_sd": "sd of that log concentration; 1.5: spreads from .09 to .46 at .5",
    "residual_sd": "half-normal scale of the sd of cells where surfaces are effects; 1.5: .5 becomes .05-.95",
    "surface_sd": "half-normal scale of the sd of surfaces; 1: a surface moves .5 to .12-.88",
    "answered_mean": "mean log-odds of a readable answer; 3.5: 97 %",
    "answered_mean_sd": "sd of that mean; 1.5: typical models answer 61-99.8 %",
    "answered_sd": "half-normal scale of the sd between models of answering; 1: .97 becomes .81-.996",
    "answered_effect_sd": "half-normal scale of the sd of what gold, wording or template does to answering",
}


@dataclass(frozen=True, slots=True)
class PriorPredictive:
    """What the priors imply before any data.

    Attributes
    ----------
    floor_low, floor_high : float
        5 % and 95 % quantile of the competence floor of a model.
    extreme_cells : float
        Share of the four cells outside [.02, .98].
    bias_low, bias_high : float
        5 % and 95 % quantile of the answer bias.
    passed : bool
        The floor covers at least FLOOR_RANGE, and at most LARGEST_EXTREME_SHARE of cells are extreme.
    """

    floor_low: float
    floor_high: float
    extreme_cells: float
    bias_low: float
    bias_high: float
    passed: bool


def priors_from(settings: Mapping[str, float]) -> Priors:
    """Default priors with those that ``[priors]`` of ``study.toml`` names replaced.

    Raises
    ------
    StudyError
        An unknown name, or a scale that is not positive; all of them in one message.
    """
    known = tuple(field.name for field in fields(Priors))
    problems = [f"[priors] {name}: unknown prior{suggestion(name, known)}" for name in settings if name not in known]
    problems += [
        f"[priors] {name}: a scale must be a number above 0, not {value!r}"
        for name, value in settings.items()
        if name in known and name not in _LOCATIONS and not 0 < value < np.inf
    ]
    problems += [
        f"[priors] {name}: must be a finite number, not {value!r}"
        for name, value in settings.items()
        if name in _LOCATIONS and not np.isfinite(value)
    ]
    if problems:
        raise StudyError("\n".join(problems), offenders=problems)
    return replace(Priors(), **{name: float(value) for name, value in settings.items()})


def doubled(priors: Priors) -> Priors:
    """Priors with the scales of families, templates and forms twice as wide: few groups inform them."""
    names = ("family_sd", "template_sd", "model_template_sd", "form_sd", "model_form_sd")
    return replace(priors, **{name: 2 * getattr(priors, name) for name in names})


def prior_table(priors: Priors) -> list[tuple[str, float, str]]:
    """(name, value, meaning) of every prior, in order."""
    return [(name, float(value), MEANINGS[name]) for name, value in asdict(priors).items()]


def prior_predictive(
    priors: Priors,
    rng: np.random.Generator,
    *,
    draws: int = 4000,
    templates: int = 15,
    forms: int = 5,
    families: bool = False,
) -> PriorPredictive:
    """Simulate one model of a template × form × polarity design from the priors, and judge the result.

    Parameters
    ----------
    priors : Priors
    rng : numpy.random.Generator
    draws : int
        Simulated models, each from hyper-parameters of its own.
    templates, forms : int
        Size of the design; a quarter of the templates, at least one, is invalid.
    families : bool
        Whether model families are effects.
    """
    if draws < 1 or templates < 2 or forms < 1:
        raise AnalysisError("a prior predictive check needs at least 1 draw, 2 templates and 1 form")
    cells = _accuracies(priors, rng, draws, templates, forms, families)
    floor = competence_floor(cells)
    bias = (cells[:, 0] + cells[:, 3] - cells[:, 1] - cells[:, 2]) / 2
    low, high = np.quantile(floor, [0.05, 0.95])
    extreme = float(((cells < EXTREME_CELL) | (cells > 1 - EXTREME_CELL)).mean())
    passed = low <= FLOOR_RANGE[0] and high >= FLOOR_RANGE[1] and extreme <= LARGEST_EXTREME_SHARE
    bias_low, bias_high = np.quantile(bias, [0.05, 0.95])
    return PriorPredictive(float(low), float(high), extreme, float(bias_low), float(bias_high), bool(passed))


def _accuracies(
    priors: Priors, rng: np.random.Generator, draws: int, templates: int, forms: int, families: bool
) -> Floats:
    """Accuracies (draws, 4) in the order of FOUR_CELLS of models drawn from the priors."""

    def half_normal(scale: float) -> Floats:
        return np.abs(rng.normal(size=(draws, 1, 1, 1))) * scale

    def coefficient(mean: float, mean_sd: float, scale: float) -> Floats:
        return (
            mean + mean_sd * rng.normal(size=(draws, 1, 1, 1)) + half_normal(scale) * rng.normal(size=(draws, 1, 1, 1))
        )

    def effect(shape: tuple[int, int], scales: tuple[float, ...]) -> Floats:
        size = (draws, *shape, 1)
        return sum((half_normal(scale) * rng.normal(size=size) for scale in scales), np.zeros(size))

    p = np.array([1.0, -1.0])
    invalid = max(1, templates // 4)
    v = np.where(np.arange(templates) < templates - invalid, 1.0, -1.0)[:, None, None]
    s = v * p
    of_template = (priors.template_sd, priors.model_template_sd)
    of_form = (priors.form_sd, priors.model_form_sd)
    eta = (
        coefficient(0.0, priors.yes_mean_sd, priors.yes_sd)
        + coefficient(priors.sensitivity_mean, priors.sensitivity_mean_sd, priors.sensitivity_sd) * s
        + coefficient(0.0, priors.polarity_mean_sd, priors.polarity_sd) * p
        + coefficient(priors.validity_mean, priors.validity_mean_sd, priors.validity_sd) * v
        + effect((templates, 1), of_template)
        + effect((templates, 1), of_template) * p
    )
    eta = eta + sum(effect((1, forms), of_form) * x for x in (1.0, p, s, v))
    if families:
        for x in (np.ones_like(s), p, s, v):
            eta = eta + effect((1, 1), (priors.family_sd,)) * x
    phi = np.exp(priors.concentration_mean + priors.concentration_sd * rng.normal(size=(draws, 1, 1, 1)))
    yes = rng.beta(phi * expit(eta) + 1e-9, phi * expit(-eta) + 1e-9)
    answering = coefficient(priors.answered_mean, priors.answered_mean_sd, priors.answered_sd)
    answered = expit(answering + effect((templates, 1), (priors.answered_effect_sd,) * 2))
    right = answered * np.where(s > 0, yes, 1 - yes)
    by_template = right.mean(axis=2)
    valid, other = by_template[:, :-invalid], by_template[:, -invalid:]
    return np.concatenate([valid.mean(axis=1), other.mean(axis=1)], axis=1)
