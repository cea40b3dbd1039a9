"""Paired binary changes when several pairs share a unit: Obuchowski's test and the design effect."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from scipy.stats import t as student

from analysis.errors import AnalysisError
from analysis.frequentist.proportion import SMALLEST_P

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ObuchowskiTest:
    """McNemar's test for clustered pairs; each field is a number or an array of the leading axes.

    Attributes
    ----------
    estimate : float
        T, the sum of b - c over units, in pairs.
    std_error : float
        Of T: root of the sum of squared unit values (score form).
    statistic, p_value : float
        z = T / std_error and its two-sided normal p-value: with one pair per unit the root of
        McNemar's statistic.
    statistic_inflated : float
        z^2 (G - 1) / G, the chi-squared statistic with the published variance factor G / (G - 1).
    statistic_centred, p_centred : float
        t = T / root of G / (G - 1) * sum (D_u - mean D)^2, with ``df`` degrees of freedom.
    df : float
        G - 1.
    deff : float
        Sum D_u^2 / (b + c): how much the variance exceeds that of independent pairs.
    n_clusters : int
        Units G with pairs.
    n_discordant : float
        b + c.
    reason : str
        Why a field is undefined; empty otherwise.
    """

    estimate: Any
    std_error: Any
    df: Any
    statistic: Any
    p_value: Any
    statistic_inflated: Any
    statistic_centred: Any
    p_centred: Any
    deff: Any
    n_clusters: Any
    n_discordant: Any
    reason: Any


def obuchowski(d_units: ArrayLike, discordant: ArrayLike) -> ObuchowskiTest:
    """Is the sum of changes over units 0, when pairs within a unit may change together?

    Parameters
    ----------
    d_units : array_like (..., G)
        b_u - c_u of each unit; NaN where a unit has no pairs.
    discordant : array_like (..., G)
        b_u + c_u.

    Raises
    ------
    AnalysisError
        A net change exceeds the discordant pairs of its unit.

    References
    ----------
    Obuchowski (1998), Statistics in Medicine 17:1495-1507.
    """
    net, pairs = np.broadcast_arrays(np.asarray(d_units, float), np.asarray(discordant, float))
    present = ~np.isnan(net)
    d, moved = np.where(present, net, 0.0), np.where(present, pairs, 0.0)
    if not (np.abs(d) <= moved).all():
        raise AnalysisError(
            f"|b - c| cannot exceed b + c within a unit: {int((np.abs(d) > moved).sum())} of {d.size} units have it so"
        )
    g = np.count_nonzero(present, axis=-1)
    total, squares, n = d.sum(axis=-1), (d**2).sum(axis=-1), moved.sum(axis=-1)
    mean = np.divide(total, g, out=np.zeros(g.shape), where=g > 0)
    centred = (np.where(present, d - mean[..., None], 0.0) ** 2).sum(axis=-1)
    z = _ratio(total, np.sqrt(squares))
    variance = np.divide(g * centred, g - 1.0, out=np.full(g.shape, np.nan), where=g > 1)
    t = _ratio(total, np.sqrt(variance))
    df = np.where(g > 0, g - 1.0, np.nan)
    still = (g > 0) & (squares == 0)
    p_centred = 2 * student.sf(np.abs(t), np.where(g > 1, df, np.nan))
    return ObuchowskiTest(
        estimate=np.where(g > 0, total, np.nan)[()],
        std_error=np.where(g > 0, np.sqrt(squares), np.nan)[()],
        df=df[()],
        statistic=z[()],
        p_value=np.where(still, 1.0, np.where(g > 1, np.maximum(2 * ndtr(-np.abs(z)), SMALLEST_P), np.nan))[()],
        statistic_inflated=(z**2 * np.divide(g - 1.0, g, out=np.full(g.shape, np.nan), where=g > 0))[()],
        statistic_centred=t[()],
        p_centred=np.where(still, 1.0, np.maximum(p_centred, SMALLEST_P))[()],
        deff=_ratio(squares, n)[()],
        n_clusters=g[()],
        n_discordant=n[()],
        reason=np.select(
            [g == 0, n == 0, squares == 0, g == 1, centred == 0],
            [
                "no unit has pairs",
                "no pair differs",
                "changes cancel within every unit",
                "one unit only",
                "all units changed alike: the centred form is undefined",
            ],
            "",
        )[()],
    )


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 0)
