"""McNemar's test: printed and independent values, the default rule, degenerate counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar as reference

from analysis.errors import AnalysisError
from analysis.frequentist.mcnemar import mcnemar

COUNTS = st.integers(0, 60)


def test_approval_of_a_prime_minister() -> None:
    """Agresti (2013), Categorical Data Analysis, table 11.1: 64^2 / 236 = 17.356, corrected 63^2 / 236 = 16.818."""
    test = mcnemar(150, 86)
    assert round(float(test.statistic), 3) == 17.356
    assert round(float(test.statistic_corrected), 3) == 16.818
    assert test.method == "mid-p"


@given(b=COUNTS, c=COUNTS)
def test_equals_statsmodels(b: int, c: int) -> None:
    if b + c == 0:
        return
    table, test = [[0, b], [c, 0]], mcnemar(b, c)
    assert test.p_exact == pytest.approx(reference(table, exact=True).pvalue, rel=1e-9)
    plain = reference(table, exact=False, correction=False)
    assert test.statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert test.p_chi2 == pytest.approx(plain.pvalue, rel=1e-9)
    if b != c:  # statsmodels corrects a difference of 0 to -1, and squares it
        assert test.p_corrected == pytest.approx(reference(table, exact=False, correction=True).pvalue, rel=1e-9)


@given(b=COUNTS, c=COUNTS)
def test_properties(b: int, c: int) -> None:
    """Sides may be exchanged; mid-p is the exact p-value less half of the observed outcome in either tail."""
    test, swapped = mcnemar(b, c), mcnemar(c, b)
    assert test.p_value == swapped.p_value
    assert test.estimate == -swapped.estimate
    assert 0 < test.p_mid <= test.p_exact <= 1
    if b != c:
        tails = 2 * binom.cdf(min(b, c), b + c, 0.5)
        assert test.p_mid == pytest.approx(tails - binom.pmf(b, b + c, 0.5))


def test_mid_p_by_hand() -> None:
    """b=2, c=8: exact 2 * 56 / 1024; mid-p takes P(K=2) = 45/1024 off. b=c=3: 1 - 20/64 / 2."""
    assert mcnemar(2, 8).p_exact == pytest.approx(112 / 1024)
    assert mcnemar(2, 8).p_mid == pytest.approx(67 / 1024)
    assert mcnemar(3, 3).p_mid == pytest.approx(1 - 10 / 64)


@pytest.mark.parametrize(("b", "c", "method"), [(4, 5, "exact"), (5, 5, "mid-p")])
def test_default_is_exact_below_ten_discordant_pairs(b: int, c: int, method: str) -> None:
    test = mcnemar(b, c)
    assert test.method == method
    assert test.p_value == (test.p_exact if method == "exact" else test.p_mid)


def test_nothing_discordant_and_arrays() -> None:
    test = mcnemar([0, 1, 4000], [0, 1, 0])
    np.testing.assert_array_equal(test.p_value[:2], [1, 1])
    assert test.p_value[2] > 0
    assert list(test.reason) == ["no pair differs", "", ""]


@pytest.mark.parametrize("b", [-1, 1.5, np.nan])
def test_what_is_no_count_is_refused(b: float) -> None:
    with pytest.raises(AnalysisError, match="whole numbers"):
        mcnemar(b, 3)


def test_unknown_method_is_refused() -> None:
    with pytest.raises(AnalysisError, match="method"):
        mcnemar(1, 2, method="cc")
