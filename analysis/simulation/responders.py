"""Simulated responders: accuracy in the four cells, spread around it, and how often no answer is given."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from analysis.errors import AnalysisError

#: Validity and polarity of each cell, +1 for valid and affirmative; Yes is right where they agree.
CELL_SIGNS: Final = {"VA": (1, 1), "VN": (1, -1), "IA": (-1, 1), "IN": (-1, -1)}
#: Each becomes a file of its own.
MOST_RESPONDERS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Responder:
    """One simulated model.

    ``va``, ``vn``, ``ia``, ``in_`` are the probabilities of the right answer in the four cells, given
    that there is one, where every effect of template, form and surface is zero. ``spread``
    multiplies the standard deviations of those effects; 0 makes every response of a cell alike.
    ``uncertain_yes`` and ``uncertain_no`` are the rates of unreadable answers where Yes and where No
    is right, ``set_aside`` that of errored or missing responses.
    """

    name: str
    va: float
    vn: float
    ia: float
    in_: float
    spread: float = 1.0
    uncertain_yes: float = 0.0
    uncertain_no: float = 0.0
    set_aside: float = 0.0

    def __post_init__(self) -> None:
        rates = (*self.cells, self.uncertain_yes, self.uncertain_no, self.set_aside)
        if not all(0 <= rate <= 1 for rate in rates):
            raise AnalysisError(f"responder {self.name!r}: every probability must lie in [0, 1], not {rates}")
        if not 0 <= self.spread < np.inf:
            raise AnalysisError(f"responder {self.name!r}: spread must be finite and not negative, not {self.spread}")

    @property
    def cells(self) -> tuple[float, float, float, float]:
        """Accuracies in the order VA, VN, IA, IN."""
        return self.va, self.vn, self.ia, self.in_


#: Responders by the name they are asked for: six that answer by rule or by coin, and five with spread.
RESPONDERS: Final[dict[str, Responder]] = {
    responder.name.removeprefix("simulated/"): responder
    for responder in (
        Responder("simulated/oracle", 1, 1, 1, 1, spread=0),
        Responder("simulated/constant-yes", 1, 0, 0, 1, spread=0),
        Responder("simulated/constant-no", 0, 1, 1, 0, spread=0),
        Responder("simulated/coin", 0.5, 0.5, 0.5, 0.5, spread=0),
        Responder("simulated/oracle-blind-to-negation", 1, 0, 1, 0, spread=0),
        Responder("simulated/yes-iff-affirmative", 1, 1, 0, 0, spread=0),
        Responder("simulated/even-hand", 0.88, 0.84, 0.82, 0.80, uncertain_yes=0.01, uncertain_no=0.01),
        Responder("simulated/yes-leaning", 0.96, 0.40, 0.35, 0.85, uncertain_yes=0.01, uncertain_no=0.03),
        Responder("simulated/no-leaning", 0.40, 0.90, 0.94, 0.30, uncertain_yes=0.02, uncertain_no=0.01),
        Responder("simulated/negation-blind", 0.92, 0.30, 0.80, 0.20, 1.0, 0.08, 0.08, 0.005),
        Responder("simulated/hesitant", 0.70, 0.55, 0.60, 0.50, uncertain_yes=0.3, uncertain_no=0.4, set_aside=0.02),
    )
}


def named_responders(names: Sequence[str]) -> tuple[Responder, ...]:
    """Responders of ``RESPONDERS`` by name, each once."""
    for name in names:
        if name not in RESPONDERS:
            near = get_close_matches(name, RESPONDERS, n=1) or list(RESPONDERS)
            raise AnalysisError(
                f"no simulated responder is called {name!r}; there is {', '.join(near)}", offenders=(name,)
            )
    if len(set(names)) != len(names):
        raise AnalysisError("a simulated responder is named twice", offenders=tuple(names))
    return tuple(RESPONDERS[name] for name in names)


@dataclass(frozen=True, slots=True)
class Population:
    """Distribution that responders are drawn from, on the log-odds scale of saying Yes.

    Log-odds of Yes = lean + sensitivity·s + polarity pull·p + negation blindness·v, with gold sign
    s = v·p; means and standard deviations in that order. The rate of unreadable answers is the
    logistic of a normal draw, so that a few responders have many.
    """

    means: tuple[float, float, float, float] = (0.0, 0.5, 0.1, 0.4)
    sds: tuple[float, float, float, float] = (1.1, 0.4, 0.2, 0.4)
    uncertain_mean: float = -5.0
    uncertain_sd: float = 1.5
    set_aside: float = 0.001


#: Few strong, most of them leaning, as in published benchmarks of small models.
TYPICAL: Final = Population()


def responder_population(rng: np.random.Generator, n: int, population: Population = TYPICAL) -> tuple[Responder, ...]:
    """Draw responders named ``simulated/model-01`` and so on."""
    if n < 1:
        raise AnalysisError(f"at least one responder is needed, not {n}")
    if n > MOST_RESPONDERS:
        raise AnalysisError(f"at most {MOST_RESPONDERS:,} responders can be drawn, not {n:,}")
    coefficients = rng.normal(population.means, population.sds, size=(n, 4))
    accuracy = accuracy_from_contrasts(coefficients)
    uncertain = expit(
        rng.normal(population.uncertain_mean, population.uncertain_sd, size=(n, 1)) + rng.normal(0, 0.2, (n, 2))
    )
    width = max(2, len(str(n)))
    rates = np.concatenate([accuracy, uncertain], axis=1).tolist()
    return tuple(
        Responder(f"simulated/model-{m:0{width}d}", va, vn, ia, in_, 1.0, unclear_yes, unclear_no, population.set_aside)
        for m, (va, vn, ia, in_, unclear_yes, unclear_no) in enumerate(rates, 1)
    )


def accuracy_from_contrasts(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Accuracies (..., 4) in the order of ``CELL_SIGNS`` from lean, sensitivity, polarity pull, blindness (..., 4)."""
    v, p = np.array(list(CELL_SIGNS.values()), dtype=float).T
    design = np.stack([np.ones(4), v * p, p, v])
    return expit((coefficients @ design) * (v * p))
