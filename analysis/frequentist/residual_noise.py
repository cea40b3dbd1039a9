"""Persistent incoherence apart from rewording noise: moments of residuals over instances and units."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordingEffects:
    """The same wordings put to every instance.

    Attributes
    ----------
    effects : (K,)
        Mean residual of each wording minus the mean of all, b_k; they add up to 0.
    products : (n,)
        What each instance adds to the estimate for *these* wordings: the mean over instances is
        mean rbar^2 - MS(instance × wording) / K.
    centred : (n, K)
        Residuals minus their wording's effect.
    """

    effects: Floats
    products: Floats
    centred: Floats


def wording_effects(matrix: ArrayLike) -> WordingEffects | None:
    """Split off what a wording does to all instances alike.

    Parameters
    ----------
    matrix : array_like (n, K)
        Residual of each instance in each wording, all present.

    Returns
    -------
    WordingEffects or None
        None with fewer than two instances or wordings, or where something is missing: then the same wordings were not
        put to all.

    Notes
    -----
    A common effect b_k moves the mean of cross-wording products by - sum b_k^2 / (K (K - 1)), which can hide a
    persistent residual. Without it the claim is about these wordings; with it, about new ones.
    """
    r = np.asarray(matrix, float)
    if r.ndim != 2:
        raise AnalysisError(f"residuals must be (instances, wordings); found shape {r.shape}")
    n, k = r.shape
    if n < 2 or k < 2 or np.isnan(r).any():
        return None
    effects = r.mean(axis=0) - r.mean()
    centred = r - effects
    own = centred.mean(axis=1)
    squares = ((centred - own[:, None]) ** 2).sum(axis=1)
    products = own**2 - n / (n - 1) * squares / (k * (k - 1))
    return WordingEffects(effects, products, centred)


def unit_totals(values: ArrayLike, units: Codes, size: int) -> Floats:
    """Sums over the instances of each unit, (size,) or (C, size) for values (C, n)."""
    table = np.atleast_2d(np.asarray(values, float))
    found = np.stack([np.bincount(units, weights=row, minlength=size) for row in table])
    return found[0] if np.ndim(values) == 1 else found


def direction_squared(sums: ArrayLike, instances: ArrayLike) -> float:
    """Square of the mean residual without the variance of its estimate: products of different units only.

    Parameters
    ----------
    sums, instances : array_like (G,)
        Sum of the instances' mean residuals, and their number, by unit.

    Returns
    -------
    float
        D2 = [(sum R_g)^2 - sum R_g^2] / [(sum m_g)^2 - sum m_g^2]; NaN with one unit. May be negative.
    """
    r, m = np.asarray(sums, float), np.asarray(instances, float)
    pairs = m.sum() ** 2 - (m**2).sum()
    return float((r.sum() ** 2 - (r**2).sum()) / pairs) if pairs > 0 else float("nan")


def without_top_units(sums: ArrayLike, instances: ArrayLike, *, top: int = 3) -> float:
    """Mean over instances once the ``top`` units with the largest sums are gone; NaN where none is left."""
    total, m = np.asarray(sums, float), np.asarray(instances, float)
    kept = np.argsort(-total, kind="stable")[top:]
    left = m[kept].sum()
    return float(total[kept].sum() / left) if left > 0 else float("nan")


def carried_by_few(sums: ArrayLike, instances: ArrayLike, *, top: int = 3) -> bool:
    """Whether a positive mean falls to less than half once the ``top`` units are gone (code TAIL)."""
    total, m = np.asarray(sums, float), np.asarray(instances, float)
    mean = total.sum() / m.sum() if m.sum() > 0 else np.nan
    rest = without_top_units(total, m, top=top)
    return bool(mean > 0 and rest < mean / 2)
