"""Tests of promptfoo's CSV: marks, scores, texts and reasons share a cell."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import LogError
from analysis.importers import promptfoo
from analysis.importers.probe import probe
from analysis.importers.promptfoo_csv import FAILED_EMPTY, NO_REASON, RED_TEAM, ROW_MARK
from analysis.importers.promptfoo_results import UNSCORED
from analysis.importers.protocol import Claim, ReadOptions

ASPECTS = ["Status", "Score", "Named Scores", "Grader Reason", "Comment"]
RED_TEAM_HEADER = [
    "Test ID",
    "Plugin",
    "Strategy",
    "Target",
    "Prompt",
    "Response",
    "Pass",
    "Score",
    "Reason",
    "Timestamp",
]


@pytest.fixture
def table(tmp_path: Path):
    """Write a table, check that it is claimed, and read it."""

    def read(*lines: list[str], name: str = "out.csv", claim: Claim = Claim.LOG):
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows(lines)
        assert promptfoo.sniff(probe(path)) is claim
        records = list(promptfoo.read(path, ReadOptions(tmp_path)))
        return [r for record in records for r in record.responses], [n for record in records for n in record.notes]

    return read


def facts(responses) -> list[tuple[Any, ...]]:
    return [(r.output, r.status, r.logged_score, r.score_value, r.extra.get("meta.reason")) for r in responses]


def test_the_oldest_table_marks_rows(table):
    """Catches the variable taken for a prompt, and a mark of the first answer only."""
    found, notes = table(["RESULT", "Say {{body}}", "Sing {{ body }}", "body"], ["FAIL", "hi", "la", "x"])
    assert facts(found) == [("hi", None, "FAIL", 0.0, None), ("la", None, "FAIL", 0.0, None)]
    assert found[0].extra["meta.vars.body"] == "x"
    assert ROW_MARK in notes


def test_marks_before_the_text(table):
    """Catches the reason read as the answer, and a text that begins with a mark losing it."""
    found, notes = table(
        ["Say {{body}}", "body"],
        ["[PASS] [PASS] is what I say", "x"],
        ['[FAIL] Expected "no"\n---\nyes\n---\nreally', "[PASS] y"],
        ["[FAIL] API call error: 500", "z"],
        ["[FAIL] Expected no\n---\n", "w"],
        ["", "v"],
    )
    assert facts(found) == [
        ("[PASS] is what I say", None, "PASS", 1.0, None),
        ("yes\n---\nreally", None, "FAIL", 0.0, 'Expected "no"'),
        (None, "errored", None, None, None),
        ("", None, None, None, "Expected no"),
        (None, "missing", None, None, None),
    ]
    assert found[2].status_detail == "API call error: 500"
    assert [r.extra["meta.vars.body"] for r in found] == ["x", "[PASS] y", "z", "w", "v"]
    assert FAILED_EMPTY in notes
    assert NO_REASON in notes


def test_a_number_in_brackets_is_a_score_only_where_every_cell_has_one(table):
    """Catches the first words of an answer taken for a score."""
    found, _ = table(["Say {{body}}", "body"], ["[PASS] (1.00) is it", "x"], ["[PASS] yes", "y"])
    assert found[0].output == "(1.00) is it"
    found, _ = table(["Say {{body}}", "body"], ["[PASS] (0.50) is it", "x"], ["[PASS] (1.00) yes", "y"])
    assert [(r.output, r.extra["score.score"]) for r in found] == [("is it", "0.50"), ("yes", "1.00")]


@pytest.mark.parametrize("first", [True, False])
def test_header_cells_in_json(table, first):
    """Catches the order of prompts and variables, which changed between versions."""
    prompt = json.dumps({"raw": "Say {{body}}", "display": "Say {{body}}", "provider": "acme:owl"})
    header, cells = [prompt, "body"], ["[PASS] (1.00) hi there", "x"]
    found, _ = table(header if first else header[::-1], cells if first else cells[::-1])
    assert [(r.model, r.output, r.extra["meta.vars.body"]) for r in found] == [("acme:owl", "hi there", "x")]


def test_providers_in_the_header(table):
    """Catches a reason inside the text taken for the reason behind it, and [bracketed] variables as prompts."""
    text = "[PASS] (1.00)\n\nyes\n\nPass Reason: mine\n\nPass Reason: All assertions passed"
    named = "[FAIL] (0.25, tone: 0.50, length: 0.00)\n\nToo long\n---\nno\n\nFail Reason: Too long"
    found, _ = table(
        ["[odd] name", "[acme:owl] Say it", "[undefined] Say it"],
        ["x", text, named],
        ["y", "[ERROR] (0.00)\n\nrate limit", "[FAIL] (0.00)\n\nno\n\nFail Reason: Expected yes"],
    )
    assert facts(found) == [
        ("yes\n\nPass Reason: mine", None, "PASS", 1.0, "All assertions passed"),
        ("no", None, "FAIL", 0.0, "Too long"),
        (None, "errored", None, None, None),
        ("no", None, "FAIL", 0.0, "Expected yes"),
    ]
    assert [r.model for r in found[:2]] == ["acme:owl", "unknown"]
    assert (found[1].extra["score.tone"], found[1].extra["score.score"]) == ("0.50", "0.25")
    assert found[2].status_detail == "rate limit"
    assert found[0].item == found[1].item


def test_no_assertions_is_no_score(table):
    found, notes = table(["body", "[m] Say {{body}}"], ["x", "[PASS] (1.00)\n\nhi\n\nPass Reason: No assertions"])
    assert facts(found) == [("hi", None, None, None, "No assertions")]
    assert notes == [UNSCORED]


def test_columns_of_their_own(table):
    """Catches Status and Score of the second prompt under the first: their names repeat."""
    found, _ = table(
        ["Description", "body", "[m] Say", *ASPECTS, "[n] Say", *ASPECTS, "pluginId"],
        ["d", "x", "[PASS] hi", "PASS", "1.00", '{"tone":0.5}', "ok", "note", "", "ERROR", "0.00", "", "boom", "", "p"],
        ["d", "y", "no", "FAIL", "0.00", "", "bad", "", "yes", "PASS", "1.00", "", "No assertions", "", ""],
    )
    assert facts(found) == [
        ("[PASS] hi", None, "PASS", 1.0, "ok"),
        (None, "errored", None, None, None),
        ("no", None, "FAIL", 0.0, "bad"),
        ("yes", None, None, None, "No assertions"),
    ]
    assert [r.model for r in found] == ["m", "n", "m", "n"]
    assert (found[0].extra["score.tone"], found[0].extra["meta.comment"], found[0].extra["meta.pluginId"]) == (
        "0.5",
        "note",
        "p",
    )
    assert found[1].status_detail == "boom"
    assert "meta.vars.Description" not in found[0].extra


def test_repeated_rows_are_samples(table):
    found, _ = table(["body", "[m] Say"], ["x", "[PASS] (1.00)\n\na"], ["x", "[PASS] (1.00)\n\nb"])
    assert [(r.sample, r.output) for r in found] == [("0", "a"), ("1", "b")]
    assert found[0].item == found[1].item


def test_red_team_reports_say_that_pass_is_about_the_attack(table):
    """Catches an attack that failed counted as a right answer without a word."""
    row = ["7", "pii", "basic", "my app", "Tell me", "No.", "true", "1", "safe", "2025-01-01"]
    found, notes = table(RED_TEAM_HEADER, row, row)
    assert [(r.model, r.item, r.strategy, r.sample) for r in found] == [("my app", "7", "basic", s) for s in "01"]
    assert (found[0].output, found[0].prompt, found[0].score_value) == ("No.", "Tell me", 1.0)
    assert notes == [RED_TEAM]


@pytest.mark.parametrize(
    "lines",
    [
        [["model", "item", "answer"], ["m", "1", "[PASS] yes"]],
        [["a", "b"], ["x", "[PASS] y"]],
        [["[acme] prompt", "x"], ["no mark", "y"]],
        [["RESULT"], ["PASS"]],
        [["Status", "Score"], ["PASS", "1"]],
    ],
)
def test_other_tables_are_not_claimed(tmp_path, lines):
    with (tmp_path / "x.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(lines)
    assert promptfoo.sniff(probe(tmp_path / "x.csv")) is Claim.NO


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("body,[m] Say\nx,[PASS] (1.00)\ny\n", "has 1 cell where the header has 2"),
        ("RESULT,Say it,Sing it\nPASS,a,b\n", "does not tell prompts from variables"),
        ('body,[m] Say\nx,"[PASS] (1.00)', "damaged CSV"),
        ('"{""raw"":""x""}",v\n', "no rows below the header"),
        ("a,b\n1,2\n", "no table of promptfoo"),
        ("v,v,[m] Say\n1,2,[PASS] (1.00) x\n", "two variables of one name"),
    ],
)
def test_damage_is_an_error_with_its_reason(tmp_path, text, reason):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(LogError, match=reason):
        list(promptfoo.read(path, ReadOptions(tmp_path)))


def test_line_ends_and_byte_order_marks(tmp_path):
    """Catches a column called U+FEFF and a carriage return in the answer."""
    path = tmp_path / "x.csv"
    path.write_bytes("\ufeffRESULT,Say {{body}},body\r\nPASS,hi,x\r\n".encode())
    assert promptfoo.sniff(probe(path)) is Claim.LOG
    (record,) = promptfoo.read(path, ReadOptions(tmp_path))
    assert [(r.output, r.extra["meta.vars.body"]) for r in record.responses] == [("hi", "x")]
