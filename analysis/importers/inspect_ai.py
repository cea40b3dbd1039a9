"""Inspect AI logs: ``.eval`` archives and ``.json`` documents, one response per sample and epoch.

Written against log versions 1 to 3 (inspect_ai 0.3.41 to 0.3.285); unknown keys are ignored.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.inspect_container import Part, archive_parts, document_parts, is_archive
from analysis.importers.inspect_header import Header, read_header, unknown_version
from analysis.importers.inspect_sample import Draft, read_sample
from analysis.importers.inspect_scores import is_not_finite, main_scorer, scale, score_number
from analysis.importers.json_text import as_text, top_level_keys
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "Inspect AI"
VERSIONS = "log versions 1-3 (inspect_ai 0.3.41-0.3.285)"
#: What a planned response that is not in the file shares with the other epochs of its item.
_ITEM_COLUMNS = (
    "gold",
    "unit",
    "prompt",
    "prompt_hash",
    "validity",
    "polarity",
    "template",
    "form",
    "negation",
    "wording",
    "variant",
    "believability",
    "item_family",
    "level",
    "strategy",
    "temperature",
    "role",
    "state",
    "identity",
    "harness",
)


def sniff(probe: Probe) -> Claim:
    """Say whether a file is an Inspect log, or a list of logs that belongs to some."""
    if probe.head.startswith(b"PK"):
        inside = set(probe.members)
        whole = "_journal/start.json" in inside or (
            "header.json" in inside and any(name.startswith("samples/") for name in inside)
        )
        # A cut archive has no directory; its first member still tells.
        return Claim.LOG if whole or b"_journal/start.json" in probe.head[:100] else Claim.NO
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    keys = top_level_keys(probe.text)
    if {"status", "eval"} <= set(keys) and ("plan" in keys or '"run_id"' in probe.text):
        return Claim.LOG
    return Claim.COMPANION if _lists_logs(keys, probe.text) else Claim.NO


def _lists_logs(keys: tuple[str, ...], text: str) -> bool:
    named = bool(keys) and all(key.endswith((".eval", ".json")) for key in keys)
    return named and '"eval"' in text and '"status"' in text


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per sample, by item and epoch, then those that were planned and are not in the file.

    Raises
    ------
    LogError
        The log holds no samples ("header only, no samples"), or is damaged.
    """
    where = relative_name(path, options.root)
    parts = archive_parts(path, options) if is_archive(path, options) else document_parts(path, options)
    pieces: dict[str, Any] = {}
    try:
        header, drafts = _collect(parts, where, pieces)
    except LogError as error:
        hints = [hint for hint in (unknown_version(pieces), error.hint) if hint]
        raise LogError(error.path, error.reason, line=error.line, hint="; ".join(hints)) from error
    yield from _records(header, header.in_order(drafts), options)


def _collect(parts: Iterator[Part], where: str, pieces: dict[str, Any]) -> tuple[Header, list[Draft]]:
    """Header and samples of a log; ``pieces`` is filled with the parts of the header as they come."""
    notes: dict[str, None] = {}
    drafts: list[Draft] = []
    samples = []
    for part in parts:
        if not part.is_sample:
            if not isinstance(part.value, dict):
                raise LogError(where, "the header is no JSON object")
            pieces.update(part.value)
            notes |= dict.fromkeys(part.notes)
        elif "eval" in pieces:
            drafts.append(_draft(part, where, pieces))
        else:
            samples.append(part)
    drafts += [_draft(part, where, pieces) for part in samples]
    return read_header(pieces, where, drafts, tuple(notes)), drafts


def _draft(part: Part, where: str, pieces: Mapping[str, Any]) -> Draft:
    evaluation = pieces.get("eval")
    model = evaluation.get("model") if isinstance(evaluation, dict) else None
    draft = read_sample(part.value, part.source, where, model=model if isinstance(model, str) else None)
    return replace(draft, notes=draft.notes + part.notes) if part.notes else draft


def _records(header: Header, drafts: list[Draft], options: ReadOptions) -> Iterator[Record]:
    values: dict[str, list[Any]] = {}
    for draft in drafts:
        for name, value in draft.scores.items():
            values.setdefault(name, []).append(value)
    kinds = {name: scale(found) for name, found in values.items()}
    main = main_scorer(header.pieces, values, options.scorer)
    notes = header.notes + _scorer_notes(main, kinds, options.scorer)
    first_of_item: dict[str, Response] = {}
    for draft in drafts:
        response, odd = _response(header, draft, main, kinds)
        first_of_item.setdefault(response.item, response)
        yield Record(draft.source, (response,), notes=notes + draft.notes + odd)
        notes = ()
    for item, sample in header.absent(drafts):
        planned = _planned(header, item, sample, first_of_item.get(item))
        yield Record(header.where, (planned,), in_file=False, notes=("planned, not in the file",))


def _scorer_notes(main: str | None, kinds: Mapping[str, str], asked: str | None) -> tuple[str, ...]:
    others = sorted(set(kinds) - {main})
    notes: tuple[str, ...] = ()
    if asked is not None and main is None:
        notes += (f'no scorer "{asked}" in this log (it has: {", ".join(sorted(kinds)) or "none"}): rows are unscored',)
    elif main is not None and others:
        notes += (f'score of scorer "{main}"; others are kept as score.<name>: {", ".join(others)}',)
    mixed = [name for name, kind in kinds.items() if kind == "mixed"]
    return notes + tuple(f'scorer "{name}" has no single scale: its values are not read as numbers' for name in mixed)


def _response(
    header: Header, draft: Draft, main: str | None, kinds: Mapping[str, str]
) -> tuple[Response, tuple[str, ...]]:
    extra = dict(draft.extra)
    notes = []
    for name, value in draft.scores.items():
        if name != main:
            extra[f"score.{name}"] = as_text(value)
            if is_not_finite(value):
                notes.append(f'scorer "{name}": {as_text(value)} is no score, kept as missing')
    columns: dict[str, Any] = dict(draft.columns)
    if main is not None and main in draft.scores:
        value = draft.scores[main]
        columns |= {"logged_score": as_text(value), "score_value": score_number(value, kinds[main])}
        if is_not_finite(value):
            notes.append(f'scorer "{main}": {as_text(value)} is no score, kept as missing ({draft.source})')
    columns["timestamp"] = columns["timestamp"] or header.created
    response = Response(
        model=header.model,
        item=header.item(draft.key),
        task=header.task,
        sample=str(draft.epoch),
        run=header.run,
        temperature=header.temperature,
        harness=header.harness,
        source=draft.source,
        extra=extra,
        **columns,
    )
    return response, tuple(notes)


def _planned(header: Header, item: str, epoch: int, sibling: Response | None) -> Response:
    shared = {name: getattr(sibling, name) for name in _ITEM_COLUMNS} if sibling is not None else {}
    shared |= {"temperature": header.temperature, "harness": header.harness}
    return Response(
        model=header.model,
        item=item,
        task=header.task,
        sample=str(epoch),
        run=header.run,
        timestamp=header.created,
        status=Status.MISSING,
        status_detail=f"planned, not in the file (status of the log: {header.status})",
        source=header.where,
        **shared,
    )
