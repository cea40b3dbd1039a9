"""Tables of gold against given answers: values worked by hand, identities, and treatments of unreadable answers."""

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.measures import classification

#: Gold yes: 40 yes, 10 no, 5 unreadable. Gold no: 20 yes, 25 no, 0 unreadable.
TABLE = np.array([[40, 10, 5], [20, 25, 0]])


def test_measures_by_hand() -> None:
    """Catches unreadable answers counted as positive predictions, and recall over answered ones only."""
    assert classification.accuracy(TABLE) == pytest.approx(65 / 100)
    assert classification.precision(TABLE) == pytest.approx([40 / 60, 25 / 35])
    assert classification.recall(TABLE) == pytest.approx([40 / 55, 25 / 45])
    assert classification.f1(TABLE) == pytest.approx([80 / 115, 50 / 80])
    assert classification.macro_f1(TABLE) == pytest.approx((80 / 115 + 50 / 80) / 2)
    assert classification.prediction_rate(TABLE) == pytest.approx([0.6, 0.35])


def test_treatments_of_unreadable_answers() -> None:
    """Catches a treatment that loses responses, or gives a coin no credit."""
    excluded = classification.treated_table(TABLE, uncertain="excluded")
    assert excluded.tolist() == [[40, 10, 0], [20, 25, 0]]
    half = classification.treated_table(TABLE, uncertain="half")
    assert half.tolist() == [[42.5, 12.5, 0], [20, 25, 0]]
    assert half.sum() == TABLE.sum()
    assert classification.treated_table(TABLE).tolist() == TABLE.tolist()
    assert TABLE.tolist() == [[40, 10, 5], [20, 25, 0]]


def test_matthews_correlation_is_phi_for_two_classes() -> None:
    """Catches a sign or a missing factor: phi = (TP TN - FP FN) / root of the product of the margins."""
    table = np.array([[90, 10, 0], [30, 70, 0]])
    phi = (90 * 70 - 30 * 10) / np.sqrt(120 * 100 * 100 * 80)
    assert classification.matthews_correlation(table) == pytest.approx(phi)
    gold, given = np.repeat([1, 1, 0, 0], [90, 10, 30, 70]), np.repeat([1, 0, 1, 0], [90, 10, 30, 70])
    assert classification.matthews_correlation(table) == pytest.approx(np.corrcoef(gold, given)[0, 1])


def test_matthews_correlation_of_three_classes() -> None:
    """Catches the two-class formula used for more: covariances of indicator columns, summed (Gorodkin 2004)."""
    rng = np.random.default_rng(2)
    gold, given = rng.integers(0, 3, 200), rng.integers(0, 4, 200)
    table = np.zeros((3, 4))
    np.add.at(table, (gold, given), 1)
    g, p = np.eye(4)[gold], np.eye(4)[given]
    cov = [((a - a.mean(0)) * (b - b.mean(0))).sum() for a, b in ((g, p), (g, g), (p, p))]
    assert classification.matthews_correlation(table) == pytest.approx(cov[0] / np.sqrt(cov[1] * cov[2]))


def test_undefined_measures_are_missing() -> None:
    """Catches 0/0 printed as 0 or 1."""
    constant_yes = np.array([[5, 0, 0], [5, 0, 0]])
    assert np.isnan(classification.precision(constant_yes)[1])
    assert np.isnan(classification.matthews_correlation(constant_yes))
    assert classification.f1(constant_yes)[1] == 0
    one_class = np.array([[5, 0, 0], [0, 0, 0]])
    assert np.isnan(classification.f1(one_class)[1])
    assert np.isnan(classification.recall(one_class)[1])


def test_two_classes_exchanged_exchange_the_measures() -> None:
    """Catches a measure in which one class is special: specificity is the recall of the other class."""
    swapped = TABLE[::-1][:, [1, 0, 2]]
    for name in ("precision", "recall", "f1", "prediction_rate"):
        measure = getattr(classification, name)
        np.testing.assert_allclose(measure(swapped), measure(TABLE)[::-1])
    assert classification.matthews_correlation(swapped) == pytest.approx(classification.matthews_correlation(TABLE))


def test_odd_shapes_are_refused() -> None:
    """Catches a table without the column of unreadable answers, read as one that has it."""
    with pytest.raises(AnalysisError, match=r"K \+ 1 columns"):
        classification.accuracy([[1, 2], [3, 4]])


def test_credit_by_treatment() -> None:
    """Catches a question with unreadable votes alone that counts as answered, or credit given twice."""
    rate, unclear = [0.5, 0.0, np.nan, 1.0], [0.25, 1.0, np.nan, 0.0]
    for treatment, expected in (
        ("incorrect", [0.5, 0, np.nan, 1]),
        ("half", [0.625, 0.5, np.nan, 1]),
        ("excluded", [2 / 3, np.nan, np.nan, 1]),
    ):
        np.testing.assert_allclose(classification.credited(rate, unclear, uncertain=treatment), expected)
