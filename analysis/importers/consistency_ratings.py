"""Consistency ratings: replies that rate how far two claims agree, 0 to 10, as JSON inside a JSON string.

Written against SteveHuntsman/ProspectsForInconsistencyDetection of January 2024: ``details3`` and ``details4``
hold the replies of two models by item, ``scores3`` and ``scores4`` the ratings read from them.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.inspect_scores import as_number
from analysis.importers.json_text import JsonParser, as_object, as_text, read_text
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response

NAME = "consistency ratings"
VERSIONS = "rating file of January 2024"
TASK = "consistency ratings"
#: The digit in the key is all that the file says about the model.
MODELS = {"3": "gpt-3.5", "4": "gpt-4"}
FAMILY = "models are known by the digit in the key alone: family names, no ids"
PLACES = "no ids and no prompts in the file: items are numbered by place"
NO_RATING = "a reply without a rating (NaN): unscored"
_DETAILS = re.compile(r"details(\d+)\Z")
_BEGIN = re.compile(r'[\ufeff\s]*"\s*\{\s*\\"(details|scores)\d+\\"\s*:')


def sniff(probe: Probe) -> Claim:
    """Say whether a file is a JSON string that holds such ratings."""
    return Claim.LOG if _BEGIN.match(probe.text) else Claim.NO


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per reply: model by model, item by item.

    Raises
    ------
    LogError
        Replies and ratings do not fit each other, there are none, or the file is damaged.
    """
    where = relative_name(path, options.root)
    text, notes = read_text(path, options)
    outer, odd = JsonParser(where).parse(text)
    if isinstance(outer, str):
        outer, more = JsonParser(where).parse(outer, part="the JSON inside the string")
        odd += more
    table = as_object(outer)
    notes += (*odd, FAMILY, PLACES)
    for key in table:
        if named := _DETAILS.match(key):
            model = MODELS.get(named[1], key)
            for record in _of_model(table, key, f"scores{named[1]}", model, where):
                yield Record(record.source, record.responses, notes=notes + record.notes)
                notes = ()
    if notes:
        raise LogError(where, "no replies in the file")


def _of_model(table: dict[str, Any], details: str, scores: str, model: str, where: str) -> Iterator[Record]:
    items, ratings = _lists(table, details, where), _lists(table, scores, where)
    if [len(item) for item in items] != [len(item) for item in ratings]:
        raise LogError(where, f'"{details}" and "{scores}" are not of one length')
    for item, (replies, values) in enumerate(zip(items, ratings, strict=True)):
        for sample, (reply, value) in enumerate(zip(replies, values, strict=True)):
            source = f"{where}#{details}[{item}][{sample}]"
            number = as_number(value)
            response = Response(
                model=model,
                task=TASK,
                item=str(item),
                sample=str(sample),
                run=where,
                output=None if reply is None else as_text(reply),
                logged_score=None if number is None else as_text(value),
                score_value=number,
                harness="consistency ratings",
                source=source,
            )
            yield Record(source, (response,), notes=() if number is not None else (NO_RATING,))


def _lists(table: dict[str, Any], key: str, where: str) -> list[list[Any]]:
    value = table.get(key)
    if not isinstance(value, list) or not all(isinstance(item, list) for item in value):
        raise LogError(where, f'"{key}" is no list of lists')
    return value
