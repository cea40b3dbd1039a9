"""What the believability of a conclusion does to answers on its validity.

Kernels take the cells validity × believability on the last axis, in the order of ``BELIEF_CELLS``, and keep all
leading axes. Each cell weighs the same, whatever its size: an unequal mix would let the tendency to say Yes in.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
#: Valid or invalid × believable or unbelievable. Belief and logic agree in VB and IU.
BELIEF_CELLS: Final = ("VB", "VU", "IB", "IU")
#: Rows: congruent, incongruent, belief bias, discrimination difference. Columns: accuracies of BELIEF_CELLS.
BELIEF_WEIGHTS: Final = np.array(
    [
        [0.5, 0, 0, 0.5],
        [0, 0.5, 0.5, 0],
        [0.5, -0.5, -0.5, 0.5],
        [1, -1, 1, -1],
    ]
)
#: Turns accuracies into rates of endorsement: where the conclusion is invalid, endorsing it is wrong.
_VALID: Final = np.array([True, True, False, False])


def congruent_accuracy(accuracy: ArrayLike) -> Floats:
    """(VB + IU) / 2: belief points to the right answer."""
    return _cells(accuracy) @ BELIEF_WEIGHTS[0]


def incongruent_accuracy(accuracy: ArrayLike) -> Floats:
    """(VU + IB) / 2: belief points to the wrong answer."""
    return _cells(accuracy) @ BELIEF_WEIGHTS[1]


def belief_bias(accuracy: ArrayLike) -> Floats:
    """Congruent minus incongruent accuracy.

    Notes
    -----
    Equals the mean over valid and invalid conclusions of the share endorsed among believable ones minus
    that among unbelievable ones: a shift of the criterion, not a loss of reasoning.

    References
    ----------
    Evans, Barston and Pollard (1983), Memory and Cognition 11:295-306, doi:10.3758/BF03196976.
    """
    return _cells(accuracy) @ BELIEF_WEIGHTS[2]


def discrimination_difference(accuracy: ArrayLike) -> Floats:
    """(VB + IB) - (VU + IU): hits minus false alarms, believable less unbelievable; below 0 is the usual finding."""
    return _cells(accuracy) @ BELIEF_WEIGHTS[3]


def endorsement(accuracy: ArrayLike) -> Floats:
    """Rates of endorsement from accuracies without unreadable answers: a where valid, 1 - a where invalid."""
    cells = _cells(accuracy)
    return np.where(_VALID, cells, 1 - cells)


def endorsement_shift(endorsed: ArrayLike) -> Floats:
    """Mean over validity of endorsed believable minus endorsed unbelievable, a difference of shares."""
    return _cells(endorsed) @ np.array([0.5, -0.5, 0.5, -0.5])


def corrected_log_odds(rate: ArrayLike, n: ArrayLike) -> Floats:
    """Log-odds of (k + .5) / (n + 1) with k = rate × n, finite at rates of 0 and 1; NaN where n is 0.

    References
    ----------
    Gart and Zweifel (1967), Biometrika 54:181-187, doi:10.1093/biomet/54.1-2.181 (0.5 added to both counts).
    """
    trials = np.asarray(n, float)
    found = logit((np.asarray(rate, float) * trials + 0.5) / (trials + 1))
    return np.where(trials > 0, found, np.nan)


#: Contrasts of the log-odds of endorsing the four cells: the shift, and the difference of discrimination.
SHIFT_WEIGHTS: Final = np.array([0.5, -0.5, 0.5, -0.5])
INTERACTION_WEIGHTS: Final = np.array([1.0, -1.0, -1.0, 1.0])


def log_odds_shift(endorsed: ArrayLike, n: ArrayLike) -> Floats:
    """Mean over validity of the log-odds of endorsing believable minus unbelievable conclusions."""
    return corrected_log_odds(_cells(endorsed), n) @ SHIFT_WEIGHTS


def log_odds_interaction(endorsed: ArrayLike, n: ArrayLike) -> Floats:
    """Log-odds discrimination of believable minus that of unbelievable conclusions."""
    return corrected_log_odds(_cells(endorsed), n) @ INTERACTION_WEIGHTS


def _cells(values: ArrayLike) -> Floats:
    cells = np.asarray(values, float)
    if not cells.ndim or cells.shape[-1] != len(BELIEF_CELLS):
        raise AnalysisError(f"the last axis must hold {', '.join(BELIEF_CELLS)}; found shape {cells.shape}")
    return cells
