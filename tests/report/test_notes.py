"""Notes of a table that readers must be able to attribute: which column, which method, how many."""

import pandas as pd
import pytest

from analysis.report.columns import Estimate, Proportion, PValue, Text
from analysis.report.formatted import format_table
from analysis.report.notes import notes_from
from analysis.report.numbers import counted
from analysis.report.spec import Spanner, Table, TableSpec, Where


def estimate(name: str, header: str) -> Estimate:
    """Column with a method of its own."""
    return Estimate(name, header, low=f"{name}_low", high=f"{name}_high", method=f"{name}_method")


def test_intervals_of_two_methods_name_their_columns() -> None:
    """Catches "Intervals: A. Intervals: B.", which leaves open which column is which."""
    rows = pd.DataFrame({"ci_level": [0.95]})
    for name, method in (("bias", "wilson"), ("ps", "wilson"), ("floor", "jeffreys")):
        rows = rows.assign(**{name: 0.5, f"{name}_low": 0.4, f"{name}_high": 0.6, f"{name}_method": method})
    columns = (estimate("bias", "Bias"), estimate("ps", "PS"), estimate("floor", "Floor"))
    assert notes_from(rows, TableSpec("t", "T", columns)) == (
        "Intervals of Bias, PS: 95%, Wilson score.",
        "Intervals of Floor: 95%, Jeffreys.",
    )
    assert notes_from(rows, TableSpec("t", "T", columns[:2])) == ("Intervals: 95%, Wilson score.",)


def test_columns_that_lack_rows_are_said_with_those_that_have_them() -> None:
    """Catches "Intervals of A: Wilson. Intervals of B: Wilson.", because one model has no B."""
    rows = pd.DataFrame({"ci_level": [0.95, 0.95], "bias_reason": "", "ps_reason": ["", "not asked"]})
    for name, low in (("bias", [0.4, 0.4]), ("ps", [0.4, None])):
        rows = rows.assign(**{name: 0.5, f"{name}_low": low, f"{name}_high": low, f"{name}_method": "wilson"})
    columns = (estimate("bias", "Bias"), estimate("ps", "PS"))
    assert notes_from(rows, TableSpec("t", "T", columns)) == ("Intervals: 95%, Wilson score.",)


def test_adjustments_are_said_once_and_counted_grammatically() -> None:
    """Catches "Holm: Holm, family of 1 tests" twice over."""
    rows = pd.DataFrame({"p_value": [0.1], "below_p_value": 0.9, "p_adjusted": 0.1, "below_p_adjusted": 0.9})
    rows = rows.assign(p_adjust_method="holm", family_size=1, n_clusters=1)
    columns = (
        *(PValue("p_value", "p (above)"), PValue("p_adjusted", "Holm (above)")),
        *(PValue("below_p_value", "p (below)"), PValue("below_p_adjusted", "Holm (below)")),
    )
    assert notes_from(rows, TableSpec("t", "T", columns)) == (
        "p (above), p (below): not adjusted for multiple tests.",
        "Holm (above), Holm (below): adjusted by Holm, family of 1 test.",
        "Per row: 1 independent unit.",
    )


@pytest.mark.parametrize(
    ("number", "nouns", "text"),
    [
        (0, ("model",), "0 models"),
        (1, ("model",), "1 model"),
        (1200, ("response",), "1,200 responses"),
        (2, ("is a class", "are classes"), "2 are classes"),
    ],
)
def test_nouns_follow_their_number(number: int, nouns: tuple[str, ...], text: str) -> None:
    """Catches "1 models"."""
    assert counted(number, *nouns) == text


def test_a_style_is_explained_by_its_meaning() -> None:
    """Catches "Floor where decision = above", and a legend that lists one heading four times."""
    columns = (Text("m", "Model"), Proportion("floor", "Floor"), Proportion("a", "Aff."), Proportion("b", "Aff."))
    spec = TableSpec(
        "t",
        "T",
        columns,
        spanners=(Spanner("Valid", ("a",)), Spanner("Invalid", ("b",))),
        bold_where=(Where("decision", "==", "above", cells=("floor",), meaning="shown above .5"),),
        underline_where=(Where("a", "<", 0.5), Where("b", "<", 0.5)),
    )
    rows = pd.DataFrame({"m": ["x", "y"], "floor": [0.6, 0.6], "a": 0.4, "b": 0.4, "decision": ["above", "undecided"]})
    shown = format_table(Table(spec, rows))
    assert [row.cells[1].bold for row in shown.rows] == [True, False]
    assert shown.legend == (("bold", "Floor shown above .5"), ("underline", "Aff. < 0.5"))
