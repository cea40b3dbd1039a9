"""simple-evals: per-sample JSON Lines (simple-evals-ru), and ``<eval>_<model>_allresults.json``.

Written against the files of kuk/simple-evals-ru of 2025 and the reports of openai/simple-evals.
"""

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.content_digest import content_digest
from analysis.importers.file_names import folder, stem
from analysis.importers.inspect_messages import prompt_text
from analysis.importers.inspect_scores import as_number
from analysis.importers.json_text import (
    JsonParser,
    as_object,
    as_text,
    decode,
    is_id,
    open_log,
    read_lines,
    read_text,
    top_level_keys,
)
from analysis.importers.logged_factors import count
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.responses import Response

NAME = "simple-evals"
VERSIONS = "simple-evals-ru JSON Lines of 2025; allresults.json of openai/simple-evals"
UNKNOWN = "unknown"
FILE_MODEL = "model named after the file, task after its folder: the rows name neither"
BY_PLACE = "no sample ids in the file: items are numbered by place"
NAME_MODEL = "model and task are named after the file: <eval>_<model>_allresults.json"
NO_NAME = 'the file name does not tell the model: it is called "unknown"; name it under [map] in study.toml'
_EVALS = re.compile(
    r"(?P<task>simpleqa|mmlu|math|gpqa|mgsm|drop|humaneval|browsecomp|healthbench(?:_hard|_consensus|_meta)?)_"
    r"(?P<model>.+)_allresults"
)
_FIELD = {
    "score": re.compile(r"<p>Score: (.*?)</p>", re.DOTALL),
    "gold": re.compile(r"<p>Correct Answer: (.*?)</p>", re.DOTALL),
    "extracted": re.compile(r"<p>Extracted Answer: (.*?)</p>", re.DOTALL),
}
_ROW_KEYS = frozenset({"id", "instruction", "answer", "usage", "is_correct", "finished_at"})
_HEAD_BYTES = 64 << 10


def sniff(probe: Probe) -> Claim:
    """Say whether a file holds rows of simple-evals-ru, or all results of one run of simple-evals."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    keys = set(top_level_keys(probe.text))
    if {"id", "answer", "is_correct"} <= keys and keys & {"pred", "judge_answer", "judge_pred"}:
        return Claim.LOG
    # The conversations of a large file stand beyond what a probe sees.
    return Claim.LOG if {"score", "metrics", "htmls"} <= keys else Claim.NO


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per line, or per conversation, in file order.

    Raises
    ------
    LogError
        The file holds no rows, or is damaged.
    """
    where = relative_name(path, options.root)
    with open_log(path, options) as stream:
        head, _ = decode(stream.read(_HEAD_BYTES))
    if "htmls" in top_level_keys(head):
        yield from _all_results(path, options, where)
        return
    notes: tuple[str, ...] = (FILE_MODEL,)
    asked: dict[str, int] = {}
    for number, row, odd in read_lines(path, options):
        if not isinstance(row, dict) or not is_id(row.get("id")):
            raise LogError(where, 'is no row of simple-evals: it lacks "id"', line=number)
        item = as_text(row["id"])
        asked[item] = asked.get(item, -1) + 1
        response, more = _row(row, path, f"{where}:{number}", asked[item], where)
        yield Record(f"{where}:{number}", (response,), notes=notes + odd + more)
        notes = ()
    if not asked:
        raise LogError(where, "no rows in the file")


def _row(row: Mapping[str, Any], path: Path, source: str, sample: int, run: str) -> tuple[Response, tuple[str, ...]]:
    output, prompt, usage = row.get("answer"), row.get("instruction"), as_object(row.get("usage"))
    correct = row.get("is_correct")
    correct = correct if isinstance(correct, (bool, int, float)) else None
    notes = () if correct is not None else ("no score of its own in the log",)
    extra = {f"meta.{k}": as_text(v) for k, v in row.items() if k not in _ROW_KEYS and isinstance(v, (str, int, float))}
    finished = row.get("finished_at")
    response = Response(
        model=stem(path) or UNKNOWN,
        task=folder(path),
        item=as_text(row["id"]),
        sample=str(sample),
        run=run,
        output=None if output is None else as_text(output),
        prompt=None if prompt is None else as_text(prompt),
        prompt_hash=None if prompt is None else content_digest(prompt),
        logged_score=None if correct is None else as_text(correct),
        score_value=None if correct is None else as_number(correct),
        tokens_in=count(usage.get("prompt_tokens")),
        tokens_out=count(usage.get("completion_tokens")),
        timestamp=as_text(finished) if isinstance(finished, (str, int, float)) else None,
        harness="simple-evals",
        source=source,
        extra=extra,
    )
    return response, notes


def _all_results(path: Path, options: ReadOptions, where: str) -> Iterator[Record]:
    text, notes = read_text(path, options)
    whole, odd = JsonParser(where).parse(text)
    result = as_object(whole)
    conversations, pages = result.get("convos"), result.get("htmls")
    if not isinstance(conversations, list) or not conversations:
        raise LogError(where, "no conversations in the file")
    pages = pages if isinstance(pages, list) and len(pages) == len(conversations) else [None] * len(conversations)
    named = _EVALS.fullmatch(stem(path))
    model, task = (named["model"], named["task"]) if named else (UNKNOWN, stem(path))
    notes += (*odd, BY_PLACE, NAME_MODEL if named else NO_NAME)
    for number, (conversation, page) in enumerate(zip(conversations, pages, strict=True), start=1):
        columns, more = _conversation(conversation, page, where, number)
        source = f"{where}#{number}"
        response = Response(
            model=model, task=task, item=str(number), run=where, harness="simple-evals", source=source, **columns
        )
        yield Record(source, (response,), notes=notes + more)
        notes = ()


def _conversation(conversation: Any, page: Any, where: str, number: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    if not isinstance(conversation, list) or not all(isinstance(turn, dict) for turn in conversation):
        raise LogError(where, f"conversation {number} is no list of messages")
    last = conversation[-1] if conversation and conversation[-1].get("role") == "assistant" else None
    asked = conversation[:-1] if last is not None else conversation
    content = last.get("content") if last is not None else None
    rendered = {name: _rendered(pattern, page) for name, pattern in _FIELD.items()}
    number_text = rendered["score"]
    score = as_number(number_text) if number_text is not None else None
    extra = {} if rendered["extracted"] is None else {"meta.extracted": rendered["extracted"]}
    notes = () if score is not None else ("no score of its own in the log",)
    columns = {
        "output": None if content is None else as_text(content),
        "prompt": prompt_text(asked, {}),
        "prompt_hash": content_digest(asked),
        "gold": rendered["gold"] or None,
        "logged_score": number_text if score is not None else None,
        "score_value": score,
        "extra": extra,
    }
    return columns, notes


def _rendered(pattern: re.Pattern[str], page: Any) -> str | None:
    """Field of the page that the harness rendered; the texts of the conversation are escaped in it."""
    found = pattern.findall(page) if isinstance(page, str) else []
    return html.unescape(found[-1]).strip() if found else None
