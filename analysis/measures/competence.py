"""What a responder can do whatever the right answer is: balanced accuracy and the three floors."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.measures.yes_no_bias import acc_no, acc_yes, class_accuracies, four_cells

#: E[max(Z, 0)] of a standard normal: how far, in standard errors of the bias, a tied minimum falls.
MIN_BIAS_FACTOR: Final = float(np.sqrt(1 / (2 * np.pi)))


def balanced_accuracy(accuracy: ArrayLike) -> NDArray[np.float64]:
    """Mean of acc_yes and acc_no, from (..., 4) cells or (..., 2) classes."""
    return (acc_yes(accuracy) + acc_no(accuracy)) / 2


def competence_floor(accuracy: ArrayLike) -> NDArray[np.float64]:
    """The worse of acc_yes and acc_no, from (..., 4) cells or (..., 2) classes.

    Notes
    -----
    Equals balanced accuracy - |bias| / 2. A value of .5 is reached by a coin, but also by an oracle
    that ignores negation and by a responder that says Yes to every affirmative question; the cell
    floor tells them apart.
    """
    return class_accuracies(accuracy).min(axis=-1)


def affirmative_floor(accuracy: ArrayLike) -> NDArray[np.float64]:
    """The worse of the two affirmative cells VA and IA, from (..., 4) cells."""
    return four_cells(accuracy)[..., [0, 2]].min(axis=-1)


def cell_floor(accuracy: ArrayLike) -> NDArray[np.float64]:
    """The worst of the four cells, from (..., 4) cells."""
    return four_cells(accuracy).min(axis=-1)


def min_bias_if_tied(std_error: ArrayLike) -> NDArray[np.float64]:
    """How far the observed minimum of two equal rates lies below them on average.

    Parameters
    ----------
    std_error : array_like
        Standard error of the difference of the two rates (for the competence floor: of the bias).

    Notes
    -----
    E min(X, Y) = min(x, y) - h phi(d / h) + |d| Phi(-|d| / h) for normal X, Y with difference d and
    standard error h of the difference; at d = 0 the loss is h / sqrt(2 pi) = .399 h. It is printed
    beside a floor and never subtracted from it: away from a tie the correction is wrong.

    References
    ----------
    Clark (1961), Operations Research 9:145-162, doi:10.1287/opre.9.2.145.
    """
    return MIN_BIAS_FACTOR * np.asarray(std_error, float)
