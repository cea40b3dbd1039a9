"""What is true of a simulated responder: its expected accuracies and the measures they imply."""

from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit, logit

from analysis.measures import competence, yes_no_bias

_NODES, _WEIGHTS = hermegauss(61)


def mean_expit(mean: NDArray[np.float64], sd: float) -> NDArray[np.float64]:
    """Expectation of the logistic function of a normal variable, by Gauss-Hermite quadrature.

    Infinite means give 0 and 1. With 61 nodes the error is below 1e-8 for sd up to 2.
    """
    mean = np.asarray(mean, float)
    if sd == 0:
        return expit(mean)
    values = expit(mean[..., None] + sd * _NODES)
    return np.clip(values @ (_WEIGHTS / _WEIGHTS.sum()), 0, 1)


def yes_log_odds(accuracy: NDArray[np.float64], gold_yes: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Log-odds of Yes that give an accuracy: its logit where Yes is right, minus that elsewhere."""
    with np.errstate(divide="ignore"):
        return np.where(gold_yes, 1.0, -1.0) * logit(accuracy)


def true_measures(cells: NDArray[np.float64]) -> dict[str, float]:
    """Every measure of ``analysis.measures`` that four cells, or two classes, give."""
    found = {
        "acc_yes": yes_no_bias.acc_yes(cells),
        "acc_no": yes_no_bias.acc_no(cells),
        "balanced_accuracy": competence.balanced_accuracy(cells),
        "answer_bias": yes_no_bias.answer_bias(cells),
        "competence_floor": competence.competence_floor(cells),
    }
    if len(cells) == len(yes_no_bias.FOUR_CELLS):
        found |= {
            "polarity_sensitivity": yes_no_bias.polarity_sensitivity(cells),
            "validity_contrast": yes_no_bias.validity_contrast(cells),
            "affirmative_floor": competence.affirmative_floor(cells),
            "cell_floor": competence.cell_floor(cells),
        }
    return {name: float(value) for name, value in found.items()}


def truth_of_cells(
    names: tuple[str, ...], answered: NDArray[np.float64], uncertain: NDArray[np.float64]
) -> dict[str, Any]:
    """Cells and measures, uncertain answers counted as wrong (``incorrect``) and left out (``excluded``)."""
    treated = {"incorrect": answered * (1 - uncertain), "excluded": answered}
    return {
        treatment: {"cells": {n: float(c) for n, c in zip(names, cells, strict=True)}, **true_measures(cells)}
        for treatment, cells in treated.items()
    }
