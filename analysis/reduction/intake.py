"""From a directory of logs to the store: every file looked at, every record accounted for."""

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.errors import AnalysisError
from analysis.importers import standard, wide_table
from analysis.importers.byte_streams import relative_name
from analysis.importers.detect import Found, find_logs
from analysis.parsing.answers import ReadingPolicy
from analysis.parsing.parallel import AnswerReader
from analysis.reduction.file_reader import FileReader, IntakeSettings, content_hash
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
from analysis.reduction.response_batches import drop_rows
from analysis.schema.store import StoreWriter
from analysis.schema.study import Study

__all__ = ["Intake", "IntakeSettings", "reading_policy", "root_of", "take_in"]


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
        reader = FileReader(study, settings, root, answers, key)
        accounts = _read_all(reader, found, settings, store)
        if reader.is_contradicted:
            reader = FileReader(study, settings, root, answers, key, reader.facts())
            accounts = _read_all(reader, found, settings, store)
    if reader.dropped:
        drop_rows(store, reader.dropped)
    if key is not None:
        accounts = _with_key(accounts, key, root)
    files = files_table(accounts)
    records, rows = int(files["records"].sum()), int(files["rows"].sum())
    if not records and not rows:
        _refuse_headers_alone(accounts)
    return Intake(files, set_aside_table(accounts), notes_table(accounts), store, records, rows)


def _refuse_headers_alone(accounts: list[FileAccount]) -> None:
    """Refuse tables of which none has a row; logs of a harness say themselves what became of their records."""
    read = [account for account in accounts if account.verdict == "read"]
    if all(account.format in (standard.NAME, wide_table.NAME) for account in read):
        named = ", ".join(account.file for account in read)
        has = "has a header and nothing below it" if len(read) == 1 else "have headers and nothing below them"
        raise AnalysisError(f"no rows: {named} {has}", offenders=[account.file for account in read])


def _read_all(reader: FileReader, found: list[Found], settings: IntakeSettings, store: Path) -> list[FileAccount]:
    with StoreWriter(store) as writer:
        accounts = [reader.read(item, writer) for item in found]
        reader.finish(writer)
        refused = [account for account in accounts if account.verdict in ("refused", "unreadable")]
        others = any(account.verdict == "read" for account in accounts)
        if (refused and not settings.keep_going) or not others:
            raise refusal(refused, len(found), others=others)
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


def reading_policy(study: Study, settings: IntakeSettings) -> ReadingPolicy:
    """How answers are read, from the study and the command line."""
    return ReadingPolicy(
        reread=settings.reread,
        synonyms=study.reading.synonyms,
        kind=study.kind,
        kinds=study.kinds,
        percent=study.probability_scale == "percent",
    )
