"""Power of a paired change of right and wrong answers: McNemar's test and its clustered relatives."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from analysis.planning.t_power import t_test_power

Floats = NDArray[np.float64]


def change_power(
    difference: ArrayLike, pairs: ArrayLike, *, discordant: float, deff: float = 1.0, level: float = 0.05
) -> Floats:
    """Power of a two-sided test of "as many change in one direction as in the other".

    Parameters
    ----------
    difference : array_like
        Change in accuracy, at most ``discordant`` in size: discordant (2 pi - 1), with pi the share of the
        discordant pairs that change in the more frequent direction.
    pairs : array_like > 0
    discordant : float in (0, 1]
        Share of the pairs in which one answer is right and the other wrong.
    deff : float
        Design effect of the units that pairs share; 1 for pairs that are units.

    Notes
    -----
    The test (McNemar's chi-squared, Obuchowski's, sign flips of units) divides by the variance without a change,
    psi deff / n; the estimate varies with (psi - d^2) deff / n.

    References
    ----------
    Connor (1987), Biometrics 43:207-211, doi:10.2307/2531961.
    Obuchowski (1998), Statistics in Medicine 17:1495-1507.
    """
    d, n = np.asarray(difference, float), np.asarray(pairs, float)
    least = 1e-9 * discordant
    return t_test_power(
        d,
        np.sqrt(np.maximum(discordant - d**2, least) * deff / n),
        level=level,
        null_std_error=np.sqrt(discordant * deff / n),
    )


def pairs_needed(difference: float, *, discordant: float, power: float = 0.8, level: float = 0.05) -> float:
    """Independent pairs that Connor's formula asks for, not rounded.

    (z_{1 - level/2} sqrt(psi) + z_power sqrt(psi - d^2))^2 / d^2, the other direction neglected.
    """
    root = ndtri(1 - level / 2) * np.sqrt(discordant) + ndtri(power) * np.sqrt(discordant - difference**2)
    return float((root / difference) ** 2)


def discordant_needed(direction: float, *, deff: float = 1.0, power: float = 0.8, level: float = 0.05) -> float:
    """Discordant pairs needed where a share ``direction`` of them changes one way: (z + z)^2 / (2 pi - 1)^2 deff.

    Both variances are taken as without a change, so that it lies a little above Connor's number.
    """
    return float((ndtri(1 - level / 2) + ndtri(power)) ** 2 / (2 * direction - 1) ** 2 * deff)
