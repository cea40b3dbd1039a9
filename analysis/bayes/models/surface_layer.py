"""Hierarchical model of the estimated accuracies with their covariance by unit (Fay-Herriot layer).

Counts take responses as independent given the cell; where the same units (surfaces, base items) are
asked many times they are not, and intervals from counts are too short. Here the accuracies of model m
enter with their cluster-robust covariance over units, on the log-odds scale, where the normal
approximation holds nearer to 0 and 1 and accuracies stay inside (0, 1):

    y_mc = log((n p_mc + 1/2) / (n (1 - p_mc) + 1/2)),  n the responses behind the accuracy
    y_m ~ t(eta_m, V_m; df_m + d),  eta_mc = s_c (b_m0 + b_m1 s_c + b_m2 p_c + b_m3 v_c)
    b_mj ~ Normal(mean_j, sd_j), with families as in ``answer_bias``,

with V_m = B^1/2 S_m B^1/2, B the variances 1 / ((n + 1) p' (1 - p')) of independent responses in log-odds
(p' the accuracy with its halves added), and S_m the design effects and their covariances: those of the
model, moderated by the mean of all models with d degrees of freedom, as a handful of units does not
determine a covariance matrix. d is estimated from how much the design effects differ beyond chance. The
four log-odds and the four coefficients map one to one. Pooling: coefficients between models.

References
----------
Fay and Herriot (1979), J. Am. Stat. Assoc. 74:269-277, doi:10.2307/2286322.
Gart and Zweifel (1967), Biometrika 54:181-187, doi:10.2307/2333861 (the log-odds and their variance).
Smyth (2004), Stat. Appl. Genet. Mol. Biol. 3:3, doi:10.2202/1544-6115.1027 (moderated variances).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from analysis.bayes.design_matrix import SIGNS, TERMS
from analysis.bayes.families import family_index
from analysis.bayes.model_arrays import ESTIMATES, ModelArrays
from analysis.bayes.models.answer_bias import assembled_arrays, group_priors
from analysis.bayes.priors import Priors
from analysis.errors import AnalysisError
from analysis.measures.yes_no_bias import FOUR_CELLS, TWO_CLASSES, YES_CELLS

Floats = NDArray[np.float64]
#: Bounds of the degrees of freedom that the mean of all models counts for; the least leaves matrices invertible.
_MODERATION = (4.0, 100.0)
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
    units: Floats
    rows: Floats
    uncertain: str = "incorrect"

    def __post_init__(self) -> None:
        m, c = len(self.models), len(self.names)
        shapes = {
            "estimate": (m, c),
            "covariance": (m, c, c),
            "df": (m,),
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


@dataclass(frozen=True, slots=True)
class LogOddsEstimates:
    """What the layer takes for data.

    Attributes
    ----------
    log_odds : ndarray (M, C)
    covariance : ndarray (M, C, C)
        Positive definite.
    df : ndarray (M,)
    """

    log_odds: Floats
    covariance: Floats
    df: Floats


def estimated_log_odds(clusters: ClusterEstimates) -> LogOddsEstimates:
    """Log-odds of the accuracies with their moderated covariance.

    Notes
    -----
    The variance exceeds 0 also where no unit deviates. A model without a covariance gets log-odds 0 with
    a variance that makes them irrelevant.
    """
    known, eye = clusters.known, np.eye(len(clusters.names))
    rate = np.where(known[:, None], clusters.estimate, 0.5)
    rows = np.where(known[:, None], np.maximum(clusters.rows, 1.0), 1.0)
    smooth = (rate * rows + 0.5) / (rows + 1.0)
    design, df = _moderated(clusters, smooth * (1 - smooth) / rows)
    sd = ((rows + 1.0) * smooth * (1.0 - smooth)) ** -0.5
    spread = design * (1 - _RIDGE * (1 - eye)) * sd[:, :, None] * sd[:, None, :]
    return LogOddsEstimates(
        np.where(known[:, None], np.log(smooth / (1 - smooth)), 0.0),
        np.where(known[:, None, None], spread, _UNKNOWN * eye),
        df,
    )


def _moderated(clusters: ClusterEstimates, binomial: Floats) -> tuple[Floats, Floats]:
    """Design effects with their covariances (M, C, C), and their degrees of freedom (M,).

    The mean over models counts one response per unit (a design effect of 1) as one degree of freedom more, so
    that it exceeds 0 where no unit of any model deviates.
    """
    known, eye = clusters.known, np.eye(binomial.shape[1])
    df = np.where(known & np.isfinite(clusters.df), np.maximum(clusters.df, 1.0), 1.0)
    scale = np.sqrt(binomial[:, :, None] * binomial[:, None, :])
    own = np.where(known[:, None, None], clusters.covariance, 0.0) / scale
    weight = np.where(known, df, 0.0)
    mean = ((weight[:, None, None] * own).sum(axis=0) + eye) / (weight.sum() + 1.0)
    extra = _moderation(np.diagonal(own, axis1=1, axis2=2)[known], df[known])
    total = df[:, None, None] + extra
    return (df[:, None, None] * own + extra * mean) / total, df + extra


def _moderation(effects: Floats, df: Floats) -> float:
    """Degrees of freedom of the distribution of true design effects (M, C) between models.

    Logarithms of scaled chi-squares vary by trigamma(df / 2); what they vary beyond is trigamma(d / 2).
    """
    value, degrees = effects.ravel(), np.repeat(df, effects.shape[1])
    moving = value > 0
    if moving.sum() < 2:
        return _MODERATION[1]
    half = degrees[moving] / 2
    centred = np.log(value[moving]) - digamma(half) + np.log(half)
    excess = centred.var(ddof=1) - polygamma(1, half).mean()
    low, high = _MODERATION
    grid = np.geomspace(low, high, 200)
    return float(grid[np.abs(polygamma(1, grid / 2) - max(excess, 0.0)).argmin()])


def surface_layer_arrays(
    clusters: ClusterEstimates, priors: Priors, *, families: Mapping[str, str] | None = None
) -> ModelArrays:
    """Arrays of the layer; models without a covariance enter with none of their own information."""
    signs = np.array([SIGNS[name] for name in clusters.names], float)
    gold = np.array([1.0 if name in YES_CELLS else -1.0 for name in clusters.names])
    terms = np.column_stack([np.ones(len(signs)), signs])[:, : len(signs)]
    names = TERMS[: len(signs)]
    matrix = gold[:, None] * terms
    found = estimated_log_odds(clusters)
    arrays = assembled_arrays(
        matrix,
        np.arange(len(names)),
        group_priors(names, priors, "yes"),
        found.log_odds,
        np.zeros_like(found.log_odds),
        concentration=None,
        families=family_index(clusters.models, families or {}),
    )
    return arrays._replace(inverse=np.linalg.inv(found.covariance), df=found.df, kind=ESTIMATES)


def _off_diagonal(covariance: Floats) -> Floats:
    return covariance * (1 - np.eye(covariance.shape[-1]))
