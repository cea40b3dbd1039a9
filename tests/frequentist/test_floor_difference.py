"""Differences of floors: unit values by hand, ties, Holm; unit values of contrasts."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from analysis.errors import AnalysisError
from analysis.frequentist.clustered import clustered_contrasts
from analysis.frequentist.floor_difference import floor_differences
from analysis.frequentist.linearised import unit_contrast_values
from analysis.frequentist.multiplicity import holm

CLASSES = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0.5, 0]])


def balanced(models: int = 4, units: int = 30, rows: int = 5) -> tuple[np.ndarray, np.ndarray]:
    source = np.random.default_rng(1)
    rates = source.uniform(0.2, 0.9, (models, 1, 4))
    return np.full((models, units, 4), float(rows)), source.binomial(rows, rates, (models, units, 4)).astype(float)


def test_is_the_paired_t_test_at_the_worst_classes() -> None:
    """Catches an unpaired error, and the class of the other model."""
    n, y = balanced()
    found = floor_differences(n, y, CLASSES)
    classes = y / n @ CLASSES.T
    worst = classes.mean(axis=1).argmin(axis=1)
    for at, (a, b) in enumerate(found.pairs):
        d = classes[a, :, worst[a]] - classes[b, :, worst[b]]
        t = ttest_1samp(d, 0)
        low, high = t.confidence_interval(0.95)
        np.testing.assert_allclose(
            [found.estimate[at], found.statistic[at], found.p_value[at], found.ci_low[at], found.ci_high[at]],
            [d.mean(), t.statistic, t.pvalue, low, high],
            rtol=1e-9,
        )
        assert tuple(found.worst[at]) == (worst[a], worst[b])
    np.testing.assert_allclose(found.p_adjusted, holm(found.p_value))
    assert found.family_size == 6
    assert (found.n_clusters == 30).all()


def test_sides_and_units_may_be_exchanged() -> None:
    n, y = balanced()
    shuffled = np.random.default_rng(2).permutation(30)
    found = floor_differences(n, y, CLASSES, pairs=[(0, 1)])
    swapped = floor_differences(n[:, shuffled], y[:, shuffled], CLASSES, pairs=[(1, 0)])
    assert found.estimate == pytest.approx(-swapped.estimate)
    assert found.p_value == pytest.approx(swapped.p_value, rel=1e-9)
    assert found.ci_low == pytest.approx(-swapped.ci_high)


def test_a_tie_of_classes_is_named() -> None:
    n, y = np.full((2, 10, 4), 2.0), np.ones((2, 10, 4))
    y[1, :, 0] = [0, 1, 2, 2, 1, 0, 0, 1, 1, 0]
    found = floor_differences(n, y, CLASSES)
    assert found.tied.tolist() == [[True, False]]


def test_what_cannot_be_compared_has_a_reason() -> None:
    n, y = balanced()
    n[0] = y[0] = 0
    n[1, 1:] = y[1, 1:] = 0
    y[3] = y[2]
    found = floor_differences(n, y, CLASSES)
    reasons = dict(zip(map(tuple, found.pairs.tolist()), found.reason, strict=True))
    assert reasons[0, 1] == "a model has no response in a class"
    assert reasons[1, 2] == "one unit only in a class"
    assert reasons[2, 3] == "the difference is the same in all units"
    assert np.isnan(found.p_value).all()
    assert found.family_size == 0


def test_bad_shapes_and_pairs_are_refused() -> None:
    n, y = balanced()
    with pytest.raises(AnalysisError, match="models, units, groups"):
        floor_differences(n[0], y[0], CLASSES)
    with pytest.raises(AnalysisError, match=r"0\.\.3"):
        floor_differences(n, y, CLASSES, pairs=[(0, 4)])


def test_unit_values_have_the_contrasts_mean_and_error() -> None:
    """Unbalanced units: the mean is the ratio estimate, the spread that of the CR2 variance without its adjustment."""
    source = np.random.default_rng(3)
    n = source.integers(1, 9, (40, 4)).astype(float)
    y = source.binomial(n.astype(int), 0.6).astype(float)
    weights = np.array([[0.5, -0.5, -0.5, 0.5]])
    values = unit_contrast_values(n, y, weights)[0]
    found = clustered_contrasts(n, y, weights)
    assert values.mean() == pytest.approx(found.estimate[0], abs=1e-12)
    assert values.std(ddof=1) / np.sqrt(40) == pytest.approx(np.sqrt(found.variance[0]), rel=0.03)


def test_unit_values_of_equal_units_are_their_own_contrasts() -> None:
    n, y = balanced()
    np.testing.assert_allclose(unit_contrast_values(n, y, CLASSES), np.swapaxes(y / n @ CLASSES.T, 1, 2), atol=1e-12)


def test_units_outside_a_contrast_and_empty_groups_are_missing() -> None:
    n = np.array([[2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 3.0, 0.0]])
    values = unit_contrast_values(n, n / 2, [[1, 0, 0], [1, -1, 0], [0, 0, 1]])
    assert np.isnan(values).tolist() == [[False, False, True], [False] * 3, [True] * 3]
    with pytest.raises(AnalysisError, match="do not fit"):
        unit_contrast_values(n, n, [[1, 0]])
