"""Versions of base items: placed by name, whatever is missing."""

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.reduction.variants import variant_answers
from analysis.reduction.votes import collapsed_answers, vote_counts
from analysis.schema.study import Study


def row(model: str, unit: str, variant: str, answer: str, *, gold: str = "yes", strategy: str = "zero") -> dict:
    return {
        "model": model, "item": f"{unit}_{variant}", "unit": unit, "variant": variant, "gold": gold,
        "strategy": strategy, "status": "answered" if answer else "unparsed", "answer": answer or None,
    }  # fmt: skip


@pytest.fixture
def placed(analysed, design):
    def run(rows):
        design_ = design(factors=("variant",), conditions=("strategy",))
        answers = collapsed_answers(vote_counts(analysed(rows), design_, Study()))
        return variant_answers(answers, answers["right"].to_numpy(), conditions=("strategy",))

    return run


def test_answers_are_placed_by_name(placed):
    """Catches answers paired by their position: one model lacks a variant, another a strategy."""
    rows = [
        row("a", "1", "N", "yes"), row("a", "1", "X", "no"), row("a", "2", "X", "yes", gold="no"),
        row("b", "1", "X", "yes", strategy="few"), row("b", "2", "N", "", gold="no", strategy="few"),
    ]  # fmt: skip
    found = placed(rows)
    assert (found.models, found.units, found.variants, found.labels) == (
        ("a", "b"),
        ("1", "2"),
        ("N", "X"),
        ("no", "yes"),
    )
    assert found.configurations["strategy"].tolist() == ["few", "zero"]
    assert found.codes[0, 1].tolist() == [[1, 0], [-1, 1]]
    assert found.codes[1, 0].tolist() == [[-1, 1], [-1, -1]]
    assert found.asked[1, 0].tolist() == [[False, True], [True, False]]
    assert (found.codes[0, 0] == -1).all()
    assert not found.asked[0, 0].any()
    assert found.gold.tolist() == [1, 0]
    np.testing.assert_array_equal(found.right[0, 1], [[1, 0], [np.nan, 0]])


def test_gold_that_variants_do_not_share_is_unknown(placed):
    """Catches a consistency measure that takes a negated version for the same question."""
    found = placed([row("a", "1", "N", "yes"), row("a", "1", "X", "yes", gold="no")])
    assert found.gold.tolist() == [-1]


def test_two_questions_in_one_place_are_refused(placed):
    """Catches one of them silently overwriting the other."""
    rows = [row("a", "1", "N", "yes"), row("a", "1", "N", "no") | {"item": "other"}]
    with pytest.raises(AnalysisError, match="several questions of unit '1'"):
        placed(rows)
