"""Floors on parts of the items: by hand, with cells that a part lacks, and the change over shared units."""

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.restrictions import restricted_floors
from analysis.comparison.weightings import weighting_table


def counts(right: dict[str, float], units: int = 12) -> pd.DataFrame:
    """One item per unit, cell and half of the templates; ``right`` is the share of right answers by cell."""
    rows = []
    for unit in range(units):
        for cell, share in right.items():
            for template in ("t1", "t2"):
                good = int(unit < share * units) if template == "t1" else 1
                rows.append({"unit": f"u{unit:02d}", "cell": cell, "template": template, "n_correct": good})
    table = pd.DataFrame(rows).assign(task="", model="m", gold="yes", n_planned=1, n_answered=1)
    table = table.assign(n_uncertain=0, n_set_aside=0, n_yes=0, item=[f"i{i}" for i in range(len(table))])
    return table.astype({name: "category" for name in ("task", "model", "unit", "cell", "template", "item", "gold")})


RIGHT = {"VA": 0.5, "VN": 0.75, "IA": 0.25, "IN": 1.0}


def test_a_part_of_the_items_has_the_floor_of_its_own_items():
    """Catches a part that keeps all items, and a change of the wrong sign."""
    table = counts(RIGHT)
    rows = restricted_floors(table, {"first": (table["template"] == "t1").to_numpy()}).set_index("part")
    assert rows.loc["first", "estimate"] == pytest.approx((0.75 + 0.25) / 2)
    assert rows.loc["all items", "estimate"] == pytest.approx((0.875 + 0.625) / 2)
    assert rows.loc["first", "change"] == pytest.approx(0.5 - 0.75)
    assert rows.loc["first", "n_items"] == len(table) / 2
    assert np.isnan(rows.loc["all items", "change"])


def test_a_class_with_one_cell_left_rests_on_that_cell():
    """Catches classes that lose their rate, or take it from the other class, where negated items are left out."""
    table = counts(RIGHT)
    inside = (table["cell"].isin(["VA", "IA"]) & (table["template"] == "t1")).to_numpy()
    rows = restricted_floors(table, {"part": inside}).set_index("part")
    assert rows.loc["part", "estimate"] == pytest.approx(0.25)
    assert rows.loc["part", "change"] == pytest.approx(0.25 - 0.75)
    assert rows.loc["part", "change_low"] < rows.loc["part", "change"] < rows.loc["part", "change_high"]


def test_spread_leaves_out_what_is_undefined():
    """Catches a spread that is missing because one weighting is."""
    tables = {
        name: pd.DataFrame({"model": ["m"], "measure": "accuracy", "estimate": [value], "reason": [why]}).assign(
            ci_low=np.nan, ci_high=np.nan
        )
        for name, value, why in (("micro", 0.5, ""), ("prompt", 0.56, ""), ("form", np.nan, "no response"))
    }
    row = weighting_table(tables, measure="accuracy").iloc[0]
    assert row["spread"] == pytest.approx(0.06)
    assert row["form_reason"] == "no response"
