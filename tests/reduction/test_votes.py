"""Votes: the majority and its ties worked by hand, nothing lost, nothing decided by the order of rows."""

import numpy as np
import pytest

from analysis.reduction.votes import VoteRule, collapsed_answers, nested_answers, vote_counts
from analysis.schema.study import Study

STUDY = Study()


def votes(item: str, answers: str, *, model: str = "m", gold: str = "yes", strategy: str = "zero") -> list[dict]:
    """One row per vote: y, n; ? unreadable; e errored."""
    statuses = {"y": "answered", "n": "answered", "?": "unparsed", "e": "errored"}
    base = {"model": model, "item": item, "unit": item[0], "gold": gold, "strategy": strategy}
    return [
        base | {"sample": str(i), "status": statuses[a]} | ({"answer": {"y": "yes", "n": "no"}[a]} if a in "yn" else {})
        for i, a in enumerate(answers)
    ]


ROWS = [
    *votes("a1", "yyn"),
    *votes("a2", "yynn"),
    *votes("b1", "?ny"),
    *votes("b2", "??e", gold="no"),
    *votes("c1", "ee"),
    *votes("c2", "nnnny", gold="no"),
]


@pytest.fixture
def counted(analysed, design):
    return lambda rows: vote_counts(analysed(rows), design(conditions=("strategy",)), STUDY)


def by_item(table):
    return table.astype({"item": str}).set_index("item")


def test_majorities_by_hand(counted):
    """Catches a tie given to the label that sorts first, unreadable votes outvoting answers, errors as wrong."""
    found = by_item(collapsed_answers(counted(ROWS)))
    assert found["answer"].tolist() == ["yes", "", "", "", "", "no"]
    assert found["tied"].tolist() == [False, True, True, False, False, False]
    np.testing.assert_array_equal(found["right"], [1, 0, 0, 0, np.nan, 1])
    np.testing.assert_array_equal(found["unclear"], [0, 1, 1, 1, np.nan, 0])
    np.testing.assert_array_equal(found["endorsed"], [1, 0, 0, 0, np.nan, 0])
    np.testing.assert_allclose(found["vote_share"], [2 / 3, 0.5, 0.5, np.nan, np.nan, 0.8])
    assert found["n_votes"].tolist() == [3, 4, 3, 3, 2, 5]
    assert found["n_set_aside"].tolist() == [0, 0, 0, 1, 2, 0]


def test_ties_by_rule(counted):
    """Catches a named label ignored, and a tie set aside that stays in a denominator."""
    named = by_item(collapsed_answers(counted(ROWS), VoteRule(tie="no")))
    assert named["answer"].tolist() == ["yes", "no", "no", "", "", "no"]
    np.testing.assert_array_equal(named["right"], [1, 0, 0, 0, np.nan, 1])
    np.testing.assert_array_equal(named["unclear"], [0, 0, 0, 1, np.nan, 0])
    aside = by_item(collapsed_answers(counted(ROWS), VoteRule(tie="aside")))
    np.testing.assert_array_equal(aside["right"], [1, np.nan, np.nan, 0, np.nan, 1])
    assert "set aside" in VoteRule(tie="aside").words


def test_nested_votes_by_hand(counted):
    """Catches failed votes in the denominator and unreadable ones left out of it."""
    found = by_item(nested_answers(counted(ROWS)))
    np.testing.assert_allclose(found["right"], [2 / 3, 0.5, 1 / 3, 0, np.nan, 0.8])
    np.testing.assert_allclose(found["unclear"], [0, 0, 1 / 3, 1, np.nan, 0])
    np.testing.assert_allclose(found["endorsed"], [2 / 3, 0.5, 1 / 3, 0, np.nan, 0.2])


def test_conditions_and_models_are_voted_on_apart(counted):
    """Catches votes pooled over strategies or models."""
    rows = votes("a1", "yy") + votes("a1", "nn", strategy="few") + votes("a1", "n", model="k")
    found = collapsed_answers(counted(rows))
    seen = [tuple(map(str, row)) for row in found[["model", "strategy", "answer"]].itertuples(index=False)]
    assert sorted(seen) == [("k", "zero", "no"), ("m", "few", "no"), ("m", "zero", "yes")]


def test_row_order_changes_nothing(counted):
    """Catches a majority, or a tie, that depends on which vote came first."""
    shuffled = [ROWS[i] for i in np.random.default_rng(4).permutation(len(ROWS))]
    first, second = (collapsed_answers(counted(rows)) for rows in (ROWS, shuffled))
    assert first.astype(str).equals(second.astype(str))


def test_options_are_voted_on_by_plurality(analysed, design):
    """Catches a majority that knows yes and no only: two of four votes win against one each."""
    rows = [
        {"model": "m", "item": "q", "gold": "B", "status": "answered", "answer": a, "sample": str(i)}
        for i, a in enumerate("ABBC")
    ]
    found = collapsed_answers(vote_counts(analysed(rows), design(kind="choice"), STUDY))
    assert (found["answer"][0], found["right"][0], found["vote_share"][0]) == ("B", 1, 0.5)


def test_nothing_to_vote_on(counted):
    """Catches an index error on an empty selection."""
    empty = counted(ROWS).iloc[:0]
    assert collapsed_answers(empty).empty
    assert nested_answers(empty).empty
