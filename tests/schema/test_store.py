"""The store: what goes in comes out, whatever its name, and nothing half-written stays."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.schema.quoting import quote_identifier, shown
from analysis.schema.responses import COLUMNS, Response, record_batch
from analysis.schema.store import ROW_GROUP, StoreWriter, open_store, store_columns, store_parts

HOSTILE = ['q"; DROP TABLE responses; --', "it's", "nul\0here", "x" * 300, "a\nb", "ё漢🙂", "‏rtl", "%s {} $1", "[*]?"]
NAMES = tuple(column.name for column in COLUMNS)


def batch(*rows: dict) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"model": "m", "item": "i", **row} for row in rows])


def write_then_fail(writer: StoreWriter) -> None:
    writer.write(batch({"item": "new"}))
    raise AnalysisError("the second log is damaged")


@pytest.mark.parametrize("name", ["store", "one.parquet"])
def test_rows_come_back_in_order_with_every_standard_column(tmp_path: Path, name: str) -> None:
    """Catches lost columns and re-ordered rows, for a directory and for one file."""
    path = tmp_path / name
    with StoreWriter(path) as writer:
        writer.write(batch({"item": "b", "latency": 1.5}, {"item": "a"}))
        writer.write(batch({"item": "c", "factor.x": "1"}))
        assert (writer.rows, writer.extra) == (3, ("factor.x",))
    con = open_store(path)
    assert store_columns(con) == (*NAMES, "factor.x")
    rows = con.execute('SELECT item, latency, task, sample, unit, "factor.x" FROM responses').fetchall()
    assert rows == [
        ("b", 1.5, "", "0", None, None),
        ("a", None, "", "0", None, None),
        ("c", None, "", "0", None, "1"),
    ]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [name], "nothing else is left beside the store"


def test_extras_seen_later_and_never_again_are_united(tmp_path: Path) -> None:
    """Catches extras of one log lost because another log came first, or last."""
    for name in ("store", "one.parquet"):
        with StoreWriter(tmp_path / name, extra=("meta.known",)) as writer:
            writer.write(batch({"meta.a": "1"}))
            writer.write(batch({"meta.b": "2"}))
            writer.write(batch({}))
        rows = open_store(tmp_path / name).execute('SELECT "meta.known", "meta.a", "meta.b" FROM responses').fetchall()
        assert rows == [(None, "1", None), (None, None, "2"), (None, None, None)]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_and_values_survive(tmp_path: Path, hostile: str) -> None:
    """Catches SQL built from the text of a log."""
    response = Response(model=hostile, item=hostile, output=hostile, extra={f"meta.{hostile}": hostile})
    folder = tmp_path / 'we[i]rd *name\' "q"'
    folder.mkdir()
    with StoreWriter(folder / "s.parquet") as writer:
        writer.write(record_batch([response], tuple(response.extra)))
    con = open_store(folder / "s.parquet")
    column = quote_identifier(f"meta.{hostile}")
    row = con.execute(f"SELECT model, item, output, {column} FROM responses WHERE model = ?", [hostile]).fetchall()
    assert row == [(hostile,) * 4]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=5, unique=True))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_extra_names_are_kept_apart(tmp_path: Path, names: list[str]) -> None:
    """Catches columns merged because SQL ignores case."""
    names = [f"meta.{name}" for name in names]
    with StoreWriter(tmp_path / "store") as writer:
        writer.write(batch(dict.fromkeys(names) | {name: str(i) for i, name in enumerate(names)}))
    con = open_store(tmp_path / "store")
    columns = ", ".join(quote_identifier(writer.renamed.get(name, name)) for name in names)
    assert con.execute(f"SELECT {columns} FROM responses").fetchall() == [tuple(str(i) for i in range(len(names)))]


def test_names_that_differ_by_case_or_belong_to_the_analysis_are_renamed(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "store") as writer:
        writer.write(batch({"meta.A": "1", "meta.a": "2", "Model": "3", "cell": "4"}))
    assert writer.renamed == {"meta.a": "meta.a (2)", "Model": "Model (2)", "cell": "cell (2)"}
    row = open_store(tmp_path / "store").execute('SELECT "meta.A", "meta.a (2)", model, "Model (2)" FROM responses')
    assert row.fetchall() == [("1", "2", "m", "3")]


def test_an_exception_leaves_nothing_and_keeps_the_old_store(tmp_path: Path) -> None:
    """Catches a crashed import that replaces, or half-replaces, a good one."""
    for name in ("store", "one.parquet"):
        with StoreWriter(tmp_path / name) as writer:
            writer.write(batch({"item": "old"}))
        with pytest.raises(AnalysisError), StoreWriter(tmp_path / name) as writer:
            write_then_fail(writer)
        assert open_store(tmp_path / name).execute("SELECT item FROM responses").fetchall() == [("old",)]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["one.parquet", "store"]


def test_a_store_is_replaced_and_anything_else_is_not(tmp_path: Path) -> None:
    """Catches a directory of the user's deleted."""
    for _ in range(2):
        with StoreWriter(tmp_path / "store") as writer:
            writer.write(batch({}))
    assert len(open_store(tmp_path / "store").execute("SELECT 1 FROM responses").fetchall()) == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(AnalysisError, match="not ours"):
        StoreWriter(tmp_path / "mine")
    with pytest.raises(AnalysisError, match="is a file"):
        StoreWriter(tmp_path / "mine" / "thesis.tex")
    (tmp_path / "d.parquet").mkdir()
    with pytest.raises(AnalysisError, match="is a directory"):
        StoreWriter(tmp_path / "d.parquet")


def test_an_empty_store_has_no_rows_and_all_columns(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "store"):
        pass
    con = open_store(tmp_path / "store")
    assert con.execute("SELECT count(*) FROM responses").fetchall() == [(0,)]
    assert store_columns(con) == NAMES


def test_types_are_cast_or_refused(tmp_path: Path) -> None:
    """Catches an id read as a number, and text in a column of numbers written as null."""
    with StoreWriter(tmp_path / "store") as writer:
        writer.write(
            pa.record_batch({"model": ["m"], "item": [1], "latency": [2], "simulated": [True], "meta.n": [1.5]})
        )
        with pytest.raises(AnalysisError, match='column "latency": cannot be read as double'):
            writer.write(pa.record_batch({"latency": ["fast"]}))
        with pytest.raises(AnalysisError, match=r'column "meta\.d"'):
            writer.write(pa.RecordBatch.from_pylist([{"meta.d": {"a": 1}}]))
        with pytest.raises(AnalysisError, match="appear twice"):
            writer.write(pa.RecordBatch.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["model", "model"]))
    row = open_store(tmp_path / "store").execute('SELECT item, latency, simulated, "meta.n" FROM responses').fetchall()
    assert row == [("1", 2.0, True, "1.5")]


def test_row_groups_are_bounded_in_rows(tmp_path: Path) -> None:
    """Catches a store written as one row group, which a reader has to hold whole."""
    with StoreWriter(tmp_path / "s.parquet") as writer:
        for _ in range(3):
            writer.write(pa.record_batch({"item": pa.array(["i"] * 50_000)}))
    data = pq.ParquetFile(tmp_path / "s.parquet").metadata
    assert data.num_rows == 150_000
    assert max(data.row_group(i).num_rows for i in range(data.num_row_groups)) <= ROW_GROUP
    assert data.row_group(0).column(0).compression == "ZSTD"


def test_foreign_parquet_in_the_schema_is_opened(tmp_path: Path) -> None:
    """Catches a column that is absent, or of another type, breaking every query later."""
    pq.write_table(pa.table({"model": ["m"], "item": [7], "latency": [1]}), tmp_path / "x.parquet")
    con = open_store(tmp_path / "x.parquet")
    assert con.execute("SELECT item, latency, gold, sample FROM responses").fetchall() == [("7", 1.0, None, "0")]


def test_no_store_and_no_parquet_are_one_message(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="no store of responses here"):
        open_store(tmp_path / "none")
    with pytest.raises(AnalysisError, match="no store of responses here"):
        store_parts(tmp_path)
    (tmp_path / "x.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(AnalysisError, match="not a store of responses"):
        open_store(tmp_path / "x.parquet")


def test_no_extension_is_fetched(tmp_path: Path) -> None:
    """Catches network access at the first unknown function."""
    with StoreWriter(tmp_path / "store"):
        pass
    query = "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions' ORDER BY name"
    assert [value for _, value in open_store(tmp_path / "store").execute(query).fetchall()] == ["false", "false"]


def test_shown_disarms_terminals() -> None:
    """Catches escape sequences and direction marks printed raw."""
    assert shown("a\x1b[31m\u202eb\n") == '"a\\x1b[31m\\u202eb\\n"'
    assert len(shown("x" * 500)) == 82
