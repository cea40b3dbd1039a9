"""Do answers name the options as often as they are right? Stuart and Maxwell's statistic by sign flips of units."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError
from analysis.frequentist.flip_counts import canonical_units, flipped_sums

#: Statistics that differ by less, relatively, are ties.
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class MarginalHomogeneity:
    """Test that two classifications of the same things have the same shares.

    Attributes
    ----------
    statistic : float
        Stuart and Maxwell's, with units in place of single things; 0 where nothing differs.
    df : int
        Rank of its covariance: at most categories - 1.
    p_value : float in (0, 1]
        (b + 1) / (flips + 1).
    mc_error, resolution : float
        Monte-Carlo standard error, and 1 / (flips + 1).
    flips, n_clusters, n_differing : int
    reason : str
    """

    statistic: float
    df: int
    p_value: float
    mc_error: float
    resolution: float
    flips: int
    n_clusters: int
    n_differing: int
    reason: str

    @property
    def at_floor(self) -> bool:
        """Whether the p-value is the smallest that the drawn flips allow: an upper bound."""
        return self.p_value <= self.resolution


def marginal_homogeneity(
    differences: ArrayLike, *, rng: np.random.Generator, flips: int = 20_000, alpha: float = 0.05
) -> MarginalHomogeneity:
    """Test mean 0 of all categories together by flipping whole units.

    Parameters
    ----------
    differences : array_like (K, G)
        For each category and unit, how often the first classification names it less how often the second does.
    rng : Generator
    flips : int
        Sign patterns drawn.
    alpha : float
        Level below which a p-value has to be possible; else ``reason`` says so.

    Notes
    -----
    d' V^- d with d the sums over units and V the sum of their products, which signs do not change. For single things
    it is the statistic of Stuart (1955) and Maxwell (1970), for two categories McNemar's. The null hypothesis is
    that within a unit the two classifications could as well be exchanged.

    References
    ----------
    Stuart (1955), Biometrika 42:412-416. Maxwell (1970), British Journal of Psychiatry 116:651-655.
    """
    table = np.asarray(differences, float)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise AnalysisError(f"differences must be finite, (categories, units); found shape {table.shape}")
    moved = table[:, (np.abs(table) > _TIE).any(axis=0)]
    g = moved.shape[1]
    known = {"flips": flips, "n_clusters": table.shape[1], "n_differing": g}
    if not table.shape[1]:
        return MarginalHomogeneity(np.nan, 0, np.nan, np.nan, np.nan, **known, reason="no unit has a value")
    if not g:
        why = "no unit differs: answers and right options agree in number"
        return MarginalHomogeneity(0.0, 0, 1.0, 0.0, 1.0, **known, reason=why)
    units, lean = canonical_units(moved)
    covariance = units @ units.T
    inverse = np.linalg.pinv(covariance, rcond=1e-10, hermitian=True)
    observed = float(_form((lean * moved.sum(axis=1))[None], inverse)[0])
    reached = observed * (1 - _TIE)
    hits = sum(int(np.count_nonzero(_form(sums, inverse) >= reached)) for sums in flipped_sums(units, rng, flips))
    p = (hits + 1) / (flips + 1)
    least = 2.0 ** (1 - min(g, 60))
    few = f"{g} differing unit{'s' if g > 1 else ''} cannot give a p-value below {least:.3g}"
    return MarginalHomogeneity(
        statistic=observed,
        df=int(np.linalg.matrix_rank(covariance, tol=1e-10 * np.trace(covariance), hermitian=True)),
        p_value=p,
        mc_error=float(np.sqrt(p * (1 - p) / flips)),
        resolution=1 / (flips + 1),
        **known,
        reason=few if least > alpha else "",
    )


def _form(sums: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quadratic form (N,) of sums (N, K)."""
    return ((sums @ inverse) * sums).sum(axis=1)
