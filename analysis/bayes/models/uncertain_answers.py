"""Three ways in which an answer can be uncertain, with the same predictor of Yes.

Of a model m in a cell with columns x (1, gold, polarity, validity; they span the cells), eta = x b_m:

    two stages         P(answer) = logistic(a_m),    P(Yes | answer) = logistic(eta)
    softmax            Yes : uncertain : No = exp(eta / 2) : exp(a_m) : exp(-eta / 2)
    signal detection   Yes where eta + z > w_m, No where eta + z < -w_m, else uncertain; z standard normal,
                       w_m = exp(a_m)
    two stages, cells  P(answer) = logistic(x a_m),  P(Yes | answer) = logistic(eta)

Under the first an uncertain answer has nothing to do with what is asked; under the second it competes with Yes and
No and gives way where either is likely; under the third it stands between two criteria (an ordered probit). The last,
which the report's own model uses, leaves its share free in every cell; softmax and signal detection with free shares
would be the same model in other words. Coefficients of models are normal around their mean. Identification: within a
model, by its counts.

References
----------
Green and Swets (1966), Signal Detection Theory and Psychophysics (criteria).
McCullagh (1980), J. R. Stat. Soc. B 42:109-142 (ordered categories).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, softmax

Floats = NDArray[np.float64]

#: Order of the outcomes on the last axis.
OUTCOMES: Final = ("yes", "no", "uncertain")
_INV_SQRT_2PI: Final = 1.0 / np.sqrt(2.0 * np.pi)


@dataclass(frozen=True, slots=True)
class UncertainModel:
    """One model.

    Attributes
    ----------
    name : str
    probabilities : callable
        Predictors eta and alpha (any shape each) -> probabilities (..., 3) and derivatives (..., 3, 2) by them.
    by_cell : bool
        alpha differs between cells.
    """

    name: str
    probabilities: Callable[[Floats, Floats], tuple[Floats, Floats]]
    by_cell: bool


def two_stages(eta: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """Answered or not, then Yes or No."""
    yes, answered = expit(eta), expit(alpha)
    no, unread = expit(-eta), expit(-alpha)
    p = np.stack([answered * yes, answered * no, unread], axis=-1)
    by_eta = answered * yes * no
    by_alpha = answered * unread
    zero = np.zeros_like(by_eta)
    return p, _derivatives([by_eta, -by_eta, zero], [by_alpha * yes, by_alpha * no, -by_alpha])


def competing(eta: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """Softmax of the three outcomes."""
    p = softmax(np.stack([eta / 2, -eta / 2, alpha], axis=-1), axis=-1)
    yes, no, unread = np.moveaxis(p, -1, 0)
    lean = (yes - no) / 2
    by_eta = [yes * (0.5 - lean), no * (-0.5 - lean), -unread * lean]
    return p, _derivatives(by_eta, [-yes * unread, -no * unread, unread * (1 - unread)])


def between_criteria(eta: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """Signal detection with two criteria; uncertain between them."""
    width = np.exp(np.minimum(alpha, 3.0))
    upper, lower = eta - width, -eta - width
    yes, no = ndtr(upper), ndtr(lower)
    # Of the two tails the difference of which is the middle, the smaller ones keep its digits.
    near = -np.abs(eta)
    unread = ndtr(near + width) - ndtr(near - width)
    at_yes, at_no = (_INV_SQRT_2PI * np.exp(-0.5 * z**2) for z in (upper, lower))
    slope = np.where(alpha < 3.0, width, 0.0)
    by_alpha = [-at_yes * slope, -at_no * slope, (at_yes + at_no) * slope]
    return np.stack([yes, no, unread], axis=-1), _derivatives([at_yes, -at_no, at_no - at_yes], by_alpha)


def _derivatives(by_eta: list[Floats], by_alpha: list[Floats]) -> Floats:
    return np.stack([np.stack(by_eta, axis=-1), np.stack(by_alpha, axis=-1)], axis=-1)


#: The report's own model first.
MODELS: Final = (
    UncertainModel("two stages, by cell", two_stages, True),
    UncertainModel("two stages", two_stages, False),
    UncertainModel("softmax", competing, False),
    UncertainModel("signal detection", between_criteria, False),
)
