"""Independent cells with a Jeffreys prior: the reference without pooling, exact by conjugacy.

Each of the model's cells (validity × polarity, or gold answer) is one binomial; its probability has a
Beta(k + 1/2, n - k + 1/2) posterior. Counts half an uncertain answer as a Dirichlet(1/2, 1/2, 1/2) of
right, uncertain and wrong. Where rows are weighted unequally, n is Kish's effective number.

References
----------
Brown, Cai and DasGupta (2001), Statistical Science 16:101-133, doi:10.1214/ss/1009213286.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.design_matrix import CountDesign
from analysis.bayes.posterior import AccuracyDraws, defined_accuracies
from analysis.measures.rates import UNCERTAIN_TREATMENTS, share

Floats = NDArray[np.float64]
_JEFFREYS = 0.5


def unpooled_accuracies(
    design: CountDesign,
    rng: np.random.Generator,
    *,
    treatments: Sequence[str] = tuple(UNCERTAIN_TREATMENTS),
    chains: int = 4,
    draws: int = 1000,
) -> tuple[AccuracyDraws, ...]:
    """Independent draws of the accuracies, in the shape of those of a sampler."""
    right, uncertain, wrong = cell_counts(design)
    shape = (chains, draws, *right.shape)
    asked = right + uncertain + wrong > 0

    def gamma(count: Floats) -> Floats:
        return rng.standard_gamma(np.broadcast_to(count + _JEFFREYS, shape))

    found = []
    for treatment in treatments:
        if treatment == "half":
            parts = np.stack([gamma(right), gamma(uncertain), gamma(wrong)])
            accuracy = (parts[0] + parts[1] / 2) / parts.sum(axis=0)
        else:
            rest = wrong + (uncertain if treatment == "incorrect" else 0.0)
            yes, no = gamma(right), gamma(rest)
            accuracy = yes / (yes + no)
        accuracy = defined_accuracies(np.where(asked, accuracy, np.nan), design, treatment)
        found.append(AccuracyDraws("these", treatment, accuracy))
    return tuple(found)


def cell_counts(design: CountDesign) -> tuple[Floats, Floats, Floats]:
    """Right, uncertain and wrong responses (M, names), scaled to the effective number where weights differ."""
    models, names = len(design.models), len(design.names)
    place = np.zeros((len(design.cell_of), names))
    place[np.arange(len(place)), design.cell_of] = 1.0
    per_row = share(design.weight, design.scored)
    per_row = np.nan_to_num(per_row)
    sums = [
        (per_row * counts) @ place for counts in (design.correct, design.uncertain, design.answered - design.correct)
    ]
    total, square = (per_row * design.scored) @ place, (per_row**2 * design.scored) @ place
    scale = np.nan_to_num(share(total, square)).reshape(models, names)
    right, uncertain, wrong = (part * scale for part in sums)
    return right, uncertain, wrong
