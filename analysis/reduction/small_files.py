"""Small files read and written together: where a log is thousands of them, the work per file is what takes the time."""

from collections.abc import Iterator

import pyarrow as pa

from analysis.reduction.reconciliation import FileAccount

#: Most rows and bytes of a file that waits for others.
SMALL_ROWS = 64
SMALL_BYTES = 256 << 10
#: Rows and bytes at which those that wait are written.
WAITING_ROWS = 8192
WAITING_BYTES = 16 << 20


def is_small(rows: pa.RecordBatch) -> bool:
    """Whether the first batch of a file is small enough to wait."""
    return rows.num_rows <= SMALL_ROWS and rows.nbytes <= SMALL_BYTES


class SmallFiles:
    """Responses of consecutive files, in their order, with the account of each; all have the same columns.

    Attributes
    ----------
    rows : int
        Responses that wait.
    """

    def __init__(self) -> None:
        self._files: list[tuple[FileAccount, pa.RecordBatch]] = []
        self.rows = 0
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._files)

    @property
    def is_full(self) -> bool:
        return self.rows >= WAITING_ROWS or self._bytes >= WAITING_BYTES

    @property
    def accounts(self) -> list[FileAccount]:
        return [account for account, _ in self._files]

    def fits(self, rows: pa.RecordBatch) -> bool:
        """Whether rows have the columns of those that wait."""
        return not self._files or self._files[0][1].schema.equals(rows.schema)

    def add(self, account: FileAccount, rows: pa.RecordBatch) -> None:
        """Let the responses of one whole file wait."""
        self._files.append((account, rows))
        self.rows += rows.num_rows
        self._bytes += rows.nbytes

    def together(self) -> pa.RecordBatch:
        """Responses of all files as one batch."""
        return pa.concat_batches([rows for _, rows in self._files])

    def parts(self, rows: pa.RecordBatch) -> Iterator[tuple[FileAccount, pa.RecordBatch]]:
        """Rows that belong to each file, of ``together`` with columns added or changed."""
        start = 0
        for account, own in self._files:
            yield account, rows.slice(start, own.num_rows)
            start += own.num_rows
