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
    family_at : (M, P)
        Index among the hyper-parameters of what a model's family adds to the mean of a coefficient, or -1; (0, P)
        without families.
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
    family_at: Indices


class Coordinates(NamedTuple):
    """Where the whitened coordinates lie: z = 0 is near the mode.

    Attributes
    ----------
    hyper, scale, bend, taper : (H,)
        Centre of the hyper-parameters; of those that are not means the approximate sd, how much longer the lower
        tail is than a normal one, and how much shorter the upper (see ``sd_marginals.Marginal``).
    known, linear : (K, K), (K,)
        Curvature that data give to the K means, which are the first hyper-parameters, and the product of their centre
        with this curvature and the prior's at the centre.
    order : (P,)
        Coefficients in the order of the arrays below.
    regressions : (M, P, P)
        Regressions of later on earlier coefficients given ``hyper``, strictly lower triangular.
    spread : (M, P)
        Variance of each coefficient given the earlier ones.
    told : (M, P)
        1 less the share of ``spread`` in the prior variance, in [0, 1].
    data, known_of_model : (M, P), (M, P, P)
        Slope at 0 and curvature of the quadratic approximation to the log-likelihood.
    """

    hyper: Floats
    scale: Floats
    bend: Floats
    taper: Floats
    known: Floats
    linear: Floats
    order: Indices
    regressions: Floats
    spread: Floats
    told: Floats
    data: Floats
    known_of_model: Floats

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.hyper) + self.told.size


def picked(values: Floats, at: Indices, otherwise: Floats | float) -> Floats:
    """``values[..., at]``, and ``otherwise`` where an index is -1; ``values`` may be empty."""
    if values.shape[-1] == 0:
        return np.broadcast_to(otherwise, (*values.shape[:-1], len(at))).astype(float)
    return np.where(at >= 0, values[..., np.maximum(at, 0)], otherwise)


def mean_count(d: ModelArrays) -> int:
    """Number of means: of families, then of coefficients. They are the first hyper-parameters."""
    return len(d.prior_mean) - int(d.is_log_sd.sum()) - (d.log_phi_at >= 0)


def coefficient_means(values: Floats, d: ModelArrays) -> Floats:
    """Mean of each coefficient given hyper-parameters (H,): (P,), and (M, P) with families."""
    mean = picked(values, d.mean_at, d.mean)
    return mean + picked(values, d.family_at, 0.0) if len(d.family_at) else mean


def model_means(m: int, values: Floats, d: ModelArrays) -> Floats:
    """Means (..., P) of the coefficients of model ``m`` given hyper-parameters (..., H)."""
    mean = picked(values, d.mean_at, d.mean)
    return mean + picked(values, d.family_at[m], 0.0) if len(d.family_at) else mean
