"""Residuals of identities between probabilities, and the moments that separate incoherence from rewording noise."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
#: Probabilities are moved to within [clip, 1 - clip] before they are turned into log-odds.
CLIP: Final = 0.01
#: Sides that differ by less are equal, on either scale.
ARITHMETIC: Final = 1e-9


def check_clip(clip: float) -> float:
    """A clip after checking that it lies strictly between 0 and .5."""
    if not 0 < clip < 0.5:
        raise AnalysisError(f"clip must lie strictly between 0 and 0.5, not {clip!r}")
    return float(clip)


def log_odds(probability: ArrayLike, *, clip: float = CLIP) -> Floats:
    """Log-odds of probabilities moved to within [clip, 1 - clip]; NaN stays NaN."""
    p = np.clip(np.asarray(probability, float), check_clip(clip), 1 - clip)
    return np.log(p) - np.log1p(-p)


def at_clip(probability: ArrayLike, *, clip: float = CLIP) -> NDArray[np.bool_]:
    """Whether a probability lies at or beyond the clip; false where it is missing."""
    p = np.asarray(probability, float)
    return (p <= clip) | (p >= 1 - clip)


def residual(
    left: ArrayLike, right: ArrayLike, *, relation: str = "=", scale: str = "log_odds", clip: float = CLIP
) -> Floats:
    """Observed minus implied.

    Parameters
    ----------
    left, right : array_like
        Probabilities on the two sides of an identity.
    relation : {"=", "<=", ">="}
        Of a bound, the residual is the directed violation: by how much ``left`` lies above an upper bound, or below
        a lower bound; 0 where it keeps it.
    scale : {"log_odds", "probability"}
    clip : float in (0, .5)
        Used on the log-odds scale only.

    Returns
    -------
    ndarray
        0 where the sides are as equal as sums and logarithms of floating point numbers can be (ARITHMETIC): what the
        last digits leave is no answer's, and would be tested as a residual that never changes.
    """
    if scale == "log_odds":
        gap = log_odds(left, clip=clip) - log_odds(right, clip=clip)
    else:
        gap = np.asarray(left, float) - np.asarray(right, float)
    gap = np.where(np.abs(gap) < ARITHMETIC, 0.0, gap)
    if relation == "=":
        return gap
    return np.maximum(gap if relation == "<=" else -gap, 0.0)


def cross_products(mean: ArrayLike, ss: ArrayLike, k: ArrayLike) -> Floats:
    """Mean of products of residuals from different wordings of one instance, q_i.

    Parameters
    ----------
    mean, ss : array_like
        Mean of the instance's residuals and their sum of squared deviations from it.
    k : array_like of int
        Wordings.

    Returns
    -------
    ndarray
        mean_{k<l} r_k r_l = mean^2 - s^2 / k with s^2 = ss / (k - 1); NaN where k < 2. Its expectation is the square of
        the instance's persistent residual if the noise has mean 0 and is independent between wordings, whatever
        its distribution and whatever k.

    References
    ----------
    Latent Coherence (2026), arXiv:2610.31833, appendix E, in the form of a mean of squares.
    """
    centre, squares, n = np.asarray(mean, float), np.asarray(ss, float), np.asarray(k, float)
    noise = noise_variance(squares, n)
    return centre**2 - np.divide(noise, n, out=np.full(noise.shape, np.nan), where=n > 1)


def noise_variance(ss: ArrayLike, k: ArrayLike) -> Floats:
    """Variance of the residual between wordings of one instance, s_i^2; NaN where k < 2."""
    squares, n = np.broadcast_arrays(np.asarray(ss, float), np.asarray(k, float))
    return np.divide(squares, n - 1, out=np.full(squares.shape, np.nan), where=n > 1)


def root(squared: ArrayLike) -> Floats:
    """sqrt(max(0, x)): how squared quantities that may be negative are shown."""
    return np.sqrt(np.maximum(np.asarray(squared, float), 0.0))


def persistent_share(persistent_squared: ArrayLike, noise_squared: ArrayLike) -> Floats:
    """Share of the residual's mean square that is persistent, T / (T + noise^2), with a negative T as 0."""
    t, s = np.maximum(np.asarray(persistent_squared, float), 0.0), np.asarray(noise_squared, float)
    return np.divide(t, t + s, out=np.full(np.broadcast_shapes(t.shape, s.shape), np.nan), where=t + s > 0)
