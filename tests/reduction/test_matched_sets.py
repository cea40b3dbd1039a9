"""Questions of two sides matched by name, and what became of each: worked by hand."""

import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.reduction.matched_sets import change_counts, matched_sets, unit_changes


def counts(rows: list[tuple], condition: str | None = None) -> pd.DataFrame:
    """Counts from (item, unit, gold, answered, uncertain, correct, set aside)."""
    table = pd.DataFrame(
        [
            {
                "task": "t", "model": "m", "item": item, "unit": unit, "gold": gold, "cell": f"gold_{gold}",
                "n_planned": answered + uncertain + aside, "n_answered": answered, "n_uncertain": uncertain,
                "n_set_aside": aside, "n_yes": 0, "n_correct": correct,
            }
            for item, unit, gold, answered, uncertain, correct, aside in rows
        ]
    )  # fmt: skip
    return table if condition is None else table.assign(temperature=condition)


BEFORE = [
    ("a", "u", "yes", 1, 0, 1, 0),
    ("b", "u", "no", 1, 0, 0, 0),
    ("c", "v", "no", 1, 0, 1, 0),
    ("d", "v", "yes", 0, 1, 0, 0),
    ("e", "v", "yes", 2, 0, 1, 0),
    ("gone", "v", "yes", 1, 0, 1, 0),
    ("gold", "v", "yes", 1, 0, 1, 0),
    ("aside", "v", "yes", 0, 0, 0, 1),
]
AFTER = [
    ("a", "u", "yes", 1, 0, 0, 0),
    ("b", "u", "no", 1, 0, 1, 0),
    ("c", "v", "no", 0, 1, 0, 0),
    ("d", "v", "yes", 1, 0, 1, 0),
    ("e", "v", "yes", 2, 0, 2, 0),
    ("new", "v", "yes", 1, 0, 1, 0),
    ("gold", "v", "no", 1, 0, 1, 0),
    ("aside", "v", "yes", 1, 0, 1, 0),
]


def test_every_question_is_compared_or_dropped_with_a_reason() -> None:
    """Catches questions lost in the join, or one compared whose gold answer changed."""
    found = matched_sets(counts(BEFORE), counts(AFTER), ())
    assert found.questions["item"].tolist() == ["a", "b", "c", "d", "e"]
    assert dict(found.dropped.itertuples(index=False, name=None)) == {
        "asked after only": 1,
        "asked before only": 1,
        "with another gold answer, cell or unit": 1,
        "without a response before": 1,
    }
    assert found.counts.groupby("model")["n_planned"].sum().to_dict() == {"after": 6, "before": 6}


def test_changes_are_counted_by_kind() -> None:
    """Catches an unreadable answer counted as wrong, and a tie counted as either."""
    questions = matched_sets(counts(BEFORE), counts(AFTER), ()).questions
    assert questions["state_before"].tolist() == ["right", "wrong", "right", "unreadable", "mixed"]
    assert change_counts(questions) == {
        "right_wrong": 1, "wrong_right": 1, "answered_unreadable": 1, "unreadable_answered": 1, "other": 1, "stayed": 0,
    }  # fmt: skip
    units = unit_changes(questions).set_index("unit")
    assert units["changed"].to_dict() == {"u": 2, "v": 3}
    assert units.loc["u", "change"] == 0
    assert units.loc["v", "change"] == pytest.approx((0 + 1 + 1 - 1 - 0 - 0.5) / 3)
    assert units.index.tolist() == ["v", "u"], "the unit that moved comes first"


def test_conditions_match_where_they_can() -> None:
    """Catches other temperatures taken for the same question, or a change of temperature that matches nothing."""
    cold, hot = counts(BEFORE, "0"), counts(AFTER, "1")
    found = matched_sets(cold, hot, ("temperature",))
    assert found.conditions == ()
    assert found.unmatched == {"temperature": (("0",), ("1",))}
    both = pd.concat([cold, counts(BEFORE, "1")])
    found = matched_sets(both, hot, ("temperature",))
    assert found.conditions == ("temperature",)
    assert len(found.questions) == 5
    assert found.dropped.set_index("reason")["questions"]["asked before only"] == 1 + len(BEFORE)


def test_row_order_does_not_matter() -> None:
    """Catches a result that follows the order of the logs."""
    first = matched_sets(counts(BEFORE), counts(AFTER), ())
    second = matched_sets(counts(BEFORE[::-1]), counts(AFTER[::-1]), ())
    pd.testing.assert_frame_equal(first.questions, second.questions)
    pd.testing.assert_frame_equal(first.counts, second.counts)


def test_nothing_in_common_says_why() -> None:
    """Catches an empty comparison."""
    with pytest.raises(AnalysisError, match="no question was answered in both: 1 asked after only; 1 asked before"):
        matched_sets(counts(BEFORE[:1]), counts(AFTER[5:6]), ())
