"""Header of an Inspect log: names, the plan of samples, and what is unusual about the log."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.errors import LogError
from analysis.importers.inspect_sample import Draft
from analysis.importers.json_text import as_text

KNOWN_VERSIONS = (1, 2, 3)
_Key = int | float | str


@dataclass(frozen=True, slots=True)
class Header:
    """What a log says once for all its samples.

    ``planned`` holds the ids the run was to cover, with their types; empty where the log does not
    list them. ``quoted`` is true where 1 and "1" are both ids: texts are then shown in quotes.
    """

    where: str
    pieces: Mapping[str, Any]
    model: str
    task: str
    run: str
    status: str
    harness: str
    created: str | None
    temperature: str | None
    planned: tuple[_Key, ...]
    epochs: int
    quoted: bool
    notes: tuple[str, ...]

    def item(self, key: _Key) -> str:
        """Name of an item: its id as text, in quotes where an id of another type reads the same."""
        return f'"{key}"' if self.quoted and isinstance(key, str) else as_text(key)

    def in_order(self, drafts: list[Draft]) -> list[Draft]:
        """Samples by place of their item in the plan, unplanned ones after it (numbers before texts); then by epoch."""
        places = {_tagged(key): place for place, key in enumerate(self.planned)}

        def place(draft: Draft) -> tuple[int, bool, float, str, int]:
            number = 0.0 if isinstance(draft.key, str) or not math.isfinite(draft.key) else float(draft.key)
            at = places.get(_tagged(draft.key), len(places))
            return at, isinstance(draft.key, str), number, str(draft.key), draft.epoch

        return sorted(drafts, key=place)

    def absent(self, drafts: list[Draft]) -> Iterator[tuple[str, int]]:
        """Items and epochs that were planned and are not in the file."""
        there = {(self.item(draft.key), draft.epoch) for draft in drafts}
        for key in self.planned:
            for epoch in range(1, self.epochs + 1):
                if (self.item(key), epoch) not in there:
                    yield self.item(key), epoch


def read_header(pieces: Mapping[str, Any], where: str, drafts: list[Draft], notes: tuple[str, ...]) -> Header:
    """Read the header of a log whose samples are ``drafts``; a log that names no model is a LogError."""
    evaluation = _mapping(pieces.get("eval"))
    model = evaluation.get("model")
    if not isinstance(model, str) or not model:
        raise LogError(where, "the header names no model (eval.model)")
    keys = {_tagged(draft.key) for draft in drafts}
    planned, epochs, plan_notes = _plan(pieces, evaluation, drafts)
    ids = keys | {_tagged(key) for key in planned}
    created = evaluation.get("created")
    return Header(
        where=where,
        pieces=pieces,
        model=model,
        task=evaluation["task"] if isinstance(evaluation.get("task"), str) else "",
        run=_run(evaluation, where),
        status=as_text(pieces.get("status", "unknown")),
        harness=_harness(evaluation),
        created=created if isinstance(created, str) else None,
        temperature=_temperature(pieces, evaluation),
        planned=planned,
        epochs=epochs,
        quoted=len({text for _, text in ids}) < len(ids),
        notes=notes + _log_notes(pieces) + plan_notes,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _tagged(key: _Key) -> tuple[bool, str]:
    return isinstance(key, str), as_text(key)


def _run(evaluation: Mapping[str, Any], where: str) -> str:
    # One run_id covers all tasks and models of one call; a retried log has ids of its own.
    ids = [evaluation.get("run_id"), evaluation.get("eval_id") or evaluation.get("task_id")]
    return "/".join(part for part in ids if isinstance(part, str) and part) or where


def _harness(evaluation: Mapping[str, Any]) -> str:
    version = _mapping(evaluation.get("packages")).get("inspect_ai")
    return f"inspect_ai {version}" if isinstance(version, str) else "inspect_ai"


def _temperature(pieces: Mapping[str, Any], evaluation: Mapping[str, Any]) -> str | None:
    for config in (evaluation.get("model_generate_config"), _mapping(pieces.get("plan")).get("config")):
        value = _mapping(config).get("temperature")
        if isinstance(value, (str, int, float)):
            return as_text(value)
    return None


def _plan(
    pieces: Mapping[str, Any], evaluation: Mapping[str, Any], drafts: list[Draft]
) -> tuple[tuple[_Key, ...], int, tuple[str, ...]]:
    """Ids and epochs that were planned, as far as the header can be trusted about them."""
    listed = _mapping(evaluation.get("dataset")).get("sample_ids")
    ids = tuple(key for key in listed if isinstance(key, (str, int, float))) if isinstance(listed, list) else ()
    epochs = _mapping(evaluation.get("config")).get("epochs")
    epochs = epochs if isinstance(epochs, int) and 0 < epochs <= 100_000 else 1
    total = _mapping(pieces.get("results")).get("total_samples")
    total = total if isinstance(total, int) and total > 0 else None
    here = len(drafts)
    if ids and total in (None, len(ids) * epochs):
        return _as_in_samples(ids, drafts), epochs, ()
    if total is not None and total > here:
        return (), epochs, (f"the header counts {total:,} samples, {total - here:,} more than the file holds",)
    return (), epochs, ()


def _as_in_samples(ids: tuple[_Key, ...], drafts: list[Draft]) -> tuple[_Key, ...]:
    """Planned ids with the type that the samples have, where that is the only difference."""
    here = {_tagged(draft.key) for draft in drafts}
    planned = {_tagged(key) for key in ids}
    by_text: dict[str, _Key] = {as_text(d.key): d.key for d in drafts if _tagged(d.key) not in planned}
    return tuple(key if _tagged(key) in here else by_text.get(as_text(key), key) for key in ids)


def unknown_version(pieces: Mapping[str, Any]) -> str:
    """What to say of a log version that this reader was not written against; empty for the known ones."""
    version = pieces.get("version")
    known = version is None or version in KNOWN_VERSIONS
    return "" if known else f"log version {as_text(version)} is newer than this reader knows (1-3)"


def _log_notes(pieces: Mapping[str, Any]) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    status, newer = pieces.get("status"), unknown_version(pieces)
    if status in ("error", "cancelled", "started"):
        notes += (f'status of the log is "{status}": the samples that exist were read',)
    if newer:
        notes += (f"{newer}: check the rows",)
    if pieces.get("invalidated") is True:
        notes += ("the log is marked as invalidated by its owner",)
    return notes
