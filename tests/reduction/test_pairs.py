"""Matched pairs: worked by hand, every response of the two levels accounted for, exclusions that a contrast lifts."""

from dataclasses import replace

import pytest

from analysis.errors import AnalysisError
from analysis.reduction.pairs import matched_pairs
from analysis.schema.analysed import ONE_POLARITY
from analysis.schema.study import Contrast

BASE = {"validity": "valid", "polarity": "negated", "gold": "no", "status": "answered", "model": "m"}
ASKED = BASE | {"unit": "u", "form": "truth"}
NOT = "excluded by study.toml: negation = not"
ROWS = [
    ASKED | {"item": "1", "negation": "prefix", "answer": "no"},
    ASKED | {"item": "2", "negation": "not", "answer": "yes", "excluded": NOT},
    ASKED | {"item": "3", "negation": "prefix", "unit": "v", "answer": "no"},
    ASKED | {"item": "4", "negation": "not", "unit": "v", "status": "refused", "excluded": NOT},
    ASKED | {"item": "5", "negation": "prefix", "form": "follow", "answer": "yes"},
    ASKED | {"item": "6", "negation": "verb", "form": "follow", "answer": "yes"},
    ASKED | {"item": "7", "negation": "not", "form": "direct", "status": "errored", "excluded": ONE_POLARITY},
    ASKED | {"item": "8", "negation": "prefix", "unit": "w", "answer": "no"},
    ASKED | {"item": "9", "negation": "prefix", "unit": "w", "answer": "yes"},
    ASKED | {"item": "10", "negation": "not", "unit": "w", "answer": "yes", "excluded": NOT},
]
CONTRAST = Contrast("negation", ("prefix", "not"), ("form",))


def made(design):
    return replace(
        design(factors=("form", "negation")), exclude={"negation": ("not",)}, unit="unit", unit_is_item=False
    )


def test_pairs_worked_by_hand(analysed, design):
    """Catches sides exchanged, refusals without a pair, and excluded levels that stay away from their contrast."""
    found = matched_pairs(analysed(ROWS), made(design), CONTRAST, levels=("prefix", "not"))
    assert found.matched_on == ("unit", "form", "sample")
    columns = ["unit", "right_first", "right_second", "yes_first", "yes_second", "uncertain_second"]
    assert found.pairs[columns].astype(object).to_numpy().tolist() == [
        ["u", 1, 0, 0, 1, 0],
        ["v", 1, 0, 0, 0, 1],
    ]


def test_every_response_to_the_two_levels_is_accounted_for(analysed, design):
    """Catches responses dropped in the join: pairs, lone ones, several of one key, errored."""
    row = matched_pairs(analysed(ROWS), made(design), CONTRAST, levels=("prefix", "not")).unmatched.iloc[0]
    assert row.to_dict() == {
        "model": "m", "pairs": 2, "only_first": 1, "only_second": 0, "ambiguous": 3, "set_aside": 1,
    }  # fmt: skip
    counted = 2 * row["pairs"] + row[["only_first", "only_second", "ambiguous", "set_aside"]].sum()
    assert counted == sum(r["negation"] in ("prefix", "not") for r in ROWS)


def test_other_exclusions_hold(analysed, design):
    """Catches a contrast that brings back rows that the study leaves out for another reason."""
    rows = [r | {"excluded": "excluded by study.toml: form = truth"} if r["form"] == "truth" else r for r in ROWS]
    with pytest.raises(AnalysisError, match="not"):
        matched_pairs(analysed(rows), made(design), CONTRAST, levels=("prefix", "not"))


def test_where_restricts_both_sides(analysed, design):
    """Catches a restriction that is read and not applied."""
    chosen = Contrast("negation", ("prefix", "not"), ("form",), where={"unit": ("v",)})
    found = matched_pairs(analysed(ROWS), made(design), chosen, levels=("prefix", "not"))
    assert found.pairs["unit"].tolist() == ["v"]


def test_items_as_units_pair_two_of_them(analysed, design):
    """Catches items that never pair because the unit, which differs, is part of the key."""
    alone = replace(made(design), unit="item", unit_is_item=True)
    chosen = Contrast("negation", ("prefix", "not"), ("form", "unit"))
    found = matched_pairs(analysed(ROWS), alone, chosen, levels=("prefix", "not"))
    assert len(found.pairs) == found.pairs["unit"].nunique() == 2


def test_absent_level_is_named(analysed, design):
    """Catches an empty table where a level is misspelt."""
    with pytest.raises(AnalysisError, match="knot"):
        matched_pairs(analysed(ROWS), made(design), CONTRAST, levels=("prefix", "knot"))
