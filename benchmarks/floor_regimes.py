"""Simulated answers whose true accuracies are known, for the coverage of intervals and the size of tests.

Surfaces (units) i = 1..G are asked m times in each of the four cells c. A right answer has
probability expit(a_c + difficulty * u_i + tendency * s_c * w_i) with u, w standard normal and s_c = +1
where Yes is right, -1 where No is right: ``difficulty`` makes all cells of a surface harder together,
``tendency`` moves its leaning to Yes. a_c is set so that the mean over surfaces is the accuracy asked for.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

#: +1 where Yes is right, in the order VA, VN, IA, IN.
GOLD_SIGN = np.array([1.0, -1.0, -1.0, 1.0])
#: Name -> true accuracies of VA, VN, IA, IN.
CASES = {
    "tie .70/.70": (0.9, 0.5, 0.9, 0.5),
    "near tie .70/.74": (0.9, 0.53, 0.95, 0.5),
    "gap .60/.80": (0.8, 0.7, 0.9, 0.4),
    "chance tie .50/.50": (0.5, 0.5, 0.5, 0.5),
    "yes-biased .94/.10": (0.997, 0.16, 0.03, 0.878),
    "ceiling .98/.99": (0.99, 0.99, 0.99, 0.97),
    "four-way tie .70": (0.7, 0.7, 0.7, 0.7),
    "blind to negation": (0.98, 0.04, 0.9, 0.1),
}
#: Cases for the test of floor > .5: one class at .5, the other there or higher.
NULL_CASES = {
    "one class at .5, other .7": (0.6, 0.8, 0.6, 0.4),
    "one class at .5, other .9": (0.6, 0.9, 0.9, 0.4),
    "both classes at .5": (0.7, 0.3, 0.7, 0.3),
}
#: Name -> (difficulty, tendency), standard deviations on the logit scale.
CLUSTERING = {"none": (0.0, 0.0), "difficulty": (1.0, 0.0), "yes-tendency": (0.0, 1.0)}
#: Responses per cell -> (surfaces, responses per surface and cell).
SIZES = {20: (20, 1), 80: (80, 1), 400: (80, 5), 2400: (80, 30)}


#: Name -> (surfaces serving the first kind, the second kind, responses per surface and cell) of designs whose
#: surfaces do not serve all cells: templates are valid or invalid, items have gold Yes or gold No.
SPLITS = {
    "by validity 11/4": (11, 4, 60),
    "by validity 40/40": (40, 40, 4),
    "by gold 20/20": (20, 20, 1),
    "by gold 60/20": (60, 20, 3),
}
_KINDS = {"validity": np.array([0, 0, 1, 1]), "gold": np.array([0, 1, 1, 0])}


@dataclass(frozen=True, slots=True)
class Regime:
    """Truth and design of one simulated benchmark; without a ``split`` (of SPLITS) surfaces serve all cells."""

    case: str
    cells: tuple[float, float, float, float]
    surfaces: int
    per_surface: int
    difficulty: float = 0.0
    tendency: float = 0.0
    split: str = ""


def split_regime(case: str, split: str, difficulty: float, tendency: float) -> Regime:
    """Regime in which each surface serves one kind of cell."""
    first, second, per_surface = SPLITS[split]
    return Regime(case, CASES[case], first + second, per_surface, difficulty, tendency, split)


def asked(regime: Regime) -> NDArray[np.int64]:
    """Responses (surfaces, 4) asked for; the same in every replicate."""
    n = np.full((regime.surfaces, 4), regime.per_surface)
    if regime.split:
        kind = np.arange(regime.surfaces) >= SPLITS[regime.split][0]
        n[kind[:, None] != _KINDS[regime.split.split()[1]]] = 0
    return n


def right_answers(regime: Regime, replicates: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Right answers (replicates, surfaces, 4) among those ``asked`` for."""
    spread = float(np.hypot(regime.difficulty, regime.tendency))
    intercepts = np.array([intercept(p, spread) for p in regime.cells])
    hard, lean = rng.standard_normal((2, replicates, regime.surfaces, 1))
    logits = intercepts + regime.difficulty * hard + regime.tendency * GOLD_SIGN * lean
    return rng.binomial(asked(regime), expit(logits))


def intercept(mean: float, spread: float) -> float:
    """Logit a with E expit(a + spread * Z) = mean."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()
    return float(brentq(lambda a: weights @ expit(a + spread * nodes) - mean, -40, 40))
