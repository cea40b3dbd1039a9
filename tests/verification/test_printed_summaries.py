"""Summaries of printed numbers: what the true numbers give always lies within what is called possible."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.errors import AnalysisError
from analysis.verification.printed_numbers import Span, printed_span, rounded_twice
from analysis.verification.printed_p_values import p_span, printed_p, stars_agree
from analysis.verification.printed_summaries import count_span, summary_span

ONE = {
    "sum": np.sum,
    "mean": np.mean,
    "sd": lambda x: np.std(x, ddof=1),
    "population_sd": np.std,
    "range": np.ptp,
    "ratio": lambda x: np.max(x) / np.min(x),
    "t": lambda x: stats.ttest_1samp(x, 0).statistic,
    "d": lambda x: np.mean(x) / np.std(x, ddof=1),
    "order_spearman": lambda x: stats.spearmanr(x, np.arange(len(x))).statistic,
}
TWO = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "r2": lambda x, y: stats.pearsonr(x, y).statistic ** 2,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
}


def printed(values):
    return [printed_span(f"{value:.2f}") for value in values]


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(4, 12))
def test_true_numbers_lie_within_what_is_possible(seed, n):
    """Catches bounds that are too narrow: a contradiction would be found where there is none."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0.1, 0.9, (2, n))
    for take, of in ONE.items():
        span = summary_span(take, [[one] for one in printed(x)])
        assert span.low <= of(x) <= span.high, take
    for take, of in TWO.items():
        span = summary_span(take, list(zip(printed(x), printed(y), strict=True)))
        assert span.low <= of(x, y) <= span.high, take


def test_bounds_are_near_where_little_is_rounded_away():
    """Catches bounds so wide that nothing could ever be found."""
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0.1, 0.9, (2, 12))
    rows = [[printed_span(f"{one:.4f}") for one in pair] for pair in zip(x, y, strict=True)]
    for take in TWO:
        span = summary_span(take, rows)
        assert span.high - span.low < 0.003, take
    for take in ("sd", "mean", "d"):
        span = summary_span(take, [[first] for first, _ in rows])
        assert span.high - span.low < 0.003, take


def test_ranks_are_known_where_prints_differ():
    """Catches 0.51 and 0.52 taken for numbers that could stand in either order, or equal prints for ordered ones."""
    rows = [[printed_span(text)] for text in ("0.51", "0.52", "0.53")]
    assert summary_span("order_spearman", rows).text == "1"
    tied = [[printed_span(text)] for text in ("0.51", "0.51", "0.53", "0.60", "0.70")]
    assert summary_span("order_spearman", tied).low <= Fraction(9, 10)


def test_counts_are_those_that_must_to_those_that_can():
    """Catches a number at the limit counted for sure: 0.50 can lie on either side of 0.5, 0.51 cannot."""
    half = [Span(Fraction(1, 2), Fraction(1, 2))] * 3
    assert count_span(printed(np.array([0.5, 0.51, 0.4])), ">", half) == Span(Fraction(1), Fraction(2))
    assert count_span(printed(np.array([0.5, 0.51, 0.4])), "<=", half) == Span(Fraction(1), Fraction(2))


@pytest.mark.parametrize(
    ("take", "texts", "said"),
    [
        ("cell", ["1", "2"], "a cell is that of one row"),
        ("sd", ["1", "2"], "takes three"),
        ("ratio", ["0.0", "0.1", "0.2"], "divisor can be 0"),
        ("order_spearman", ["1", "1", "1"], "no correlation"),
    ],
)
def test_summaries_that_are_not_defined_say_so(take, texts, said):
    """Catches a NaN, which contradicts nothing."""
    with pytest.raises(AnalysisError, match=said):
        summary_span(take, [[printed_span(text)] for text in texts])


def exactly(value):
    return Span(Fraction(value), Fraction(value))


def test_p_values_follow_from_their_statistics():
    """Catches one tail for two, the wrong degrees of freedom, and a correlation's p by another formula."""
    x = np.arange(12.0)
    rho = stats.spearmanr(x, np.roll(x, 3))
    for distribution, statistic, df, p in (
        ("t", 2.47, 13, 2 * stats.t.sf(2.47, 13)),
        ("chi2", 3.77, 2, stats.chi2.sf(3.77, 2)),
        ("rho", -0.825, 12, 2 * stats.t.sf(0.825 * np.sqrt(10 / (1 - 0.825**2)), 10)),
        ("rho", rho.statistic, 12, rho.pvalue),
    ):
        span = p_span(distribution, exactly(statistic), exactly(df))
        assert span.low < p < span.high, distribution
        assert span.high - span.low < 1e-8, distribution


@pytest.mark.parametrize(("distribution", "sizes"), [("t", (-2.1, -1.9)), ("chi2", (1.9, 2.1)), ("rho", (-0.1, 0.3))])
def test_p_values_are_those_of_all_that_print_alike(distribution, sizes):
    """Catches ends that are swapped, a statistic around 0 whose largest p is missed, and 5.6 rounded to 6."""
    span = p_span(distribution, Span(*map(Fraction, sizes)), printed_span("5.6"))
    for df, size in itertools.product((5.55, 5.6, 5.65), (*sizes, np.clip(0, *sizes))):
        exact = p_span(distribution, exactly(size), exactly(df))
        assert span.low <= exact.low <= exact.high <= span.high
    assert printed_span("6").counted == exactly(6), "degrees of freedom printed without decimals are no 5.5 to 6.5"
    assert printed_span("5.6").counted == printed_span("5.6")


def test_printed_p_values_and_their_stars():
    """Catches a bound read as a number, and a star too few or too many."""
    assert printed_p("< 0.0001 ***") == (Span(Fraction(0), Fraction(1, 10_000)), 3)
    assert printed_p(" ") is None
    with pytest.raises(AnalysisError, match="no printed p-value"):
        printed_p("n.s.")
    levels = (0.05, 0.01, 0.001)
    assert stars_agree(printed_p("0.0062 **")[0], 2, levels)
    assert not stars_agree(printed_p("0.0062 **")[0], 3, levels)
    assert stars_agree(printed_p("0.0010 ***")[0], 3, levels), "0.0010 may be below 0.001"
    with pytest.raises(AnalysisError, match="no degrees of freedom"):
        p_span("rho", printed_span("0.5"), exactly(2))


def test_a_number_rounded_twice_is_recognised():
    """Catches the hint given for any number: 928 of 936 is 99.145, which by way of 99.15 is printed as 99.2."""
    assert rounded_twice(printed_span("99.2"), 936, 100) == "928 of 936 is 99.1453, then 99.15"
    assert rounded_twice(printed_span("50.1"), 10, 100) is None
