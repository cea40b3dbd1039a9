"""Chance that at least one of k samples is right."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from analysis.errors import AnalysisError


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> NDArray[np.float64]:
    """Unbiased estimate of 1 - (1 - p)^k from c right of n samples.

    Parameters
    ----------
    n, c : array_like of int, broadcastable, 0 <= c <= n
    k : int >= 1

    Returns
    -------
    ndarray
        1 - C(n - c, k) / C(n, k); NaN where n < k, as fewer samples say nothing without a model of p.

    References
    ----------
    Chen et al. (2021). Evaluating large language models trained on code, arXiv:2107.03374, eq. 1.
    """
    samples, right = np.broadcast_arrays(np.asarray(n, float), np.asarray(c, float))
    if k < 1 or (right < 0).any() or (right > samples).any():
        raise AnalysisError(f"pass@k needs k >= 1 and 0 <= c <= n; found k = {k}")
    wrong = samples - right
    some = wrong >= k
    safe = np.where(some, wrong, k)
    total = np.where(samples >= k, samples, k)
    log = gammaln(safe + 1) - gammaln(safe - k + 1) - gammaln(total + 1) + gammaln(total - k + 1)
    return np.where(samples >= k, np.where(some, 1 - np.exp(log), 1.0), np.nan)
