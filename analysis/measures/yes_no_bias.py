"""Four accuracies and the contrasts between them: leaning to Yes, negation not applied, polarity followed.

Kernels take accuracies with the cells on the last axis and keep all leading axes, so that observed
rates, bootstrap replicates and posterior draws go through one definition.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

#: Order of the last axis where validity and polarity are known. Yes is right in VA and IN.
FOUR_CELLS: Final = ("VA", "VN", "IA", "IN")
#: Order of the last axis where the gold answer alone is known.
TWO_CLASSES: Final = ("gold_yes", "gold_no")
#: Cells in which Yes is the right answer.
YES_CELLS: Final = frozenset({"VA", "IN", "gold_yes"})

_HALF = 0.5
#: Rows: acc_yes, acc_no; acc_affirmative, acc_negated; acc_valid, acc_invalid. Columns: FOUR_CELLS.
PAIR_WEIGHTS: Final = {
    "yes_no": np.array([[_HALF, 0, 0, _HALF], [0, _HALF, _HALF, 0]]),
    "polarity": np.array([[_HALF, 0, _HALF, 0], [0, _HALF, 0, _HALF]]),
    "validity": np.array([[_HALF, _HALF, 0, 0], [0, 0, _HALF, _HALF]]),
}
#: Rows: balanced accuracy, answer bias, polarity sensitivity, validity contrast. Columns: FOUR_CELLS.
CONTRASTS: Final = np.stack(
    [
        PAIR_WEIGHTS["yes_no"].mean(axis=0),
        PAIR_WEIGHTS["yes_no"][0] - PAIR_WEIGHTS["yes_no"][1],
        PAIR_WEIGHTS["polarity"][0] - PAIR_WEIGHTS["polarity"][1],
        PAIR_WEIGHTS["validity"][0] - PAIR_WEIGHTS["validity"][1],
    ]
)


def class_accuracies(accuracy: ArrayLike) -> NDArray[np.float64]:
    """Accuracy where Yes is right and where No is right.

    Parameters
    ----------
    accuracy : array_like (..., 4) in the order of FOUR_CELLS, or (..., 2) in that of TWO_CLASSES

    Returns
    -------
    ndarray (..., 2)
        acc_yes = (VA + IN) / 2 and acc_no = (VN + IA) / 2: cells weigh the same whatever their size.
    """
    cells = np.asarray(accuracy, float)
    if cells.ndim and cells.shape[-1] == len(TWO_CLASSES):
        return cells
    return four_cells(cells) @ PAIR_WEIGHTS["yes_no"].T


def acc_yes(accuracy: ArrayLike) -> NDArray[np.float64]:
    """Accuracy where Yes is right, from (..., 4) cells or (..., 2) classes."""
    return class_accuracies(accuracy)[..., 0]


def acc_no(accuracy: ArrayLike) -> NDArray[np.float64]:
    """Accuracy where No is right, from (..., 4) cells or (..., 2) classes."""
    return class_accuracies(accuracy)[..., 1]


def answer_bias(accuracy: ArrayLike) -> NDArray[np.float64]:
    """acc_yes - acc_no in [-1, 1], from (..., 4) cells or (..., 2) classes; above 0 leans to Yes."""
    return acc_yes(accuracy) - acc_no(accuracy)


def polarity_sensitivity(accuracy: ArrayLike) -> NDArray[np.float64]:
    """Affirmative minus negated accuracy, from (..., 4) cells.

    Above 0, endorsement follows validity whatever the polarity: the negation is not applied.
    """
    return four_cells(accuracy) @ CONTRASTS[2]


def validity_contrast(accuracy: ArrayLike) -> NDArray[np.float64]:
    """Accuracy on valid minus invalid items, from (..., 4) cells.

    Above 0, endorsement follows polarity whatever the validity.
    """
    return four_cells(accuracy) @ CONTRASTS[3]


def contrasts(accuracy: ArrayLike) -> NDArray[np.float64]:
    """Balanced accuracy, answer bias, polarity sensitivity, validity contrast of (..., 4) cells.

    Notes
    -----
    A Hadamard map: one to one, with orthogonal rows, so that nothing of the cells is lost;
    ``cells_from_contrasts`` is its inverse.
    """
    return four_cells(accuracy) @ CONTRASTS.T


def cells_from_contrasts(values: ArrayLike) -> NDArray[np.float64]:
    """Four cells from (balanced accuracy, bias, polarity sensitivity, validity contrast) on the last axis."""
    return four_cells(values) @ (CONTRASTS * np.array([[4.0], [1.0], [1.0], [1.0]]))


def four_cells(accuracy: ArrayLike) -> NDArray[np.float64]:
    """Return the accuracies after checking that the last axis holds the four cells."""
    cells = np.asarray(accuracy, float)
    if not cells.ndim or cells.shape[-1] != len(FOUR_CELLS):
        raise AnalysisError(
            f"this measure needs the four cells {', '.join(FOUR_CELLS)} on the last axis; found shape {cells.shape}"
        )
    return cells
