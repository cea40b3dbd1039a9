"""Conditions that users type: read literally, never evaluated, refused when they cannot be meant."""

import pytest

from analysis.errors import AnalysisError
from analysis.reduction.selection import (
    EVERYTHING,
    Condition,
    Selection,
    check_selection,
    column_types,
    parse_condition,
    parse_selection,
)

ROWS = [
    {"model": "gpt, large", "item": "a", "temperature": "0.0", "model_size": 7.0, "simulated": True, "form": "truth"},
    {"model": "b", "item": "b", "temperature": "0.7", "model_size": 70.0, "simulated": False, "form": None},
    {"model": "b", "item": "o'brien; DROP TABLE responses", "temperature": None, "form": "valid"},
]


def kept(con, selection: Selection) -> list[str]:
    reason, parameters = selection.reason_sql(column_types(con))
    rows = con.execute(f"SELECT item FROM analysed WHERE {reason} IS NULL ORDER BY item", parameters).fetchall()
    return [item for (item,) in rows]


@pytest.mark.parametrize(
    ("text", "column", "values", "keep"),
    [
        ("form=truth", "form", ("truth",), True),
        (" form == truth ", "form", ("truth",), True),
        ("form!=a=b", "form", ("a=b",), False),
        ("form in a, b,a", "form", ("a", "b"), True),
        ('model in "gpt, large",b', "model", ("gpt, large", "b"), True),
        ("form not in a,b", "form", ("a", "b"), False),
        ("factor.my time=x in y", "factor.my time", ("x in y",), True),
        ("note=x in y", "note", ("x in y",), True),
        ("form=", "form", ("",), True),
        ("inside=1", "inside", ("1",), True),
    ],
)
def test_expressions_are_read_literally(text, column, values, keep):
    """Catches a split at the wrong operator, a comma inside a name, or "in" found inside a word."""
    assert parse_condition(text) == Condition(column, values, keep, text.strip())


@pytest.mark.parametrize("text", ["", "form", "form in ", "=x", "in a,b", "1 < 2"])
def test_what_is_no_condition_is_refused(text):
    """Catches an expression that silently selects everything."""
    with pytest.raises(AnalysisError, match="column=value"):
        parse_condition(text)


@pytest.mark.parametrize(
    ("where", "items"),
    [
        (["form=truth"], ["a"]),
        (["form!=truth"], ["b", ROWS[2]["item"]]),
        (["form="], ["b"]),
        (["form!="], ["a", ROWS[2]["item"]]),
        (["model_size=7"], ["a"]),
        (["model_size!=7.0"], ["b", ROWS[2]["item"]]),
        (["temperature=0"], []),
        (["simulated=TRUE"], ["a"]),
        (["simulated!=true"], ["b", ROWS[2]["item"]]),
        (["model=b", "form=valid"], [ROWS[2]["item"]]),
        (["item=o'brien; DROP TABLE responses"], [ROWS[2]["item"]]),
        (['model in "gpt, large"'], ["a"]),
        (["form not in truth,valid"], ["b"]),
        ([], ["a", "b", ROWS[2]["item"]]),
    ],
)
def test_rows_meet_conditions_as_text_or_as_numbers(analysed, where, items):
    """Catches three-valued logic (missing levels lost under !=), text compared as numbers, and SQL in values."""
    con = analysed(ROWS)
    assert kept(con, parse_selection(where)) == items
    assert con.execute("SELECT count(*) FROM responses").fetchone() == (3,)


def test_models_and_tasks_are_exact_names(analysed):
    """Catches patterns or commas read into a model's name, and shortened names."""
    con = analysed(ROWS)
    assert kept(con, parse_selection(models=["gpt, large"])) == ["a"]
    assert kept(con, parse_selection(models=["gpt"])) == []
    assert kept(con, parse_selection(tasks=["other"])) == []


def test_the_reason_quotes_the_first_condition_that_fails(analysed):
    """Catches reasons that cannot be traced to what was typed."""
    con = analysed(ROWS)
    reason, parameters = parse_selection(["form=truth", "temperature=0.7"]).reason_sql(column_types(con))
    rows = con.execute(f"SELECT {reason} FROM analysed ORDER BY item", parameters).fetchall()
    assert rows == [("not selected: temperature=0.7",), ("not selected: form=truth",), ("not selected: form=truth",)]
    assert EVERYTHING.reason_sql(column_types(con))[1] == []


@pytest.mark.parametrize("text", ["from=truth", "forms=truth", "FORM=truth"])
def test_an_unknown_column_is_refused_with_the_nearest(analysed, text):
    """Catches a misspelt column that DuckDB would fold, or report as a traceback."""
    with pytest.raises(AnalysisError, match=r'no column.*"form"|no column.*there are'):
        kept(analysed(ROWS), parse_selection([text]))


@pytest.mark.parametrize(
    ("text", "message"),
    [("model_size=big", "numbers"), ("model_size=nan", "numbers"), ("simulated=1", "true or false")],
)
def test_a_value_that_a_column_cannot_hold_is_refused(analysed, text, message):
    """Catches a conversion error of the database, or a comparison that is never true."""
    with pytest.raises(AnalysisError, match=message):
        kept(analysed(ROWS), parse_selection([text]))


def test_a_level_that_occurs_nowhere_is_refused_with_the_nearest(analysed):
    """Catches a report on nothing after a typing error; what is left out need not occur."""
    con = analysed(ROWS)
    with pytest.raises(AnalysisError, match='"truth"'):
        check_selection(con, parse_selection(["form in valid,thruth"]))
    with pytest.raises(AnalysisError, match="column is empty"):
        check_selection(con, parse_selection(["strategy=cot"]))
    check_selection(con, parse_selection(["form!=thruth", "form=valid"], models=["b"]))
