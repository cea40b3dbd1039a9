"""How many units there are and how many disagree."""

import numpy as np

from analysis.frequentist.clustered import group_moments
from analysis.frequentist.unit_values import deviating_units, few_deviate, unit_counts

YES_NO = np.array([[1.0, 0], [0, 1], [0.5, 0.5], [1, -1]])


def test_a_unit_in_two_cells_counts_once() -> None:
    n = np.array([[1, 1], [1, 1], [1, 0]])
    assert unit_counts(n, YES_NO).tolist() == [3, 2, 3, 3]


def test_units_of_one_cell_each_add_up() -> None:
    n = np.array([[1, 0], [1, 0], [0, 1]])
    assert unit_counts(n, YES_NO).tolist() == [2, 1, 3, 3]


def test_deviating_units_counts_those_off_the_most_frequent_value() -> None:
    """Values of the first cell 1 1 1 .5, of the second 0 0 1 1, of the difference 1 1 0 -.5."""
    n = np.full((4, 2), 2)
    y = np.array([[2, 0], [2, 0], [2, 2], [1, 2]])
    found = deviating_units(n, y, YES_NO, group_moments(n, y))
    assert found.tolist() == [1, 2, 2, 2]


def test_opposite_answers_in_two_classes_are_agreement_within_each() -> None:
    """Items have one gold answer: right on all Yes items and wrong on all No items is no variation."""
    n = np.array([[1, 0]] * 6 + [[0, 1]] * 6)
    y = np.where(n[:, :1] == 1, n, 0)
    assert deviating_units(n, y, YES_NO, group_moments(n, y)).tolist() == [0, 0, 0, 0]


def test_thirds_written_in_two_ways_are_one_value() -> None:
    """Catches rounding in the last digits taken for deviation."""
    n = np.array([[1, 2], [2, 4], [3, 6]])
    y = np.array([[1, 0], [2, 0], [3, 0]])
    assert deviating_units(n, y, [[2, 1]], group_moments(n, y)).tolist() == [0]


def test_equal_shares_strictly_between_are_no_agreement() -> None:
    """Catches an interval that jumps when one of sixteen answers changes: units agree on 11 of 16 by chance only."""
    n = np.full((8, 1), 16)
    y = np.array([[11], [11], [11], [11], [11], [8], [10], [12]])
    off = deviating_units(n, y, [[1]], group_moments(n, y))
    assert off.tolist() == [8]
    assert not few_deviate(off, [8]).any()
    slip = np.array([[16], [16], [16], [16], [16], [16], [16], [15]])
    off = deviating_units(n, slip, [[1]], group_moments(n, slip))
    assert off.tolist() == [1]
    assert few_deviate(off, [8]).all()


def test_few_units_are_only_suspect_when_most_agree() -> None:
    """Four templates with four values are a small sample, not a near-constant responder."""
    assert few_deviate([3, 1, 4, 5, 4], [4, 4, 80, 80, 9]).tolist() == [False, True, True, False, True]
