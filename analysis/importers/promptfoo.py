"""promptfoo results as JSON, JSON Lines or CSV: one response per test, prompt and provider.

Written against the lists and objects of 2023, ``version`` 2 and 3 (promptfoo 0.0.x to 0.120), and the CSV
layouts of the same years; unknown keys are ignored.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers import promptfoo_csv
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import (
    JsonParser,
    decode,
    open_log,
    read_lines,
    read_text,
    top_level_keys,
    walk_object,
)
from analysis.importers.promptfoo_eval import Evaluation
from analysis.importers.promptfoo_results import Asked, result_response
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record

NAME = "promptfoo"
VERSIONS = "JSON of 2023, versions 1-3 (promptfoo to 0.120); CSV of 2023-2025"
KNOWN_VERSIONS = (1, 2, 3)
TABLE_IGNORED = '"table" repeats the results and is not read'
_BLANKS = " \t\r\n\ufeff"
_HEAD_BYTES = 64 << 10
_NESTED = re.compile(r'\{\s*("version"\s*:\s*\d+\s*,\s*("createdAt"\s*:\s*"[^"]*"\s*,\s*)?)?"results"\s*:\s*[\[{]')
_BESIDE_RESULTS = frozenset({"evalId", "shareableUrl", "stats", "table"})
_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)")

#: Entries of a file with their places in words, and what was odd about each.
_Entries = Iterator[tuple[str, Any, tuple[str, ...]]]


def sniff(probe: Probe) -> Claim:
    """Say whether a file holds results of promptfoo."""
    text = probe.text.lstrip(_BLANKS)
    if text.startswith("{"):
        return Claim.LOG if _is_object(text) else Claim.NO
    if re.match(r"\[\s*\{", text):
        return Claim.LOG if _is_list(text) else Claim.NO
    return Claim.LOG if text and "\0" not in text and promptfoo_csv.layout_of_head(text) else Claim.NO


def _is_object(text: str) -> bool:
    keys = set(top_level_keys(text))
    if {"promptIdx", "testIdx"} <= keys:
        return True
    if "results" not in keys:
        return False
    if keys & {"evalId", "shareableUrl"}:
        return True
    if not (_NESTED.match(text) or keys & _BESIDE_RESULTS):
        return False
    entry = '"vars"' in text and '"prompt"' in text and '"raw"' in text
    return entry or bool(re.match(r'\{\s*"results"\s*:\s*\{\s*"version"\s*:\s*\d+\s*,\s*"(results|timestamp)"', text))


def _is_list(text: str) -> bool:
    """The first generation: prompt and output, and variables under ``vars`` or as keys that the prompt names."""
    try:
        first, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    except (ValueError, RecursionError):
        return False
    if not (isinstance(first.get("prompt"), str) and "output" in first):
        return False
    variables = first.keys() - {"prompt", "output"}
    if variables == {"vars"}:
        return isinstance(first["vars"], dict)
    return (
        bool(variables) and not variables & {"model", "item"} and variables <= set(_VARIABLE.findall(first["prompt"]))
    )


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per result (JSON), or per row of the table (CSV), in file order.

    Raises
    ------
    LogError
        The file holds no results, or is damaged.
    """
    where = relative_name(path, options.root)
    with open_log(path, options) as stream:
        head = decode(stream.read(_HEAD_BYTES))[0].lstrip(_BLANKS)
    if not (head.startswith("{") or re.match(r"\[\s*\{", head)):
        yield from promptfoo_csv.read_table(path, options)
        return
    if head.startswith("{") and {"promptIdx", "testIdx"} <= set(top_level_keys(head)):
        yield from _records(Evaluation(where), lambda _: _line_entries(path, options), options)
        return
    text, notes = read_text(path, options)
    entries = _list_entries if head.startswith("[") else _object_entries
    for record in _records(Evaluation(where), lambda evaluation: entries(text, evaluation), options):
        yield Record(record.source, record.responses, notes=notes + record.notes)
        notes = ()


def _records(
    evaluation: Evaluation, entries: Callable[[Evaluation], _Entries], options: ReadOptions
) -> Iterator[Record]:
    """Two passes: what holds for the file stands behind its results, and may be larger than memory with them."""
    for place, result, _ in entries(evaluation):
        evaluation.note(_checked(result, evaluation.where, place))
    if not evaluation.counted:
        raise LogError(evaluation.where, "no results in the file")
    notes = _file_notes(evaluation)
    asked: dict[tuple[str, str], int] = {}
    for place, result, odd in entries(evaluation):
        (model, how), item = evaluation.model(result), evaluation.item(result)
        sample = asked.get((model, item), 0)
        asked[model, item] = sample + 1
        source = f"{evaluation.where}{place}"
        question = Asked(model, item, sample, how)
        response, more = result_response(result, evaluation, question, source, scorer=options.scorer)
        yield Record(source, (response,), notes=notes + odd + more)
        notes = ()


def _checked(result: Any, where: str, place: str) -> dict[str, Any]:
    if (
        not isinstance(result, dict)
        or "prompt" not in result
        or not result.keys() & {"response", "output", "error", "vars"}
    ):
        raise LogError(where, f"entry {place[1:]} is no result: it lacks a prompt or a reply")
    return result


def _file_notes(evaluation: Evaluation) -> tuple[str, ...]:
    header = evaluation.header
    notes: tuple[str, ...] = ()
    if any(key in header for key in ("table", "results.table")):
        notes += (TABLE_IGNORED,)
    version = header.get("results.version", header.get("version"))
    if version is not None and version not in KNOWN_VERSIONS:
        notes += (f"version {version} of the results is not known (1-3): check the rows",)
    return notes


def _line_entries(path: Path, options: ReadOptions) -> _Entries:
    for number, value, odd in read_lines(path, options):
        yield f":{number}", value, odd


def _list_entries(text: str, evaluation: Evaluation) -> _Entries:
    values, odd = JsonParser(evaluation.where).parse(text)
    for number, value in enumerate(values, start=1):
        yield f"#{number}", value, odd if number == 1 else ()


def _object_entries(text: str, evaluation: Evaluation) -> _Entries:
    """Results of an object whose ``results`` are a list (2023), or hold a list of that name again."""
    for member in walk_object(text, evaluation.where, stream=("results", "results")):
        if member.index is not None:
            yield f"#{member.index + 1}", member.value, member.notes
        elif member.key == "results" and isinstance(member.value, list):
            yield from ((f"#{number}", value, ()) for number, value in enumerate(member.value, start=1))
        elif member.key in ("table", "results.table"):
            evaluation.header[member.key] = True
        elif member.value != []:
            evaluation.header[member.key] = member.value
