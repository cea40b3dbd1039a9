"""Step-down max-T: the identity with one test, order of p-values, joint coverage of its limits."""

import numpy as np
import pytest

from analysis.frequentist.max_t import max_t
from analysis.frequentist.multiplicity import bonferroni
from analysis.frequentist.sign_flips import sign_flip_test


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def by_definition(d: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Step-down p-values, written out test by test."""

    def t(x: np.ndarray) -> np.ndarray:
        return np.abs(x.mean(axis=1) / (x.std(axis=1, ddof=1) / np.sqrt(x.shape[1])))

    observed, null = t(d), np.array([t(d * s) for s in signs])
    order, p = np.argsort(-observed), np.empty(len(d))
    largest = 0.0
    for step, at in enumerate(order):
        exceed = (null[:, order[step:]].max(axis=1) >= observed[at] * (1 - 1e-9)).sum()
        largest = max(largest, (exceed + 1) / (len(signs) + 1))
        p[at] = largest
    return p


def test_equals_the_definition() -> None:
    """Two independent draws of 20,000 signs agree within Monte-Carlo error: catches single-step for step-down."""
    source = np.random.default_rng(1)
    d = source.normal([[0.6], [0.4], [0.3], [0.0]], 1, (4, 40))
    signs = source.choice([-1.0, 1.0], (20_000, 40))
    found = max_t(d, rng=rng())
    np.testing.assert_allclose(found.p_adjusted, by_definition(d, signs), atol=5 * found.mc_error.max())


def test_one_test_is_the_sign_flip_test_of_it() -> None:
    """Studentised and plain sums order the sign patterns alike when there is one test."""
    d = np.random.default_rng(2).normal(0.3, 1, 60)
    alone, plain = max_t(d[None], rng=rng()), sign_flip_test(d, rng=rng())
    assert alone.p_adjusted[0] == alone.p_value[0]
    assert alone.p_value[0] == pytest.approx(plain.p_value, abs=4 * plain.mc_error)


def test_between_unadjusted_and_bonferroni() -> None:
    d = np.random.default_rng(3).normal(0.25, 1, (8, 60)) + np.random.default_rng(4).normal(size=60)
    found = max_t(d, rng=rng())
    assert (found.p_adjusted >= found.p_value).all()
    assert (found.p_adjusted <= bonferroni(found.p_value) + 5 * found.mc_error).all()
    order = np.argsort(-np.abs(found.statistic))
    assert (np.diff(found.p_adjusted[order]) >= 0).all()


def test_limits_hold_together() -> None:
    """200 data sets of 6 correlated means: joint coverage near .95 (band 3 s.e.); unadjusted ones miss a fifth."""
    source, hits = np.random.default_rng(5), 0
    for _ in range(200):
        d = source.normal(size=(6, 50)) + 0.5 * source.normal(size=50)
        found = max_t(d, rng=rng(), flips=999)
        hits += bool(((found.ci_low <= 0) & (found.ci_high >= 0)).all())
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200) <= hits / 200 <= 1.0


def test_undefined_members_are_not_part_of_the_family() -> None:
    d = np.random.default_rng(6).normal(0.4, 1, (4, 30))
    d[1], d[2, 1:], d[3] = np.nan, np.nan, 0.5
    found = max_t(d, rng=rng())
    assert found.family_size == 2
    assert np.isnan(found.p_adjusted[[1, 2]]).all()
    assert list(found.reason[1:]) == [
        "no unit has a value",
        "one unit only",
        "no interval: all units have the same value",
    ]
    assert np.isnan(found.ci_low[3])
    assert found.p_value[3] == pytest.approx(1 / 20_001)


def test_order_of_units_and_tests_does_not_matter() -> None:
    source = np.random.default_rng(8)
    d = np.round(source.normal(0.2, 1, (5, 40)), 1)
    tests, units = source.permutation(5), source.permutation(40)
    found, moved = max_t(d, rng=rng()), max_t(d[tests][:, units], rng=rng())
    np.testing.assert_array_equal(found.p_adjusted[tests], moved.p_adjusted)
    assert found.critical == pytest.approx(moved.critical, rel=1e-12)
