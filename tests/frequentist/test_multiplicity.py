"""Adjusted p-values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from analysis.errors import AnalysisError
from analysis.frequentist.multiplicity import benjamini_hochberg, bonferroni, family_size, holm

METHODS = {"holm": holm, "bonferroni": bonferroni, "fdr_bh": benjamini_hochberg}
P_VALUES = st.lists(st.floats(1e-12, 1), min_size=1, max_size=12)


@pytest.mark.parametrize("method", METHODS)
@given(p=P_VALUES)
def test_equals_statsmodels(method: str, p: list[float]) -> None:
    np.testing.assert_allclose(METHODS[method](p), multipletests(p, method=method)[1], rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_tests_not_run_do_not_count(method: str) -> None:
    """With a NaN in the family, Holm of (.01, .04) is (.02, .04), not (.03, .08)."""
    adjusted = METHODS[method]([0.01, np.nan, 0.04])
    np.testing.assert_allclose(adjusted[[0, 2]], METHODS[method]([0.01, 0.04]))
    assert np.isnan(adjusted[1])
    assert family_size([0.01, np.nan, 0.04]) == 2


def test_holm_example() -> None:
    np.testing.assert_allclose(holm([0.01, np.nan, 0.04])[[0, 2]], [0.02, 0.04])


@pytest.mark.parametrize("method", METHODS)
@given(p=P_VALUES)
def test_adjusted_values_keep_the_order_and_never_shrink(method: str, p: list[float]) -> None:
    """Holm without its running maximum turns (.01, .011, .02) around."""
    adjusted, order = METHODS[method](p), np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
    assert (adjusted >= np.array(p) - 1e-15).all()
    assert (adjusted <= 1).all()


@given(p=P_VALUES)
def test_holm_is_never_above_bonferroni(p: list[float]) -> None:
    assert (holm(p) <= bonferroni(p) + 1e-15).all()


def test_a_family_without_tests_is_empty() -> None:
    assert np.isnan(holm([np.nan, np.nan])).all()
    assert holm([]).size == 0


@pytest.mark.parametrize("p", [[0.1, 1.2], [-0.1], [[0.1, 0.2]]])
def test_what_is_no_list_of_p_values_is_refused(p: list[float]) -> None:
    with pytest.raises(AnalysisError, match=r"\[0, 1\]"):
        holm(p)
