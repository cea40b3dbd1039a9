"""Arrays of a hierarchical model, and of the coordinates in which it is sampled."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

BINOMIAL: Final = 0
BETA_BINOMIAL: Final = 1
ESTIMATES: Final = 2
#: exp(30) responses per cell are a binomial for every purpose; beyond, products of the kernel would overflow.
LARGEST_LOG_PHI: Final = 30.0


class ModelArrays(NamedTuple):
    """Data, sparse design and priors; C cells, P coefficients per model, M models, H hyper-parameters.

    Attributes
    ----------
    column, value : (C, W)
        Nonzero entries of each row of the design matrix, padded with value 0.
    yes, no : (M, C)
        Counts of either outcome; both 0 where a model was not asked. Of kind ESTIMATES, ``yes`` are
        the log-odds of the estimated accuracies.
    inverse, df : (M, C, C), (M,)
        Of kind ESTIMATES, inverse covariance of these log-odds and its degrees of freedom; else empty.
    sizes, cells : (U,)
        Distinct counts per cell, and how many cells have each.
    group : (P,)
        Group of each coefficient; groups share a standard deviation.
    mean_at, mean : (P,)
        Index of the coefficient's mean among the hyper-parameters, or -1 and its value.
    log_sd_at, log_sd : (G,)
        The same for the log standard deviation of a group.
    prior_mean, prior_log_sd : (H,)
        Normal prior of each hyper-parameter; where ``is_log_sd``, exp(prior_log_sd) is the scale of a
        half-normal prior of exp(h).
    prior_sd_at : (H,)
        Index of the log standard deviation that replaces ``prior_log_sd``, or -1.
    log_phi_at : int
        Index of the log concentration, -1 without one.
    kind : int
        BINOMIAL, BETA_BINOMIAL or ESTIMATES.
    """

    column: Indices
    value: Floats
    yes: Floats
    no: Floats
    inverse: Floats
    df: Floats
    sizes: Floats
    cells: Floats
    group: Indices
    mean_at: Indices
    mean: Floats
    log_sd_at: Indices
    log_sd: Floats
    prior_mean: Floats
    prior_log_sd: Floats
    prior_sd_at: Indices
    is_log_sd: NDArray[np.bool_]
    log_phi_at: int
    kind: int


class Coordinates(NamedTuple):
    """Where the whitened coordinates lie: z = 0 is the mode.

    Attributes
    ----------
    hyper, scale : (H,), (H, H)
        Mode of the hyper-parameters, and the lower factor of their approximate covariance.
    hyper_told : (H,)
        Share of the data in the curvature of a mean that has a tau.
    coefficients, offset : (M, P)
        Mode of the coefficients given ``hyper``, and the same minus their mean.
    factor, cross : (M, P, P)
        Lower Cholesky factor of the inverse curvature, and its off-diagonal part.
    precision : (P,)
        1 / sd^2 at the mode.
    told : (M, P)
        Share of the data in the curvature of a coefficient, in [0, 1].
    """

    hyper: Floats
    scale: Floats
    hyper_told: Floats
    coefficients: Floats
    offset: Floats
    factor: Floats
    cross: Floats
    precision: Floats
    told: Floats


def picked(values: Floats, at: Indices, otherwise: Floats | float) -> Floats:
    """``values[..., at]``, and ``otherwise`` where an index is -1; ``values`` may be empty."""
    if values.shape[-1] == 0:
        return np.broadcast_to(otherwise, (*values.shape[:-1], len(at))).astype(float)
    return np.where(at >= 0, values[..., np.maximum(at, 0)], otherwise)
