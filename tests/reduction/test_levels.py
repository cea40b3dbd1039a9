"""Counts by level as arrays: worked by hand, independent of row order, nothing lost without being counted."""

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.reduction.cells import item_counts
from analysis.reduction.levels import factors_with_levels, level_arrays, model_facts, subset
from analysis.schema.study import ModelEntry, Study

YES = {"gold": "yes", "validity": "valid", "polarity": "affirmative", "status": "answered"}
NO = {"gold": "no", "validity": "valid", "polarity": "negated", "status": "answered"}
ROWS = [
    {"model": "m", "item": "a", "unit": "u", "form": "truth", "answer": "yes", **YES},
    {"model": "m", "item": "a", "unit": "u", "form": "truth", "sample": "1", **YES, "status": "refused"},
    {"model": "m", "item": "b", "unit": "v", "form": "follow", "answer": "yes", **NO},
    {"model": "k", "item": "b", "unit": "v", "form": "follow", "answer": "no", **NO},
    {"model": "k", "item": "c", "unit": "v", "answer": "no", **NO},
]


def test_arrays_worked_by_hand(analysed, design):
    """Catches axes that change places, refusals counted as answers, and a missing level counted as one."""
    counts = item_counts(analysed(ROWS), design(factors=("form",)), Study())
    found = level_arrays(counts, "form")
    assert (found.models, found.units, found.levels) == (("k", "m"), ("u", "v"), ("follow", "truth"))
    assert found.cells == ("VA", "VN", "IA", "IN")
    assert found.without_level == 1
    expected = np.zeros((2, 2, 2, 4))
    expected[1, 0, 1, 0] = expected[1, 1, 0, 1] = expected[0, 1, 0, 1] = 1
    np.testing.assert_array_equal(found.answered, expected)
    assert found.uncertain.sum() == found.uncertain[1, 0, 1, 0] == 1
    assert found.correct.sum() == found.correct[1, 0, 1, 0] + found.correct[0, 1, 0, 1] == 2
    assert found.yes[1, 1, 0, 1] == 1


def test_order_of_rows_does_not_matter(analysed, design):
    """Catches codes in order of appearance."""
    one = level_arrays(item_counts(analysed(ROWS), design(factors=("form",)), Study()), "form")
    other = level_arrays(item_counts(analysed(ROWS[::-1]), design(factors=("form",)), Study()), "form")
    assert one.levels == other.levels
    np.testing.assert_array_equal(one.answered, other.answered)


def test_levels_can_be_chosen_and_put_in_order(analysed, design):
    """Catches arrays that keep the old order under new names."""
    found = level_arrays(item_counts(analysed(ROWS), design(factors=("form",)), Study()), "form")
    turned = found.at(("truth", "follow"))
    np.testing.assert_array_equal(turned.correct, found.correct[:, :, ::-1])


def test_only_factors_with_two_levels_are_compared(analysed, design):
    """Catches sections about a factor that never varies, or about the cells themselves."""
    rows = [row | {"template": "one"} for row in ROWS]
    made = design(factors=("form", "template", "polarity"))
    assert factors_with_levels(made, item_counts(analysed(rows), made, Study())) == {"form": ("follow", "truth")}


def test_subset_keeps_and_drops(analysed, design):
    """Catches drop applied as keep, and conditions joined by or."""
    counts = item_counts(analysed(ROWS), design(factors=("form", "polarity")), Study())
    kept = subset(counts, keep={"polarity": ("negated",)}, drop={"form": ("follow",)})
    assert list(kept["item"].astype(str)) == ["c"]


def test_study_names_families_and_sizes_before_the_logs(analysed, design):
    """Catches a declared size that the log's own overrides, and a family guessed from another model's."""
    rows = [row | {"model_family": "F", "model_size": 7.0} for row in ROWS[:3]] + ROWS[3:]
    study = Study(models={"m": ModelEntry(size=8.0)})
    facts = model_facts(analysed(rows), design(), study)
    assert facts["model"].tolist() == ["k", "m"]
    assert facts["family"].tolist()[1] == "F"
    assert facts["size"].tolist()[1] == 8.0
    assert facts.loc[0, ["family", "size"]].isna().all()


def test_unknown_factor_is_refused(analysed, design):
    """Catches a KeyError as the answer to a misspelt factor."""
    with pytest.raises(AnalysisError, match="colour"):
        level_arrays(item_counts(analysed(ROWS), design(), Study()), "colour")
