"""Equally spaced points over which effects of items and units are integrated.

The sum over equally spaced points of a smooth integrand that vanishes at both ends converges faster than any power of
the spacing (Trefethen and Weideman 2014, SIAM Review 56:385-458, doi:10.1137/130932132). Points lie on the scale of the
standard normal, and each density is summed over points that suit its own standard deviation.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.accuracy_data import AnswerSet
from analysis.bayes.compiled import compiled

Floats = NDArray[np.float64]

#: Range of the points: what lies beyond is less than 1e-8 of a standard normal.
RANGE: Final = 6.0
#: Spacing in the least standard deviation that the effect of an item, or of a unit, can have given its answers.
SPACING: Final = 1.2
#: Spacing times the standard deviation of items: the logistic has its nearest pole at a distance of pi in log-odds,
#: so that a sum over this spacing errs by exp(-2 pi pi / .95), 1e-9.
STEP_OF_SD: Final = 0.95
_FEWEST: Final = 31
_MOST: Final = 1201
#: Least share of the variance of items that is counted as their own.
_LEAST_OWN: Final = 1e-4


class Points(NamedTuple):
    """Equally spaced points of the effect of an item, and of a unit; a single 0 where there is no such effect."""

    item: Floats
    unit: Floats


class Sizes(NamedTuple):
    """What the spacing depends on.

    Attributes
    ----------
    most : int
        Most answers to one item; 0 without effects of items.
    items, responses : ndarray (U,)
        Items of each unit and answers to them; of length 0 without effects of units.
    """

    most: int
    items: Floats
    responses: Floats


def sizes_of(answers: AnswerSet) -> Sizes:
    """The sizes of a set of answers."""
    by_item = answers.n.sum(axis=0)
    none = np.zeros(0)
    return Sizes(
        most=int(by_item.max()) if answers.has_item else 0,
        items=np.bincount(answers.unit).astype(float) if answers.has_unit else none,
        responses=np.bincount(answers.unit, by_item) if answers.has_unit else none,
    )


@compiled()
def points_for(sizes, sd, share, finer):  # type: ignore[no-untyped-def]
    """Points that resolve the effects of items and units at one standard deviation and share of units.

    Parameters
    ----------
    sizes : Sizes
    sd : float
        Standard deviation of items, units included.
    share : float
        Part of its square that belongs to units.
    finer : float
        Divides the spacing.

    Notes
    -----
    Given its answers the effect of an item has a precision of at most 1/sd^2 + n/4.
    """
    item, unit = np.zeros(1), np.zeros(1)
    own = max(1 - share, _LEAST_OWN)
    if sizes.most > 0:
        precision = 1.0 + sd**2 * sizes.most / 4
        if len(sizes.items) > 0:
            precision = max(precision, 1 / own)
        item = _spaced(min(SPACING / np.sqrt(precision), STEP_OF_SD / max(sd, 1e-6)) / finer)
    if len(sizes.items) > 0:
        known = np.minimum(sizes.responses / 4, sizes.items / max(sd**2 * own, 1e-12)).max()
        unit = _spaced(SPACING / np.sqrt(1 + sd**2 * share * known) / finer)
    return Points(item, unit)


@compiled()
def _spaced(step):  # type: ignore[no-untyped-def]
    half = int(min(max(np.ceil(RANGE / step), (_FEWEST - 1) // 2), (_MOST - 1) // 2))
    return np.linspace(-RANGE, RANGE, 2 * half + 1)
