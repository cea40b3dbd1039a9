"""Tables of the audit."""

from pathlib import Path

import duckdb
import pytest

from analysis.errors import AnalysisError
from analysis.reduction.readings import reading_counts, sample_texts, score_disagreements
from analysis.schema.responses import Response, record_batch
from analysis.schema.store import StoreWriter, open_store


def response(i: int, **fields: object) -> Response:
    given = {"output": "Yes", "answer": "yes", "gold": "yes", "rule": "exact", "status": "answered", **fields}
    return Response("m", f"q{i}", task="t", source=f"a.jsonl:{i}", **given)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path):
    def opened(responses: list[Response]) -> duckdb.DuckDBPyConnection:
        with StoreWriter(tmp_path / "store.parquet") as writer:
            writer.write(record_batch(responses))
        return open_store(tmp_path / "store.parquet")

    return opened


def test_counts_add_up_to_all_rows(store) -> None:
    """Catches rows that vanish because a status or rule is missing."""
    rows = [response(1), response(2), response(3, rule=None, status=None), response(4, rule="none", status="unparsed")]
    counts = reading_counts(store(rows))
    assert counts["rows"].sum() == len(rows)
    assert counts.loc[counts["rule"] == "exact", "rows"].tolist() == [2]


def test_disagreements_name_both_directions_and_their_sources(store) -> None:
    """Catches a direction mixed up, an unread text called a contradiction, and scores that are no 0 or 1 compared."""
    rows = [
        response(1, score_value=1.0),
        response(2, score_value=0.0),
        response(3, score_value=1.0, answer="no"),
        response(4, score_value=0.0, answer="no"),
        response(5, score_value=0.0, answer=None, rule="none", status="unparsed"),
        response(6, score_value=0.5),
        response(7, score_value=1.0, answer=None, rule="not_read"),
        response(8, score_value=0.0, answer=None, rule="logged", status="errored"),
        response(9, score_value=None),
    ]
    found = score_disagreements(store(rows)).set_index("verdict")
    assert {verdict: (int(row["rows"]), list(row["examples"])) for verdict, row in found.iterrows()} == {
        "scored wrong, read right": (1, ["a.jsonl:2"]),
        "scored right, read wrong": (1, ["a.jsonl:3"]),
        "scored wrong, nothing read": (1, ["a.jsonl:5"]),
    }
    assert set(found["compared"]) == {5}


def test_samples_are_drawn_by_seed_and_not_by_order(store, tmp_path: Path) -> None:
    """Catches samples that change from run to run or with the order of files, and seeds without effect."""
    rows = [response(i, output=f"Yes, {i}.", rule="first_word") for i in range(50)]
    first = sample_texts(store(rows), 1, 5)
    again = sample_texts(store(rows[::-1]), 1, 5)
    other = sample_texts(store(rows), 2, 5)
    assert first.equals(again)
    assert len(first) == 5
    assert set(first["output"]) != set(other["output"])


def test_a_long_text_is_shown_by_its_ends(store) -> None:
    """Catches a megabyte printed, and an end that hides the answer."""
    shown = sample_texts(store([response(1, output="begin " + "x" * 5000 + " The answer is yes.")]), 1, 1)
    assert shown["output"][0].startswith("begin")
    assert shown["output"][0].endswith("The answer is yes.")
    assert len(shown["output"][0]) < 1000
    assert shown["length"][0] == 6 + 5000 + 19


def test_less_than_one_sample_is_refused(store) -> None:
    """Catches an empty table taken for "nothing to see"."""
    with pytest.raises(AnalysisError, match="at least 1"):
        sample_texts(store([response(1)]), 1, 0)
