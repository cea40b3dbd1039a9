"""Every row is used or has one reason why not."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.reduction.cells import item_counts
from analysis.reduction.exclusions import accounting, exclusions
from analysis.reduction.selection import parse_selection
from analysis.schema.study import Study

ROWS = [
    {"model": "m", "item": "a", "answer": "yes", "status": "answered", "gold": "yes"},
    {"model": "m", "item": "b", "status": "refused", "gold": "yes"},
    {"model": "m", "item": "c", "status": "errored", "gold": "yes"},
    {"model": "m", "item": "d", "status": "missing", "gold": "yes"},
    {"model": "m", "item": "e", "status": "errored", "gold": "yes", "excluded": "study: negation = not"},
    {"model": "k", "item": "e", "status": "answered", "gold": "yes", "excluded": "study: negation = not"},
    {"model": "k", "item": "f", "status": "answered", "answer": "no", "gold": "yes", "task": "t"},
]


def listed(table) -> list[tuple]:
    return list(table.itertuples(index=False, name=None))


def test_reasons_worked_by_hand(analysed, design):
    """Catches a row under two reasons (excluded and errored), a refusal set aside, a task left out."""
    con, tasks = analysed(ROWS), [design(""), design("t")]
    assert listed(exclusions(con, tasks)) == [
        ("", "k", "study: negation = not", 1),
        ("", "m", "errored", 1),
        ("", "m", "missing", 1),
        ("", "m", "study: negation = not", 1),
    ]
    assert listed(accounting(con, tasks)) == [("", "k", 1, 0, 1), ("", "m", 5, 2, 3), ("t", "k", 1, 1, 0)]
    assert listed(accounting(con, [design("t")])) == [("t", "k", 1, 1, 0)]


def test_replies_without_a_score_are_set_aside_where_scores_decide(analysed, design):
    """Catches a score that is missing counted as a wrong answer, or a row that neither estimate nor account knows."""
    row = {"model": "m", "item": "a", "status": "answered", "output": "x"}
    statuses = [("answered", 1.0), ("answered", None), ("unparsed", 0.0), ("unparsed", None), ("missing", None)]
    rows = [row | {"status": s, "score_value": v, "sample": str(k)} for k, (s, v) in enumerate(statuses)]
    con = analysed(rows)
    assert listed(exclusions(con, [design(kind="score")])) == [("", "m", "missing", 1), ("", "m", "no score", 1)]
    assert listed(accounting(con, [design(kind="score")])) == [("", "m", 5, 3, 2)]
    assert item_counts(con, design(kind="score"), Study())["n_set_aside"].tolist() == [2]
    con = analysed([*rows, row | {"sample": "9", "status": "unparsed", "rule": "empty", "output": None}])
    assert listed(exclusions(con, [design(kind="score")])) == [("", "m", "missing", 1), ("", "m", "no score", 2)]


def test_scores_without_the_answer_are_set_aside_where_gold_answers_decide(analysed, design):
    """Catches a right answer that only a score tells of counted as wrong, because it is not the gold answer."""
    row = {"model": "m", "item": "a", "gold": "yes", "status": "answered"}
    con = analysed([row | {"score_value": 1.0, "rule": "not_read"}, row | {"answer": "no", "sample": "1"}])
    assert listed(exclusions(con, [design()])) == [("", "m", "answer not in the log", 1)]
    counts = item_counts(con, design(), Study())
    assert counts[["n_answered", "n_set_aside", "n_correct"]].to_numpy().tolist() == [[1, 1, 0]]


def test_what_was_not_selected_is_listed_under_what_was_typed(analysed, design):
    """Catches deselected rows that vanish from the accounting."""
    con, tasks = analysed(ROWS), [design(""), design("t")]
    chosen = parse_selection(["item!=c"], models=["m"])
    assert listed(exclusions(con, tasks, chosen)) == [
        ("", "k", "not selected: model in m", 1),
        ("", "m", "missing", 1),
        ("", "m", "not selected: item!=c", 1),
        ("", "m", "study: negation = not", 1),
        ("t", "k", "not selected: model in m", 1),
    ]


def test_a_misspelt_selection_is_refused(analysed, design):
    """Catches a report on nothing, or on less than was meant, after a typing error."""
    for chosen in (parse_selection(models=["mm"]), parse_selection(["itm=a"])):
        with pytest.raises(AnalysisError, match=r'"m"|"item"'):
            exclusions(analysed(ROWS), [design("")], chosen)


def test_a_status_outside_the_schema_breaks_the_sum(analysed, design):
    """Catches rows that are neither used nor excluded."""
    with pytest.raises(AnalysisError, match="do not add up") as caught:
        exclusions(analysed([*ROWS, {"model": "k", "item": "g", "status": None}]), [design("")])
    assert caught.value.offenders == ("k",)


def test_rows_lost_or_doubled_before_the_reduction_are_found(analysed, design):
    """Catches a join that drops or repeats responses on the way to the view."""
    con = analysed(ROWS)
    con.execute("INSERT INTO analysed SELECT * FROM analysed WHERE item = 'a'")
    with pytest.raises(AnalysisError, match="hold 7 responses, of which 8"):
        accounting(con, [design("")])


statuses = st.sampled_from(["answered", "unparsed", "refused", "truncated", "errored", "missing"])
rows = st.lists(
    st.fixed_dictionaries(
        {
            "model": st.sampled_from("mk"),
            "item": st.sampled_from("abc"),
            "task": st.sampled_from(["", "t"]),
            "gold": st.just("yes"),
            "status": statuses,
            "excluded": st.sampled_from([None, None, "x", "errored"]),
        }
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows)
def test_used_and_excluded_rows_are_all_rows_and_used_rows_are_those_counted(analysed, design, rows):
    """Catches estimates made from other rows than the accounting calls used."""
    con, tasks = analysed(rows), [design(""), design("t")]
    chosen = parse_selection(["item!=b"])
    table = accounting(con, tasks, chosen)
    assert table["rows"].sum() == len(rows)
    excluded = exclusions(con, tasks, chosen)
    assert table["used"].sum() + excluded["rows"].sum() == len(rows)
    counted = [item_counts(con, task, Study(), chosen) for task in tasks]
    assert table["used"].sum() == sum(int(c["n_answered"].sum() + c["n_uncertain"].sum()) for c in counted)
