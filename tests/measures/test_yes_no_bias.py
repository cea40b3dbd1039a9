"""The map between cells and contrasts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.errors import AnalysisError
from analysis.measures.competence import MIN_BIAS_FACTOR, competence_floor, min_bias_if_tied
from analysis.measures.yes_no_bias import (
    CONTRASTS,
    answer_bias,
    cells_from_contrasts,
    contrasts,
    polarity_sensitivity,
    validity_contrast,
)

CELLS = arrays(float, (3, 4), elements=st.floats(0, 1, width=32))


@given(CELLS)
def test_contrasts_lose_nothing(cells: np.ndarray) -> None:
    """A wrong scale of one row of the inverse gives other cells back."""
    np.testing.assert_allclose(cells_from_contrasts(contrasts(cells)), cells, atol=1e-14)


@given(CELLS)
def test_floor_is_balanced_accuracy_less_half_the_absolute_bias(cells: np.ndarray) -> None:
    values = contrasts(cells)
    np.testing.assert_allclose(competence_floor(cells), values[:, 0] - np.abs(values[:, 1]) / 2, atol=1e-14)


@given(CELLS)
def test_contrasts_repeat_the_single_measures(cells: np.ndarray) -> None:
    """Columns in another order than documented would be read under the wrong name."""
    values = contrasts(cells)
    np.testing.assert_allclose(values[:, 1], answer_bias(cells), atol=1e-14)
    np.testing.assert_allclose(values[:, 2], polarity_sensitivity(cells), atol=1e-14)
    np.testing.assert_allclose(values[:, 3], validity_contrast(cells), atol=1e-14)


@given(CELLS)
def test_exchanging_yes_and_no_turns_the_bias_and_nothing_else(cells: np.ndarray) -> None:
    """VA with VN and IA with IN: gold answers and polarities change sides, validity does not."""
    turned = cells[:, [1, 0, 3, 2]]
    np.testing.assert_allclose(answer_bias(turned), -answer_bias(cells), atol=1e-14)
    np.testing.assert_allclose(polarity_sensitivity(turned), -polarity_sensitivity(cells), atol=1e-14)
    np.testing.assert_allclose(validity_contrast(turned), validity_contrast(cells), atol=1e-14)
    np.testing.assert_allclose(competence_floor(turned), competence_floor(cells), atol=1e-14)


def test_contrasts_are_orthogonal() -> None:
    products = CONTRASTS @ CONTRASTS.T
    np.testing.assert_array_equal(products, np.diag([0.25, 1, 1, 1]))


@pytest.mark.parametrize("shape", [(3,), (2, 3), ()])
def test_anything_but_cells_or_classes_is_refused(shape: tuple[int, ...]) -> None:
    """Three numbers on the last axis would otherwise be averaged into nonsense."""
    with pytest.raises(AnalysisError, match="VA, VN, IA, IN"):
        answer_bias(np.zeros(shape))


def test_two_classes_have_no_polarity() -> None:
    with pytest.raises(AnalysisError, match="four cells"):
        polarity_sensitivity([0.5, 0.5])


def test_missing_cells_stay_missing() -> None:
    """A minimum that skips NaN would call the other class the floor."""
    assert np.isnan(competence_floor([0.9, np.nan]))
    assert np.isnan(competence_floor([0.9, 0.5, np.nan, 0.7]))


def test_minimum_of_two_tied_normals_falls_short_by_the_stated_factor() -> None:
    """E min(X, Y) of independent standard normals is -1/sqrt(pi); the SE of X - Y is sqrt(2)."""
    assert min_bias_if_tied(np.sqrt(2)) == pytest.approx(1 / np.sqrt(np.pi), rel=1e-14)
    assert pytest.approx(0.399, abs=5e-4) == MIN_BIAS_FACTOR
