"""Paths of OpenCompass: model, data set and time in the names, shards of one data set, the results beside."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import JsonParser, read_text, top_level_keys
from analysis.importers.protocol import ReadOptions

UNKNOWN = "unknown"
PREDICTIONS, RESULTS = "predictions", "results"
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)")
_SHARD = re.compile(r"(?P<name>.+)_(?P<number>\d{1,5})", re.DOTALL)
_FIRST_KEY = re.compile(r'\s*\{(\s*\n[ \t]*)"0"\s*:')
#: Folders between predictions/ and the model become this column.
FOLDER_NOTE = "the folder between predictions/ and the model is read as the strategy"


@dataclass(frozen=True, slots=True)
class Place:
    """What the path of a predictions file says, and where its keys begin within the data set."""

    model: str
    task: str
    run: str
    timestamp: str | None
    strategy: str | None
    offset: int = 0
    correct: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_place(path: Path, options: ReadOptions) -> Place:
    """Model, data set and time of a file ``predictions/<model>/<data set>.json``."""
    folders = path.parent.parts
    at = len(folders) - 1 - folders[::-1].index(PREDICTIONS) if PREDICTIONS in folders else None
    between = folders[at + 1 : -1] if at is not None else ()
    model = folders[-1] if folders and (at is None or len(folders) > at + 1) and folders[-1] != path.anchor else ""
    stamp = _TIME.fullmatch(folders[at - 1]) if at else None
    timestamp = "{}-{}-{}T{}:{}:{}".format(*stamp.groups()) if stamp else None
    name, offset, notes = _shard(path, options)
    notes += (FOLDER_NOTE,) if between else ()
    if not model:
        notes += (f'no folder names the model: it is called "{UNKNOWN}"; keep the folders that OpenCompass wrote',)
    correct, more = _correct(path, name, folders, at, options)
    return Place(
        model=model or UNKNOWN,
        task=name,
        run=folders[at - 1] if at and stamp else relative_name(path.with_name(name), options.root),
        timestamp=timestamp,
        strategy="/".join(between) or None,
        offset=offset,
        correct=correct,
        notes=notes + more,
    )


def _shard(path: Path, options: ReadOptions) -> tuple[str, int, tuple[str, ...]]:
    """Data set of a file, the items before it, and notes.

    ``<name>_0``, ``<name>_1`` ... are one data set if they tile: numbered without a gap, keys from 0
    without a gap, all as long as the first but the last, which may be shorter.
    """
    stem, ending = _stem(path.name)
    named = _SHARD.fullmatch(stem)
    if named is None or (path.parent / f"{named['name']}{ending}").exists():
        return stem, 0, ()
    pattern = re.compile(rf"{re.escape(named['name'])}_(0|[1-9]\d*){re.escape(ending)}")
    try:
        found = [pattern.fullmatch(entry.name) for entry in path.parent.iterdir()]
    except OSError:
        return stem, 0, ()
    numbers = sorted(int(match[1]) for match in found if match)
    if len(numbers) < 2:
        return stem, 0, ()
    apart = f'"{named["name"]}_*" look like shards and do not tile: each is read as a data set of its own'
    if numbers != list(range(len(numbers))):
        return stem, 0, (f"{apart} (numbers {', '.join(map(str, numbers))})",)
    sizes = [_size(path.parent / f"{named['name']}_{number}{ending}", options) for number in numbers]
    if None in sizes or len(set(sizes[:-1])) > 1 or not 0 < (sizes[-1] or 0) <= (sizes[0] or 0):
        return stem, 0, (f"{apart} (items {', '.join('?' if size is None else str(size) for size in sizes)})",)
    step, number = sizes[0] or 0, int(named["number"])
    return named["name"], step * number, (f"shard {number} of {len(numbers)} of one data set",)


def _stem(name: str) -> tuple[str, str]:
    for ending in (".jsonl", ".json"):
        if name.endswith(ending):
            return name.removesuffix(ending), ending
    return name, ""


def _size(path: Path, options: ReadOptions) -> int | None:
    """Number of items of a shard whose keys are 0, 1, 2 ...; None for anything else."""
    try:
        text, _ = read_text(path, options)
    except LogError:
        return None
    if path.name.endswith(".jsonl"):
        return sum(1 for line in text.split("\n") if line.strip())
    first = _FIRST_KEY.match(text)
    if first:
        # Line breaks inside texts are escaped: this is the indent of the top level and of nothing else.
        keys = re.findall(rf'{re.escape(first[1])}"(\d+)"\s*:', text)
    else:
        keys = [key for key in top_level_keys(text) if key.isdigit()]
    return len(keys) if keys == [str(number) for number in range(len(keys))] else None


def _correct(
    path: Path, name: str, folders: tuple[str, ...], at: int | None, options: ReadOptions
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Correctness by index, where the results of the run hold details."""
    if at is None:
        return {}, ()
    results = Path(*folders[:at], RESULTS, *folders[at + 1 :], f"{name}.json")
    if not results.is_file():
        return {}, ()
    where = relative_name(results, options.root)
    try:
        value, _ = JsonParser(where).parse(read_text(results, options)[0])
    except LogError as error:
        return {}, (f"the results of this run cannot be read ({error.reason})",)
    details = value.get("details") if isinstance(value, dict) else None
    if not isinstance(details, dict):
        return {}, ()
    return {
        key: entry["correct"] for key, entry in details.items() if isinstance(entry, dict) and "correct" in entry
    }, ()


def is_result(path: Path) -> bool:
    """Whether a file is the result of predictions that lie where OpenCompass writes them."""
    folders = path.parent.parts
    if RESULTS not in folders:
        return False
    at = len(folders) - 1 - folders[::-1].index(RESULTS)
    beside = Path(*folders[:at], PREDICTIONS, *folders[at + 1 :])
    stem = _stem(path.name)[0]
    return any((beside / f"{stem}{ending}").is_file() for ending in (".json", ".jsonl", "_0.json", "_0.jsonl"))
