"""Sums by unit: counts add up, weights of items worked by hand."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.reduction.cells import COUNTS
from analysis.reduction.units import WEIGHTED, default_weighting, unit_sums

KEYS = ["task", "model", "item", "unit", "form", "gold", "cell"]


def counts(*rows: tuple) -> pd.DataFrame:
    """Rows of keys and (answered, uncertain, set aside, yes, right)."""
    table = pd.DataFrame([(*r[:7], r[7] + r[8] + r[9], *r[7:]) for r in rows], columns=[*KEYS, *COUNTS])
    return table.astype({k: "category" for k in KEYS})


#: Item a: 2 of 3 answered right, 1 uncertain; the same under another form all right; item b: only an error.
HAND = counts(
    ("t", "m", "a", "u", "f", "yes", "gold_yes", 3, 1, 0, 2, 2),
    ("t", "m", "a", "u", "g", "yes", "gold_yes", 1, 0, 0, 1, 1),
    ("t", "m", "b", "u", "f", "yes", "gold_yes", 0, 0, 2, 0, 0),
    ("t", "m", "c", "v", "f", "yes", "gold_yes", 0, 2, 0, 0, 0),
    ("t", "m", "d", "u", "f", "no", "gold_no", 2, 0, 0, 1, 1),
)


def test_columns_are_the_documented_ones_in_order():
    """Catches a renamed column that later stages would miss."""
    sums = unit_sums(HAND, weighting="row")
    assert list(sums.columns) == [
        "task", "model", "cell", "stratum", "unit", "n_planned", "n_answered", "n_uncertain", "n_set_aside", "n_yes",
        "n_correct", "w_scored", "w_correct", "w_uncertain", "w_answered", "w_correct_answered", "w_yes",
    ]  # fmt: skip
    assert {str(sums[c].dtype) for c in COUNTS} == {"int64"}
    assert {str(sums[c].dtype) for c in WEIGHTED} == {"float64"}


def test_row_weights_are_the_counts():
    """Catches errors counted as scored, or uncertain answers left out of the scored ones."""
    row = unit_sums(HAND, weighting="row").set_index(["cell", "unit"]).loc[("gold_yes", "u")]
    assert row[list(COUNTS)].tolist() == [7, 4, 1, 2, 3, 3]
    assert row[list(WEIGHTED)].tolist() == [5.0, 3.0, 1.0, 4.0, 3.0, 3.0]


def test_item_weights_worked_by_hand():
    """Catches items weighted by their responses: a is one item of weight 1 with 3/5 right, b has weight 0."""
    sums = unit_sums(HAND, weighting="item").set_index(["cell", "unit"])
    assert sums.loc[("gold_yes", "u"), list(COUNTS)].tolist() == [7, 4, 1, 2, 3, 3]
    assert sums.loc[("gold_yes", "u"), list(WEIGHTED)].tolist() == pytest.approx([1, 3 / 5, 1 / 5, 1, 3 / 4, 3 / 5])
    assert sums.loc[("gold_yes", "v"), list(WEIGHTED)].tolist() == [1, 0, 1, 0, 0, 0]
    assert sums.loc[("gold_no", "u"), list(WEIGHTED)].tolist() == [1, 0.5, 0, 1, 0.5, 0.5]


def test_strata_split_units_and_items():
    """Catches a stratum ignored, or an item's weight shared between strata."""
    sums = unit_sums(HAND, weighting="item", strata="form").set_index(["cell", "stratum", "unit"])
    assert sums.loc[("gold_yes", "f", "u"), list(WEIGHTED)].tolist() == pytest.approx(
        [1, 1 / 2, 1 / 4, 1, 2 / 3, 1 / 2]
    )
    assert sums.loc[("gold_yes", "g", "u"), list(WEIGHTED)].tolist() == [1, 1, 0, 1, 1, 1]
    assert unit_sums(HAND, weighting="row")["stratum"].unique().tolist() == [""]


def test_four_cells_weigh_rows_and_gold_alone_weighs_items():
    """Catches the two defaults swapped."""
    assert default_weighting(HAND) == "item"
    four = HAND.assign(cell="VA")
    assert default_weighting(four) == "row"
    pd.testing.assert_frame_equal(unit_sums(four), unit_sums(four, weighting="row"))
    pd.testing.assert_frame_equal(unit_sums(HAND), unit_sums(HAND, weighting="item"))


def test_a_factor_without_levels_here_loses_no_row():
    """Catches groupby dropping missing levels, or inventing combinations of categories that do not occur."""
    other = HAND.assign(cell=pd.Categorical([""] * 5, categories=["", "VA"]))
    sums = unit_sums(other, weighting="row")
    assert len(sums) == 2
    assert sums["n_planned"].sum() == HAND["n_planned"].sum()


def test_unknown_options_are_refused():
    """Catches a misspelt weighting that falls through to the other one."""
    with pytest.raises(AnalysisError, match="weighting"):
        unit_sums(HAND, weighting="items")  # type: ignore[arg-type]
    with pytest.raises(AnalysisError, match="strata"):
        unit_sums(HAND, strata="colour")


tallies = st.tuples(
    st.sampled_from("ab"), st.sampled_from("uv"), st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.data()
)


@given(st.lists(tallies, min_size=1, max_size=12))
def test_weighted_sums_agree_with_a_plain_loop(rows):
    """Catches shares divided by the wrong total; an independent implementation over dicts."""
    made = [
        ("t", "m", item, unit, str(k), "yes", "gold_yes", a, u, s, right := data.draw(st.integers(0, a)), right)
        for k, (item, unit, a, u, s, data) in enumerate(rows)
    ]
    expected: dict[str, list[float]] = {}
    for unit in {r[3] for r in made}:
        total = [0.0] * 4
        for item in {r[2] for r in made if r[3] == unit}:
            mine = [r for r in made if (r[3], r[2]) == (unit, item)]
            answered, unclear, right = (sum(r[i] for r in mine) for i in (7, 8, 11))
            if answered + unclear:
                total[0] += 1
                total[1] += right / (answered + unclear)
            if answered:
                total[2] += 1
                total[3] += right / answered
        expected[unit] = total
    sums = unit_sums(counts(*made), weighting="item").set_index("unit")
    for unit, total in expected.items():
        found = sums.loc[unit, ["w_scored", "w_correct", "w_answered", "w_correct_answered"]].tolist()
        assert found == pytest.approx(total, abs=1e-12)
