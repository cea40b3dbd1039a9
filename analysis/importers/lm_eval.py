"""Sample files of lm-evaluation-harness (``--log_samples``), one response per document and reply.

Written against 0.4.0 to 0.4.13: JSON arrays, JSON Lines, with and without a ``filter`` key.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import JsonParser, as_text, decode, open_log, read_lines, read_text, top_level_keys
from analysis.importers.lm_eval_files import RunInfo, run_info
from analysis.importers.lm_eval_rows import row_responses
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record

NAME = "lm-evaluation-harness"
VERSIONS = "sample files of 0.4.0-0.4.13"
AGGREGATE = "aggregate only"
REPEATED = "repeat of the same document (another filter)"
_METRIC_KEY = re.compile(r'"[^",\\\s]+,[^",\\]+"\s*:')
_HEAD_BYTES = 64 << 10


def sniff(probe: Probe) -> Claim:
    """Say whether a file holds lm-eval samples, or an aggregate that belongs to some."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return Claim.NO
    keys = set(top_level_keys(probe.text))
    if _is_samples(keys):
        return Claim.LOG
    return Claim.COMPANION if _is_aggregate(keys, probe.text) else Claim.NO


def _is_samples(keys: set[str]) -> bool:
    return "doc_id" in keys and bool(keys & {"doc", "arguments", "resps", "filtered_resps"})


def _is_aggregate(keys: set[str], text: str) -> bool:
    if "results" not in keys or keys & {"config_general", "config_tasks", "evalId", "doc_id"}:
        return False
    return "versions" in keys or "configs" in keys or bool(_METRIC_KEY.search(text))


@dataclass(slots=True)
class _Seen:
    """Documents met so far: line and digest of the replies, by document and filter."""

    where: str
    chosen: str | None
    documents: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    filters: dict[str, None] = field(default_factory=dict)

    def set_aside(self, row: dict[str, Any], place: str) -> str | None:
        """Why a row gives no response, or None; a file that holds a run twice is a LogError."""
        name = row.get("filter")
        if isinstance(name, str):
            self.filters.setdefault(name)
            if self.chosen is None:
                self.chosen = name
            if name != self.chosen:
                return f"another filter: {name}"
        document = repr(row["doc_id"])
        digest = hashlib.sha256(as_text(row.get("resps")).encode()).digest()
        before = self.documents.setdefault(document, (place, digest))
        if before[0] == place:
            return None
        if not isinstance(name, str) and before[1] == digest:
            return REPEATED
        kind = f'with filter "{name}"' if isinstance(name, str) else "with other replies"
        raise LogError(
            self.where,
            f"{place} repeats document {as_text(row['doc_id'])} of {before[0]} {kind}",
            hint="two runs were appended to one file: keep one of them",
        )


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per row, in file order; rows of other filters are set aside.

    Raises
    ------
    LogError
        The file is an aggregate, holds no samples or a run twice, or lacks the filter asked for.
    """
    where = relative_name(path, options.root)
    first = _first_character(path, options)
    info = run_info(path, options)
    seen = _Seen(where, options.filter)
    notes, count = info.notes, 0
    for place, source, row, odd in _rows(path, options, is_array=first == "["):
        count += 1
        record = _record(row, info, seen, (place, source), options)
        yield Record(record.source, record.responses, record.set_aside, notes=notes + odd + record.notes)
        notes = ()
    if not count:
        raise LogError(where, "no samples in the file")
    if options.filter is not None and seen.filters and options.filter not in seen.filters:
        raise LogError(where, f'no rows of filter "{options.filter}"', hint=f"there are: {', '.join(seen.filters)}")


def _first_character(path: Path, options: ReadOptions) -> str:
    where = relative_name(path, options.root)
    with open_log(path, options) as stream:
        head, _ = decode(stream.read(_HEAD_BYTES))
    keys = set(top_level_keys(head))
    if _is_aggregate(keys, head) and not _is_samples(keys):
        raise LogError(where, AGGREGATE, hint="run lm-eval with --log_samples, and give the samples_*.jsonl")
    return head.lstrip("\ufeff \t\r\n")[:1]


def _rows(
    path: Path, options: ReadOptions, *, is_array: bool
) -> Iterator[tuple[str, str, dict[str, Any], tuple[str, ...]]]:
    """Place in words, source, row and notes of every row."""
    where = relative_name(path, options.root)
    if not is_array:
        for number, value, odd in read_lines(path, options):
            yield f"line {number}", f"{where}:{number}", _checked(value, where, f"line {number}"), odd
        return
    text, notes = read_text(path, options)
    values, odd = JsonParser(where).parse(text)
    for number, value in enumerate(values, start=1):
        place = f"entry {number}"
        yield place, f"{where}#{number}", _checked(value, where, place), (notes + odd if number == 1 else ())


def _checked(value: Any, where: str, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LogError(where, f"{place} is no JSON object")
    if not isinstance(value.get("doc_id"), (int, str)):
        raise LogError(where, f'{place} is no sample: it lacks "doc_id"')
    return value


def _record(row: dict[str, Any], info: RunInfo, seen: _Seen, at: tuple[str, str], options: ReadOptions) -> Record:
    place, source = at
    known = len(seen.filters)
    reason = seen.set_aside(row, place)
    if reason is not None:
        passed = f'filter "{seen.chosen}" is read and "{row.get("filter")}" set aside; --filter NAME chooses another'
        return Record(source, set_aside=reason, notes=(passed,) if len(seen.filters) > known else ())
    responses, notes = row_responses(row, info, source, scorer=options.scorer)
    if not responses:
        return Record(source, set_aside="no replies", notes=notes)
    return Record(source, responses, notes=notes)
