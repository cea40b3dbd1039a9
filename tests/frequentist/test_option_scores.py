"""F1 of options against scikit-learn's definition worked by hand, and its intervals by unit."""

import numpy as np
import pandas as pd
import pytest

from analysis.frequentist.option_scores import FLAT, NEVER, option_scores


def counts_of(pairs: list[tuple[str, str]], *, units: int | None = None, model: str = "m") -> pd.DataFrame:
    rows = [
        {"model": model, "item": f"q{i}", "unit": f"u{i % units if units else i}", "gold": g, "answer": a, "n": 1}
        for i, (g, a) in enumerate(pairs)
    ]
    return pd.DataFrame(rows)


def scores(counts: pd.DataFrame, labels: str = "ABC", **options) -> pd.DataFrame:
    found = option_scores(counts, tuple(labels), rng=np.random.default_rng(1), resamples=400, **options)
    return found.set_index(["model", "measure", "option"])


PAIRS = [*[("A", "A")] * 4, ("A", "B"), *[("B", "B")] * 2, ("B", "A"), ("B", ""), ("C", "A"), ("C", "C")]


def test_by_hand() -> None:
    """A: TP 4, FP 2, FN 1; B: TP 2, FP 1, FN 2; C: TP 1, FP 0, FN 1. Catches FP and FN exchanged."""
    found = scores(counts_of(PAIRS)).loc["m", "estimate"]
    each = {"A": 8 / 11, "B": 4 / 7, "C": 2 / 3}
    for option, value in each.items():
        assert found[("f1", option)] == pytest.approx(value)
    assert found[("macro_f1", "")] == pytest.approx(np.mean(list(each.values())))
    assert found[("micro_f1", "")] == pytest.approx(2 * 7 / (10 + 11))


def test_without_unreadable_answers_micro_is_accuracy() -> None:
    """Catches a micro mean of the classes' F1."""
    found = scores(counts_of(PAIRS), uncertain="excluded").loc["m", "estimate"]
    assert found[("micro_f1", "")] == pytest.approx(7 / 10)


def test_an_option_that_is_never_right_counts_against_others_only() -> None:
    """Catches a macro mean over options that no question has, and an F1 of 0 where nothing was to be found."""
    found = scores(counts_of([("A", "A"), ("A", "D"), ("B", "B"), ("B", "B")]), "ABCD").loc["m"]
    assert found.loc[("f1", "C"), "reason"] == NEVER
    assert found.loc[("f1", "D"), "estimate"] == 0
    assert found.loc[("macro_f1", ""), "estimate"] == pytest.approx((2 / 3 + 1) / 2)


def test_repeats_of_a_question_add_nothing() -> None:
    """Catches questions that weigh as often as they were asked."""
    once = counts_of(PAIRS)
    often = once.assign(n=np.where(once["item"].isin(["q0", "q9"]), 7, 1))
    assert scores(often)["estimate"].equals(scores(once)["estimate"])


def test_intervals_go_by_unit_and_hold_the_estimate() -> None:
    """Two units of many equal questions say less than many units. Catches questions resampled in place of units."""
    rng = np.random.default_rng(3)
    gold = rng.choice(list("ABC"), 120)
    right = np.repeat(rng.random(12) < 0.5, 10)
    pairs = [(g, g if r else "ABC"["ABC".index(g) - 1]) for g, r in zip(gold, right, strict=True)]
    by_item = scores(counts_of(pairs)).loc[("m", "macro_f1", "")]
    table = counts_of(pairs).assign(unit=[f"u{i // 10}" for i in range(120)])
    by_unit = scores(table).loc[("m", "macro_f1", "")]
    assert by_unit["ci_high"] - by_unit["ci_low"] > 2 * (by_item["ci_high"] - by_item["ci_low"])
    assert by_unit["ci_low"] < by_unit["estimate"] < by_unit["ci_high"]


def test_perfect_answers_have_no_interval() -> None:
    """Catches a degenerate interval [1, 1]."""
    found = scores(counts_of([("A", "A"), ("B", "B"), ("C", "C")] * 4, units=4))
    assert (found["estimate"] == 1).all()
    assert found["ci_low"].isna().all()
    assert set(found["reason"]) == {FLAT}


def test_row_order_changes_nothing() -> None:
    table = pd.concat([counts_of(PAIRS), counts_of(PAIRS[::-1], model="n")], ignore_index=True)
    pd.testing.assert_frame_equal(scores(table), scores(table.sample(frac=1, random_state=2)))
