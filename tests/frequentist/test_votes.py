"""Votes: how they were cast, counted by hand, and whether their share is to be trusted."""

import numpy as np
import pandas as pd
import pytest

from analysis.frequentist.votes import nested_differences, vote_calibration, vote_share_estimates, vote_summary
from analysis.reduction.votes import collapsed_answers, nested_answers

COUNTS = ("n_planned", "n_answered", "n_uncertain", "n_set_aside", "n_yes", "n_correct")


def counted(*questions):
    """Counts by answer of questions given as (model, unit, gold, yes, no, unreadable, errored)."""
    rows = []
    for model, unit, gold, yes, no, lost, failed in questions:
        keys = {"task": "", "model": model, "item": f"{unit}x", "unit": unit, "strategy": "zero", "gold": gold}
        if lost or failed:
            rows.append(keys | {"answer": ""} | dict(zip(COUNTS, (lost + failed, 0, lost, failed, 0, 0), strict=True)))
        for answer, count in (("no", no), ("yes", yes)):
            if count:
                right = count * (answer == gold)
                said = count * (answer == "yes")
                rows.append(
                    keys | {"answer": answer} | dict(zip(COUNTS, (count, count, 0, 0, said, right), strict=True))
                )
    table = pd.DataFrame(rows)
    keys = [name for name in table.columns if name not in COUNTS]
    table[keys] = table[keys].astype("category")
    return table.sort_values(keys, ignore_index=True)


QUESTIONS = counted(
    ("m", "a", "yes", 5, 0, 0, 0), ("m", "b", "yes", 7, 3, 0, 0), ("m", "c", "no", 6, 4, 0, 0),
    ("m", "d", "no", 5, 5, 0, 0), ("m", "e", "no", 0, 1, 2, 7), ("k", "a", "yes", 1, 0, 0, 0),
)  # fmt: skip


def test_summary_by_hand():
    """Catches early stops counted against another model's votes, single answers called unanimous."""
    found = vote_summary(collapsed_answers(QUESTIONS), conditions=("strategy",)).set_index("model")
    row = found.loc["m"]
    assert (row["questions"], row["votes"], row["votes_least"], row["votes_most"]) == (5, 45, 5, 10)
    assert (row["stopped_early"], row["unanimous"], row["ties"], row["failed"]) == (1, 2, 1, 7)
    assert (found.loc["k", "repeated"], found.loc["k", "unanimous"], found.loc["k", "stopped_early"]) == (0, 0, 0)


def test_vote_shares_by_hand():
    """Catches ties and single votes among the majorities, and a difference with the wrong sign."""
    found = vote_share_estimates(collapsed_answers(QUESTIONS)).set_index("measure")
    assert set(found["model"]) == {"m"}
    assert found.loc["vote_share", "estimate"] == pytest.approx((1 + 0.7 + 0.6) / 3)
    assert found.loc["majority_accuracy", "estimate"] == pytest.approx(2 / 3)
    assert found.loc["vote_overconfidence", "estimate"] == pytest.approx((2.3 - 2) / 3)
    assert found.loc["vote_overconfidence", "n"] == 3


def test_calibration_groups():
    """Catches a share of exactly .6 or 1 in the wrong group."""
    found = vote_calibration(collapsed_answers(QUESTIONS)).set_index("group")
    assert list(found.index) == ["0.6 to 0.7", "0.7 to 0.8", "unanimous"]
    assert found["n"].tolist() == [1, 1, 1]
    assert found["estimate"].tolist() == [0, 1, 1]


def test_nested_votes_differ_from_the_majority():
    """Catches the two ways of counting votes confused: .7 of the votes right is a right majority."""
    found = nested_differences(collapsed_answers(QUESTIONS), nested_answers(QUESTIONS), uncertain="incorrect")
    row = found.set_index("model").loc["m"]
    assert row["accuracy_majority"] == pytest.approx((1 + 1 + 0 + 0 + 1) / 5)
    assert row["accuracy_votes"] == pytest.approx((1 + 0.7 + 0.4 + 0.5 + 1 / 3) / 5)


def test_no_repeats_no_estimates():
    """Catches shares of 1 from single answers."""
    single = counted(("m", "a", "yes", 1, 0, 0, 0), ("m", "b", "yes", 0, 1, 0, 0))
    assert vote_share_estimates(collapsed_answers(single)).empty
    assert vote_calibration(collapsed_answers(single)).empty


def test_overconfidence_has_an_interval_by_unit():
    """Catches an interval that does not hold the truth: votes of a coin that always agree, right half of the time."""
    rng = np.random.default_rng(0)
    rows = [("m", f"u{i:03d}", "yes", *((10, 0) if rng.random() < 0.5 else (0, 10)), 0, 0) for i in range(200)]
    found = vote_share_estimates(collapsed_answers(counted(*rows))).set_index("measure").loc["vote_overconfidence"]
    assert found["ci_low"] < 0.5 < found["ci_high"]
    assert found["ci_high"] - found["ci_low"] < 0.2
