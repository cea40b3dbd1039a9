"""One file after another into the store: its account, its responses with their answers read."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa

from analysis.errors import AnalysisError, LogError
from analysis.importers import standard, wide_table
from analysis.importers.detect import Found
from analysis.importers.parquet_rows import is_store
from analysis.importers.protocol import Claim, ReadOptions
from analysis.parsing.parallel import AnswerReader
from analysis.parsing.policy import TaskFacts
from analysis.parsing.task_facts import BatchFacts
from analysis.reduction.item_key import ItemKey
from analysis.reduction.reconciliation import FileAccount
from analysis.reduction.response_batches import completed, record_batches
from analysis.reduction.small_files import SmallFiles, is_small
from analysis.schema.mapping import map_columns
from analysis.schema.probability_scale import as_fractions
from analysis.schema.store import StoreWriter
from analysis.schema.study import Study

#: Model of a log that names none, as the importers write it.
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class IntakeSettings:
    """What the user may choose about taking logs in.

    ``filter`` and ``scorer`` go to the importers; ``reread`` reads answers again that a log states;
    ``keep_going`` leaves out what cannot be read instead of stopping; ``progress`` is told the name of
    each file and the responses taken in so far.
    """

    filter: str | None = None
    scorer: str | None = None
    reread: bool = False
    keep_going: bool = False
    max_member_bytes: int = 2 << 30
    max_ratio: int = 1000
    progress: Callable[[str, int], None] | None = None


class FileReader:
    """Reads one file after another into the writer; rows of a file refused half-way are noted in ``dropped``.

    After the last file, ``finish`` writes the small ones that still wait.

    ``known`` holds facts of the tasks by file, from an earlier reading of the same files.
    """

    def __init__(
        self,
        study: Study,
        settings: IntakeSettings,
        root: Path,
        answers: AnswerReader,
        key: ItemKey | None,
        known: Mapping[str, TaskFacts] | None = None,
    ) -> None:
        self.dropped: list[tuple[int, int]] = []
        self._known, self._facts = known, dict[str, BatchFacts]()
        self._study, self._settings = study, settings
        self._options = ReadOptions(
            root, settings.filter, settings.scorer, settings.max_member_bytes, settings.max_ratio, study
        )
        self._answers, self._key = answers, key
        self._seen: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._waiting, self._start, self._told = SmallFiles(), 0, 0

    @property
    def is_contradicted(self) -> bool:
        """Whether a row was read before another one showed what its task asks for."""
        mixed = self._mixed()
        return self._known is None and any(seen.is_contradicted(mixed) for seen in self._facts.values())

    def facts(self) -> dict[str, TaskFacts]:
        """Facts by file: options of a task are the same in all files, whether it has texts is not."""
        mixed = frozenset(self._mixed())
        return {file: TaskFacts(mixed, frozenset(seen.texts)) for file, seen in self._facts.items()}

    def _mixed(self) -> set[str]:
        return {task for seen in self._facts.values() for task in seen.mixed}

    def read(self, item: Found, writer: StoreWriter) -> FileAccount:
        """Account of one file; its responses are written, or wait for those of other small files."""
        account = _account(item)
        if account.verdict != "read":
            return account
        self._start = writer.rows
        try:
            account.sha256, account.bytes = content_hash(item.path)
            self._take(self._no_copy(self._batches(item, account), account), account, writer)
        except LogError as error:
            account.refuse("refused", _reason(error))
            if writer.rows > self._start:
                self.dropped.append((self._start, writer.rows))
        return account

    def finish(self, writer: StoreWriter) -> None:
        """Write the responses that wait."""
        waiting, self._waiting = self._waiting, SmallFiles()
        if not waiting:
            return
        rows, start = completed(waiting.together()), writer.rows
        if self._answers.is_by_row(rows):
            seen = BatchFacts()
            self._facts |= dict.fromkeys((account.file for account in waiting.accounts), seen)
            self._write([rows], waiting.accounts[0], writer, seen)
        else:
            for account, own in waiting.parts(rows):
                self._write([own], account, writer, self._facts.setdefault(account.file, BatchFacts()))
        *others, last = waiting.accounts
        last.check(writer.rows - start - sum(account.rows for account in others))

    def _take(self, batches: Iterator[pa.RecordBatch], account: FileAccount, writer: StoreWriter) -> None:
        """Write a file, or let it wait where it is small; what came before it is written first."""
        first = next(batches, None)
        read = [] if first is None else [first]
        if first is not None and self._key is None and is_small(first):
            second = next(batches, None)
            if second is None:
                self._wait(first, account, writer)
                return
            read.append(second)
        self.finish(writer)
        self._start = writer.rows
        rows = (self._keyed(completed(rows), account) for rows in chain(read, batches))
        self._write(rows, account, writer, self._facts.setdefault(account.file, BatchFacts()))
        account.check(writer.rows - self._start)

    def _wait(self, rows: pa.RecordBatch, account: FileAccount, writer: StoreWriter) -> None:
        account.check(rows.num_rows)
        if self._waiting.is_full or not self._waiting.fits(rows):
            self.finish(writer)
        self._waiting.add(account, rows)
        self._tell(account, writer.rows + self._waiting.rows)

    def _write(
        self, batches: Iterable[pa.RecordBatch], account: FileAccount, writer: StoreWriter, seen: BatchFacts
    ) -> None:
        """Read the answers of batches and write them; ``account`` is that of the first file they are of."""
        renamed = set(writer.renamed)
        known = None if self._known is None else self._known.get(account.file)
        for rows in self._answers.read(batches, facts=known, seen=seen):
            writer.write(rows)
            self._tell(account, writer.rows)
        for name in writer.renamed.keys() - renamed:
            account.notes[f'column "{name}" is kept as "{writer.renamed[name]}": its name is taken'] += 1

    def _tell(self, account: FileAccount, rows: int) -> None:
        # What waited is told of when it is read; writing it later is no further progress.
        if self._settings.progress is not None and rows > self._told:
            self._told = rows
            self._settings.progress(account.file, rows)

    def _keyed(self, rows: pa.RecordBatch, account: FileAccount) -> pa.RecordBatch:
        return rows if self._key is None else self._key.joined(rows, account)

    def _no_copy(self, batches: Iterator[pa.RecordBatch], account: FileAccount) -> Iterator[pa.RecordBatch]:
        """The batches of a file, unless an earlier file has the same content and gave responses of the same model.

        Where the model is read off a file's name, two models that answer alike have files of the same content; a
        copy put elsewhere has lost that name, so an unknown model is no other model.
        """
        for number, rows in enumerate(batches):
            if number == 0 and rows.num_rows:
                model, task = _first_value(rows, "model"), _first_value(rows, "task")
                twins = self._seen.setdefault((account.sha256, task), [])
                for other, file in twins:
                    if model == other or _UNKNOWN in (model, other):
                        raise LogError(account.file, f"the same content as {file}", hint="remove one of the two")
                twins.append((model, account.file))
            yield rows

    def _batches(self, item: Found, account: FileAccount) -> Iterator[pa.RecordBatch]:
        module = item.importer
        if module is not None and hasattr(module, "read_batches"):
            for batch in module.read_batches(item.path, self._options):
                account.add_batch(batch)
                rows = batch.rows if module is standard else self._mapped(batch.rows, account.file)
                yield self._scaled(rows, item)
        elif module is not None:
            for rows in record_batches(module.read(item.path, self._options), account):
                yield self._scaled(rows if module is wide_table else self._mapped(rows, account.file), item)

    def _scaled(self, rows: pa.RecordBatch, item: Found) -> pa.RecordBatch:
        """Stated probabilities as fractions; our own store holds fractions already."""
        if self._study.probability_scale == "fraction" or (item.importer is standard and is_store(item.path)):
            return rows
        return as_fractions(rows, self._study)

    def _mapped(self, rows: pa.RecordBatch, file: str) -> pa.RecordBatch:
        """Rules of ``[map]`` whose source a harness's rows have; rules for other files are left alone."""
        names = set(rows.schema.names)
        rules = {c: rule for c, rule in self._study.map.items() if names.issuperset(rule.sources)}
        try:
            return map_columns(rules, rows) if rules else rows
        except AnalysisError as error:
            raise AnalysisError(f"{file}: {error}", offenders=error.offenders) from error


def _account(item: Found) -> FileAccount:
    account = FileAccount(item.relative, format=item.importer.NAME if item.importer else "")
    if item.claim is Claim.COMPANION:
        account.refuse("companion", item.reason)
    elif not item.readable:
        account.refuse("unreadable", item.reason)
    elif item.importer is None:
        account.refuse("refused" if item.claim is Claim.REFUSED else "not a log", item.reason)
    return account


def _first_value(rows: pa.RecordBatch, name: str) -> str:
    """Value of the first row, empty where there is none."""
    value = rows.column(name)[0].as_py() if name in rows.schema.names else None
    return value or ""


def _reason(error: LogError) -> str:
    where = "" if error.line is None else f"line {error.line:,}: "
    return f"{where}{error.reason}" + (f"; {error.hint}" if error.hint else "")


def content_hash(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a file; of a directory, over the names and contents of what is in it."""
    if not path.is_dir():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest(), path.stat().st_size
    total, digest = 0, hashlib.sha256()
    for member in sorted(path.rglob("*")):
        if member.is_file():
            inner, size = content_hash(member)
            digest.update(f"{member.relative_to(path).as_posix()}\0{inner}\n".encode(errors="surrogateescape"))
            total += size
    return digest.hexdigest(), total
