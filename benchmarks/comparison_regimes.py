"""Simulated answers with known truth for tests of levels, of paired changes, and of models against each other."""

from typing import Final

import numpy as np
from floor_regimes import GOLD_SIGN, intercept
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]
#: Name -> cells of the two models compared by floor.
FLOOR_PAIRS: Final = {
    "both tie .7": ((0.9, 0.5, 0.9, 0.5), (0.9, 0.5, 0.9, 0.5)),
    "tie .7 vs gap .7": ((0.9, 0.5, 0.9, 0.5), (0.8, 0.9, 0.8, 0.6)),
    "tie .7 vs gap .6": ((0.9, 0.5, 0.9, 0.5), (0.8, 0.7, 0.8, 0.4)),
}
#: Name -> (surface x form, template x form, size of the form effect), standard deviations on the logit scale.
FORM_REGIMES: Final = {
    "no interaction": (0.0, 0.0, 0.0),
    "surface x form sd .7": (0.7, 0.0, 0.0),
    "template x form sd .7": (0.0, 0.7, 0.0),
    "true range .05": (0.0, 0.0, 0.1),
    "true range .15": (0.0, 0.0, 0.3),
}
#: Name -> (surface, template), standard deviations of the direction of change on the logit scale.
CHANGE_REGIMES: Final = {
    "none": (0.0, 0.0),
    "surface sd .5": (0.5, 0.0),
    "surface sd 1": (1.0, 0.0),
    "surface sd 2": (2.0, 0.0),
    "template sd .5": (0.0, 0.5),
    "template sd 1": (0.0, 1.0),
    "both sd 1": (1.0, 1.0),
}
#: Name -> mean |r| of seven models.
SCALES: Final = {
    "7 distinct scales": (0.08, 0.12, 0.15, 0.21, 0.26, 0.26, 0.37),
    "complete null": (0.2,) * 7,
    "2 groups": (0.12,) * 3 + (0.26,) * 4,
    "equal means, unequal tails": (0.2,) * 7,
}
SURFACES, TEMPLATES, FORMS = 80, 15, 5


def floor_pairs(name: str, per_cell: int, replicates: int, rng: np.random.Generator) -> Floats:
    """Right answers (replicates, 2, surfaces, 4) of ``per_cell`` each; surfaces move the leaning to Yes.

    Half of that movement is common to both models, half is each model's own.
    """
    sd = 0.7
    at = np.array([[intercept(p, np.hypot(sd, sd)) for p in cells] for cells in FLOOR_PAIRS[name]])
    common = sd * rng.standard_normal((replicates, 1, SURFACES, 1))
    own = sd * rng.standard_normal((replicates, 2, SURFACES, 1))
    return rng.binomial(per_cell, expit(at[:, None] + (common + own) * GOLD_SIGN)).astype(float)


def form_shape(effect: float) -> Floats:
    """Effects (forms,) of equal steps whose standard deviation is ``effect``, on the logit scale."""
    return effect * np.array([-1.0, -0.5, 0.0, 0.5, 1.0]) / np.sqrt(0.5)


def form_answers(name: str, replicates: int, rng: np.random.Generator) -> Floats:
    """Single answers (replicates, surfaces, templates, forms), 0 or 1."""
    by_surface, by_template, effect = FORM_REGIMES[name]
    lead = (replicates, SURFACES, TEMPLATES, FORMS)
    logits = (
        0.5 + rng.standard_normal((replicates, SURFACES, 1, 1)) + rng.standard_normal((replicates, 1, TEMPLATES, 1))
    )
    logits = logits + by_surface * rng.standard_normal((replicates, SURFACES, 1, FORMS))
    logits = logits + by_template * rng.standard_normal((replicates, 1, TEMPLATES, FORMS)) + form_shape(effect)
    return (rng.random(lead) < expit(logits)).astype(float)


def form_truth(name: str) -> Floats:
    """True accuracy of each form, over surfaces and templates."""
    by_surface, by_template, effect = FORM_REGIMES[name]
    spread = np.sqrt(2 + by_surface**2 + by_template**2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    return expit(0.5 + form_shape(effect)[:, None] + spread * nodes) @ (weights / weights.sum())


def changes(name: str, discordance: float, replicates: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Pairs right on the first side only, and on the second only: (replicates, surfaces, templates), of 2 pairs."""
    by_surface, by_template = CHANGE_REGIMES[name]
    direction = by_surface * rng.standard_normal((replicates, SURFACES, 1))
    direction = direction + by_template * rng.standard_normal((replicates, 1, TEMPLATES))
    moved = rng.binomial(2, discordance, (replicates, SURFACES, TEMPLATES))
    first = rng.binomial(moved, expit(direction))
    return first.astype(float), (moved - first).astype(float)


def residual_sizes(name: str, items: int, rng: np.random.Generator) -> Floats:
    """Sizes (7, items) of residuals, lognormal and correlated over models; two heavy-tailed models if so named."""
    common, own = 0.9 * rng.standard_normal((1, items)), 0.9 * rng.standard_normal((7, items))
    sizes = np.exp(common + own - 0.81) * np.array(SCALES[name])[:, None]
    if name == "equal means, unequal tails":
        for model, share in ((0, 0.08), (1, 0.15)):
            hit = rng.random(items) < share
            sizes[model] = np.where(hit, 0.2 / share * rng.exponential(1, items), 0)
    return sizes


def size_differences(heavy: bool, items: int, replicates: int, rng: np.random.Generator) -> Floats:
    """Differences (replicates, items) of two models with equal means: alike, or one of them heavy-tailed."""
    shape = (replicates, items)
    if heavy:
        hit = rng.random(shape) < 0.08
        light = 0.2 * np.exp(0.9 * rng.standard_normal(shape) - 0.405)
        return np.where(hit, 2.5 * rng.exponential(1, shape), 0) - light
    common, first, second = np.exp(0.9 * rng.standard_normal((3, *shape)))
    return 0.2 * common * np.exp(-0.81) * (first - second)
