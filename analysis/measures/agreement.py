"""Do answers agree with each other? Shares, and agreement beyond what given marginals or accuracies imply.

Counts have the subjects (base items) on the axis before the last and the categories on the last. Sums over
subjects are linear in weights of subjects, so that bootstrap replicates use the same definitions.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


def category_counts(codes: ArrayLike, categories: int) -> Floats:
    """How often each category was given.

    Parameters
    ----------
    codes : array_like of int (..., V)
        Category of each of V answers, -1 where there is none.
    categories : int

    Returns
    -------
    ndarray (..., categories)
    """
    given = np.asarray(codes)
    if given.size and (given.min() < -1 or given.max() >= categories):
        raise AnalysisError(f"codes must lie in [-1, {categories - 1}]; found {given.min()} to {given.max()}")
    return np.stack([(given == k).sum(axis=-1) for k in range(categories)], axis=-1).astype(float)


def pairable(counts: ArrayLike) -> Floats:
    """Counts (..., K) in which subjects with fewer than two ratings count for nothing."""
    given = np.asarray(counts, float)
    return np.where(given.sum(axis=-1, keepdims=True) >= 2, given, 0.0)


def disagreements(counts: ArrayLike) -> Floats:
    """Disagreeing ordered pairs of each subject over its ratings less one, (...,); 0 with fewer than two."""
    given = pairable(counts)
    m = given.sum(axis=-1)
    return (m**2 - (given**2).sum(axis=-1)) / np.maximum(m - 1, 1)


def krippendorff_alpha(counts: ArrayLike) -> Floats:
    """Krippendorff's alpha of nominal ratings, some of which may be missing.

    Parameters
    ----------
    counts : array_like (..., U, K)
        How many ratings of each subject fall into each category; subjects with fewer than two are left out.

    Returns
    -------
    ndarray (...,)
        1: all agree; 0: as much agreement as chance gives; NaN where only one category occurs or no subject
        has two ratings, as agreement beyond chance is undefined then.

    References
    ----------
    Krippendorff (2004). Content Analysis, 2nd ed., chapter 11. Hayes and Krippendorff (2007),
    Communication Methods and Measures 1:77-89, doi:10.1080/19312450709336664.
    """
    return alpha_from_sums(disagreements(counts).sum(axis=-1)[..., None], pairable(counts).sum(axis=-2)[..., None, :])


def alpha_from_sums(disagreeing: ArrayLike, marginals: ArrayLike) -> Floats:
    """Alpha within strata: disagreement observed in all of them over that expected within each.

    Parameters
    ----------
    disagreeing : array_like (..., S)
        Sum of ``disagreements`` over the subjects of each stratum.
    marginals : array_like (..., S, K)
        Sum of ``pairable`` counts over them.

    Returns
    -------
    ndarray (...,)
        With one stratum Krippendorff's alpha. Strata (say, prompts) whose answers lean differently do not
        raise it, which pooled marginals would.
    """
    totals = np.asarray(marginals, float)
    n = totals.sum(axis=-1)
    expected = ((n**2 - (totals**2).sum(axis=-1)) / np.maximum(n - 1, 1)).sum(axis=-1)
    return 1 - _ratio(np.asarray(disagreeing, float).sum(axis=-1), expected)


def fleiss_kappa(counts: ArrayLike) -> Floats:
    """Fleiss' kappa of subjects that all have the same number of ratings.

    Parameters
    ----------
    counts : array_like (..., U, K)

    Returns
    -------
    ndarray (...,)
        NaN where only one category occurs.

    Notes
    -----
    With N ratings in all, 1 - alpha = (1 - kappa) (N - 1) / N.

    References
    ----------
    Fleiss (1971), Psychological Bulletin 76:378-382, doi:10.1037/h0031619.
    """
    given = np.asarray(counts, float)
    m = given.sum(axis=-1)
    if m.size and (m.min() != m.max() or m.min() < 2):
        raise AnalysisError(
            f"Fleiss' kappa needs the same number of ratings, at least 2, of every subject; found {m.min():g} to "
            f"{m.max():g}; use krippendorff_alpha"
        )
    return kappa_from_sums(disagreements(given).sum(axis=-1)[..., None], given.sum(axis=-2)[..., None, :])


def kappa_from_sums(disagreeing: ArrayLike, marginals: ArrayLike) -> Floats:
    """Fleiss' kappa within strata, from sums over subjects with equally many ratings; see ``alpha_from_sums``."""
    totals = np.asarray(marginals, float)
    n = totals.sum(axis=-1)
    expected = (n - (totals**2).sum(axis=-1) / np.maximum(n, 1)).sum(axis=-1)
    return 1 - _ratio(np.asarray(disagreeing, float).sum(axis=-1), expected)


def all_agree(codes: ArrayLike) -> Floats:
    """1 where all of V >= 2 answers are the same, 0 where not, NaN where one is missing.

    Parameters
    ----------
    codes : array_like of int (..., V)
        -1 where there is no answer.
    """
    given = np.asarray(codes)
    if given.shape[-1] < 2:
        raise AnalysisError("agreement needs at least two answers")
    same = (given == given[..., :1]).all(axis=-1).astype(float)
    return np.where((given >= 0).all(axis=-1), same, np.nan)


def expected_same_marginals(shares: ArrayLike) -> Floats:
    """Share of subjects on which V independent answers with these marginals all agree.

    Parameters
    ----------
    shares : array_like (..., V, K)
        Share of each category among the answers of each variant; for yes and no with yes-rates q this is
        prod(q) + prod(1 - q).
    """
    return np.asarray(shares, float).prod(axis=-2).sum(axis=-1)


def expected_independent_errors(accuracy: ArrayLike, weights: ArrayLike, variants: int) -> Floats:
    """Share of subjects on which V yes/no answers agree if errors are independent within a class.

    Parameters
    ----------
    accuracy : array_like (..., G)
        Accuracy on each class of gold answers, shared by all variants of a subject.
    weights : array_like (..., G)
        Share of the classes, summing to 1. A class of weight 0 may have an undefined accuracy.
    variants : int
    """
    a, w = np.asarray(accuracy, float), np.asarray(weights, float)
    return np.where(w > 0, w * (a**variants + (1 - a) ** variants), 0.0).sum(axis=-1)


def consistency_bound(accuracy: ArrayLike, variants: int) -> Floats:
    """Least share of subjects answered alike that an accuracy allows where all variants share one gold answer.

    Notes
    -----
    A subject is not answered alike only if at least one of its V answers is wrong, so that
    C >= 1 - V (1 - accuracy): with high accuracy consistency is a consequence of it.
    """
    return np.maximum(1 - variants * (1 - np.asarray(accuracy, float)), 0.0)


def beyond_expected(observed: ArrayLike, expected: ArrayLike) -> Floats:
    """(observed - expected) / (1 - expected): 0 as expected, 1 all agree; NaN where all are expected to agree."""
    found, chance = np.asarray(observed, float), np.asarray(expected, float)
    return _ratio(found - chance, 1 - chance)


def _ratio(top: Floats, bottom: Floats) -> Floats:
    shape = np.broadcast_shapes(np.shape(top), np.shape(bottom))
    some = np.broadcast_to(np.asarray(bottom) > 1e-12, shape)
    return np.divide(top, bottom, out=np.full(shape, np.nan), where=some)
