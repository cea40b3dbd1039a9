"""From a directory of logs to the store: every file looked at, every record accounted for."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa

from analysis.errors import AnalysisError, LogError
from analysis.importers import standard, wide_table
from analysis.importers.detect import Found, find_logs, format_names
from analysis.importers.parquet_rows import is_store
from analysis.importers.protocol import Claim, ReadOptions
from analysis.parsing.answers import ReadingPolicy
from analysis.parsing.parallel import AnswerReader
from analysis.reduction.reconciliation import FileAccount, files_table, notes_table, set_aside_table
from analysis.reduction.response_batches import completed, drop_rows, record_batches
from analysis.schema.mapping import map_columns
from analysis.schema.probability_scale import as_fractions
from analysis.schema.store import StoreWriter
from analysis.schema.study import Study

#: Model of a log that names none, as the importers write it.
_UNKNOWN = "unknown"
#: Names in the notes of importers that lack the scorer asked for.
_SCORERS = re.compile(r"\((?:it has|there is): (.*?)\)")


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
    found = find_logs(_absolute(paths), root, rules=study.map, wide=study.wide)
    _refuse_nothing(found, paths)
    _refuse_fruitless(found, paths)
    _refuse_own_output(found, store)
    with StoreWriter(store) as writer, AnswerReader(reading_policy(study, settings)) as answers:
        reader = _Reader(study, settings, root, answers)
        accounts = [reader.read(item, writer) for item in found]
        refused = [account for account in accounts if account.verdict in ("refused", "unreadable")]
        if refused and not settings.keep_going:
            raise _refusal(refused, len(found))
        if not any(account.verdict == "read" for account in accounts):
            raise _refusal(refused, len(found))
        _refuse_absent_scorer(accounts, settings.scorer)
    if reader.dropped:
        drop_rows(store, reader.dropped)
    files = files_table(accounts)
    records, rows = int(files["records"].sum()), int(files["rows"].sum())
    return Intake(files, set_aside_table(accounts), notes_table(accounts), store, records, rows)


def root_of(paths: list[Path]) -> Path:
    """Directory that names are relative to: the one given, or the deepest that holds all that was given."""
    if not paths:
        raise AnalysisError("no logs were named; give a file or a directory")
    return Path(os.path.commonpath([path if path.is_dir() else path.parent for path in _absolute(paths)]))


def _absolute(paths: list[Path]) -> list[Path]:
    # Not resolved: a link keeps the name under which the user knows it.
    return [Path(os.path.abspath(path)) for path in paths]


def _refuse_nothing(found: list[Found], paths: list[Path]) -> None:
    if any(item.claim in (Claim.LOG, Claim.REFUSED) for item in found):
        return
    named = ", ".join(str(path) for path in paths)
    known = ", ".join(format_names())
    looked = f"looked at {len(found):,} files" if found else "the directory is empty"
    reasons = [f"{item.relative}: {item.reason}" for item in found if item.claim is Claim.NO]
    shown = "".join(f"\n  {reason}" for reason in reasons[:10]) + ("\n  …" if len(reasons) > 10 else "")
    raise AnalysisError(f"no logs found in {named}: {looked}; known formats are {known}{shown}", offenders=reasons)


def _refuse_fruitless(found: list[Found], paths: list[Path]) -> None:
    """Refuse a named file or directory without a log or what belongs to one, which the logs beside it would hide."""
    logs = [item.path for item in found if item.claim is not Claim.NO]
    empty = [
        str(path)
        for path, place in zip(paths, _absolute(paths), strict=True)
        if not any(log == place or place in log.parents for log in logs)
    ]
    if empty:
        raise AnalysisError(f"no logs found in {', '.join(empty)}; leave it out, or correct the name", offenders=empty)


def _refuse_absent_scorer(accounts: list[FileAccount], scorer: str | None) -> None:
    """Refuse a scorer that no log has: it would leave every response unscored."""
    if scorer is None:
        return
    read = [account for account in accounts if account.verdict == "read" and account.format != standard.NAME]
    said = [
        [note for note in account.notes if note.startswith((f'no scorer "{scorer}"', f'no metric "{scorer}"'))]
        for account in read
    ]
    if read and all(said):
        names = sorted({has[1] for notes in said for note in notes if (has := _SCORERS.search(note))})
        raise AnalysisError(f'no log has a scorer "{scorer}"; they have: {"; ".join(names)}', offenders=(scorer,))


def _refuse_own_output(found: list[Found], store: Path) -> None:
    for item in found:
        if store.exists() and item.path.exists() and item.path.samefile(store):
            raise AnalysisError(
                f"{item.relative}: is the file to write and lies among the logs; write it elsewhere, or remove it",
                offenders=(item.relative,),
            )


def _refusal(refused: list[FileAccount], looked_at: int) -> AnalysisError:
    listed = "".join(f"\n  {account.file}: {account.reason}" for account in refused)
    unfiltered = all(account.reason.startswith("no rows of filter") for account in refused)
    mend = "name another --filter, or the logs that have it only" if unfiltered else "repair or remove them"
    return AnalysisError(
        f"{len(refused):,} of {looked_at:,} files cannot be read; {mend}, or use --keep-going to skip them:{listed}",
        offenders=[account.file for account in refused],
    )


class _Reader:
    """Reads one file after another into the writer; rows of a file refused half-way are noted in ``dropped``."""

    def __init__(self, study: Study, settings: IntakeSettings, root: Path, answers: AnswerReader) -> None:
        self.dropped: list[tuple[int, int]] = []
        self._study, self._settings = study, settings
        self._options = ReadOptions(
            root, settings.filter, settings.scorer, settings.max_member_bytes, settings.max_ratio, study
        )
        self._answers = answers
        self._seen: dict[tuple[str, str], list[tuple[str, str]]] = {}

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
        unread = (completed(self._scaled(rows, item)) for rows in self._batches(item, account))
        for rows in self._answers.read(self._no_copy(unread, account)):
            writer.write(rows)
            if self._settings.progress is not None:
                self._settings.progress(account.file, writer.rows)

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
