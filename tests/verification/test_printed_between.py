"""Tables against each other: rows with one key, and numbers that say something of a whole table."""

import pytest

from analysis.cli.main import main
from analysis.errors import AnalysisError
from analysis.verification.printed_declarations import declarations
from analysis.verification.printed_tables import check_tables

RULES = """
[[table]]
name = "rates"
columns = ["model", "right", "wrong"]
[[table]]
name = "gaps"
columns = ["family", "size", "gap"]
[[table]]
name = "text"
columns = ["what", "value"]
exact = true
[[join]]
name = "both"
left = "gaps"
right = "rates"
left_key = "{family}-{size}"
[[join.relation]]
left = "gap"
right = "right_right - right_wrong"
[[statements]]
of = "rates"
quoted = "text"
each = [
  { at = { what = "mean" }, take = "mean", values = ["right"] },
  { at = { what = "above" }, take = "count", condition = "right > 0.5" },
]
[[statements]]
of = "both"
quoted = "text"
each = [{ at = { what = "r" }, take = "pearson", values = ["gap", "right_right"] }]
"""
FILES = {
    "rates.csv": "model,right,wrong\nA-1B,0.60,0.40\nA-2B,0.70,0.30\nB-1B,0.40,0.60\n",
    "gaps.csv": "family,size,gap\nA,1B,0.20\na,2 B,0.40\nB,1B,-0.20\n",
    "text.csv": "what,value\nmean,0.57\nabove,2\nr,1.00\n",
}


def files(tmp_path, changed=None):
    for name, text in (FILES | (changed or {})).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return sorted(tmp_path.glob("*.csv"))


def findings(tmp_path, changed=None):
    checked = check_tables(files(tmp_path, changed), declarations(RULES, "here"))
    return [(one.line, one.row, one.possible) for table in checked for one in table.findings]


def test_agreeing_tables_are_checked_and_found_to_agree(tmp_path):
    """Catches tables that are never joined: all of three rows and three numbers are looked at."""
    checked = check_tables(files(tmp_path), declarations(RULES, "here"))
    assert {table.declaration: table.checks for table in checked}["both"] == 3
    assert {table.declaration: table.checks for table in checked}["numbers about whole tables"] == 3
    assert not [one for table in checked for one in table.findings]


def test_a_row_and_a_summary_that_contradict_are_found(tmp_path):
    """Catches keys joined by order instead of by name, and summaries over the wrong rows."""
    assert findings(tmp_path, {"gaps.csv": "family,size,gap\nB,1B,-0.20\nA,2B,0.44\nA,1B,0.20\n"}) == [
        (3, "A", "left side 0.435 to 0.445, right side 0.39 to 0.41")
    ]
    assert findings(tmp_path, {"text.csv": "what,value\nmean,0.58\nabove,3\nr,1.00\n"}) == [
        (2, "mean", "it is 0.561667 to 0.571667"),
        (3, "above", "it is 2"),
    ]


def test_an_empty_cell_is_counted(tmp_path):
    """Catches a mean over the rows that are left."""
    checked = check_tables(
        files(tmp_path, {"rates.csv": FILES["rates.csv"].replace("0.70", "")}), declarations(RULES, "")
    )
    assert sum(table.empty for table in checked) == 4


def test_a_row_without_a_partner_is_counted_and_no_summary_is_made_without_it(tmp_path):
    """Catches a model that is called otherwise in the other table: lost unseen, and a correlation of those left."""
    named = {
        "gaps.csv": FILES["gaps.csv"] + "C,1B,0.00\n",
        "rates.csv": FILES["rates.csv"] + "C-1b,0.90,0.90\n",
        "text.csv": "what,value\nr,0.37\n",
    }
    assert findings(tmp_path, named) == []
    assert [row for _, row, _ in findings(tmp_path, named | {"text.csv": "what,value\nr,0.47\n"})] == ["r"]
    otherwise = named | {"rates.csv": named["rates.csv"].replace("C-1b", "C-1b-chat")}
    checked = {one.declaration: one for one in check_tables(files(tmp_path, otherwise), declarations(RULES, "here"))}
    assert (checked["both"].checks, checked["both"].empty) == (3, 1)
    assert not [one for table in checked.values() for one in table.findings]


def test_a_number_that_its_table_does_not_print_is_not_made_or_the_one_that_is_known(tmp_path, capsys):
    """Catches a misspelt row, whose number is never looked at."""
    files(tmp_path)
    for known, said in (("", "2 checks, 1 not made for want of a number, 0 contradictions"), ("0.90", "printed 0.90")):
        rules = RULES.replace('what = "mean" }', f'what = "maen" }}, printed = "{known}"')
        (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
        assert main(["check-tables", str(tmp_path), "--declaration", str(tmp_path / "rules.toml")]) == bool(known)
        assert said in capsys.readouterr().out


def test_statements_without_their_table_are_said_to_be_unchecked(tmp_path, capsys):
    """Catches a file of quoted figures that passes because nothing was looked at."""
    files(tmp_path)
    (tmp_path / "rules.toml").write_text(RULES, encoding="utf-8")
    assert main(["check-tables", str(tmp_path / "text.csv"), "--declaration", str(tmp_path / "rules.toml")]) == 0
    assert "nothing to check without the tables it is about" in capsys.readouterr().out
    assert main(["check-tables", str(tmp_path), "--declaration", str(tmp_path / "rules.toml")]) == 0
    assert "numbers about whole tables: 3 checks, 0 contradictions" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rates.csv": FILES["rates.csv"] + "a-2b,0.1,0.9\n"}, "lines 3 and 5 are both of 'a-2b'"),
        ({"again.csv": FILES["rates.csv"]}, "both fit 'rates', with which others are compared"),
        ({"text.csv": "what,value\nmean,half\n"}, "line 2, column value: 'half' is no printed number"),
        ({"gaps.csv": "family,size,gap\nA,1B,0.20\nB,1B,-0.20\n"}, "pearson of 2 rows"),
    ],
)
def test_tables_that_cannot_be_compared_get_one_message(tmp_path, changed, said):
    """Catches a guess at which of two rows or files is meant, and a traceback."""
    with pytest.raises(AnalysisError, match=said):
        findings(tmp_path, changed)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('take = "mean"', 'take = "median"', "take is one of cell, sum, mean"),
        ('values = ["right"]', 'values = ["rigth"]', "uses 'rigth', which columns of 'rates' does not list"),
        ('what = "mean"', 'whta = "mean"', "uses 'whta'"),
        ('condition = "right > 0.5"', 'condition = "right"', "two expressions with <, <=, > or >="),
        ('values = ["gap", "right_right"]', 'values = ["gap"]', "pearson is of 2 values"),
        ('left = "gaps"', 'left = "gap"', "no table 'gap' is declared before it"),
        ('of = "both"', 'of = "none"', "no table 'none' is declared"),
        ("right_right - right_wrong", "right - right_wrong", "uses 'right', which columns does not list"),
    ],
)
def test_bad_declarations_of_several_tables_get_one_message(old, new, said):
    """Catches a misspelt statement that is never checked."""
    with pytest.raises(AnalysisError, match=said):
        declarations(RULES.replace(old, new, 1), "here")


def test_an_empty_folder_is_said_to_be_one(tmp_path, capsys):
    """Catches silence where nothing was checked."""
    assert main(["check-tables", str(tmp_path)]) == 2
    assert "no CSV file in this folder" in capsys.readouterr().err
