"""Declared tables: what they demand of the data, order, marks, notes."""

import numpy as np
import pandas as pd
import pytest
from example_tables import FLOOR, floor_rows, long_table
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.report.columns import (
    Count,
    Decision,
    Estimate,
    Flag,
    Interval,
    Number,
    Percent,
    Proportion,
    PValue,
    Signed,
    Text,
)
from analysis.report.formatted import format_table, letter
from analysis.report.notes import notes_from
from analysis.report.ordering import natural_key, ordered_rows
from analysis.report.spec import OrderBy, Spanner, Table, TableSpec, Where


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in format_table(table).rows]


def spec(*columns: object, **options: object) -> TableSpec:
    return TableSpec("t", "T", columns, **options)


def plain_notes(table: Table) -> str:
    return " ".join(sentence for mark, sentence in format_table(table).notes if not mark)


@pytest.mark.parametrize(
    ("column", "row", "text"),
    [
        (Text("a"), {"a": "gpt-5"}, "gpt-5"),
        (Text("a", labels={"x": "GPT-5"}), {"a": "x"}, "GPT-5"),
        (Text("a"), {"a": "None"}, "None"),
        (Count("a"), {"a": np.int64(14320)}, "14,320"),
        (Number("a", digits=1), {"a": -0.25001}, "\u22120.3"),
        (Proportion("a"), {"a": 0.5}, "0.500"),
        (Signed("a"), {"a": 0.5}, "+0.50"),
        (Percent("a"), {"a": 0.2141}, "21.4"),
        (PValue("a"), {"a": 1e-9}, "< 0.001"),
        (PValue("a", floor="f"), {"a": 0.0005, "f": 0.0005}, "\u2264 0.00050"),
        (Interval("l", high="h", digits=2), {"l": 0.05, "h": 0.21}, "[0.05, 0.21]"),
        (Interval("l", high="h", digits=2, signed=True), {"l": -0.05, "h": 0.21}, "[\u22120.05, +0.21]"),
        (Interval("l", high="h", digits=1, percent=True), {"l": 0.05, "h": 0.21}, "[5.0, 21.0]"),
        (Interval("l", high="h", digits=2), {"l": 0.05, "h": None}, "[0.05, \u2013]"),
        (Estimate("e", low="l", high="h", digits=2), {"e": 0.1, "l": 0.05, "h": 0.21}, "0.10 [0.05, 0.21]"),
        (Flag("a"), {"a": np.bool_(False)}, "no"),
        (Decision("a", labels={"above": "above .5"}), {"a": "above"}, "above .5"),
    ],
)
def test_cells(column: Text, row: dict[str, object], text: str) -> None:
    """Catches wrong digits, a wrong sign, a label that is not applied."""
    assert "".join(column.parts(row) or ()) == text


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, np.inf, -np.inf])
def test_missing_values_print_a_dash_and_their_reason(missing: object) -> None:
    """Catches "nan", "None" or "inf" in print, and a reason that is lost or given to the wrong cell."""
    rows = pd.DataFrame({"m": ["x", "y"], "a": [missing, 1.0], "a_reason": ["no answers", None]}, dtype=object)
    shown = format_table(Table(spec(Text("m"), Number("a")), rows))
    assert [(c.text, c.marks) for c in shown.rows[0].cells] == [("x", ()), ("\u2013", ("a",))]
    assert shown.rows[1].cells[1].marks == ()
    assert shown.notes == (("a", "no answers"),)


def test_every_kind_of_column_marks_a_missing_value() -> None:
    """Catches a kind that turns a missing value into 0, no or an empty cell."""
    columns = (Count("v"), Number("v"), Proportion("v"), Signed("v"), Percent("v"), PValue("v"), Flag("v"), Text("v"))
    for column in columns:
        shown = format_table(Table(spec(column), pd.DataFrame({"v": [None], "v_reason": ["none"]})))
        assert shown.rows[0].cells[0].text == "\u2013"
        assert shown.notes[-1] == ("a", "none")


def test_reasons_share_letters_in_order_of_appearance() -> None:
    """Catches one letter for two reasons, and letters in the order of the data instead of the table."""
    rows = pd.DataFrame({"m": list("abc"), "v": [None, None, None], "reason": ["one", "two", "one"]})
    shown = format_table(Table(spec(Text("m"), Number("v"), order="-m"), rows))
    assert [row.cells[1].marks for row in shown.rows] == [("a",), ("b",), ("a",)]
    assert shown.notes == (("a", "one"), ("b", "two"))


def test_reason_that_limits_a_defined_row_marks_its_name() -> None:
    """Catches a warning that disappears because the value exists."""
    rows = pd.DataFrame({"m": ["a"], "v": [0.5], "reason": ["one unit only"]})
    shown = format_table(Table(spec(Text("m"), Number("v")), rows))
    assert [cell.marks for cell in shown.rows[0].cells] == [("a",), ()]


def test_reason_of_a_row_explains_numbers_and_not_names() -> None:
    """Catches an empty level explained by the failure of the estimate beside it."""
    rows = pd.DataFrame({"m": ["a"], "level": [None], "v": [None], "reason": ["no answers"]})
    shown = format_table(Table(spec(Text("m"), Text("level"), Number("v")), rows))
    assert [cell.marks for cell in shown.rows[0].cells] == [(), (), ("a",)]


def test_conditions_are_false_where_the_value_is_missing() -> None:
    """Catches a missing value that counts as unequal, and a comparison with None that raises."""
    for missing in (None, np.nan, pd.NA):
        assert not any(Where("a", op, 0.5).holds({"a": missing}) for op in ("<", "<=", ">", ">=", "==", "!="))
    with pytest.raises(AnalysisError, match="compared with"):
        Where("a", ">", 0.5).holds({"a": "text"})


def test_missing_without_a_reason_is_said() -> None:
    """Catches an unexplained dash."""
    rows = pd.DataFrame({"v": [None]})
    assert "no value" in plain_notes(Table(spec(Number("v")), rows))


def test_letters_go_on_after_z() -> None:
    """Catches { as the 27th letter."""
    assert [letter(at) for at in (0, 25, 26, 51, 52, 701, 702)] == ["a", "z", "aa", "az", "ba", "zz", "aaa"]


def test_absent_columns_are_refused_by_name() -> None:
    """Catches a KeyError, or a column that is silently left out."""
    rows = pd.DataFrame({"model": ["a"], "estimate": [0.1]})
    with pytest.raises(AnalysisError, match="ci_low, ci_high, ci_level, ci_method") as caught:
        Table(spec(Text("model"), Interval()), rows)
    assert caught.value.offenders == ("ci_low", "ci_high", "ci_level", "ci_method")
    for options in ({"order": "-n"}, {"groups": ("n",)}, {"rule_where": Where("n", ">", 1)}):
        with pytest.raises(AnalysisError, match="declares n"):
            Table(spec(Text("model"), **options), rows)
    with pytest.raises(AnalysisError, match="p_adjust_method"):
        Table(spec(PValue("p_adjusted")), pd.DataFrame({"p_adjusted": [0.1]}))


def test_optional_columns_may_be_absent() -> None:
    """Catches a census table, which has no intervals, being refused; styles and spanners follow."""
    rows = pd.DataFrame({"model": ["a"], "estimate": [0.1]})
    declared = spec(
        Text("model"),
        Number("estimate"),
        Interval(optional=True),
        order="-ci_low",
        spanners=(Spanner("Floor", ("estimate", "ci_low")),),
        bold_where=(Where("ci_low", ">", 0.5),),
    )
    shown = format_table(Table(declared, rows))
    assert [h.text for h in shown.headings] == ["model", "estimate"]
    assert shown.spanners == (("Floor", 1, 1),)
    assert shown.legend == ()


def test_impossible_declarations_are_refused() -> None:
    """Catches a name that is no file name, a style of no cell, a spanner over a gap, an unknown comparison."""
    a, b, c = Number("a"), Number("b"), Number("c")
    for refused in (
        lambda: TableSpec("../x", "T", (a,)),
        lambda: TableSpec("t", "T", ()),
        lambda: spec(a, bold_where=(Where("z", ">", 0),)),
        lambda: spec(a, b, c, spanners=(Spanner("S", ("a", "c")),)),
        lambda: spec(a, spanners=(Spanner("S", ("z",)),)),
        lambda: Where("a", "=>", 0),
        lambda: Table(spec(a), pd.DataFrame([[1, 2]], columns=["a", "a"])),
    ):
        with pytest.raises(AnalysisError):
            refused()


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        (Proportion("v"), [67.4], "proportion"),
        (Count("v"), [0.5], "whole number"),
        (Number("v"), ["0.5"], "declared as a number"),
        (Decision("v", labels={"a": "A"}), ["b"], "declared are a"),
    ],
)
def test_values_that_contradict_their_declaration_name_table_and_column(
    column: Number, values: list[object], message: str
) -> None:
    """Catches a percentage printed as a proportion, and an error that does not say where."""
    with pytest.raises(AnalysisError, match=rf'table "t", column "v": .*{message}'):
        format_table(Table(spec(column), pd.DataFrame({"v": values})))
    with pytest.raises(AnalysisError, match="lies above"):
        Interval("l", high="h").parts({"l": 0.3, "h": 0.2})


def test_interval_heading_comes_from_the_data() -> None:
    """Catches an equal-tailed interval called HDI, and 95% typed over another level."""
    rows = pd.DataFrame({"ci_low": [0.1, 0.2], "ci_high": [0.3, 0.4], "ci_level": 0.89, "ci_method": "hdi"})
    assert Interval().heading(rows) == "89% HDI"
    assert Interval("ci_low", "Floor").heading(rows.assign(ci_method="eti")) == "Floor 89% ETI"
    assert Interval().heading(rows.assign(ci_level=[0.95, 0.89])) == "HDI"
    assert Interval().heading(rows.assign(ci_method=["hdi", "eti"])) == "89% interval"
    assert Estimate("e", "Bias").heading(rows.assign(ci_method="dual_wilson")) == "Bias [89% CI]"


def test_units_stand_in_the_heading() -> None:
    """Catches numbers without their unit."""
    rows = pd.DataFrame({"r": [0.5], "t": [1.0]})
    shown = format_table(Table(spec(Percent("r", "Uncertain"), Number("t", "Latency", unit="s")), rows))
    assert [heading.text for heading in shown.headings] == ["Uncertain (%)", "Latency (s)"]


def test_order_is_that_of_unrounded_values_missing_last() -> None:
    """Catches sorting of printed text, and missing values on top of a descending order."""
    rows = pd.DataFrame({"m": list("abcde"), "v": [0.12341, np.nan, 0.12349, -1.0, 10.0]})
    assert [t[0] for t in texts(Table(spec(Text("m"), Number("v"), order="-v"), rows))] == list("ecadb")
    assert [t[0] for t in texts(Table(spec(Text("m"), Number("v"), order="v"), rows))] == list("daceb")


@settings(deadline=None)
@given(st.permutations(range(12)))
def test_twelve_levels_keep_their_order_and_their_intervals_under_any_shuffle(places: list[int]) -> None:
    """Catches level 10 before level 2, and an interval beside another level than its own."""
    rows = pd.DataFrame(
        {
            "level": [f"level {i}" for i in range(12)],
            "estimate": [i / 20 for i in range(12)],
            "ci_low": [i / 20 - 0.01 for i in range(12)],
            "ci_high": [i / 20 + 0.01 for i in range(12)],
            "ci_level": 0.95,
            "ci_method": "wilson",
        }
    )
    columns = (Text("level"), Estimate("estimate"))
    expected = texts(Table(spec(*columns), rows))
    shuffled = rows.iloc[places]
    levels = tuple(rows["level"])
    for key in (OrderBy("level", natural=True), OrderBy("level", levels=levels), "estimate"):
        assert texts(Table(spec(*columns, order=(key,)), shuffled)) == expected
    ordered = shuffled.assign(level=pd.Categorical(shuffled["level"], levels, ordered=True))
    assert texts(Table(spec(*columns, order="level"), ordered)) == expected


def test_rows_equal_in_all_keys_keep_their_order() -> None:
    """Catches an unstable sort, also a descending one."""
    rows = pd.DataFrame({"m": list("zyxwvu"), "v": [1, None, 0, 1, None, 0]})
    assert list(ordered_rows(rows, spec(Text("m"), order="-v"))["m"]) == list("zwxuyv")
    assert list(ordered_rows(rows, spec(Text("m"), order="v"))["m"]) == list("xuzwyv")
    assert list(ordered_rows(rows, spec(Text("m")))["m"]) == list("zyxwvu")


def test_undeclared_level_is_refused() -> None:
    """Catches a level that disappears or lands at a random place."""
    rows = pd.DataFrame({"m": ["a", "new"]})
    with pytest.raises(AnalysisError, match="'new'"):
        ordered_rows(rows, spec(Text("m"), order=(OrderBy("m", levels=("a",)),)))


def test_natural_order() -> None:
    """Catches digits compared as letters, decimals compared as versions, and a crash on digits of other scripts."""
    names = ["x10", "x9", "x09", "0.5", "10", "0.10", "-1", "2", "\u0663", "x", "9" * 5000, "x\u00b2"]
    ordered = sorted(names, key=natural_key)
    assert ordered[:6] == ["-1", "0.10", "0.5", "2", "10", "9" * 5000]
    assert ordered.index("x09") < ordered.index("x9") < ordered.index("x10")


def test_groups_keep_together_in_order_of_their_first_row() -> None:
    """Catches a group that is headed twice."""
    rows = pd.DataFrame({"g": ["b", "a", None, "b", "a", None], "v": [1.0, 2, 3, 4, 5, 6]})
    shown = format_table(Table(spec(Number("v", digits=0), order="-v", groups=("g",)), rows))
    assert [row.cells[0].text for row in shown.rows] == ["6", "3", "5", "2", "4", "1"]
    assert [row.group.text if row.group else None for row in shown.rows] == ["\u2013", None, "a", None, "b", None]


def test_styles_follow_unrounded_data() -> None:
    """Catches bold for 0.4996, which prints as 0.500; a rule at the wrong row; a style of a missing cell."""
    shown = format_table(Table(FLOOR, floor_rows()))
    assert [row.cells[6].text[:5] for row in shown.rows] == ["0.674", "0.642", "0.500", "0.410", "0.300", "\u2013"]
    assert [row.cells[6].bold for row in shown.rows] == [True, True, False, False, False, False]
    assert [row.rule for row in shown.rows] == [False, False, True, False, False, False]
    assert [cell.underline for cell in shown.rows[1].cells] == [False] * 4 + [True] + [False] * 4
    assert shown.legend == (
        ("bold", "Floor > 0.5"),
        ("underline", "Accuracy by cell < 0.5"),
        ("rule", "Floor crosses 0.5"),
    )


def test_style_of_other_cells_names_its_condition() -> None:
    """Catches a legend that gives a condition to the wrong column."""
    declared = spec(Text("m", "Model"), Signed("b", "Bias"), bold_where=(Where("b", "<=", -0.5, cells=("m",)),))
    shown = format_table(Table(declared, pd.DataFrame({"m": ["x", "y"], "b": [-0.5, 0.0]})))
    assert [row.cells[0].bold for row in shown.rows] == [True, False]
    assert shown.legend == (("bold", "Model where Bias \u2264 \u22120.5"),)


def test_notes_are_read_off_the_data() -> None:
    """Catches a note typed by hand that the data contradict, and one that is missing."""
    notes = notes_from(floor_rows(), FLOOR)
    assert notes == (
        "Intervals: 95%, dual Wilson, effective n and degrees of freedom from the clustering by unit.",
        "p: adjusted by Holm, family of 5 tests.",
        "Per row: 80 independent units.",
        "Unit of analysis: surface.",
        "Uncertain answers count as incorrect.",
        "Weighting: micro, every response weighs the same within its cell.",
    )


def test_mixed_settings_are_said_with_their_rows() -> None:
    """Catches a table that mixes levels, methods, weightings or units under one label."""
    rows = floor_rows().assign(
        ci_level=[0.95] * 4 + [0.89, 0.95],
        ci_method=["wilson"] * 4 + ["hdi", "wilson"],
        weights=["micro"] * 5 + ["template"],
        unit=["surface"] * 3 + ["item"] * 3,
        n_clusters=[80, 80, 80, 80, 20, 0],
    )
    notes = " ".join(notes_from(rows, FLOOR))
    assert "Rows differ. Intervals: 95%, Wilson score (4 rows); 89%, highest posterior density (1 row)." in notes
    weights = ("micro, every response", "template, every template")
    words = "{} weighs the same within its cell (5 rows); {} weighs the same within its cell (1 row)."
    assert "Rows differ. Weighting: " + words.format(*weights) in notes
    assert "Rows differ. Unit of analysis: surface (3 rows); item (3 rows)." in notes
    assert "Per row: 0 to 80 independent units." in notes


def test_unadjusted_p_values_are_called_so() -> None:
    """Catches p-values that readers take for adjusted."""
    rows = pd.DataFrame({"p_value": [0.01], "test": "sign_flip", "alternative": "greater"})
    notes = notes_from(rows, spec(PValue("p_value", "p")))
    assert notes == ("p: not adjusted for multiple tests.", "Test: sign flip, greater.")


def test_printed_columns_need_no_note() -> None:
    """Catches a note that repeats a column."""
    rows = pd.DataFrame({"weights": ["micro", "form"], "n": [3, 4]})
    assert notes_from(rows, spec(Text("weights", "Weighting"), Count("n", "n"))) == ()
    assert notes_from(rows, spec(Count("n", "n")))[0].startswith("Rows differ. Weighting: micro, ")


def test_simulated_data_say_so() -> None:
    """Catches generated numbers that look like results, whether declared or marked in the data."""
    rows = floor_rows()
    for table in (Table(FLOOR, rows, simulated=True), Table(FLOOR, rows.assign(simulated=[None] * 5 + [True]))):
        shown = format_table(table)
        assert shown.title.startswith("SIMULATED DATA: ")
        assert shown.notes[0][1].startswith("SIMULATED DATA: ")
    assert "SIMULATED" not in format_table(Table(FLOOR, rows.assign(simulated=False))).title


def test_formatting_leaves_its_input_alone() -> None:
    """Catches rows sorted or rounded in place."""
    rows = floor_rows()
    before = rows.copy(deep=True)
    format_table(Table(FLOOR, rows, notes=("x",)))
    pd.testing.assert_frame_equal(rows, before)


def test_table_without_rows_is_said() -> None:
    """Catches a crash, or an empty grid without a word."""
    shown = format_table(Table(FLOOR, floor_rows().iloc[:0]))
    assert shown.rows == ()
    assert shown.notes[-1] == ("", "The table has no rows.")


def test_explicit_levels_come_before_the_data_order() -> None:
    """Catches groups in alphabetical order against a declared one."""
    groups = [row.group.text for row in format_table(long_table()).rows if row.group]
    assert groups == ["zero-shot", "chain of thought"]
