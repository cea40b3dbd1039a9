"""Responders whose every measure is known exactly; a swapped cell, sign or class fails at least one."""

import numpy as np
import pytest

from analysis.measures.competence import affirmative_floor, balanced_accuracy, cell_floor, competence_floor
from analysis.measures.yes_no_bias import acc_no, acc_yes, answer_bias, polarity_sensitivity, validity_contrast

# responder: (VA, VN, IA, IN), bias, polarity sensitivity, validity contrast, floor, affirmative floor, cell floor
RESPONDERS = {
    "oracle": ((1, 1, 1, 1), 0, 0, 0, 1, 1, 1),
    "constant yes": ((1, 0, 0, 1), 1, 0, 0, 0, 0, 0),
    "constant no": ((0, 1, 1, 0), -1, 0, 0, 0, 0, 0),
    "coin": ((0.5, 0.5, 0.5, 0.5), 0, 0, 0, 0.5, 0.5, 0.5),
    "oracle blind to negation": ((1, 0, 1, 0), 0, 1, 0, 0.5, 1, 0),
    "yes iff affirmative": ((1, 1, 0, 0), 0, 0, 1, 0.5, 0, 0),
}


@pytest.mark.parametrize("responder", RESPONDERS)
def test_measures_of_reference_responders_are_exact(responder: str) -> None:
    cells, bias, polarity, validity, floor, affirmative, worst = RESPONDERS[responder]
    assert answer_bias(cells) == bias
    assert polarity_sensitivity(cells) == polarity
    assert validity_contrast(cells) == validity
    assert competence_floor(cells) == floor
    assert affirmative_floor(cells) == affirmative
    assert cell_floor(cells) == worst


def test_all_responders_at_once_give_the_same_as_one_by_one() -> None:
    """A kernel that reduces over a leading axis would mix models, replicates or draws."""
    cells = np.array([row[0] for row in RESPONDERS.values()], dtype=float).reshape(2, 3, 4)
    for measure in (answer_bias, polarity_sensitivity, validity_contrast, competence_floor, cell_floor):
        singly = [measure(row) for row in cells.reshape(-1, 4)]
        np.testing.assert_array_equal(measure(cells), np.reshape(singly, (2, 3)))


def test_constant_yes_and_a_coin_are_told_apart() -> None:
    """Plain accuracy is .5 for both; a tool that ranks by it calls them equal."""
    yes, coin = RESPONDERS["constant yes"][0], RESPONDERS["coin"][0]
    assert balanced_accuracy(yes) == balanced_accuracy(coin) == 0.5
    assert answer_bias(yes) != answer_bias(coin)
    assert competence_floor(yes) < competence_floor(coin)


def test_yes_is_right_in_valid_affirmative_and_invalid_negated() -> None:
    """Averaging VA with IA (affirmative) instead of IN (gold Yes) fails."""
    assert acc_yes([0.9, 0, 0, 0.7]) == pytest.approx(0.8, abs=1e-15)
    assert acc_no([0, 0.9, 0.7, 0]) == pytest.approx(0.8, abs=1e-15)


def test_two_classes_are_taken_as_they_are() -> None:
    """Gold answers alone: nothing is averaged over cells that do not exist."""
    classes = [[0.10, 0.94], [0.7, 0.7]]
    np.testing.assert_allclose(answer_bias(classes), [-0.84, 0], atol=1e-15)
    np.testing.assert_array_equal(competence_floor(classes), [0.10, 0.7])
    np.testing.assert_allclose(balanced_accuracy(classes), [0.52, 0.7], atol=1e-15)
