"""Bounds and flags."""

import numpy as np
import pytest

from analysis.frequentist.answer_bias import answer_bias_estimates
from analysis.frequentist.uncertain_answers import flags, uncertainty_bounds
from tests.frequentist.unit_tables import FOUR, crossed, items, table, unit_row


def test_bounds_worked_by_hand() -> None:
    """Gold yes 10 planned: 6 right, 2 uncertain, 1 errored; gold no 10 planned: 7 right."""
    rows = [
        *(unit_row("m", "gold_yes", f"y{i}", int(i < 6), int(i == 6)) for i in range(7)),
        *(unit_row("m", "gold_yes", f"y{i}", 0, 0, uncertain=1) for i in (7, 8)),
        unit_row("m", "gold_yes", "y9", 0, 0, set_aside=1),
        *(unit_row("m", "gold_no", f"n{i}", int(i < 7), int(i >= 7)) for i in range(10)),
    ]
    found = uncertainty_bounds(table(rows)).set_index("measure")
    bounds = {name: tuple(found.loc[name, ["bound_low", "bound_high"]]) for name in found.index}
    assert bounds["acc_yes"] == (0.6, 0.9)
    assert bounds["acc_no"] == (0.7, 0.7)
    assert bounds["competence_floor"] == (0.6, 0.7)
    assert bounds["answer_bias"] == (pytest.approx(-0.1), pytest.approx(0.2))
    assert tuple(found.loc["acc_yes", ["n_planned", "n_uncertain", "n_unscored"]]) == (20, 2, 1)


def test_bounds_hold_every_treatment() -> None:
    rng = np.random.default_rng(3)
    rows = [
        unit_row("m", cell, f"u{i}", int(r), int(w), uncertain=int(u), set_aside=int(s))
        for cell in FOUR
        for i in range(9)
        for r, w, u, s in [rng.integers(1, 5, 4)]
    ]
    bounds = uncertainty_bounds(table(rows)).set_index("measure")
    for treatment in ("incorrect", "excluded", "half"):
        found = answer_bias_estimates(table(rows), uncertain=treatment).set_index("measure")["estimate"]
        inside = (bounds["bound_low"] <= found[bounds.index]) & (found[bounds.index] <= bounds["bound_high"])
        assert inside.all(), treatment


def test_items_keep_their_weight_in_the_bounds() -> None:
    """Item weights: an item asked 9 times and one asked once; rows would give .9, items .5."""
    rows = [unit_row("m", "gold_yes", "a", 9, 0), unit_row("m", "gold_yes", "b", 0, 1)]
    rows += [unit_row("m", "gold_no", "c", 1, 0)]
    sums = table(rows)
    scored = sums["w_scored"]
    for column in ("w_correct", "w_uncertain", "w_yes", "w_correct_answered", "w_answered", "w_scored"):
        sums[column] = sums[column] / scored
    found = uncertainty_bounds(sums).set_index("measure")
    assert tuple(found.loc["acc_yes", ["bound_low", "bound_high"]]) == (0.5, 0.5)


def test_without_lost_answers_bounds_are_the_estimate() -> None:
    sums = table(crossed("m", {c: [1, 2, 0, 2] for c in FOUR}, 2))
    bounds = uncertainty_bounds(sums)
    assert (bounds["bound_high"] - bounds["bound_low"]).abs().max() < 1e-15
    assert len(flags(sums)) == 0


def test_many_uncertain_answers_are_flagged_by_cell() -> None:
    """6 % in one cell and 3 % over all: a share over all cells would hide it."""
    rows = [
        unit_row("m", c, f"u{i}", 40, 7 if c == "VA" else 10, uncertain=3 * (c == "VA")) for c in FOUR for i in range(8)
    ]
    found = flags(table(rows)).set_index("flag")
    assert found.loc["many uncertain answers", "value"] == pytest.approx(0.06)
    assert found.loc["many uncertain answers", "reason"] == "uncertain answers: VA 6.0%"


def test_uncertain_answers_in_one_class_only_are_flagged() -> None:
    """Lost by unit 0 1 2 3 0 1 ...: in the Yes class alone, then in both."""
    lost = [i % 4 for i in range(20)]
    one = [unit_row("m", c, f"u{i}", 30, 20 - k * (c in ("VA", "IN")), uncertain=k * (c in ("VA", "IN")))
           for c in FOUR for i, k in enumerate(lost)]  # fmt: skip
    found = flags(table(one)).set_index("flag")
    assert found.loc["uncertain answers differ", "value"] == pytest.approx(0.03)
    both = [unit_row("m", c, f"u{i}", 30, 20 - k, uncertain=k) for c in FOUR for i, k in enumerate(lost)]
    assert len(flags(table(both))) == 0


def test_the_same_difference_in_every_unit_is_a_difference() -> None:
    """A standard error of zero must not hide it."""
    rows = [unit_row("m", c, f"u{i}", 30, 18, uncertain=2 * (c in ("VA", "IN"))) for c in FOUR for i in range(5)]
    assert flags(table(rows))["flag"].tolist() == ["uncertain answers differ"]


def test_a_floor_that_turns_on_lost_answers_is_flagged() -> None:
    """Below .5 with half of the answers unread; counted as right, the floor is .875."""
    rows = [unit_row("m", c, f"u{i}", 28 + i % 5, 12 - i % 5, uncertain=40) for c in FOUR for i in range(20)]
    found = flags(table(rows)).set_index("flag")
    assert found.loc["floor turns on lost answers", "value"] == pytest.approx(0.5)
    assert "0.375 and 0.875" in found.loc["floor turns on lost answers", "reason"]


def test_tasks_without_yes_no_gold_have_neither() -> None:
    sums = table([unit_row("m", "", f"u{i}", 1, 0) for i in range(3)])
    assert len(uncertainty_bounds(sums)) == len(flags(sums)) == 0


def test_flags_come_in_the_order_of_models() -> None:
    rows = [*items("b", [1, 0] * 5, [1] * 9), *items("a", [1] * 5, [0] * 5)]
    rows += [unit_row(m, "gold_yes", f"x{i}", 0, 0, uncertain=1) for m in "ba" for i in range(5)]
    assert flags(table(rows))["model"].drop_duplicates().tolist() == ["a", "b"]
