"""OpenCompass predictions: generated texts, perplexities or probabilities of labels, shards of one data set.

Written against the files of 0.1 to 0.5 (objects keyed by index) and the JSON Lines that newer versions write.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import as_text, decode, open_log, read_lines, read_text, top_level_keys, walk_object
from analysis.importers.lm_eval_rows import REPEATS
from analysis.importers.named_scores import UNSCORED, score_columns
from analysis.importers.opencompass_files import Place, is_result, read_place
from analysis.importers.opencompass_rows import (
    Reply,
    conditional,
    generated,
    is_conditional,
    is_scored,
    rounds,
    scored,
)
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "OpenCompass"
VERSIONS = "predictions of 0.1-0.5"
ABSENT = "its index is skipped in the file"
_MARKS = ('"origin_prompt"', '"label: ', '"testing input"', '"in-context examples"')
_LINE_KEYS = {"origin_prompt", "prediction"}
_LINE_IDS = {"idx", "id", "data_abbr"}
#: More indices than this are not taken for skipped ones.
_MAX_ABSENT = 1_000_000
_HEAD_BYTES = 64 << 10


def sniff(probe: Probe) -> Claim:
    """Say whether a file holds predictions, or results that belong to some."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    if _is_object(probe.text) or _is_lines(probe.text):
        return Claim.LOG
    return Claim.COMPANION if is_result(probe.path) else Claim.NO


def _is_object(text: str) -> bool:
    keys = top_level_keys(text)
    return bool(keys) and keys[0].isascii() and keys[0].isdigit() and any(mark in text for mark in _MARKS)


def _is_lines(text: str) -> bool:
    keys = set(top_level_keys(text))
    return keys >= _LINE_KEYS and bool(keys & _LINE_IDS)


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per entry, in file order, then the indices that the file skips.

    Raises
    ------
    LogError
        The file holds no predictions, one index twice, or is damaged.
    """
    where = relative_name(path, options.root)
    with open_log(path, options) as stream:
        head, _ = decode(stream.read(_HEAD_BYTES))
    entries = _lines(path, where, options) if _is_lines(head) else _members(path, where, options)
    place = read_place(path, options)
    notes = place.notes
    seen: dict[str, set[int]] = {}
    for index, entry, source, task, odd in entries:
        known = seen.setdefault(task, set())
        if index in known:
            raise LogError(where, f"index {index} stands twice", hint="keep one of the two runs")
        known.add(index)
        responses, more = _responses(entry, index, place, source, task, options)
        yield Record(source, responses, notes=notes + odd + more)
        notes = ()
    if not seen:
        raise LogError(where, "no predictions in the file")
    for task, known in seen.items():
        yield from _absent(known, task or place.task, place, where)


def _members(path: Path, where: str, options: ReadOptions) -> Iterator[tuple[int, dict[str, Any], str, str, Any]]:
    text, notes = read_text(path, options)
    for member in walk_object(text, where, stream=""):
        if not (member.key.isascii() and member.key.isdigit() and len(member.key) < 16):
            raise LogError(where, f'key "{member.key[:40]}" is no index of an item')
        entry = _checked(member.value, where, f'entry "{member.key}"')
        yield int(member.key), entry, f'{where}:["{member.key}"]', "", notes + member.notes
        notes = ()


def _lines(path: Path, where: str, options: ReadOptions) -> Iterator[tuple[int, dict[str, Any], str, str, Any]]:
    for number, value, odd in read_lines(path, options):
        entry = _checked(value, where, f"line {number}")
        index = entry.get("idx", entry.get("id"))
        if isinstance(index, str) and index.isascii() and index.isdigit() and len(index) < 16:
            index = int(index)
        if not isinstance(index, int) or isinstance(index, bool) or index < 0:
            raise LogError(where, "no prediction: it lacks an index", line=number)
        task = entry.get("data_abbr")
        yield index, entry, f"{where}:{number}", task if isinstance(task, str) else "", odd


def _checked(value: Any, where: str, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LogError(where, f"{place} is no JSON object")
    marked = is_scored(value) or is_conditional(value)
    if not marked and not ("prediction" in value or "origin_prompt" in value):
        raise LogError(where, f"{place} is no prediction: it has neither a prompt nor a prediction")
    return value


def _responses(
    entry: dict[str, Any], index: int, place: Place, source: str, task: str, options: ReadOptions
) -> tuple[tuple[Response, ...], tuple[str, ...]]:
    item = str(index + place.offset)
    turns = rounds(entry)
    replies: list[tuple[str, str | None, str, Reply]]
    if turns is not None:
        replies = [(f"{item}.{at}", item, "0", reply) for at, t in enumerate(turns, 1) for reply in generated(t)[:1]]
        notes: tuple[str, ...] = ("several rounds per item: each is an item of its own, with one unit",)
    else:
        found, notes = _replies(entry)
        replies = [(item, None, str(at), reply) for at, reply in enumerate(found)]
    scores, score_extra, more = _scores(place.correct.get(item), source, options)
    responses = []
    for at, (name, unit, sample, (columns, extra)) in enumerate(replies):
        is_first = at == 0 and turns is None
        responses.append(
            Response(
                model=place.model,
                item=name,
                unit=unit,
                task=task or place.task,
                sample=sample,
                run=place.run,
                timestamp=place.timestamp,
                strategy=place.strategy,
                harness=NAME,
                source=source,
                extra=extra | (score_extra if is_first else {}),
                **columns | (scores if is_first else {}),
            )
        )
    failed = all(response.status in (Status.ERRORED, Status.MISSING) for response in responses)
    return tuple(responses), notes + more + (() if scores or failed else (UNSCORED,))


def _replies(entry: dict[str, Any]) -> tuple[list[Reply], tuple[str, ...]]:
    if is_scored(entry):
        reply, notes = scored(entry)
        return [reply], notes
    if is_conditional(entry):
        reply, notes = conditional(entry)
        return [reply], notes
    found = generated(entry)
    return found, (REPEATS,) if len(found) > 1 else ()


def _scores(correct: Any, source: str, options: ReadOptions) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...]]:
    if isinstance(correct, list) and len(correct) == 1:
        correct = correct[0]
    if not isinstance(correct, (bool, int, float)):
        return {}, {} if correct is None else {"meta.correct": as_text(correct)}, ()
    return score_columns({"correct": correct}, "correct" if options.scorer in (None, "correct") else None, source)


def _absent(seen: set[int], task: str, place: Place, where: str) -> Iterator[Record]:
    """Indices below the last that the file skips: planned, and lost."""
    if max(seen) + 1 - len(seen) > _MAX_ABSENT:
        raise LogError(where, f"its indices reach {max(seen):,} with only {len(seen):,} entries")
    for index in range(max(seen)):
        if index not in seen:
            planned = Response(
                model=place.model,
                item=str(index + place.offset),
                task=task,
                run=place.run,
                timestamp=place.timestamp,
                strategy=place.strategy,
                status=Status.MISSING,
                status_detail=ABSENT,
                harness=NAME,
                source=where,
            )
            yield Record(where, (planned,), in_file=False, notes=("planned, not in the file",))
