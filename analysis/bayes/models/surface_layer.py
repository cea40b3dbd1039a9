"""Hierarchical model of the estimated accuracies with their covariance by unit (Fay-Herriot layer).

Counts take responses as independent given the cell; where the same units (surfaces, base items) are
asked many times they are not, and intervals from counts are too short. Here the accuracies of model m
enter with their cluster-robust covariance V_m,

    estimate_m ~ t(accuracy_m, V_m; df_m),   accuracy_mc = logistic(s_c (b_m0 + b_m1 s_c + b_m2 p_c + b_m3 v_c))
    b_mj ~ Normal(mean_j, sd_j),

one to one with the four contrasts (the map between cells and contrasts is orthogonal). Accuracies stay
inside (0, 1). Pooling: coefficients between models.

References
----------
Fay and Herriot (1979), J. Am. Stat. Assoc. 74:269-277, doi:10.2307/2286322.
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
#: Variance of the place holder of a model without a covariance: any accuracy is as likely as another.
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


def steadied_covariance(clusters: ClusterEstimates) -> Floats:
    """Covariance (M, C, C) that is positive definite, with a variance also where no unit deviates.

    Notes
    -----
    Where the variance is less than rate (1 - rate) / n_eff says, it is p (1 - p) / n_eff with
    p = (rate n_eff + .5) / (n_eff + 1), so that a rate of 0 or 1 is uncertain too.
    """
    rate = np.where(clusters.known[:, None], clusters.estimate, 0.5)
    covariance = np.where(clusters.known[:, None, None], clusters.covariance, 0.0)
    size = np.where(np.isfinite(clusters.n_eff), np.maximum(clusters.n_eff, 2.0), 2.0)
    smooth = (rate * size + 0.5) / (size + 1.0)
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    short = (variance <= 0) | (variance * size < 0.999 * rate * (1 - rate))
    raised = np.where(short, np.maximum(variance, smooth * (1 - smooth) / size), variance)
    eye = np.eye(rate.shape[1])
    steady = _off_diagonal(covariance) + (raised * (1 + 1e-6))[:, :, None] * eye
    return np.where(clusters.known[:, None, None], steady, _UNKNOWN * eye)


def surface_layer_arrays(clusters: ClusterEstimates, priors: Priors) -> ModelArrays:
    """Arrays of the layer; models without a covariance enter with none of their own information."""
    signs = np.array([SIGNS[name] for name in clusters.names], float)
    gold = np.array([1.0 if name in YES_CELLS else -1.0 for name in clusters.names])
    terms = np.column_stack([np.ones(len(signs)), signs])[:, : len(signs)]
    names = TERMS[: len(signs)]
    matrix = gold[:, None] * terms
    estimate = np.where(clusters.known[:, None], clusters.estimate, 0.5)
    arrays = assembled_arrays(
        matrix,
        np.arange(len(names)),
        group_priors(names, priors, "yes"),
        estimate,
        np.zeros_like(estimate),
        concentration=None,
    )
    df = np.where(clusters.known & np.isfinite(clusters.df), np.maximum(clusters.df, 1.0), 1.0)
    return arrays._replace(inverse=np.linalg.inv(steadied_covariance(clusters)), df=df, kind=ESTIMATES)


def _off_diagonal(covariance: Floats) -> Floats:
    return covariance * (1 - np.eye(covariance.shape[-1]))
