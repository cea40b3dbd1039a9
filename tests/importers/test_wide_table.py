"""Tests of tables with one column per model: only what ``[wide]`` declares is read."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import AnalysisError, LogError, StudyError
from analysis.importers import wide_table
from analysis.importers.detect import find_logs
from analysis.importers.protocol import Claim
from analysis.reduction.intake import Intake, IntakeSettings, take_in
from analysis.schema.store import open_store
from analysis.schema.study import Study, load_study

TABLE = "owl-1,jay (chat),note\n1.00,0,x\n,1,y\n"


def study(folder: Path, text: str) -> Study:
    (folder / "study.toml").write_text(text)
    return load_study(folder / "study.toml")


def taken(folder: Path, settings: str) -> tuple[list[tuple[Any, ...]], Intake]:
    columns = "model, item, logged_score, score_value, answer, status, source"
    intake = take_in([folder], study(folder, settings), IntakeSettings(), folder.parent / "store.parquet")
    with open_store(folder.parent / "store.parquet") as con:
        return con.execute(f"SELECT {columns} FROM responses ORDER BY source, model").fetchall(), intake


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def test_rows_are_items_and_columns_are_models(logs):
    """Catches cells out of step with their columns, an empty cell as 0, and records counted per cell."""
    (logs / "a.csv").write_text(TABLE)
    rows, intake = taken(logs, '[wide]\nmodels = ["owl-1", "jay (chat)"]\n')
    assert rows == [
        ("jay (chat)", "1", "0", 0.0, None, "answered", "a.csv:2"),
        ("owl-1", "1", "1.00", 1.0, None, "answered", "a.csv:2"),
        ("jay (chat)", "2", "1", 1.0, None, "answered", "a.csv:3"),
        ("owl-1", "2", None, None, None, "missing", "a.csv:3"),
    ]
    assert (intake.records, intake.rows) == (2, 4)
    assert dict(zip(intake.notes["note"], intake.notes["count"], strict=True)) == {
        "no item column: items are the numbers of the rows": 1,
        "an empty cell is a missing response": 1,
    }


def test_a_pattern_takes_every_column_that_nothing_else_uses(logs):
    """Catches the item column read as a model."""
    (logs / "a.csv").write_text("question,gold,m:1,m:2,n\nq1,yes,yes,no,z\n")
    rows, _ = taken(logs, '[wide]\nmodels = "*"\nvalue = "answer"\n[map]\nitem = "question"\n"meta.n" = "n"\n')
    assert [(r[0], r[1], r[4]) for r in rows] == [("m:1", "q1", "yes"), ("m:2", "q1", "no")]
    rows, _ = taken(logs, '[wide]\nmodels = "m:?"\nvalue = "answer"\n[map]\nitem = "question"\n')
    assert [r[0] for r in rows] == ["m:1", "m:2"]


def test_brackets_in_a_pattern_are_characters(logs):
    """Catches names of models read as character classes."""
    (logs / "a.csv").write_text("item,gpt [a],gpt b\n1,1,0\n")
    rows, _ = taken(logs, '[wide]\nmodels = "gpt [a]*"\n')
    assert [r[0] for r in rows] == ["gpt [a]"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet"])
def test_every_kind_of_table(logs, kind):
    rows = [{"item": "q1", "owl": 1, "jay": 0}, {"item": "q2", "owl": 0, "jay": 1}]
    if kind == "csv":
        (logs / "a.csv").write_text("item,owl,jay\nq1,1,0\nq2,0,1\n")
    elif kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), logs / "a.parquet")
    else:
        text = json.dumps(rows) if kind == "json" else "".join(json.dumps(r) + "\n" for r in rows)
        (logs / f"a.{kind}").write_text(text)
    found, _ = taken(logs, '[wide]\nmodels = ["owl", "jay"]\n')
    assert sorted((r[0], r[1], r[3]) for r in found) == [
        ("jay", "q1", 0.0),
        ("jay", "q2", 1.0),
        ("owl", "q1", 1.0),
        ("owl", "q2", 0.0),
    ]


def test_items_are_numbered_through_the_file(logs):
    """Catches numbers that begin again with every batch of rows."""
    (logs / "a.csv").write_text("owl,jay\n" + "1,0\n" * 9000)
    rows, intake = taken(logs, '[wide]\nmodels = "*"\n')
    assert len({r[1] for r in rows}) == intake.records == 9000


def test_the_row_number_of_map_is_that_of_the_record(logs):
    """Catches a number per cell."""
    (logs / "a.csv").write_text("owl,jay\n1,0\n0,1\n")
    settings = '[wide]\nmodels = "*"\n[map]\nitem = "@row"\ntask = { from = "@file", regex = "(.)[.]csv" }\n'
    rows, _ = taken(logs, settings)
    assert [(r[0], r[1]) for r in rows] == [("jay", "1"), ("owl", "1"), ("jay", "2"), ("owl", "2")]
    with open_store(logs.parent / "store.parquet") as con:
        assert con.execute("SELECT DISTINCT task FROM responses").fetchall() == [("a",)]


def test_long_tables_beside_wide_ones_keep_their_rule_for_the_model(logs):
    (logs / "a.csv").write_text("item,owl\n1,1\n")
    (logs / "b.csv").write_text("item,name,logged_score\n1,jay,0\n")
    rows, _ = taken(logs, '[wide]\nmodels = ["owl"]\n[map]\nmodel = "name"\n')
    assert [(r[0], r[6]) for r in rows] == [("owl", "a.csv:2"), ("jay", "b.csv:2")]


def test_without_a_declaration_no_table_is_claimed(logs):
    """Catches any table taken for a log."""
    (logs / "a.csv").write_text(TABLE)
    assert [f.claim for f in find_logs([logs], logs)] == [Claim.NO]
    other = study(logs, '[wide]\nmodels = ["robin"]\n')
    found = {f.relative: f.claim for f in find_logs([logs], logs, wide=other.wide)}
    assert found["a.csv"] is Claim.NO


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("owl,jay\n", "no rows below the header"),
        ("owl,jay\n1\n", "has 1 cell where the header has 2"),
        ("owl,jay\n1,high\n", "must be a number"),
    ],
)
def test_damage_stops_the_run_with_its_place(logs, text, reason):
    (logs / "a.csv").write_text(text)
    with pytest.raises(AnalysisError, match=reason):
        taken(logs, '[wide]\nmodels = "*"\nvalue = "probability"\n')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[wide]\nvalue = 'answer'\n", "lacks 'models'"),
        ("[wide]\nmodels = 3\n", "must be a list of texts"),
        ("[wide]\nmodels = '*'\nvalue = 'gold'\n", "unknown value 'gold'"),
    ],
)
def test_settings_are_checked(logs, text, reason):
    with pytest.raises(StudyError, match=reason):
        study(logs, text)


def test_reading_without_a_declaration_is_an_error(logs, options):
    with pytest.raises(LogError, match=r"no \[wide\]"):
        list(wide_table.read(logs / "a.csv", options))
