"""Power of the intersection-union test of a floor: both accuracies have to be shown above the value tested."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.planning.t_power import critical_value, exceeds

Floats = NDArray[np.float64]
#: Correlations are kept this far from 1, where the common part leaves nothing to integrate.
_LARGEST = 0.99
_NODES = np.linspace(-7.0, 7.0, 141)
_DENSITY = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()


def floor_power(
    first: ArrayLike,
    second: ArrayLike,
    *,
    n_eff: tuple[float, float],
    df: tuple[float, float] = (np.inf, np.inf),
    null: float = 0.5,
    level: float = 0.05,
    correlation: float = 0.0,
) -> Floats:
    """Probability that both one-sided score tests reject.

    Parameters
    ----------
    first, second : array_like in (0, 1)
        True accuracies of both classes.
    n_eff : (float, float)
        Responses of each class that would know it as well if they were independent: responses / design effect.
    df : (float, float)
        Degrees of freedom of the variance of each class.
    null : float in (0, 1)
    level : float in (0, 1)
        Of each one-sided test, and by the intersection-union argument of the whole.
    correlation : float in [-1, 1]
        Of the two observed accuracies: above 0 where units are hard or easy for both classes, below 0 where units
        differ in how far they draw Yes. Units that serve one class only give 0.

    Returns
    -------
    ndarray in [0, 1]

    Notes
    -----
    Normal estimates with estimated variances: each class is a noncentral t. Given what the two estimates share (one
    normal factor) the tests are independent, so that one sum over that factor gives the joint probability. The two
    estimated variances are taken as independent, exactly so for a correlation of 0.

    References
    ----------
    Berger (1982), Technometrics 24:295-300 (intersection-union tests).
    """
    share = min(abs(correlation), _LARGEST)
    common, own = np.sqrt(share), np.sqrt(1 - share)
    nodes, density = (_NODES, _DENSITY) if share else (np.zeros(1), np.ones(1))
    passed = np.ones(())
    for rate, n, freedom, sign in zip((first, second), n_eff, df, (1.0, np.sign(correlation)), strict=True):
        p = np.asarray(rate, float)
        sd = np.sqrt(p * (1 - p))
        scale = np.sqrt(null * (1 - null)) / sd
        distance = (p - null) * np.sqrt(n) / sd
        quantile = critical_value(freedom, level=level, sides=1) * scale
        passed = passed * exceeds(
            quantile[..., None] / own, freedom, (distance[..., None] + sign * common * nodes) / own
        )
    return np.asarray(passed @ density)
