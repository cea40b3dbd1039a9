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
from analysis.verification.printed_tables import check_tables

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
    (checked,) = check_tables([path], declarations(DIFFERENCE, "here"))
    assert checked.checks == 6
    assert [(found.line, found.row, found.rule) for found in checked.findings] == [
        (4, "bad", "gap = a - b"),
    ]
    assert "0.1 to 0.3" in checked.findings[0].possible


def test_empty_cells_are_counted_and_not_checked(tmp_path):
    """Catches a row that vanishes."""
    (checked,) = check_tables([table(tmp_path, "model,a,b,gap,n\nm,,0.4,0.1,\n")], declarations(DIFFERENCE, "here"))
    assert (checked.checks, checked.empty) == (0, 2)


WELCH = """
[[table]]
name = "tests"
columns = ["model", "t", "df", "p"]
[[table.p_value]]
p = "p"
distribution = "t"
statistic = "t"
df = "df"
"""


def test_degrees_of_freedom_with_decimals_are_not_rounded_to_a_count(tmp_path):
    """Catches a contradiction that there is none: t = 3.00 with 2.6 degrees of freedom has p = .069, with 3 .058."""
    path = table(tmp_path, "model,t,df,p\nwelch,3.00,2.6,0.0691\ncounted,3.00,3,0.0577\nwrong,3.00,3,0.0691\n")
    (checked,) = check_tables([path], declarations(WELCH, "here"))
    assert (checked.checks, [found.row for found in checked.findings]) == (3, ["wrong"])


def test_rules_for_some_rows_leave_the_others_out(tmp_path):
    """Catches an exempt row that is found, an exemption of every row, and a rule about no row that passes unseen."""
    path = table(tmp_path, "model,a,b,gap,n\nx,0.5,0.4,0.3,10\ny,0.5,0.4,0.3,10\nz,0.5,0.4,0.3,10\n")
    for rows, found, empty in (
        ('but = { model = "y" }', ["x", "z"], 0),
        ('only = { model = ["x", "y"] }\nbut = { model = "y" }', ["x"], 0),
        ('only = { model = "w" }', [], 1),
    ):
        declared = declarations(DIFFERENCE.replace('"a - b"', f'"a - b"\n{rows}'), "here")
        (checked,) = check_tables([path], declared)
        assert ([one.row for one in checked.findings], checked.empty) == (found, empty), rows
    with pytest.raises(AnalysisError, match="uses 'modle', which columns does not list"):
        declarations(DIFFERENCE.replace('"a - b"', '"a - b"\nbut = { modle = "y" }'), "here")


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


def rows_found(folder, *, only=None):
    """Rows with a contradiction, by what they are checked as."""
    found = {}
    for table in check_tables(sorted(folder.glob(only or "*.csv")), shipped_declarations()):
        found.setdefault(table.declaration, []).extend(finding.row for finding in table.findings)
    return {name: sorted(rows) for name, rows in found.items() if rows}


def test_shipped_declarations_find_the_known_contradictions_of_operators(shared):
    """Catches a declaration that is too lax or too strict: the statements that the tables contradict, and no others."""
    assert rows_found(shared / "published" / "probability_operators") == {
        "probability operators, weightings": [
            "Opus 4.7",
            "Sonnet 4.6",
            "deepseek-r1:32b",
            "deepseek-r1:7b",
            "gemma3:270m",
            "qwen3:1.7b",
        ],
        "probability operators, gender": [
            "deepseek-r1:32b",
            "gemma3:12b",
            "llama3.1:8b",
            "llama3.2:3b",
            "qwen3:14b",
        ],
        "numbers about whole tables": ["male minus female, GPT-5.4-mini", "prefix minus not accuracy, Opus"],
    }


def test_shipped_declarations_find_the_known_contradictions_of_syllogisms(shared):
    """Catches the cells that were rounded twice, the turned sign and unlike denominators going unseen, or others."""
    assert rows_found(shared / "published" / "syllogisms") == {
        "syllogisms, belief bias": ["Gemini 2.5 Flash", "Llama 3.2 3B Instruct"],
        "syllogisms, tests": ["main effects", "main effects"],
        "syllogisms, metrics and belief bias": ["GLM-4.6", "GPT-OSS-20B"],
        "syllogisms, metrics and strategies": ["GPT-OSS-20B"],
    }
    (cells,) = check_tables([shared / "published/syllogisms/table04_belief_bias.csv"], shipped_declarations())
    assert "rounded twice: 928 of 936 is 99.1453, then 99.15" in cells.findings[1].possible


def test_statements_with_a_number_of_their_own_need_no_second_file(shared):
    """Catches a contradiction that is only seen where the quoted figures are given too."""
    folder = shared / "published" / "probability_operators"
    assert rows_found(folder, only="table06*")["numbers about whole tables"] == ["Opus 4.7"]
    assert rows_found(folder, only="table16*")["numbers about whole tables"] == ["gpt-5.4-mini"]


OPERATORS = (
    ("table12_templates.csv", "+0.098,62.1", "+0.098,62.2", "agree_percent is a share of 29"),
    ("table12_templates.csv", "0.743,0.463,+0.417,96.6", "0.743,0.497,+0.417,96.6", "disagree in direction"),
    ("table12_templates.csv", "0.428,0.619", "0.228,0.619", "whose mean is acc"),
    ("table12_templates.csv", "0.574,0.539,+0.098", "0.574,0.539,+0.598", "within one template"),
    ("table13_scaling.csv", "0.202,0.385,+0.028,61.5", "0.402,0.385,+0.028,61.5", "count as wrong"),
    ("table13_scaling.csv", "0.843,-0.005", "0.843,-0.205", "half the difference"),
    ("table13_scaling.csv", "0.615,0.016", "0.615,0.026", "abs_bias = max(right_bias, -right_bias)"),
    ("table14_weighting.csv", "0.756,0.782", "0.759,0.782", "acc = right_micro"),
    ("table15_forms_by_model.csv", "0.85,0.87,1.00,0.50,0.88", "0.85,0.87,1.00,0.50,0.82", "frame_bal"),
    ("table04_forms.csv", "0.710,0.584,+0.125", "0.730,0.604,+0.125", "TRUTH is mean of truth"),
    ("printed_means.csv", "micro,0.597", "micro,0.607", "table14 micro is mean of micro"),
    ("quoted_figures.csv", "above 0.5,9,", "above 0.5,10,", "is count of floor > 0.5"),
    ("quoted_figures.csv", "and floor,-0.82", "and floor,-0.76", "is pearson of max(bias, -bias), floor"),
    ("quoted_figures.csv", 'Gemma 3",-0.60', 'Gemma 3",-0.70', "is order spearman of abs_bias of Gemma 3"),
    ("quoted_figures.csv", "templates,0.126", "templates,0.131", "is population sd of ps"),
)
SYLLOGISMS = (
    ("table05_tests.csv", "42.88", "43.24", "with the continuity correction"),
    ("table05_tests.csv", "0.0280,0.0280 *", "0.0250,0.0250 *", "p_printed of value (t, df 13)"),
    ("table05_tests.csv", "0.0062 **", "0.0062 ***", "one star for each of 0.05, 0.01, 0.001"),
    ("table05_tests.csv", "0.890", "0.990", "is spearman of acc, c_all"),
    ("table05_tests.csv", "-0.565,,14,0.0353", "-0.465,,14,0.0353", "is spearman of acc, right_delta_bias"),
    ("table05_tests.csv", "0.0495,0.0495", "0.0595,0.0595", "is 3 * p_value of paired t"),
    ("table05_tests.csv", ",0.66,,,,", ",0.69,,,,", "is d of delta_bias"),
    ("quoted_figures.csv", "14 models,17.1", "14 models,18.1", "is sd of acc"),
    ("table03_metrics.csv", "88.3,93.1,90.6", "80.3,93.1,90.6", "not alike over four"),
)


@pytest.mark.parametrize(("study", "changes"), [("probability_operators", OPERATORS), ("syllogisms", SYLLOGISMS)])
def test_every_digit_that_is_changed_is_found(shared, tmp_path, study, changes):
    """Catches a rule that no number can break: each change of a printed digit breaks the rule that it names."""
    for path in (shared / "published" / study).glob("*.csv"):
        text = path.read_text(encoding="utf-8")
        for _, old, new, _ in (change for change in changes if change[0] == path.name):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    checked = check_tables(sorted(tmp_path.glob("*.csv")), shipped_declarations())
    rules = [one.rule for table in checked for one in table.findings]
    assert [said for *_, said in changes if not any(said in rule for rule in rules)] == []


def test_figures_of_a_text_alone_agree(shared, tmp_path):
    """Catches a limit outside of its interval, and a ratio that its numbers do not give, in a text without tables."""
    path = shared / "published" / "latent_coherence" / "quoted_figures.csv"
    assert rows_found(path.parent) == {}
    text = (
        path.read_text(encoding="utf-8").replace("0.28,0.10,0.40", "0.48,0.10,0.40").replace("seven,4.5", "seven,5.5")
    )
    (tmp_path / "quoted.csv").write_text(text, encoding="utf-8")
    found = [one for each in check_tables([tmp_path / "quoted.csv"], shipped_declarations()) for one in each.findings]
    assert [one.row for one in found] == [
        "persistent residual",
        "ratio of largest to smallest mean absolute residual",
    ]


def test_exit_status(tmp_path, capsys):
    """Catches a command that cannot serve as a gate."""
    declared = tmp_path / "rules.toml"
    declared.write_text(DIFFERENCE, encoding="utf-8")
    good = table(tmp_path, "model,a,b,gap,n\nm,0.5,0.4,0.1,10\n")
    assert main(["check-tables", str(good), "--declaration", str(declared)]) == 0
    bad = table(tmp_path, "model,a,b,gap,n\nm,0.5,0.4,0.3,10\n")
    assert main(["check-tables", str(bad), "--declaration", str(declared)]) == 1
    assert "1 contradiction\n" in capsys.readouterr().out
