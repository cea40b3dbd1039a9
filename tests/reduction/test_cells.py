"""Counts by item and by facets: worked by hand, mergeable, exact for responders by rule."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.reduction.cells import COUNTS, facet_counts, item_counts, merge_counts, outcome_sql, scores_are_binary
from analysis.reduction.selection import parse_selection
from analysis.schema.store import RESERVED
from analysis.schema.study import Study
from analysis.simulation.probability_operators import ProbabilityOperators, simulate_probability_operators
from analysis.simulation.responders import RESPONDERS, named_responders

STUDY = Study()
VALID_YES = {"gold": "yes", "validity": "valid", "polarity": "affirmative"}
VALID_NO = {"gold": "no", "validity": "valid", "polarity": "negated"}
#: One item with three samples (right, wrong, refused), one with an error and one right No; a second model.
ASKED = {"model": "m", "item": "a", "unit": "u", "form": "truth", **VALID_YES}
HAND = [
    ASKED | {"answer": "yes", "status": "answered"},
    ASKED | {"answer": "no", "status": "answered", "sample": "1"},
    ASKED | {"status": "refused", "sample": "2"},
    {"model": "m", "item": "b", "unit": "u", "status": "errored", **VALID_NO},
    {"model": "m", "item": "b", "unit": "u", "answer": "no", "status": "answered", "sample": "1", **VALID_NO},
    {"model": "k", "item": "b", "unit": "u", "answer": "yes", "status": "answered", **VALID_NO},
]  # fmt: skip


def records(counts: pd.DataFrame) -> list[dict]:
    return counts.astype({c: "str" for c in counts.columns if c not in COUNTS}).to_dict("records")


def test_counts_worked_by_hand(analysed, design):
    """Catches refusals counted as wrong answers, errors counted as scored, No counted as Yes."""
    counts = item_counts(analysed(HAND), design(factors=("form",)), STUDY)
    keys = ["task", "model", "item", "unit", "form", "gold", "cell"]
    assert list(counts.columns) == [*keys, *COUNTS]
    rows = [tuple(r.values()) for r in records(counts)]
    assert rows == [
        ("", "k", "b", "u", "", "no", "VN", 1, 1, 0, 0, 1, 0),
        ("", "m", "a", "u", "truth", "yes", "VA", 3, 2, 1, 0, 1, 1),
        ("", "m", "b", "u", "", "no", "VN", 2, 1, 0, 1, 0, 1),
    ]


def test_no_factor_can_have_the_name_of_a_count(design):
    """Catches a count added to the reduction under a name that a log may use for a factor."""
    assert set(COUNTS) <= set(RESERVED)
    internal = re.findall(r"AS (_\w+)", outcome_sql(design()))
    assert len(internal) == 4
    assert set(internal) <= set(RESERVED)


def test_keys_are_categoricals_and_counts_small_integers(analysed, design):
    """Catches texts held once per row, which at full size would take gigabytes."""
    counts = item_counts(analysed(HAND), design(factors=("form",)), STUDY)
    assert {str(counts[c].dtype) for c in COUNTS} == {"int32"}
    assert {str(counts[c].dtype) for c in counts.columns if c not in COUNTS} == {"category"}


def test_conditions_split_an_item_and_unused_columns_do_not(analysed, design):
    """Catches temperatures pooled when they are a condition, or split when they are not."""
    rows = [HAND[0] | {"temperature": t} for t in ("0", "1")]
    assert len(item_counts(analysed(rows), design(conditions=("temperature",)), STUDY)) == 2
    assert item_counts(analysed(rows), design(), STUDY)["n_planned"].tolist() == [2]


def test_rows_outside_the_selection_and_excluded_rows_are_in_no_count(analysed, design):
    """Catches excluded rows that stay in the denominator of the bounds (n_planned)."""
    rows = [*HAND, HAND[0] | {"item": "c", "excluded": "study: negation = not"}]
    counts = item_counts(analysed(rows), design(), STUDY, parse_selection(["model=m"]))
    assert counts["n_planned"].sum() == 5
    assert counts["item"].cat.categories.tolist() == ["a", "b"]
    assert item_counts(analysed(rows), design("other"), STUDY).empty


def test_scores_tell_right_from_wrong_in_tasks_that_have_only_scores(analysed, design):
    """Catches a score ignored, a text without reading rule counted as uncertain, or a missing score as wrong."""
    row = {"model": "m", "item": "a", "status": "unparsed", "output": "x", "gold": "42"}
    statuses = [("unparsed", 1.0), ("answered", 0.0), ("answered", None), ("refused", 0.0), ("errored", None)]
    rows = [row | {"status": s, "score_value": v, "sample": str(k)} for k, (s, v) in enumerate(statuses)]
    task = design(kind="score")
    counts = item_counts(analysed(rows), task, STUDY)
    assert counts[list(COUNTS)].to_numpy().tolist() == [[5, 2, 1, 2, 0, 1]]


def test_a_graded_score_is_neither_right_nor_wrong(analysed, design):
    """Catches a fraction rounded to right or wrong."""
    row = {"model": "m", "item": "a", "status": "answered"}
    con = analysed([row | {"score_value": 1.0}, row | {"score_value": 0.5, "sample": "1"}])
    assert not scores_are_binary(con, design(kind="score"))
    with pytest.raises(AnalysisError, match="1 of 2 scores"):
        item_counts(con, design(kind="score"), STUDY)
    assert scores_are_binary(analysed([row | {"score_value": 1.0}, row]), design(kind="score"))


def test_what_is_neither_right_nor_wrong_is_refused(analysed, design):
    """Catches an accuracy of 0 for stated probabilities, or for texts that nobody scored."""
    con = analysed([{"model": "m", "item": "a", "status": "answered", "output": "x", "probability": 0.3}])
    for kind, message in (("probability", "probabilities"), ("score", "no response has a score")):
        with pytest.raises(AnalysisError, match=message):
            item_counts(con, design(kind=kind), STUDY)


def test_the_gold_answer_wins_over_the_harness_score(analysed, design):
    """Catches accuracy taken from a harness that scored the answer otherwise."""
    rows = [HAND[0] | {"score_value": 0.0}]
    assert item_counts(analysed(rows), design(), STUDY)["n_correct"].tolist() == [1]


def test_any_column_can_be_a_facet(analysed, design):
    """Catches a facet whose name collides with a column that the counts are made of."""
    counts = facet_counts(analysed(HAND), design(), STUDY, by=("status", "answer"))
    assert counts["n_planned"].sum() == len(HAND)
    assert counts["status"].tolist() == ["answered", "answered", "answered", "errored", "refused"]


@pytest.mark.parametrize("status", [None, "done"])
def test_a_status_outside_the_schema_is_refused(analysed, design, status):
    """Catches rows that vanish between planned and counted."""
    with pytest.raises(AnalysisError, match="1 of 7 rows"):
        item_counts(analysed([*HAND, HAND[0] | {"item": "c", "status": status}]), design(), STUDY)


def test_facets_sum_the_same_rows(analysed, design):
    """Catches facets taken from the logged column where the completed one (polarity_) is meant."""
    counts = facet_counts(analysed(HAND), design(), STUDY, by=("polarity", "form"))
    assert [tuple(r.values())[:7] for r in records(counts)] == [
        ("", "k", "negated", "", 1, 1, 0),
        ("", "m", "affirmative", "truth", 3, 2, 1),
        ("", "m", "negated", "", 2, 1, 0),
    ]
    with pytest.raises(AnalysisError, match="colour"):
        facet_counts(analysed(HAND), design(), STUDY, by=("colour",))


@pytest.mark.parametrize("name", [n for n, r in RESPONDERS.items() if r.spread == 0 and n != "coin"])
def test_responders_by_rule_keep_their_exact_cells(analysed, design, name):
    """Catches a gold answer, cell or validity mixed up anywhere between simulation and counts."""
    settings = ProbabilityOperators(named_responders([name]), surfaces=2, answers=True)
    logs = simulate_probability_operators(np.random.default_rng(1), settings)
    logged = [{k: v for k, v in r.items() if not k.startswith("factor.")} for r in logs.tables[0][1].to_pylist()]
    rows = [r | {"status": r.get("status") or "answered"} for r in logged]
    counts = facet_counts(analysed(rows), design("probability-operators"), STUDY, by=("cell",))
    sums = counts.set_index("cell")
    assert tuple(sums.loc[c, "n_correct"] / sums.loc[c, "n_planned"] for c in ("VA", "VN", "IA", "IN")) == (
        RESPONDERS[name].cells
    )
    yes = {"VA": 1, "VN": 0, "IA": 0, "IN": 1}
    for cell, right in zip(yes, RESPONDERS[name].cells, strict=True):
        expected = right if yes[cell] else 1 - right
        assert sums.loc[cell, "n_yes"] == expected * sums.loc[cell, "n_planned"]


texts = st.sampled_from(["", "a", "b", "Z", "é", "\U0001f600", "a_b"])
row = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["m", "M", "ü"]),
        "item": texts,
        "answer": st.sampled_from(["yes", "no", None]),
        "gold": st.sampled_from(["yes", "no"]),
        "form": st.one_of(st.none(), texts),
        "status": st.sampled_from(["answered", "unparsed", "refused", "truncated", "errored", "missing"]),
    }
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(row, st.integers(0, 2)), min_size=1, max_size=25))
def test_counts_of_parts_merge_to_the_counts_of_the_whole(analysed, design, rows):
    """Catches keys lost for missing levels, categories that differ by part, and order that depends on the split."""
    task = design(factors=("form",))

    def reduced(parts: list[dict]) -> pd.DataFrame:
        return item_counts(analysed(parts), task, STUDY)

    whole = reduced([r for r, _ in rows])
    merged = merge_counts(*(reduced([r for r, part in rows if part == k]) for k in range(3)))
    pd.testing.assert_frame_equal(merged, whole, check_exact=True)
    assert (whole["n_planned"] == whole["n_answered"] + whole["n_uncertain"] + whole["n_set_aside"]).all()
    assert (whole[["n_yes", "n_correct"]].max(axis=1) <= whole["n_answered"]).all()
    assert whole["n_planned"].sum() == len(rows)


def test_counts_by_different_columns_do_not_merge(analysed, design):
    """Catches a merge that would add counts of different things."""
    a = item_counts(analysed(HAND), design(factors=("form",)), STUDY)
    b = item_counts(analysed(HAND), design(), STUDY)
    with pytest.raises(AnalysisError, match="form"):
        merge_counts(a, b)
    pd.testing.assert_frame_equal(merge_counts(a), a)
