"""The store of responses: zstd Parquet in the standard schema, written in a stream, opened in DuckDB."""

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import AnalysisError
from analysis.schema.quoting import quote_identifier, quote_text, shown
from analysis.schema.responses import ARROW_TYPES, COLUMN_BY_NAME, COLUMNS, SCHEMA_VERSION, arrow_schema

__all__ = ["StoreWriter", "open_store", "quote_identifier", "store_columns", "store_parts"]

ROW_GROUP: Final = 65_536
#: A row group is closed early when its texts reach this size, so that memory does not follow their length.
GROUP_BYTES: Final = 64 << 20
_METADATA: Final = {b"evenhand.schema": str(SCHEMA_VERSION).encode()}
_SQL_TYPES: Final = {"text": "VARCHAR", "number": "DOUBLE", "integer": "BIGINT", "flag": "BOOLEAN"}
#: Columns that the analysis adds to those of the store: to every response, and to the counts of a reduction.
RESERVED: Final = (
    *("gold_", "validity_", "polarity_", "unit_", "cell", "excluded", "hash_"),
    *("n_planned", "n_answered", "n_uncertain", "n_set_aside", "n_yes", "n_correct"),
    *("_became", "_yes", "_right", "_partial"),
)
#: Standard columns whose missing value has a meaning of its own.
_DEFAULTS: Final = {"task": "''", "sample": "'0'"}


class StoreWriter:
    """Writes record batches to a store and puts it in place when complete.

    Parameters
    ----------
    path : Path
        A name that ends in ``.parquet`` becomes one file, any other a directory of part files. An
        existing store there is replaced, an existing directory of anything else is refused.
    extra : tuple of str, optional
        Columns outside the schema that are known to come; others are added as batches bring them.

    Attributes
    ----------
    rows : int
        Rows written so far.
    extra : tuple of str
        Columns outside the schema, as named in the store, in order of appearance.
    renamed : dict of str
        Extra columns whose names differ from an earlier one by case only, which SQL cannot tell
        apart, or are those that the analysis adds -> their name in the store.

    Notes
    -----
    Used as a context manager: leaving it by an exception leaves nothing behind. A batch may lack
    standard columns (they are missing values) and may hold columns that earlier ones lacked; each
    change of columns begins a new part.
    """

    def __init__(self, path: Path, *, extra: Iterable[str] = ()) -> None:
        self.path = Path(path)
        self.rows = 0
        self.renamed: dict[str, str] = {}
        self._names: dict[str, str] = {name.lower(): name for name in (*COLUMN_BY_NAME, *RESERVED)}
        self._extra: dict[str, str] = {}
        self._buffer: list[pa.RecordBatch] = []
        self._buffered = (0, 0)
        self._writer: pq.ParquetWriter | None = None
        self._parts: list[Path] = []
        for name in extra:
            self._add_extra(name)
        _refuse_foreign(self.path)

    @property
    def extra(self) -> tuple[str, ...]:
        return tuple(self._extra.values())

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._aside = Path(tempfile.mkdtemp(prefix=f".{self.path.name[:100]}.", dir=self.path.parent))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
            elif self._writer is not None:
                self._writer.close()
        finally:
            shutil.rmtree(self._aside, ignore_errors=True)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows; columns in any order, unknown ones as extras, every value cast to the schema's type.

        Raises
        ------
        AnalysisError
            A column appears twice, or holds values that its type cannot.
        """
        new = [name for name in batch.schema.names if name not in COLUMN_BY_NAME and name not in self._extra]
        if new:
            self._close_part()
            for name in new:
                self._add_extra(name)
        rows = self._standard(batch)
        self.rows += rows.num_rows
        self._buffer.append(rows)
        self._buffered = (self._buffered[0] + rows.num_rows, self._buffered[1] + rows.nbytes)
        if self._buffered[0] >= ROW_GROUP or self._buffered[1] >= GROUP_BYTES:
            self._flush()

    def _add_extra(self, name: str) -> None:
        if name in COLUMN_BY_NAME or name in self._extra:
            return
        stored, number = name, 2
        while stored.lower() in self._names:
            stored, number = f"{name} ({number})", number + 1
        if stored != name:
            self.renamed[name] = stored
        self._names[stored.lower()] = stored
        self._extra[name] = stored

    def _standard(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = dict(zip(batch.schema.names, batch.columns, strict=True))
        if len(found) < len(batch.schema.names):
            twice = sorted({name for name in found if batch.schema.names.count(name) > 1})
            raise AnalysisError(f"columns appear twice: {', '.join(map(shown, twice))}; rename one", offenders=twice)
        columns = [_cast(c.name, found.get(c.name), ARROW_TYPES[c.kind], batch.num_rows) for c in COLUMNS]
        columns += [_cast(name, found.get(name), pa.string(), batch.num_rows) for name in self._extra]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema())

    def _schema(self) -> pa.Schema:
        return arrow_schema(self.extra).with_metadata(_METADATA)

    def _flush(self) -> None:
        if not self._buffer:
            return
        table = pa.Table.from_batches(self._buffer)
        self._buffer, self._buffered = [], (0, 0)
        self._open_part().write_table(table, row_group_size=ROW_GROUP)

    def _open_part(self) -> pq.ParquetWriter:
        if self._writer is None:
            self._parts.append(self._aside / f"part-{len(self._parts):05d}.parquet")
            self._writer = pq.ParquetWriter(self._parts[-1], self._schema(), compression="zstd", compression_level=1)
        return self._writer

    def _close_part(self) -> None:
        self._flush()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _finish(self) -> None:
        self._close_part()
        if not self._parts:
            self._open_part()
            self._close_part()
        if self.path.suffix == ".parquet":
            os.replace(self._parts[0] if len(self._parts) == 1 else self._merged(), self.path)
        else:
            _replace_directory(self._parts, self._aside, self.path)

    def _merged(self) -> Path:
        """One file of all parts, row group by row group."""
        merged = self._aside / "merged.parquet"
        schema = self._schema()
        with pq.ParquetWriter(merged, schema, compression="zstd", compression_level=1) as writer:
            for part in self._parts:
                for batch in pq.ParquetFile(part).iter_batches(batch_size=ROW_GROUP):
                    found = dict(zip(batch.schema.names, batch.columns, strict=True))
                    columns = [_cast(f.name, found.get(f.name), f.type, batch.num_rows) for f in schema]
                    writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=ROW_GROUP)
        return merged


def open_store(path: Path, *, memory_limit: str = "512MB", threads: int = 2) -> duckdb.DuckDBPyConnection:
    """Connection with the view ``responses`` over a store.

    Parameters
    ----------
    path : Path
        A file or directory that ``StoreWriter`` wrote, or any Parquet file in the standard schema.
    memory_limit : str
        What DuckDB may hold in memory; beyond it, it writes to the system's temporary directory.
    threads : int

    Returns
    -------
    duckdb.DuckDBPyConnection
        ``responses`` has every standard column in the schema's order and type, then the extra ones;
        a missing task is ``''``, a missing sample ``'0'``. No extension is installed or loaded.

    Raises
    ------
    AnalysisError
        There is no store, it is not Parquet, or a standard column has a type that cannot be cast.
    """
    parts = store_parts(path)
    con = duckdb.connect(
        config={
            "threads": threads,
            "memory_limit": memory_limit,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "temp_directory": str(Path(tempfile.gettempdir()) / f"evenhand-duckdb-{os.getpid()}"),
        }
    )
    con.execute("SET TimeZone = 'UTC'")
    files = ", ".join(quote_text(_escaped(part)) for part in parts)
    source = f"read_parquet([{files}], union_by_name = true)"
    try:
        found = con.execute(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {source})").fetchall()
        con.execute(f"CREATE VIEW logged_responses AS SELECT {_columns_sql(dict(found))} FROM {source}")
        con.execute("CREATE VIEW responses AS SELECT * FROM logged_responses")
    except duckdb.Error as error:
        con.close()
        raise AnalysisError(f"{path}: not a store of responses: {error}") from None
    return con


def store_parts(path: Path) -> list[Path]:
    """Parquet files of a store, in the order in which their rows were written.

    Raises
    ------
    AnalysisError
        There is no store.
    """
    parts = sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]
    if not parts or not all(part.is_file() for part in parts):
        raise AnalysisError(f"{path}: no store of responses here")
    return parts


def store_columns(con: duckdb.DuckDBPyConnection, view: str = "responses") -> tuple[str, ...]:
    """Names of the columns of a view, in order."""
    rows = con.execute(f"SELECT column_name FROM (DESCRIBE {quote_identifier(view)})").fetchall()
    return tuple(name for (name,) in rows)


def _columns_sql(found: dict[str, str]) -> str:
    parts = []
    for column in COLUMNS:
        kind, name = _SQL_TYPES[column.kind], quote_identifier(column.name)
        value = f"CAST({name} AS {kind})" if found.get(column.name, kind) != kind else name
        value = value if column.name in found else f"CAST(NULL AS {kind})"
        default = _DEFAULTS.get(column.name)
        parts.append(f"coalesce({value}, {default}) AS {name}" if default else f"{value} AS {name}")
    parts += [quote_identifier(name) for name in found if name not in COLUMN_BY_NAME]
    return ", ".join(parts)


def _escaped(path: Path) -> str:
    """Path in which DuckDB finds no pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def _cast(name: str, column: pa.Array | None, kind: pa.DataType, rows: int) -> pa.Array:
    if column is None:
        return pa.nulls(rows, kind)
    if column.type == kind:
        return column
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise AnalysisError(f"column {shown(name)}: cannot be read as {kind}: {reason}", offenders=(name,)) from None


def _refuse_foreign(path: Path) -> None:
    if path.suffix == ".parquet":
        if path.is_dir():
            raise AnalysisError(f"{path}: is a directory; name a file, or a directory without the ending .parquet")
    elif path.is_dir():
        foreign = sorted(entry.name for entry in path.iterdir() if not entry.match("part-*.parquet"))
        if foreign:
            raise AnalysisError(
                f"{path}: holds {shown(foreign[0])}, which is not ours; choose another place for the store"
            )
    elif path.exists():
        raise AnalysisError(
            f"{path}: is a file; a store with this name is a directory, or let the name end in .parquet"
        )


def _replace_directory(parts: list[Path], aside: Path, path: Path) -> None:
    ready = aside / "ready"
    ready.mkdir()
    for part in parts:
        part.rename(ready / part.name)
    if path.exists():
        path.rename(aside / "replaced")
    ready.rename(path)
