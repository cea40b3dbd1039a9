"""Stores of rows given as dicts, written and opened as the pipeline does."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from analysis.schema.responses import Response, record_batch
from analysis.schema.store import StoreWriter, open_store


@pytest.fixture
def store(tmp_path: Path) -> Callable[..., duckdb.DuckDBPyConnection]:
    """Write rows (fields of ``Response``; ``extra`` for further columns) and open them."""
    opened: list[duckdb.DuckDBPyConnection] = []

    def build(rows: list[dict]) -> duckdb.DuckDBPyConnection:
        responses = [Response(**{"model": "m", "status": "answered", "answer": "yes", **row}) for row in rows]
        path = tmp_path / f"store-{len(opened)}"
        with StoreWriter(path) as writer:
            for response in responses:
                writer.write(record_batch([response], tuple(response.extra)))
        opened.append(open_store(path))
        return opened[-1]

    yield build
    for con in opened:
        con.close()
