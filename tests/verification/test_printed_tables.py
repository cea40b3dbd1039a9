"""Printed numbers against each other: nothing that rounding allows is a contradiction, and nothing else passes."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.cli.main import main
from analysis.errors import AnalysisError
from analysis.measures.identities_grammar import parse_expression
from analysis.verification.printed_declarations import declarations, shipped_declarations
from analysis.verification.printed_numbers import Span, implied_span, possible_count, printed_span
from analysis.verification.printed_tables import check_table

DIFFERENCE = """
[[table]]
name = "two rates"
columns = ["model", "a", "b", "gap", "n"]
[[table.relation]]
left = "gap"
right = "a - b"
[[table.proportion]]
columns = ["a"]
n = "n"
"""


def table(tmp_path, text):
    path = tmp_path / "printed.csv"
    path.write_text(text, encoding="utf-8")
    return path


@given(st.decimals(-1000, 1000, places=6), st.integers(0, 5))
def test_a_number_lies_within_the_span_of_its_print(value, places):
    """Catches a span with the wrong width or sign, and one of the two ways to round a half left out."""
    for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN):
        printed = value.quantize(Decimal(1).scaleb(-places), rounding=rounding)
        span = printed_span(f"{printed:+,f}")
        assert span is not None
        assert span.low <= Fraction(value) <= span.high
        assert span.high - span.low == Fraction(1, 10**places)


@pytest.mark.parametrize(
    ("text", "low"),
    [("\u22120.41", "-0.415"), (".574", "0.5735"), ("57.2%", "57.15"), ("1,234", "1233.5"), ("+0", "-0.5")],
)
def test_printed_forms(text, low):
    """Catches a minus, a percent sign or a comma read as something else."""
    assert printed_span(text).low == Fraction(low)


@pytest.mark.parametrize("text", ["1e5", "n/a", "0.5 (0.1)", ".", "1.2.3", "--1", "\u00bd"])
def test_other_texts_are_refused(text):
    """Catches a guess at a text that is no number."""
    with pytest.raises(AnalysisError, match="no printed number"):
        printed_span(text)


def test_empty_cells_are_no_number():
    """Catches an empty cell taken for 0."""
    assert printed_span(" ") is None
    assert printed_span("\u2013") is None


@given(st.lists(st.fractions(Fraction(-5), Fraction(5)), min_size=3, max_size=3), st.floats(0, 1))
def test_what_follows_contains_what_was_meant(values, share):
    """Catches an interval arithmetic that is too narrow: the expression of true values must lie within it."""
    half = Fraction(1, 20)
    spans = {
        name: Span(value - half * Fraction(share), value + half) for name, value in zip("abc", values, strict=True)
    }
    a, b, c = values
    cases = {
        "a - b * c": a - b * c,
        "min(a, b) + max(b, c)": min(a, b) + max(b, c),
        "-a + 2 * (b - c) / 4": -a + (b - c) / 2,
    }
    for text, value in cases.items():
        found = implied_span(parse_expression(text), spans)
        assert found.low <= value <= found.high


def test_division_by_what_may_be_zero_is_refused():
    """Catches an interval that should be unbounded."""
    with pytest.raises(AnalysisError, match="divisor can be 0"):
        implied_span(parse_expression("1 / a"), {"a": Span(Fraction(-1), Fraction(1))})


@given(st.integers(1, 400), st.data())
def test_real_proportions_pass_and_gaps_do_not(n, data):
    """Catches a count test that is off by one, against every count in turn."""
    k = data.draw(st.integers(0, n))
    assert possible_count(printed_span(f"{k / n:.3f}"), n)
    span = Span(Fraction(k, n) + Fraction(1, 4 * n), Fraction(k, n) + Fraction(3, 4 * n))
    assert not possible_count(span, n)


def test_grim_known_case():
    """Catches a mean of 28 whole numbers printed as 5.19 passing (Brown and Heathers 2017, p. 364)."""
    assert not possible_count(Span(Fraction("0.185"), Fraction("0.195")), 28)
    assert possible_count(Span(Fraction("0.175"), Fraction("0.185")), 28)


def test_findings_name_line_row_and_numbers(tmp_path):
    """Catches a contradiction that is missed, one that rounding explains, and a wrong line."""
    path = table(tmp_path, "model,a,b,gap,n\ngood,0.51,0.40,+0.11,100\nlucky,0.51,0.40,+0.12,100\nbad,0.6,0.4,.31,7\n")
    (checked,) = check_table(path, declarations(DIFFERENCE, "here"))
    assert checked.checks == 6
    assert [(found.line, found.row, found.rule) for found in checked.findings] == [
        (4, "bad", "gap = a - b"),
    ]
    assert "0.1 to 0.3" in checked.findings[0].possible


def test_empty_cells_are_counted_and_not_checked(tmp_path):
    """Catches a row that vanishes."""
    (checked,) = check_table(table(tmp_path, "model,a,b,gap,n\nm,,0.4,0.1,\n"), declarations(DIFFERENCE, "here"))
    assert (checked.checks, checked.empty) == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,a,b,gap,n\nm,x,0.4,0.1,5\n", "line 2, column a: 'x' is no printed number"),
        ("model,a,b,gap,n\nm,0.1\n", "line 2: 2 cells where the header has 5"),
        ("model,a,a,gap,n\n", "two columns are called 'a'"),
        ("", "is empty"),
        ("model,z\nm,1\n", "no declaration fits"),
    ],
)
def test_bad_tables_get_one_message(tmp_path, capsys, text, message):
    """Catches a traceback or a guess."""
    declared = tmp_path / "rules.toml"
    declared.write_text(DIFFERENCE, encoding="utf-8")
    assert main(["check-tables", str(table(tmp_path, text)), "--declaration", str(declared)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("left", "lefft"), "unknown key 'lefft'"),
        (("a - b", "a - c"), "uses 'c', which columns does not list"),
        (("a - b", "__import__('os')"), "none of sum"),
        (('"n"\n', "0\n"), "whole number above 0"),
        (("[[table]]", "[table"), "not valid TOML"),
    ],
)
def test_bad_declarations_get_one_message(change, message):
    """Catches a misspelt rule that is never checked, and code in an expression."""
    with pytest.raises(AnalysisError, match=message):
        declarations(DIFFERENCE.replace(*change), "here")


def test_shipped_declarations_find_the_known_contradictions(shared):
    """Catches a declaration that is too lax or too strict: the statements that the tables contradict, and no others."""
    folder = shared / "published" / "probability_operators"
    found = {
        path.stem: [row.row for table in check_table(path, shipped_declarations()) for row in table.findings]
        for path in sorted(folder.glob("table*.csv"))
        if path.stem not in ("table12_templates", "table13_scaling")
    }
    assert found.pop("table06_prefix_not") == ["Opus 4.7"]
    assert sorted(found.pop("table14_weighting")) == [
        "Opus 4.7",
        "Sonnet 4.6",
        "deepseek-r1:32b",
        "deepseek-r1:7b",
        "gemma3:270m",
        "qwen3:1.7b",
    ]
    gender = found.pop("table16_gender")
    assert gender.count("gpt-5.4-mini") == 1
    assert len(gender) == 7
    assert set(map(tuple, found.values())) == {()}


def test_exit_status(tmp_path, capsys):
    """Catches a command that cannot serve as a gate."""
    declared = tmp_path / "rules.toml"
    declared.write_text(DIFFERENCE, encoding="utf-8")
    good = table(tmp_path, "model,a,b,gap,n\nm,0.5,0.4,0.1,10\n")
    assert main(["check-tables", str(good), "--declaration", str(declared)]) == 0
    bad = table(tmp_path, "model,a,b,gap,n\nm,0.5,0.4,0.3,10\n")
    assert main(["check-tables", str(bad), "--declaration", str(declared)]) == 1
    assert "1 contradiction\n" in capsys.readouterr().out
