"""Is a persistent residual there at all? Sign flips of whole wordings of a unit, and the bound that they leave."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from analysis.errors import AnalysisError
from analysis.frequentist.unit_draws import chosen_sums

Floats = NDArray[np.float64]
#: Level of the one-sided test, that of one end of a 95 % interval: "detected" never stands beside an interval with 0.
DETECTION_LEVEL: Final = 0.025
#: Why nothing is known of what persists: none was asked so, or answers are missing.
ONE_WORDING: Final = "no instance has complete answers in two wordings"
_TIE: Final = 1e-10
_BLOCK: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class WordingFlipTest:
    """Test that no instance has a persistent residual.

    Attributes
    ----------
    estimate : float
        T, the mean over instances of cross-wording products; NaN without an instance in two wordings.
    p_value : float in (0, 1]
        One-sided, (1 + #{T* >= T}) / (flips + 1).
    resolution : float
        The smallest p-value that was possible: 1 / (flips + 1), or the share of the one pattern where there are few.
    null_low : float
        The ``DETECTION_LEVEL`` quantile of T under the hypothesis.
    flips, n, n_clusters : int
        Sign patterns, instances in two wordings or more, their units.
    reason : str
        Why nothing is known, or that no p-value below the level was possible.
    """

    estimate: float
    p_value: float
    resolution: float
    null_low: float
    flips: int
    n: int
    n_clusters: int
    reason: str


def wording_flip_test(
    matrix: ArrayLike, units: ArrayLike, *, rng: np.random.Generator, flips: int = 20_000
) -> WordingFlipTest:
    """Flip the signs of all residuals of a unit in one wording together.

    Parameters
    ----------
    matrix : array_like (n, K)
        Residuals; NaN where an instance was not asked in a wording.
    units : array_like of int (n,)
        Unit of each instance: identities of one unit share answers, and are flipped together.
    rng : Generator
    flips : int

    Notes
    -----
    Under the hypothesis every residual is noise, symmetric about 0 and independent between wordings. Patterns that
    differ by the sign of a whole unit give the same value, so that the first wording keeps its sign.
    """
    r, code = np.asarray(matrix, float), np.asarray(units)
    if r.ndim != 2 or code.shape != r.shape[:1]:
        raise AnalysisError(f"residuals must be (instances, wordings) with a unit each; found {r.shape}, {code.shape}")
    present = ~np.isnan(r)
    k = present.sum(axis=1)
    r, code, present, k = r[k > 1], code[k > 1], present[k > 1], k[k > 1]
    _, unit = np.unique(code, return_inverse=True)
    if not len(r):
        return WordingFlipTest(np.nan, np.nan, np.nan, np.nan, 0, 0, 0, ONE_WORDING)
    size = int(unit.max()) + 1
    pairs = pair_products(np.where(present, r, 0.0), k, unit, size)
    total, scale = pairs.sum(), np.abs(pairs).sum()
    null = np.concatenate(list(_flipped(pairs, r.shape[1], rng, flips)))
    hits = np.count_nonzero(null >= total - _TIE * scale)
    patterns = 2.0 ** -min(size * (r.shape[1] - 1), 1000)
    resolution = max(1 / (flips + 1), patterns)
    reason = f"{size} units cannot give a p-value below {resolution:.3g}" if resolution > DETECTION_LEVEL else ""
    if scale == 0:
        reason = "every product of residuals is 0"
    return WordingFlipTest(
        estimate=float(total / len(r)),
        p_value=float((1 + hits) / (flips + 1)),
        resolution=resolution,
        null_low=float(np.quantile(null, DETECTION_LEVEL) / len(r)),
        flips=flips,
        n=len(r),
        n_clusters=size,
        reason=reason,
    )


def pair_products(r: Floats, k: NDArray[np.int64], unit: NDArray[np.int64], size: int) -> Floats:
    """(size, K (K - 1) / 2): products of residuals from two wordings, over the instance's number of pairs, by unit."""
    first, second = np.triu_indices(r.shape[1], 1)
    products = r[:, first] * r[:, second] / (k * (k - 1) / 2)[:, None]
    return np.stack([np.bincount(unit, weights=column, minlength=size) for column in products.T], axis=1)


def _flipped(pairs: Floats, wordings: int, rng: np.random.Generator, flips: int) -> Iterator[Floats]:
    """Sums of products under random signs, block by block."""
    first, second = np.triu_indices(wordings, 1)
    size, whole = len(pairs), pairs.sum(axis=0)
    block = int(np.clip(_BLOCK // (size * wordings), 16, flips))
    for start in range(0, flips, block):
        n = min(block, flips - start)
        packed = np.frombuffer(rng.bytes(n * wordings * -(-size // 8)), np.uint8).reshape(n, wordings, -1).copy()
        packed[:, 0] = 0
        total = np.zeros(n)
        for column, (a, b) in enumerate(zip(first, second, strict=True)):
            # The product of two signs is negative where their bits differ.
            differ = packed[:, a] ^ packed[:, b]
            total += whole[column] - 2 * chosen_sums(differ, np.ascontiguousarray(pairs[:, column, None]))[:, 0]
        yield total


def persistent_upper_bound(test: WordingFlipTest, noise: ArrayLike, k: ArrayLike) -> float:
    """Largest T that a value as low as the one observed would not contradict.

    Parameters
    ----------
    test : WordingFlipTest
    noise : array_like (n,)
        Noise variance s_i^2 of the instances in two wordings or more.
    k : array_like of int (n,)
        Their wordings.

    Returns
    -------
    float
        t with t + null_low * sqrt(V(t) / V(0)) = T, where V(t) is the variance of T if every instance has the squared
        persistent residual t: mean of 2 s^4 / (k (k - 1)) + 4 t s^2 / k. 0 where even t = 0 is contradicted; NaN where
        nothing is known.

    Notes
    -----
    For intervals that lie below 0, whose upper end would say that an impossible value is certain.
    """
    s2, n = np.asarray(noise, float), np.asarray(k, float)
    flat = (2 * s2**2 / (n * (n - 1))).sum()
    if not np.isfinite(test.estimate) or flat <= 0:
        return float("nan")
    slope = (4 * s2 / n).sum() / flat

    def gap(t: float) -> float:
        return t + test.null_low * float(np.sqrt(1 + slope * t)) - test.estimate

    if gap(0.0) >= 0:
        return 0.0
    high = 1.0
    while gap(high) < 0:
        high *= 2
    return float(brentq(gap, 0.0, high))
