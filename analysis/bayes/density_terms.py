"""Pieces of compiled log-densities: partially non-centred coordinates, and the binomial likelihood on vectors.

A quantity with prior N(mean, s^2) about which data say x with variance v is sampled as g in

    (1 - r) mean + r x + sqrt(r v) g,    r = s^2 / (s^2 + v)

so that g is nearly standard normal where data are many and where they are few. x and v come from a rough fit to the
data; they change the cost and no density, as the Jacobian is part of it.

References
----------
Papaspiliopoulos, Roberts and Skoeld (2007), Statistical Science 22:59-73, doi:10.1214/088342307000000014
(partially non-centred coordinates).
"""

import math
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from analysis.bayes.compiled import compiled
from analysis.bayes.elementary_functions import FARTHEST, exponentials, logarithms

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

#: So many numbers are multiplied before one logarithm is taken.
_FACTORS: Final = 8


@compiled()
def placed(g: float, mean: float, log_sd: float, x: float, v: float) -> tuple[float, float, float]:
    """The quantity of the coordinate g, the share r of the data in it, and its scale sqrt(r v)."""
    r = 1.0 / (1.0 + v * math.exp(-2.0 * log_sd))
    scale = math.sqrt(r * v)
    return (1.0 - r) * mean + r * x + scale * g, r, scale


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def by_log_sd(g: float, mean: float, r: float, scale: float, x: float) -> float:
    """Derivative of a quantity by its log sd; that of its log scale is 1 - r."""
    return (1.0 - r) * (2.0 * r * (x - mean) + scale * g)


@compiled()
def transformed(z: float, scale: float, bend: float, taper: float) -> tuple[float, float, float]:
    """A ``sd_marginals.Marginal`` less its centre, its derivative by z, and that of the derivative's logarithm."""
    if z < 0.0:
        steep = scale - bend * z
        return scale * z - 0.5 * bend * z * z, steep, -bend / steep
    if taper == 0.0:
        return scale * z, scale, 0.0
    return scale * math.log1p(taper * z) / taper, scale / (1.0 + taper * z), -taper / (1.0 + taper * z)


@compiled("contract", "reassoc", "nsz")
def placed_all(
    g: Floats, mean: Floats, precision: Floats, x: Floats, v: Floats, value: Floats, r: Floats, scale: Floats
) -> None:
    """``placed`` of many, by their precisions: ``value``, ``r`` and ``scale`` are filled."""
    for i in range(g.size):
        r[i] = 1.0 / (1.0 + v[i] * precision[i])
        scale[i] = math.sqrt(r[i] * v[i])
        value[i] = (1.0 - r[i]) * mean[i] + r[i] * x[i] + scale[i] * g[i]


@compiled()
def sum_of_logs(values: Floats) -> float:
    """Sum of the logarithms of positive numbers of ordinary size, by logarithms of products."""
    total, product = 0.0, 1.0
    for i in range(values.size):
        product *= values[i]
        if i % _FACTORS == _FACTORS - 1:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@compiled("contract", "reassoc", "nsz")
def times(matrix: Floats, x: Floats, out: Floats) -> None:
    """``out`` becomes the product of a matrix (K, n) and x (n,)."""
    for k in range(out.size):
        total = 0.0
        for i in range(x.size):
            total += matrix[k, i] * x[i]
        out[k] = total


@compiled("contract", "nsz")
def add_times_transposed(matrix: Floats, b: Floats, out: Floats) -> None:
    """Adds the product of b (K,) and a matrix (K, n) to ``out`` (n,)."""
    for k in range(b.size):
        for i in range(out.size):
            out[i] += matrix[k, i] * b[k]


@compiled("contract", "reassoc", "nsz", "arcp")
def binomial_terms(
    base: Floats,
    shift: float,
    odds: Floats,
    shift_odds: float,
    yes: Floats,
    answered: Floats,
    by_base: Floats,
    work: Floats,
    logs: Floats,
) -> tuple[float, float]:
    """Binomial log-likelihood at log-odds base + shift, its derivative by shift; adds that by base.

    ``odds`` and ``shift_odds`` are exp of both, held inside FARTHEST: their product needs no exp of its own. The last
    two arrays are overwritten.
    """
    value, by_shift = 0.0, 0.0
    for i in range(base.size):
        e = odds[i] * shift_odds
        work[i] = 1.0 + e
        slope = yes[i] - answered[i] * (e / work[i])
        value += yes[i] * (base[i] + shift)
        by_shift += slope
        by_base[i] += slope
    logarithms(work, logs)
    for i in range(base.size):
        value -= answered[i] * logs[i]
    return value, by_shift


@compiled()
def binomial_log_likelihood(eta: Floats, yes: Floats, answered: Floats) -> Floats:
    """Binomial log-likelihood (S,) up to a constant at log-odds (S, n), of counts (n,)."""
    found = np.zeros(eta.shape[0])
    odds, work, logs, unused = np.empty(yes.size), np.empty(yes.size), np.empty(yes.size), np.zeros(yes.size)
    for s in range(eta.shape[0]):
        exponentials(eta[s], FARTHEST, odds, work)
        found[s] = binomial_terms(eta[s], 0.0, odds, 1.0, yes, answered, unused, work, logs)[0]
    return found


@compiled()
def rotate(values: Floats, unit: Indices, head: NDArray[np.bool_], size: Floats) -> None:
    """Within each item, its own inverse: the sum over sqrt(size) in place of the head, contrasts in the others'.

    It is the Householder reflection that exchanges the head and the direction of equal values.
    """
    factor, root = np.zeros(values.size), np.zeros(values.size)
    for g in range(values.size):
        factor[unit[g]] += values[g]
    for g in range(values.size):
        if head[g]:
            u, share = unit[g], 1.0 / math.sqrt(size[g])
            factor[u] = (factor[u] * share - values[g]) / (1.0 - share) if size[g] > 1.0 else 0.0
            root[u] = share
    for g in range(values.size):
        values[g] -= factor[unit[g]] * (root[unit[g]] - 1.0 if head[g] else root[unit[g]])
