"""From a directory of logs to the store: every file looked at, every record accounted for."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa

from analysis.errors import AnalysisError, LogError
from analysis.importers import standard, wide_table
from analysis.importers.byte_streams import relative_name
from analysis.importers.detect import Found, find_logs
from analysis.importers.parquet_rows import is_store
from analysis.importers.protocol import Claim, ReadOptions
from analysis.parsing.answers import ReadingPolicy
from analysis.parsing.parallel import AnswerReader
from analysis.parsing.policy import TaskFacts
from analysis.parsing.task_facts import BatchFacts
from analysis.reduction.intake_refusals import (
    absolute,
    refusal,
    refuse_absent_scorer,
    refuse_fruitless,
    refuse_nothing,
    refuse_own_output,
)
from analysis.reduction.item_key import ItemKey, item_key
from analysis.reduction.reconciliation import FileAccount, files_table, notes_table, set_aside_table
from analysis.reduction.response_batches import completed, drop_rows, record_batches
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


@dataclass(frozen=True, slots=True)
class Intake:
    """What was read.

    ``files``: file, format, harness, verdict (read, companion, not a log, refused, unreadable), records =
    used + set_aside, rows (responses; among them planned_absent), reason, sha256, bytes. ``set_aside``:
    file, reason, records. ``notes``: file, note, count. ``rows`` responses are in ``store``.
    """

    files: pd.DataFrame
    set_aside: pd.DataFrame
    notes: pd.DataFrame
    store: Path
    records: int
    rows: int


def take_in(paths: list[Path], study: Study, settings: IntakeSettings, store: Path) -> Intake:
    """Read every log under ``paths`` into a store.

    Parameters
    ----------
    paths : list of Path
        Files and directories that the user named.
    study : Study
        Its ``[map]`` and ``[reading]`` are applied.
    settings : IntakeSettings
    store : Path
        Where ``StoreWriter`` puts the responses.

    Raises
    ------
    AnalysisError
        No log at all; without ``keep_going``, all logs that cannot be read, each with its reason; a
        record that is neither used nor set aside.
    """
    root = root_of(paths)
    key = item_key(study)
    of_study = [key.path] if key is not None else []
    found = find_logs(absolute(paths), root, rules=study.map, wide=study.wide, of_study=of_study)
    refuse_nothing(found, paths)
    refuse_fruitless(found, paths)
    refuse_own_output(found, store)
    with AnswerReader(reading_policy(study, settings)) as answers:
        reader = _Reader(study, settings, root, answers, key)
        accounts = _read_all(reader, found, settings, store)
        if reader.is_contradicted:
            reader = _Reader(study, settings, root, answers, key, reader.facts())
            accounts = _read_all(reader, found, settings, store)
    if reader.dropped:
        drop_rows(store, reader.dropped)
    if key is not None:
        accounts = _with_key(accounts, key, root)
    files = files_table(accounts)
    records, rows = int(files["records"].sum()), int(files["rows"].sum())
    if not records and study.columns:
        named = ", ".join(account.file for account in accounts if account.verdict == "read")
        raise AnalysisError(f"no rows: {named} has a header and nothing below it", offenders=(named,))
    return Intake(files, set_aside_table(accounts), notes_table(accounts), store, records, rows)


def _read_all(reader: "_Reader", found: list[Found], settings: IntakeSettings, store: Path) -> list[FileAccount]:
    with StoreWriter(store) as writer:
        accounts = [reader.read(item, writer) for item in found]
        refused = [account for account in accounts if account.verdict in ("refused", "unreadable")]
        if refused and not settings.keep_going:
            raise refusal(refused, len(found))
        if not any(account.verdict == "read" for account in accounts):
            raise refusal(refused, len(found))
        refuse_absent_scorer(accounts, settings.scorer)
    return accounts


def _with_key(accounts: list[FileAccount], key: ItemKey, root: Path) -> list[FileAccount]:
    """Accounts with that of the key of items, wherever it lies."""
    place = Path(os.path.abspath(key.path))
    read = [account.file for account in accounts if account.verdict == "read"]
    account = key.account(relative_name(place, root) if place.is_relative_to(root) else str(key.path), read)
    account.sha256, account.bytes = content_hash(key.path)
    others = [other for other in accounts if other.file != account.file]
    return sorted([*others, account], key=lambda one: one.file)


def root_of(paths: list[Path]) -> Path:
    """Directory that names are relative to: the one given, or the deepest that holds all that was given."""
    if not paths:
        raise AnalysisError("no logs were named; give a file or a directory")
    return Path(os.path.commonpath([path if path.is_dir() else path.parent for path in absolute(paths)]))


class _Reader:
    """Reads one file after another into the writer; rows of a file refused half-way are noted in ``dropped``.

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
        """Account of one file, its responses written."""
        account = _account(item)
        if account.verdict != "read":
            return account
        start, renamed = writer.rows, set(writer.renamed)
        try:
            account.sha256, account.bytes = content_hash(item.path)
            self._write(item, account, writer)
            account.check(writer.rows - start)
        except LogError as error:
            account.refuse("refused", _reason(error))
            if writer.rows > start:
                self.dropped.append((start, writer.rows))
        for name in writer.renamed.keys() - renamed:
            account.notes[f'column "{name}" is kept as "{writer.renamed[name]}": its name is taken'] += 1
        return account

    def _write(self, item: Found, account: FileAccount, writer: StoreWriter) -> None:
        unread = (self._keyed(completed(self._scaled(rows, item)), account) for rows in self._batches(item, account))
        known = None if self._known is None else self._known.get(account.file)
        seen = self._facts.setdefault(account.file, BatchFacts())
        for rows in self._answers.read(self._no_copy(unread, account), facts=known, seen=seen):
            writer.write(rows)
            if self._settings.progress is not None:
                self._settings.progress(account.file, writer.rows)

    def _keyed(self, rows: pa.RecordBatch, account: FileAccount) -> pa.RecordBatch:
        return rows if self._key is None else self._key.joined(rows, account)

    def _no_copy(self, batches: Iterator[pa.RecordBatch], account: FileAccount) -> Iterator[pa.RecordBatch]:
        """The batches of a file, unless an earlier file has the same content and gave responses of the same model.

        Where the model is read off a file's name, two models that answer alike have files of the same content; a
        copy put elsewhere has lost that name, so an unknown model is no other model.
        """
        for number, rows in enumerate(batches):
            if number == 0 and rows.num_rows:
                model, task = (str(rows.column(name)[0]) for name in ("model", "task"))
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
                yield batch.rows if module is standard else self._mapped(batch.rows, account.file)
        elif module is not None:
            for rows in record_batches(module.read(item.path, self._options), account):
                yield rows if module is wide_table else self._mapped(rows, account.file)

    def _scaled(self, rows: pa.RecordBatch, item: Found) -> pa.RecordBatch:
        """Stated probabilities as fractions; our own store holds fractions already."""
        return rows if item.importer is standard and is_store(item.path) else as_fractions(rows, self._study)

    def _mapped(self, rows: pa.RecordBatch, file: str) -> pa.RecordBatch:
        """Rules of ``[map]`` whose source a harness's rows have; rules for other files are left alone."""
        names = set(rows.schema.names)
        rules = {c: rule for c, rule in self._study.map.items() if rule.source is None or rule.source in names}
        try:
            return map_columns(rules, rows) if rules else rows
        except AnalysisError as error:
            raise AnalysisError(f"{file}: {error}", offenders=error.offenders) from error


def reading_policy(study: Study, settings: IntakeSettings) -> ReadingPolicy:
    """How answers are read, from the study and the command line."""
    return ReadingPolicy(
        reread=settings.reread,
        synonyms=study.reading.synonyms,
        kind=study.kind,
        kinds=study.kinds,
        percent=study.probability_scale == "percent",
    )


def _account(item: Found) -> FileAccount:
    account = FileAccount(item.relative, format=item.importer.NAME if item.importer else "")
    if item.claim is Claim.COMPANION:
        account.refuse("companion", item.reason)
    elif not item.readable:
        account.refuse("unreadable", item.reason)
    elif item.importer is None:
        account.refuse("refused" if item.claim is Claim.REFUSED else "not a log", item.reason)
    return account


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
