"""Sign-flip tests: enumeration against scipy and the binomial, Monte Carlo against enumeration, invariance."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, permutation_test

from analysis.errors import AnalysisError
from analysis.frequentist.sign_flips import ALTERNATIVES, flips_needed, pair_flip_tests, sign_flip_test

DIFFERENCES = st.lists(st.integers(-3, 3), min_size=1, max_size=12)


def rng() -> np.random.Generator:
    return np.random.default_rng(20260801)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("digits", [0, 3])
def test_enumeration_equals_scipy(alternative: str, digits: int) -> None:
    """Catches one tail counted for two, and ties lost to rounding (digits = 0 gives many)."""
    x = np.round(np.random.default_rng(1).normal(0.4, 1, 10), digits)
    theirs = permutation_test(
        (x,),
        lambda v, axis: v.mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        alternative=alternative,
        vectorized=True,
    ).pvalue
    assert sign_flip_test(x, rng=rng(), alternative=alternative).p_value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("b", "c"), [(0, 5), (3, 3), (9, 2), (12, 4), (1, 0)])
def test_single_changes_give_the_exact_binomial(b: int, c: int) -> None:
    """With one changed pair a unit the test is McNemar's exact one: catches a +1 in the enumeration."""
    exact = min(1.0, 2 * binom.cdf(min(b, c), b + c, 0.5))
    test = sign_flip_test([1] * b + [-1] * c + [0] * 7, rng=rng())
    assert test.exact
    assert test.p_value == pytest.approx(exact, rel=1e-12)


def test_monte_carlo_agrees_with_the_exact_binomial() -> None:
    """60 changes: the drawn p-value lies within 4 of its own standard errors; +1 keeps it above 0."""
    test = sign_flip_test([1] * 38 + [-1] * 22, rng=rng(), flips=100_000)
    assert not test.exact
    assert abs(test.p_value - 2 * binom.cdf(22, 60, 0.5)) < 4 * test.mc_error
    extreme = sign_flip_test(np.ones(60), rng=rng(), flips=2_000)
    assert extreme.p_value == pytest.approx(1 / 2001)
    assert extreme.at_floor


@given(d=DIFFERENCES, seed=st.integers(0, 100))
def test_order_and_sign_do_not_matter(d: list[int], seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(d)
    for alternative, mirrored in (("two-sided", "two-sided"), ("greater", "less")):
        p = sign_flip_test(d, rng=rng(), alternative=alternative).p_value
        assert p == sign_flip_test(shuffled, rng=rng(), alternative=alternative).p_value
        assert p == sign_flip_test(-np.array(d), rng=rng(), alternative=mirrored).p_value
        assert 0 < p <= 1


def test_drawn_p_values_do_not_know_the_order_of_units_tests_or_sides() -> None:
    """Catches signs that are dealt by position: the Monte-Carlo error would then depend on the file's order."""
    source = np.random.default_rng(2)
    d = np.round(source.normal(0.1, 1, (6, 50)), 1)
    tests, units, sides = source.permutation(6), source.permutation(50), source.choice([-1, 1], 6)
    p = sign_flip_test(d, rng=rng()).p_value
    moved = sign_flip_test((d * sides[:, None])[tests][:, units], rng=rng()).p_value
    np.testing.assert_array_equal(p[tests], moved)
    one_sided = sign_flip_test(d, rng=rng(), alternative="greater").p_value
    np.testing.assert_array_equal(one_sided, sign_flip_test(-d, rng=rng(), alternative="less").p_value)


def test_absent_units_and_zeros() -> None:
    """A missing unit is no unit; a unit with difference 0 is one, but cannot change a p-value."""
    d = [1.0, 2.0, -0.5, 1.5, 0.7]
    plain, padded = sign_flip_test(d, rng=rng()), sign_flip_test([*d, 0.0, np.nan], rng=rng())
    assert plain.p_value == padded.p_value
    assert (plain.n_clusters, padded.n_clusters, padded.n_differing) == (5, 6, 5)
    assert padded.estimate == pytest.approx(sum(d) / 6)


def test_few_units_say_that_nothing_can_be_shown() -> None:
    """Five differing units reach 2/32 at best."""
    test = sign_flip_test([1, 1, 1, 1, 1], rng=rng())
    assert test.p_value == test.resolution == 2 / 32
    assert "5 differing units" in test.reason
    assert sign_flip_test([1] * 6, rng=rng()).reason == ""


@pytest.mark.parametrize(
    ("values", "reason", "p"),
    [([], "no unit", np.nan), ([np.nan, np.nan], "no unit", np.nan), ([0.0, 0.0], "no unit differs", 1.0)],
)
def test_degenerate_input_is_defined(values: list[float], reason: str, p: float) -> None:
    test = sign_flip_test(values, rng=rng())
    assert reason in test.reason
    assert test.p_value == p or (np.isnan(test.p_value) and np.isnan(p))


def test_flips_are_raised_where_tests_crowd_the_floor() -> None:
    d = np.concatenate([np.ones((1, 40)), np.random.default_rng(3).normal(size=(3, 40))])
    raised = sign_flip_test(d, rng=rng(), flips=1000, most_flips=5000)
    assert raised.flips.tolist() == [5000] * 4
    assert raised.p_value[0] == pytest.approx(1 / 5001)
    assert sign_flip_test(d[1:], rng=rng(), flips=1000, most_flips=5000).flips.tolist() == [1000] * 3
    assert flips_needed(21) == 8400


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sums_of_the_sides_give_the_p_values_of_the_differences(alternative: str) -> None:
    """Catches pairs whose order, units or side got lost on the quicker way: the same signs give the same counts."""
    sides = np.round(np.random.default_rng(5).normal(np.linspace(0, 0.4, 6)[:, None], 0.5, (6, 40)), 1)
    sides[:, 3] = 0.4  # a unit in which nobody differs
    sides[5] = sides[4]
    sides[3, :30] = sides[2, :30]  # this pair is enumerated
    pairs = np.array([[0, 1], [4, 2], [2, 3], [1, 5], [4, 5], [0, 5], [2, 1]])
    for most in (None, 6000):
        plain = sign_flip_test(
            sides[pairs[:, 0]] - sides[pairs[:, 1]], rng=rng(), flips=2000, alternative=alternative, most_flips=most
        )
        quick = pair_flip_tests(sides, pairs, rng=rng(), flips=2000, alternative=alternative, most_flips=most)
        np.testing.assert_array_equal(quick.p_value, plain.p_value)
        np.testing.assert_array_equal(quick.flips, plain.flips)
    assert plain.exact.tolist() == [False, False, True, False, True, False, False]


def test_pairs_with_other_units_are_tested_on_what_they_share() -> None:
    sides = np.random.default_rng(6).normal(size=(3, 30))
    sides[2, :4] = np.nan
    found = pair_flip_tests(sides, np.array([[0, 1], [0, 2]]), rng=rng(), flips=2000)
    assert found.n_clusters.tolist() == [30, 26]
    assert found.estimate[1] == pytest.approx((sides[0] - sides[2])[4:].mean())


def test_rounding_noise_is_no_difference_between_ties() -> None:
    """.1 + .2 against .3: without slack the observed pattern itself would not count as extreme."""
    d = np.array([0.1, 0.2, -0.3] * 7)
    assert sign_flip_test(d, rng=rng(), flips=2000).p_value > 0.95


@pytest.mark.parametrize("values", [[[[1.0]]], [np.inf, 1.0]])
def test_bad_values_are_refused(values: list[float]) -> None:
    with pytest.raises(AnalysisError, match=r"finite|axes"):
        sign_flip_test(values, rng=rng())


def test_a_hundred_thousand_flips_of_21_pairs_take_under_a_second() -> None:
    """Catches a loop over flips; scipy needs about 13 s."""
    d = np.random.default_rng(4).normal(size=(21, 90))
    start = time.process_time()
    sign_flip_test(d, rng=rng(), flips=100_000)
    assert time.process_time() - start < 1.0
