"""From whitened coordinates to the coefficients of one model, with the chain rule back.

Coefficients b follow their means and sds as a normal posterior would. With W the curvature and g the slope at 0 of the
quadratic approximation to a model's log-likelihood, in an order in which those come first whose sd data say least of,
and sd0 the sds at the centre, let

    W + sd0^-2 = (I - B)' diag(l^-2) (I - B),    r = 1 - l^2 / sd0^2,    x = (sd / sd0)^2,    s = x / (1 + r (x - 1)),

B strictly lower triangular: the regressions of later on earlier coefficients, and l^2 what is left of their variance.
If the sds of earlier coefficients change, neither changes; if its own does, both are multiplied by s. With
V = I - diag(s) B,

    b = mean + V^-1 (s l^2 V'^-1 (g - W mean) + sqrt(s) l z).

The posterior is nearly isotropic in z where data are many; where an sd goes to 0 its coefficients go to their means;
and where means are traded off against each other without a change of any cell, the coefficients follow exactly.
"""

import math

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.compiled import compiled
from analysis.bayes.density_terms import sum_of_logs, times
from analysis.bayes.model_arrays import Coordinates, ModelArrays

Floats = NDArray[np.float64]

#: Rows of the work space of one model.
SCRATCH: int = 9
_SHARE, _STEEP, _PULLED, _TURNED, _MOVED, _SUMS, _BACK, _OTHER, _MEAN = range(SCRATCH)


@compiled("contract", "reassoc", "nsz")
def _forward(regressions: Floats, share: Floats, x: Floats, out: Floats, sums: Floats) -> None:
    """V^-1 x; ``sums`` receives the regressions on earlier elements before their multiplication by s."""
    for i in range(x.size):
        total = 0.0
        for j in range(i):
            total += regressions[i, j] * out[j]
        sums[i] = total
        out[i] = x[i] + share[i] * total


@compiled("contract", "reassoc", "nsz")
def _backward(regressions: Floats, share: Floats, x: Floats, out: Floats) -> None:
    """V'^-1 x."""
    out[:] = x
    for i in range(x.size - 1, 0, -1):
        scaled = share[i] * out[i]
        for j in range(i):
            out[j] += regressions[i, j] * scaled


@compiled()
def variance_ratios(shift: Floats, d: ModelArrays, at: Coordinates, ratio: Floats) -> None:
    """x of every coefficient in the order of the coordinates, (P,): the same for all models."""
    for i in range(ratio.size):
        g = d.log_sd_at[d.group[at.order[i]]]
        ratio[i] = math.exp(2.0 * shift[g]) if g >= 0 else 1.0


@compiled()
def coefficients(m: int, z: Floats, ratio: Floats, mean: Floats, at: Coordinates, scratch: Floats, b: Floats) -> float:
    """Coefficients of one model.

    Parameters
    ----------
    m : int
    z : (P,)
    ratio : (P,)
        Of ``variance_ratios``.
    mean : (P,)
        Means of the coefficients.
    at : Coordinates
    scratch : (SCRATCH, P)
        Filled for ``coefficients_gradient``.
    b : (P,)
        Filled.

    Returns
    -------
    float
        Log of the Jacobian that depends on z.
    """
    for i in range(z.size):
        within = 1.0 / (1.0 + at.told[m, i] * (ratio[i] - 1.0))
        scratch[_SHARE, i] = ratio[i] * within
        # Derivative of s by log sd, divided by s.
        scratch[_STEEP, i] = 2.0 * (1.0 - at.told[m, i]) * within
        scratch[_MEAN, i] = mean[at.order[i]]
    log_jacobian = 0.5 * sum_of_logs(scratch[_SHARE])
    times(at.known_of_model[m], scratch[_MEAN], scratch[_OTHER])
    for i in range(z.size):
        scratch[_PULLED, i] = at.data[m, i] - scratch[_OTHER, i]
    _backward(at.regressions[m], scratch[_SHARE], scratch[_PULLED], scratch[_TURNED])
    for i in range(z.size):
        spread = scratch[_SHARE, i] * at.spread[m, i]
        scratch[_OTHER, i] = spread * scratch[_TURNED, i] + math.sqrt(spread) * z[i]
    _forward(at.regressions[m], scratch[_SHARE], scratch[_OTHER], scratch[_MOVED], scratch[_SUMS])
    for i in range(z.size):
        b[at.order[i]] = scratch[_MEAN, i] + scratch[_MOVED, i]
    return log_jacobian


@compiled()
def coefficients_gradient(
    m: int,
    by_b: Floats,
    z: Floats,
    at: Coordinates,
    scratch: Floats,
    own: Floats,
    by_mean: Floats,
    by_log_sd: Floats,
) -> None:
    """Chain rule back through ``coefficients``, its Jacobian included.

    ``own`` (P,) is filled, ``by_mean`` and ``by_log_sd`` (P,) are added to.
    """
    for i in range(z.size):
        scratch[_OTHER, i] = by_b[at.order[i]]
        by_mean[at.order[i]] += by_b[at.order[i]]
    _backward(at.regressions[m], scratch[_SHARE], scratch[_OTHER], scratch[_BACK])
    for i in range(z.size):
        back, spread = scratch[_BACK, i], scratch[_SHARE, i] * at.spread[m, i]
        own[i] = back * math.sqrt(spread)
        slope = scratch[_STEEP, i]
        by_share = back * (spread * scratch[_TURNED, i] + scratch[_SHARE, i] * scratch[_SUMS, i])
        by_log_sd[at.order[i]] += slope * (by_share + 0.5 * own[i] * z[i] + 0.5)
        scratch[_OTHER, i] = back * spread
    _forward(at.regressions[m], scratch[_SHARE], scratch[_OTHER], scratch[_PULLED], scratch[_SUMS])
    for i in range(z.size):
        slope = scratch[_STEEP, i] * scratch[_SHARE, i]
        by_log_sd[at.order[i]] += slope * scratch[_TURNED, i] * scratch[_SUMS, i]
    times(at.known_of_model[m], scratch[_PULLED], scratch[_OTHER])
    for i in range(z.size):
        by_mean[at.order[i]] -= scratch[_OTHER, i]


@compiled()
def many_coefficients(m: int, z: Floats, shift: Floats, mean: Floats, d: ModelArrays, at: Coordinates) -> Floats:
    """Coefficients (S, P) of one model for many draws: ``z`` and ``mean`` (S, P), ``shift`` (S, H)."""
    found, scratch, ratio = np.empty_like(z), np.empty((SCRATCH, z.shape[1])), np.empty(z.shape[1])
    for s in range(len(z)):
        variance_ratios(shift[s], d, at, ratio)
        coefficients(m, z[s], ratio, mean[s], at, scratch, found[s])
    return found
