"""Answers that a person read, put in place of the reader's."""

from pathlib import Path

import duckdb
import pytest

from analysis.errors import AnalysisError
from analysis.parsing.policy import ReadingPolicy
from analysis.reduction.overrides import apply_overrides, find_overrides
from analysis.schema.responses import Response, record_batch
from analysis.schema.store import StoreWriter, open_store

ROWS = [
    Response("m", "1", gold="yes", output="Hm, it does.", status="unparsed", rule="none", source="log.jsonl:1"),
    Response("m", "2", gold="no", output="No.", answer="no", status="answered", rule="exact", source="log.jsonl:2"),
    Response("m", "3", gold="B", output="the weir", status="unparsed", rule="none", source="log.jsonl:3"),
    Response("m", "4", role="target", output="a third", status="unparsed", rule="none", source="log.jsonl:4"),
    Response("m", "5", gold="yes", status="errored", rule="logged", source="log.jsonl:5"),
    Response("m", "6", gold="yes", output="a", status="answered", answer="yes", rule="exact", source="twice"),
    Response("m", "7", gold="yes", output="b", status="answered", answer="yes", rule="exact", source="twice"),
]


@pytest.fixture
def con(tmp_path: Path) -> duckdb.DuckDBPyConnection:
    with StoreWriter(tmp_path / "store") as writer:
        writer.write(record_batch(ROWS))
    return open_store(tmp_path / "store")


def overrides(tmp_path: Path, *lines: str, header: str = "source,answer,note") -> Path:
    path = tmp_path / "overrides.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def readings(con: duckdb.DuckDBPyConnection) -> dict[str, tuple[object, ...]]:
    rows = con.execute("SELECT item, answer, probability, status, rule FROM responses ORDER BY item").fetchall()
    return {row[0]: row[1:] for row in rows}


def test_answers_of_every_kind_are_replaced_and_the_rest_stays(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Catches an override without effect, one that spills over to other rows, and a status left behind."""
    before = readings(con)
    path = overrides(
        tmp_path, "log.jsonl:1,Yes.,it says so", "log.jsonl:2,unparsed,", "log.jsonl:3,(b),", "log.jsonl:4,0.25,"
    )
    account = apply_overrides(con, path)
    after = readings(con)
    assert after["1"] == ("yes", None, "answered", "override")
    assert after["2"] == (None, None, "unparsed", "override")
    assert after["3"] == ("B", None, "answered", "override")
    assert after["4"] == (None, 0.25, "answered", "override")
    assert {item: after[item] for item in "567"} == {item: before[item] for item in "567"}
    assert account.n_changed == 4
    assert account.applied[["line", "source", "read", "rule", "answer", "note"]].to_dict("records")[:2] == [
        {"line": 2, "source": "log.jsonl:1", "read": "", "rule": "none", "answer": "yes", "note": "it says so"},
        {"line": 3, "source": "log.jsonl:2", "read": "no", "rule": "exact", "answer": "", "note": ""},
    ]


def test_an_override_that_confirms_the_reading_is_counted_and_changes_nothing(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Catches confirmed readings reported as changed answers."""
    account = apply_overrides(con, overrides(tmp_path, "log.jsonl:2,no,"))
    assert (len(account.applied), account.n_changed) == (1, 0)
    assert readings(con)["2"] == ("no", None, "answered", "override")


def test_declared_words_of_the_study_are_answers(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Catches overrides held against another vocabulary than the readings."""
    policy = ReadingPolicy(synonyms={"yes": ["valid"], "no": ["invalid"]})
    apply_overrides(con, overrides(tmp_path, "log.jsonl:1,invalid,"), policy)
    assert readings(con)["1"][0] == "no"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("log.jsonl:9,yes,", "overrides.csv:3: no responses have the source 'log.jsonl:9'"),
        ("twice,yes,", "overrides.csv:3: 2 responses have the source 'twice'"),
        ("log.jsonl:2,maybe,", "overrides.csv:3: answer 'maybe' is not yes or no, and not unparsed"),
        ("log.jsonl:3,yes,", "is not the label of an option"),
        ("log.jsonl:4,1.5,", "is not a number from 0 to 1"),
        ("log.jsonl:4,nan,", "is not a number from 0 to 1"),
        ("log.jsonl:5,yes,", "the response of 'log.jsonl:5' is errored: there is no text to read"),
        ("log.jsonl:5,unparsed,", "is errored"),
        ("log.jsonl:1,no,", "overrides.csv:3: source 'log.jsonl:1' stands in line 2 too"),
        ("log.jsonl:2,,", "answer '' is not yes or no"),
        ("log.jsonl:2,yes,a note, with a comma", "more cells than columns"),
    ],
)
def test_lines_that_cannot_be_applied_are_named_and_nothing_is(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, line: str, message: str
) -> None:
    """Catches an override that is dropped in silence, or half of a file applied."""
    before = readings(con)
    with pytest.raises(AnalysisError) as error:
        apply_overrides(con, overrides(tmp_path, "log.jsonl:1,yes,", line))
    assert message in str(error.value)
    assert readings(con) == before


def test_a_file_of_another_form_is_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Catches a misspelt column that would drop every answer."""
    with pytest.raises(AnalysisError, match="no column 'answer'"):
        apply_overrides(con, overrides(tmp_path, header="source,anwser"))
    with pytest.raises(AnalysisError, match="unknown column 'model'"):
        apply_overrides(con, overrides(tmp_path, header="source,answer,model"))
    path = tmp_path / "overrides.csv"
    path.write_bytes(b"\xff\xfe\x00source")
    with pytest.raises(AnalysisError, match="cannot be read"):
        apply_overrides(con, path)


def test_a_file_without_lines_changes_nothing(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Catches a header alone taken for an error."""
    before = readings(con)
    assert len(apply_overrides(con, overrides(tmp_path)).applied) == 0
    assert readings(con) == before


def test_the_file_is_found_beside_the_logs(tmp_path: Path) -> None:
    """Catches a file of overrides that is overlooked, and two of them mixed."""
    path = overrides(tmp_path)
    (tmp_path / "log.jsonl").touch()
    assert find_overrides([tmp_path]) == path
    assert find_overrides([tmp_path / "log.jsonl"]) == path
    (tmp_path / "other").mkdir()
    assert find_overrides([tmp_path / "other"]) is None
    (tmp_path / "other" / "overrides.csv").touch()
    with pytest.raises(AnalysisError, match="two files"):
        find_overrides([tmp_path, tmp_path / "other"])
