"""From whitened coordinates to hyper-parameters, with the Jacobian and the chain rule back.

Logarithms of standard deviations and of the concentration are transformed normal variables (see ``sd_marginals``):
their lower tail is long where data allow an sd of 0, their upper tail short. Means that have a standard deviation tau
of their own (levels of templates and forms) compete with the others for the same data, and by how much follows tau.
So the means are drawn together, as a normal posterior would have them for the taus at hand: with K the curvature that
data give and D the prior variances at these taus (D0 at the centre),

    K + D^-1 = L L',    means = L'^-1 (L^-1 c + z),    c = (K + D0^-1) centre.

Where tau goes to 0 the means go to 0, where data say nothing they are prior mean + sd z.
"""

import math

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.compiled import compiled
from analysis.bayes.density_terms import transformed
from analysis.bayes.model_arrays import Coordinates, ModelArrays

Floats = NDArray[np.float64]


@compiled("contract", "reassoc", "nsz")
def _factored(matrix: Floats, inverse: Floats) -> float:
    """Transposed inverse of the lower Cholesky factor of ``matrix``; returns the sum of log pivots.

    The upper half of ``matrix`` becomes the transposed factor. Rows are changed by multiples of rows, which are
    vectors in memory; what is 0 between families stays so and is passed over.
    """
    n, total = len(matrix), 0.0
    for k in range(n):
        pivot = math.sqrt(matrix[k, k])
        total += math.log(pivot)
        above = matrix[k]
        for j in range(k, n):
            above[j] /= pivot
        for i in range(k + 1, n):
            row, by = matrix[i], above[i]
            if by == 0.0:
                continue
            for j in range(i, n):
                row[j] -= by * above[j]
    for i in range(n - 1, -1, -1):
        row = inverse[i]
        row[i:] = 0.0
        for k in range(i + 1, n):
            by, below = matrix[i, k], inverse[k]
            if by == 0.0:
                continue
            for j in range(k, n):
                row[j] -= by * below[j]
        row[i] = 1.0
        scale = 1.0 / matrix[i, i]
        for j in range(i, n):
            row[j] *= scale
    return total


@compiled()
def hyper_shift(z: Floats, d: ModelArrays, at: Coordinates, shift: Floats, inverse: Floats) -> float:
    """Hyper-parameters minus their centre.

    Parameters
    ----------
    z : (H,)
    d, at : ModelArrays, Coordinates
    shift : (H,)
        Filled.
    inverse : (means, means)
        Filled above the diagonal, and zero below: column i is row i of L^-1.

    Returns
    -------
    float
        Log of the Jacobian that depends on z.
    """
    n = at.linear.size
    total = 0.0
    for i in range(n, z.size):
        shift[i], steep, _ = transformed(z[i], at.scale[i], at.bend[i], at.taper[i])
        total += math.log(steep)
    curvature = at.known.copy()
    for i in range(n):
        tau = d.prior_sd_at[i]
        log_sd = at.hyper[tau] + shift[tau] if tau >= 0 else d.prior_log_sd[i]
        curvature[i, i] += math.exp(-2.0 * log_sd)
    total -= _factored(curvature, inverse)
    for i in range(n):
        shift[i] = -at.hyper[i]
    for i in range(n):
        moved = z[i]
        for j in range(i + 1):
            moved += inverse[j, i] * at.linear[j]
        for j in range(i + 1):
            shift[j] += inverse[j, i] * moved
    return total


@compiled()
def hyper_gradient(
    by_hyper: Floats, z: Floats, shift: Floats, d: ModelArrays, at: Coordinates, inverse: Floats, gradient: Floats
) -> None:
    """Chain rule back through ``hyper_shift``, its Jacobian included; ``by_hyper`` is overwritten.

    The curvature depends on tau by its diagonal alone, for which the derivative of the Cholesky factor (Murray 2016,
    arXiv:1602.07527) is a sum over the rows of L^-1.
    """
    n = at.linear.size
    for i in range(n):
        total = 0.0
        for j in range(i + 1):
            total += inverse[j, i] * by_hyper[j]
        gradient[i] = total
    for a in range(n):
        tau = d.prior_sd_at[a]
        if tau < 0:
            continue
        variance, follows, centre, spread, before = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(a, n):
            w = inverse[a, i]
            variance += w * w
            follows += w * gradient[i]
            spread += z[i] * w * (before + 0.5 * gradient[i] * w)
            before += gradient[i] * w
            centre += w * z[i]
        # The mean without its noise is the shift plus the centre, less L'^-1 z.
        centre = at.hyper[a] + shift[a] - centre
        by_precision = -0.5 * variance - follows * centre - spread
        by_hyper[tau] -= 2.0 * by_precision * math.exp(-2.0 * (at.hyper[tau] + shift[tau]))
    for i in range(n, z.size):
        _, steep, of_jacobian = transformed(z[i], at.scale[i], at.bend[i], at.taper[i])
        gradient[i] = by_hyper[i] * steep + of_jacobian


@compiled()
def hyper_shifts(z: Floats, d: ModelArrays, at: Coordinates) -> Floats:
    """Shifts (S, H) of many draws of the hyper-parameters' coordinates (S, H)."""
    shifts, inverse = np.empty_like(z), np.zeros_like(at.known)
    for s in range(len(z)):
        hyper_shift(z[s], d, at, shifts[s], inverse)
    return shifts
