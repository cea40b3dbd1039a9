"""Hierarchical model of the estimated accuracies with their covariance by unit (Fay-Herriot layer).

Counts take responses as independent given the cell; where the same units (surfaces, base items) are
asked many times they are not, and intervals from counts are too short. Here the accuracies of model m
enter with their cluster-robust covariance over units, on the log-odds scale, where the normal
approximation holds nearer to 0 and 1 and accuracies stay inside (0, 1):

    y_mc = log((n p_mc + 1/2) / (n (1 - p_mc) + 1/2)),  n the effective number of responses
    y_m ~ t(eta_m, V_m; df_m),  eta_mc = s_c (b_m0 + b_m1 s_c + b_m2 p_c + b_m3 v_c)
    b_mj ~ Normal(mean_j, sd_j),

with V_m the covariance of the accuracies brought to log-odds by its correlations and the variances
1 / ((n + 1) p' (1 - p')), p' the accuracy with its halves added. The four log-odds and the four
coefficients map one to one. Pooling: coefficients between models.

References
----------
Fay and Herriot (1979), J. Am. Stat. Assoc. 74:269-277, doi:10.2307/2286322.
Gart and Zweifel (1967), Biometrika 54:181-187, doi:10.2307/2333861 (the log-odds and their variance).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.bayes.design_matrix import SIGNS, TERMS
from analysis.bayes.model_arrays import ESTIMATES, ModelArrays
from analysis.bayes.models.answer_bias import assembled_arrays, group_priors
from analysis.bayes.priors import Priors
from analysis.errors import AnalysisError
from analysis.measures.yes_no_bias import FOUR_CELLS, TWO_CLASSES, YES_CELLS

Floats = NDArray[np.float64]
#: Least effective number of responses, as in the interval by units.
_LEAST = 2.0
#: Taken off the correlations, so that units that tie two cells exactly leave the matrix invertible.
_RIDGE = 1e-3
#: Variance of a model without a covariance: any accuracy is as likely as another.
_UNKNOWN = 1e4


@dataclass(frozen=True, slots=True)
class ClusterEstimates:
    """Accuracies by model with their covariance over units.

    Attributes
    ----------
    models : tuple of str
    names : tuple of str
        FOUR_CELLS or TWO_CLASSES, the order of the last axes.
    estimate : ndarray (M, C)
    covariance : ndarray (M, C, C)
        Cluster-robust; NaN where it is undefined.
    df : ndarray (M,)
        Degrees of freedom.
    n_eff : ndarray (M, C)
        Effective number of responses of each accuracy, as the interval by units uses it: where units do
        not vary, or few do, it is smaller than rate (1 - rate) / variance.
    units, rows : ndarray (M, C)
        Units and scored responses behind each accuracy.
    uncertain : str
        Treatment of uncertain answers in the estimates.
    """

    models: tuple[str, ...]
    names: tuple[str, ...]
    estimate: Floats
    covariance: Floats
    df: Floats
    n_eff: Floats
    units: Floats
    rows: Floats
    uncertain: str = "incorrect"

    def __post_init__(self) -> None:
        m, c = len(self.models), len(self.names)
        shapes = {
            "estimate": (m, c),
            "covariance": (m, c, c),
            "df": (m,),
            "n_eff": (m, c),
            "units": (m, c),
            "rows": (m, c),
        }
        wrong = [name for name, shape in shapes.items() if np.shape(getattr(self, name)) != shape]
        if self.names not in (FOUR_CELLS, TWO_CLASSES):
            raise AnalysisError(f"cells must be {', '.join(FOUR_CELLS)} or {', '.join(TWO_CLASSES)}, not {self.names}")
        if wrong:
            raise AnalysisError(f"cluster estimates of {m} models and {c} cells: wrong shape of {', '.join(wrong)}")

    @property
    def reused(self) -> bool:
        """Whether units were asked more than once by the same model within a class of questions."""
        per_model = self.rows.sum(axis=1)
        return bool((per_model > 1.001 * np.maximum(self.units.max(axis=1), 1) * self._cells_per_unit()).any())

    def _cells_per_unit(self) -> Floats:
        """1 where units span cells, else the cells that units are divided among."""
        spans = np.abs(_off_diagonal(np.nan_to_num(self.covariance))).max(axis=(1, 2)) > 0
        return np.where(spans, 1.0, self.units.sum(axis=1) / np.maximum(self.units.max(axis=1), 1))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Models (M,) whose accuracies and covariance are all defined."""
        return np.isfinite(self.estimate).all(axis=1) & np.isfinite(self.covariance).all(axis=(1, 2))


def estimated_log_odds(clusters: ClusterEstimates) -> tuple[Floats, Floats]:
    """Log-odds (M, C) of the accuracies and their covariance (M, C, C), positive definite.

    Notes
    -----
    The variance exceeds 0 also where no unit deviates. A model without a covariance gets log-odds 0 with
    a variance that makes them irrelevant.
    """
    known = clusters.known
    rate = np.where(known[:, None], clusters.estimate, 0.5)
    size = np.where(np.isfinite(clusters.n_eff), np.maximum(clusters.n_eff, _LEAST), _LEAST)
    smooth = (rate * size + 0.5) / (size + 1.0)
    sd = ((size + 1.0) * smooth * (1.0 - smooth)) ** -0.5
    covariance = np.where(known[:, None, None], clusters.covariance, 0.0)
    own_sd = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))
    scale = own_sd[:, :, None] * own_sd[:, None, :]
    correlation = np.clip(np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0), -1.0, 1.0)
    eye = np.eye(rate.shape[1])
    correlation = (1 - _RIDGE) * correlation * (1 - eye) + eye
    spread = correlation * sd[:, :, None] * sd[:, None, :]
    return np.where(known[:, None], np.log(smooth / (1 - smooth)), 0.0), np.where(
        known[:, None, None], spread, _UNKNOWN * eye
    )


def surface_layer_arrays(clusters: ClusterEstimates, priors: Priors) -> ModelArrays:
    """Arrays of the layer; models without a covariance enter with none of their own information."""
    signs = np.array([SIGNS[name] for name in clusters.names], float)
    gold = np.array([1.0 if name in YES_CELLS else -1.0 for name in clusters.names])
    terms = np.column_stack([np.ones(len(signs)), signs])[:, : len(signs)]
    names = TERMS[: len(signs)]
    matrix = gold[:, None] * terms
    log_odds, covariance = estimated_log_odds(clusters)
    arrays = assembled_arrays(
        matrix,
        np.arange(len(names)),
        group_priors(names, priors, "yes"),
        log_odds,
        np.zeros_like(log_odds),
        concentration=None,
    )
    df = np.where(clusters.known & np.isfinite(clusters.df), np.maximum(clusters.df, 1.0), 1.0)
    return arrays._replace(inverse=np.linalg.inv(covariance), df=df, kind=ESTIMATES)


def _off_diagonal(covariance: Floats) -> Floats:
    return covariance * (1 - np.eye(covariance.shape[-1]))
