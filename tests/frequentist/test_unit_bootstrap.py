"""Bootstrap of units: standard errors known in closed form, studentised limits by the definition, ranks, letters."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.frequentist.letters import compact_letters
from analysis.frequentist.rank_intervals import rank_intervals
from analysis.frequentist.unit_bootstrap import (
    WEIGHTS,
    bootstrap_t,
    percentile_limits,
    resampled_rates,
    resampled_sums,
    unit_weights,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(19)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_have_the_moments_of_their_distribution(weights: str) -> None:
    """Mean 1; variance 1 - 1/G (multinomial) or 1 (Poisson, within what 16 bits can do)."""
    drawn = np.concatenate(list(unit_weights(20, rng(), 20_000, weights)))
    assert drawn.shape == (20_000, 20)
    assert drawn.mean() == pytest.approx(1, abs=0.006)
    assert drawn.var() == pytest.approx(1 - (1 / 20 if weights == "multinomial" else 0), abs=0.02)
    if weights == "multinomial":
        assert (drawn.sum(axis=1) == 20).all()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_rates_vary_as_the_cluster_variance_says(weights: str) -> None:
    """Row resampling would give half of this error: units are all right or all wrong here."""
    y = np.repeat(np.random.default_rng(1).integers(0, 2, (2, 100, 1)), 2, axis=2) * 4.0
    n = np.full((2, 100, 2), 4.0)
    drawn = resampled_rates(n, y, rng=rng(), resamples=4000, weights=weights)
    p = y.sum(axis=1) / 400
    np.testing.assert_allclose(drawn.std(axis=0), np.sqrt(p * (1 - p) / 100), rtol=0.06)
    np.testing.assert_array_equal(drawn[:, 0, 0], drawn[:, 0, 1])


def test_resampling_does_not_know_the_order_of_units() -> None:
    table = np.random.default_rng(2).integers(0, 5, (30, 3))
    shuffled = np.random.default_rng(3).permutation(30)
    np.testing.assert_array_equal(
        resampled_sums(table, rng=rng(), resamples=200), resampled_sums(table[shuffled], rng=rng(), resamples=200)
    )


def test_percentile_limits() -> None:
    values = np.arange(1001.0)
    np.testing.assert_allclose(percentile_limits(values), (25, 975))
    values[:20] = np.nan
    assert np.isnan(percentile_limits(values)).all()


def test_studentised_limits_by_the_definition() -> None:
    """Resample by resample, with the same weights."""
    d = np.random.default_rng(4).lognormal(size=25)
    found = bootstrap_t(d, rng=rng(), resamples=999)
    weights = np.concatenate(list(unit_weights(25, rng(), 999)))
    ordered = np.sort(d)
    t = []
    for w in weights:
        x = np.repeat(ordered, w.astype(int))
        t.append((x.mean() - d.mean()) / (x.std(ddof=1) / 5))
    low, high = np.sort(t)[[int(0.025 * 999), int(0.975 * 999)]]
    error = d.std(ddof=1) / 5
    np.testing.assert_allclose(
        [found.ci_low, found.ci_high], [d.mean() - high * error, d.mean() - low * error], rtol=1e-9
    )
    assert found.ci_high - found.estimate > found.estimate - found.ci_low, "skewed to the right"


def test_ratio_of_sums() -> None:
    """Linearised error of a ratio, as in survey sampling."""
    source = np.random.default_rng(5)
    sizes = source.integers(1, 9, 50).astype(float)
    events = source.binomial(sizes.astype(int), 0.4).astype(float)
    found = bootstrap_t(events, sizes=sizes, rng=rng())
    ratio = events.sum() / sizes.sum()
    residual = events - ratio * sizes
    assert found.estimate == pytest.approx(ratio)
    assert found.std_error == pytest.approx(np.sqrt(50 / 49 * (residual**2).sum()) / sizes.sum())
    assert found.ci_low < ratio < found.ci_high


def test_p_value_and_limits_agree() -> None:
    """The 95 % limits exclude 0 about where p < .05."""
    d = np.random.default_rng(6).normal(np.linspace(0, 1, 12)[:, None], 1, (12, 30))
    found = bootstrap_t(d, rng=rng())
    clear = np.abs(found.p_value - 0.05) > 5 * found.mc_error
    excluded = (found.ci_low > 0) | (found.ci_high < 0)
    np.testing.assert_array_equal(excluded[clear], (found.p_value <= 0.05)[clear])
    assert (found.p_value > 0).all()


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([np.nan], "no unit"),
        ([1.0], "one unit only"),
        ([0.1] * 9, "same value"),
        ([1.0, 1.0, 2.0], "too few units differ"),
    ],
)
def test_degenerate_values_have_reasons(values: list[float], reason: str) -> None:
    found = bootstrap_t(values, rng=rng(), resamples=500)
    assert reason in found.reason
    assert np.isnan(found.ci_low)


def test_bad_input_is_refused() -> None:
    with pytest.raises(AnalysisError, match="finite"):
        resampled_sums([[np.nan]], rng=rng())
    with pytest.raises(AnalysisError, match="weights"):
        resampled_sums([[1.0]], rng=rng(), weights="row")


def test_ten_thousand_bootstraps_of_29_models_are_quick() -> None:
    """1,200 units x 4 cells x 29 models; a loop over resamples takes minutes."""
    n = np.full((29, 1200, 4), 3.0)
    start = time.process_time()
    resampled_rates(n, np.random.default_rng(7).binomial(3, 0.6, n.shape), rng=rng())
    assert time.process_time() - start < 4


def test_ranks_of_clear_and_of_tied_models() -> None:
    source = np.random.default_rng(8)
    values = np.array([0.9, 0.5, 0.5, np.nan, 0.1])
    found = rank_intervals(values, values + source.normal(0, 0.02, (2000, 5)))
    np.testing.assert_array_equal(found.estimate, [1, 2.5, 2.5, np.nan, 4])
    np.testing.assert_array_equal(found.ci_low, [1, 2, 2, np.nan, 4])
    np.testing.assert_array_equal(found.ci_high, [1, 3, 3, np.nan, 4])
    assert found.p_first[0] == 1
    assert found.reason[3] == "no value to rank"
    tied = rank_intervals([0.5, 0.5], np.full((10, 2), 0.5))
    assert (tied.ci_low == 1).all()
    assert (tied.ci_high == 2).all()
    assert (tied.p_first == 0.5).all()


def test_letters_by_hand() -> None:
    """Piepho's reading: 1 and 2 differ, 1 and 4 differ, 2 and 3 do not: ab shared by what is undecided."""
    different = np.zeros((4, 4), bool)
    for i, j in ((0, 2), (0, 3), (1, 3)):
        different[i, j] = different[j, i] = True
    assert compact_letters(different, [4, 3, 2, 1]) == ("a", "ab", "bc", "c")
    assert compact_letters(np.zeros((3, 3), bool), [1, 2, 3]) == ("a", "a", "a")
    assert compact_letters(np.zeros((2, 2), bool), [1, np.nan]) == ("a", "")
    assert compact_letters(~np.eye(30, dtype=bool), np.arange(30))[0] == "d2"


@given(seed=st.integers(0, 500), m=st.integers(2, 9))
def test_a_letter_is_shared_exactly_where_no_difference_was_shown(seed: int, m: int) -> None:
    source = np.random.default_rng(seed)
    different = np.triu(source.random((m, m)) < 0.5, 1)
    different |= different.T
    letters = compact_letters(different, source.random(m))
    for i in range(m):
        for j in range(m):
            assert i == j or bool(set(letters[i]) & set(letters[j])) != different[i, j]


def test_letters_need_decisions_for_all_pairs() -> None:
    with pytest.raises(AnalysisError, match="symmetric"):
        compact_letters([[False, True], [False, False]], [1, 2])
