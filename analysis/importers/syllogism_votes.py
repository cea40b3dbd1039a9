"""Syllogism vote files: one document per model, strategy and temperature, with the votes on every syllogism.

Written against XAheli/Logic-in-LLMs of December 2025, both vocabularies of its votes (correct/incorrect,
valid/invalid), and the ``.partial.json`` of interrupted runs.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.errors import LogError
from analysis.importers.byte_streams import relative_name
from analysis.importers.json_text import as_object, as_text, is_id, read_text, top_level_keys, walk_object
from analysis.importers.protocol import Claim, Probe, ReadOptions, Record
from analysis.schema.quoting import shown
from analysis.schema.responses import Response
from analysis.schema.status import Status

NAME = "syllogism votes"
VERSIONS = "vote files of December 2025, correct/incorrect and valid/invalid"
TASK = "syllogisms"
MAJORITY = "no single votes in the file: the majority is one response"
TIED = "the majority of a tie is no answer (the file calls it incorrect)"
#: Words of the votes; the question is whether the conclusion follows.
POLARITY = {"correct": "yes", "valid": "yes", "incorrect": "no", "invalid": "no"}
_NONSENSE = frozenset({"X", "OX"})
#: A result has one of these, or an error.
_HOLDS_VOTES = ("raw_responses", "predicted", "correct_count", "incorrect_count")
#: Keys of a result that a message lists at most.
_NAMED = 20
_KEPT = (
    "predicted",
    "confidence",
    "is_correct_syntax",
    "is_correct_NLU",
    "total_iterations",
    "stopped_early",
)


def sniff(probe: Probe) -> Claim:
    """Say whether a file holds votes on syllogisms."""
    if not probe.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Claim.NO
    keys = set(top_level_keys(probe.text))
    mine = {"metadata", "results"} <= keys and '"syllogism_id"' in probe.text and '"variant"' in probe.text
    return Claim.LOG if mine else Claim.NO


def read(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield one record per syllogism and variant, with a response per vote, in file order.

    Raises
    ------
    LogError
        The file holds no results, names no model, or is damaged.
    """
    where = relative_name(path, options.root)
    text, notes = read_text(path, options)
    header: dict[str, Any] = {}
    read_so_far = 0
    for member in walk_object(text, where, stream="results"):
        if member.key == "metadata":
            header = as_object(member.value)
        if member.index is None:
            continue
        result = _checked(member.value, where, member.index + 1)
        responses, more = _responses(result, header, f"{where}#{member.index + 1}", where)
        start = _file_notes(header, path) if not read_so_far else ()
        read_so_far += 1
        yield Record(f"{where}#{member.index + 1}", responses, notes=notes + start + member.notes + more)
        notes = ()
    if not read_so_far:
        raise LogError(where, "no results in the file")


def _checked(result: Any, where: str, number: int) -> dict[str, Any]:
    if not isinstance(result, dict):
        raise LogError(where, f"result {number} is no JSON object")
    for key in ("syllogism_id", "variant"):
        if not is_id(result.get(key)):
            raise LogError(where, f'result {number} lacks "{key}"')
    return result


def _file_notes(header: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    done, planned = header.get("completed_instances"), header.get("total_instances")
    if header.get("status") != "partial" and ".partial." not in path.name:
        return ()
    counted = type(done) is int and type(planned) is int
    return (f"an interrupted run: {done} of {planned} syllogisms" if counted else "an interrupted run",)


def _responses(
    result: Mapping[str, Any], header: Mapping[str, Any], source: str, where: str
) -> tuple[tuple[Response, ...], tuple[str, ...]]:
    columns, extra = _columns(result, header, where)
    columns |= {"source": source, "run": where, "harness": "syllogism votes", "task": TASK}
    if result.get("error"):
        failed: dict[str, Any] = {"status": Status.ERRORED, "status_detail": _first_line(result["error"])}
        return (Response(sample="1", extra=extra, **columns, **failed),), ()
    _refuse_without_votes(result, source)
    votes = result.get("raw_responses")
    if votes is not None and not isinstance(votes, list):
        raise LogError(where, "raw_responses are no list")
    if not votes:
        own, notes = _majority(result)
        return (Response(extra=extra, **columns, **own),), notes
    return tuple(
        Response(extra=extra | _vote_extra(vote), **columns, **_vote(vote, number, where))
        for number, vote in enumerate(votes, start=1)
    ), ()


def _refuse_without_votes(result: Mapping[str, Any], source: str) -> None:
    """Refuse a result whose votes stand under other names: it would count as unreadable."""
    if any(key in result for key in _HOLDS_VOTES):
        return
    keys = ", ".join(shown(key) for key in [*result][:_NAMED])
    reason = 'holds no votes: it has neither "raw_responses" (a list of votes) nor "predicted"'
    raise LogError(source, reason, hint=f"name them so; it has {keys}")


def _columns(result: Mapping[str, Any], header: Mapping[str, Any], where: str) -> tuple[dict[str, Any], dict[str, str]]:
    model = _first_text(header.get("model"), header.get("model_key"), result.get("model_key"))
    if model is None:
        raise LogError(where, "names no model")
    item, variant = as_text(result["syllogism_id"]), as_text(result["variant"])
    validity = _word(result.get("ground_truth_syntax"))
    believability = _word(result.get("ground_truth_NLU"))
    columns = {
        "model": model,
        "item": f"{item}_{variant}",
        "unit": item,
        "variant": variant,
        "strategy": _first_text(header.get("strategy"), result.get("prompting_strategy")),
        "temperature": _first_text(header.get("temperature"), result.get("temperature")),
        "model_resolved": _first_text(header.get("model_id")),
        "timestamp": _first_text(result.get("timestamp"), header.get("timestamp")),
        "gold": POLARITY.get(validity),
        "validity": validity if validity in ("valid", "invalid") else None,
        # A conclusion of nonsense words is neither believable nor unbelievable, whatever its label says.
        "believability": believability
        if believability in ("believable", "unbelievable") and variant not in _NONSENSE
        else None,
        "simulated": True if header.get("simulated") is True else None,
    }
    extra = {"meta.gold_believability": believability} if believability else {}
    extra |= {f"meta.{k}": as_text(result[k]) for k in _KEPT if isinstance(result.get(k), (str, int, float))}
    return columns, extra


def _word(value: Any) -> str:
    return value.strip().lower() if isinstance(value, str) else ""


def _first_text(*values: Any) -> str | None:
    return next((as_text(v) for v in values if isinstance(v, (str, int, float)) and v != ""), None)


def _first_line(error: Any) -> str:
    lines = as_text(error).strip().splitlines()
    return lines[0] if lines else "error without a message"


def _vote(vote: Any, number: int, where: str) -> dict[str, Any]:
    if not isinstance(vote, dict):
        raise LogError(where, f"vote {number} is no JSON object")
    text, word = vote.get("response"), _word(vote.get("vote"))
    iteration = vote.get("iteration")
    own: dict[str, Any] = {
        "sample": as_text(iteration) if isinstance(iteration, (str, int)) else str(number),
        "output": None if text is None else as_text(text),
    }
    if word == "error":
        detail = _first_line(text) if text else "vote: error"
        return own | {"output": None, "status": Status.ERRORED, "status_detail": detail}
    if word in POLARITY:
        own |= {"answer": POLARITY[word], "rule": "vote"}
    return own


def _vote_extra(vote: Any) -> dict[str, str]:
    word = as_object(vote).get("vote")
    return {"meta.vote": word} if isinstance(word, str) else {}


def _majority(result: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    word = _word(result.get("predicted"))
    counts = [result.get(f"{name}_count") for name in ("correct", "incorrect")]
    if word == "error":
        return {"status": Status.ERRORED, "status_detail": "predicted: error"}, (MAJORITY,)
    if type(counts[0]) is int and counts[0] == counts[1]:
        return {"status": Status.UNPARSED, "rule": "tie"}, (MAJORITY, TIED)
    if word in POLARITY:
        return {"answer": POLARITY[word], "rule": "majority"}, (MAJORITY,)
    return {"status": Status.UNPARSED, "rule": "majority", "status_detail": f"predicted: {word or 'nothing'}"}, (
        MAJORITY,
    )
