"""Rows of a generic table file before their columns are known: text under the file's own names."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from analysis.errors import LogError

#: Rows of one batch of the readers that build rows one by one.
BATCH_ROWS = 8192
#: More columns than this are a file of another shape.
MAX_COLUMNS = 1000


@dataclass(frozen=True, slots=True)
class RawBatch:
    """Consecutive records of one file.

    ``rows`` holds text (numbers keep their literal, nested values are JSON text), or the file's own
    types for Parquet; ``places`` is where each record stands: a line for ``mark`` ``:``, the number of
    the record for ``#``. ``notes`` are sentences for the reconciliation. ``decimal_comma``: a comma inside a cell may
    stand before decimals, because cells are not separated by it.
    """

    rows: pa.RecordBatch
    places: pa.Array
    mark: str
    notes: tuple[str, ...] = ()
    decimal_comma: bool = False

    def sources(self, name: str) -> pa.Array:
        """``file:line`` or ``file#record`` of each row."""
        return pc.binary_join_element_wise(name, pc.cast(self.places, pa.string()), self.mark)


def check_names(names: Sequence[str], file: str, *, line: int | None = None) -> None:
    """Refuse column names that a table cannot hold apart: repeated, empty, equal but for case, or too many."""
    if len(names) > MAX_COLUMNS:
        raise LogError(file, f"has more than {MAX_COLUMNS:,} columns", line=line)
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other is not name:
            what = f'column "{name}" twice' if other == name else f'columns "{other}" and "{name}", equal but for case'
            raise LogError(file, f"has {what}", line=line, hint="rename one")


def text_batch(columns: dict[str, list[str | None]]) -> pa.RecordBatch:
    """Columns of text as one Arrow batch."""
    return pa.record_batch([pa.array(c, pa.string()) for c in columns.values()], names=list(columns))
